//! `closc export order`: counts of switches, modules, cables and power, compared with those of `closc design`.

use std::collections::BTreeMap;

use crate::common::Place;

/// Rows of a table by column.
fn rows(place: &Place, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = place.read(&format!("order/{name}.csv"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn sum(rows: &[BTreeMap<String, String>], column: &str) -> u64 {
    rows.iter().map(|row| row[column].parse::<u64>().expect("a number")).sum()
}

const RACKS: &str = "racks:
  t0: { name: \"row-{rack}\", per_rack: 4, units: 2 }
  t1: { name: \"spine-{plane}\", per_rack: 4, units: 2 }
";

#[test]
fn an_order_has_the_counts_of_the_design() {
    let place = Place::new();
    let need = ["--nics=512", "--speed=800G", "--planes=2", "--rails=8", "--platform=spectrum4-sn5600"];
    let words: Vec<&str> = ["design", "--out", "a.yaml"].into_iter().chain(need).collect();
    place.ends(0, &words);
    let text = place.read("a.yaml");
    place.write("a.yaml", format!("{text}\n{RACKS}"));
    let words: Vec<&str> = ["design", "--show", "1"].into_iter().chain(need).collect();
    let design = &place.json(0, &words)["designs"][0];
    place.ends(0, &["export", "order", "a.yaml", "--out", "."]);

    let switches = rows(&place, "switches");
    assert_eq!(Some(sum(&switches, "count")), design["switches"].as_u64());
    assert_eq!(Some(sum(&switches, "rack_units_in_all")), design["rack_units"].as_u64());
    let modules = rows(&place, "modules");
    assert_eq!(Some(sum(&modules, "count")), design["modules"].as_u64(), "copper to NICs has no modules");
    let cables = rows(&place, "cables");
    let of = |kind: &str| cables.iter().filter(|row| row["ends"] == kind).cloned().collect::<Vec<_>>();
    assert_eq!(Some(sum(&of("t0-t1"), "links")), design["cables_switch"].as_u64());
    assert_eq!(Some(sum(&of("nic-t0"), "links")), design["cables_nic"].as_u64());
    assert_eq!(sum(&of("nic-t0"), "lower_cages"), 512, "both ports of a NIC share a cage");

    let power = rows(&place, "power");
    assert!(power.len() > 2 && power.iter().all(|row| row["rack"] != "not placed"), "{power:?}");
    assert_eq!(Some(sum(&power, "typical_watts")), design["power"]["typical_watts"].as_u64());
    assert!(power.iter().all(|row| row["maximum_watts"].is_empty()), "no maximum is published: {power:?}");
    assert!(power[0]["without_published_power"].contains("spectrum4-sn5600 (maximum)"), "{power:?}");
    // Equal orders have equal bytes, so the workbook does not contain a timestamp.
    let workbook = |folder: &str| {
        std::fs::read(place.path(&format!("{folder}/order/order.xlsx"))).expect("it is written")
    };
    place.ends(0, &["export", "order", "a.yaml", "--out", "again"]);
    assert!(workbook(".").starts_with(b"PK") && workbook(".") == workbook("again"));
    let page = place.read("order/order.html");
    assert!(
        page.contains("<h2>Power</h2>") && page.contains("@media print") && !page.contains("<script"),
        "{page}"
    );
}

#[test]
fn optics_of_nics_are_counted_by_cage() {
    let place = Place::new();
    place.ends(
        0,
        &[
            "design",
            "--nics=512",
            "--speed=400G",
            "--planes=2",
            "--tiers=2",
            "--platform=spectrum4-sn5600",
            "--out",
            "a.yaml",
        ],
    );
    let text = place
        .read("a.yaml")
        .replace("nic-t0: { length: 2m, medium: dac }", "nic-t0: { length: 20m, medium: dr4 }");
    place.write("a.yaml", text);
    place.ends(0, &["export", "order", "a.yaml", "--out", "."]);
    let modules = rows(&place, "modules");
    let nic: Vec<_> = modules.iter().filter(|row| row["cage_of"] == "NIC").collect();
    assert_eq!(nic.len(), 1, "{modules:?}");
    assert_eq!(
        (&*nic[0]["count"], &*nic[0]["medium"], &*nic[0]["typical_watts"]),
        ("512", "dr4", "9"),
        "{modules:?}"
    );
    let power = rows(&place, "power");
    assert_eq!(power.len(), 1, "{power:?}");
    assert_eq!(power[0]["rack"], "not placed");
}

/// A port of 400G over 8 lanes of 50G, and NICs with 4 lanes of 100G.
const UNEQUAL: &str = "fabric: lanes
planes: 1
hosts: { groups: 2, per_group: 16, nics_per_node: 8, nic: { speed: 400G, lanes: 4 } }
tiers:
  t0: { platform: th4-64x400g, os: eos, down: { count: 16 }, up: { count: 16 }, parallel: 4 }
  t1: { platform: th5-128x400g, os: eos, down: { count: 8 } }
routing: bgp-unnumbered
qos: none
";

/// The default medium of NIC cables is copper, but errors must not refer to it.
#[test]
fn cables_between_different_lanes_are_printed() {
    let place = Place::new();
    place.write("a.yaml", UNEQUAL);
    let notes = |cables: &str| {
        place.write("a.yaml", format!("{UNEQUAL}{cables}"));
        let said = place.closc(&["export", "order", "a.yaml", "--out", "."]);
        assert!(said.status.success());
        let said = String::from_utf8(said.stderr).expect("text");
        let checked = place.json(0, &["check", "a.yaml"]);
        let unequal = checked["summary"]["unequal_lanes"].as_array().expect("a list").clone();
        let unequal: Vec<String> =
            unequal.iter().map(|line| line.as_str().expect("a text").to_owned()).collect();
        let ordered: Vec<String> = rows(&place, "notes").into_iter().map(|row| row["note"].clone()).collect();
        assert_eq!(unequal, ordered);
        let text = place.ends(0, &["check", "a.yaml"]);
        for line in &unequal {
            assert!(said.contains(&format!("note: {line}\n")), "{said}");
            assert!(text.contains(&format!("cables: {line}\n")), "{text}");
        }
        assert!(place.read("order/order.html").contains("<h2>Notes</h2>"));
        unequal
    };
    let nic = "nic-t0 ports have 4 x 100G and 8 x 50G lanes";
    let modules = "order modules with equal optical lanes";
    let fabric = format!("t0-t1 ports have 8 x 50G and 4 x 100G lanes: {modules}");
    let copper = format!("{nic}: `dac` does not convert: use an optical or retimed cable");
    assert_eq!(notes(""), [copper.clone(), fabric.clone()]);
    let optical = "cables: { nic-t0: { medium: dr4, length: 20m } }\n";
    assert_eq!(notes(optical), [format!("{nic}: {modules}"), fabric.clone()]);
    let active = "cables: { nic-t0: { medium: aoc, length: 20m } }\n";
    assert_eq!(notes(active), [format!("{nic}: order cables that convert between them"), fabric.clone()]);
    // A single cable has another medium.
    let single = "exceptions: { cables: { su001-n001/nic0.p0: { length: 2m, medium: dac } } }\n";
    let single = notes(&format!("{optical}{single}"));
    assert!(single.contains(&copper) && single.len() == 3, "{single:?}");
}

/// `spectrum4-sn5600-256x100g` names 32 ports over the 64 cages of the switch.
#[test]
fn check_and_design_count_the_same_cages() {
    let place = Place::new();
    place.write(
        "a.yaml",
        "fabric: cages
planes: 1
hosts: { groups: 2, per_group: 40, nics_per_node: 8, nic: { speed: 100G, lanes: 1 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x100g, os: nvue, down: { count: 40 }, up: { count: 40 }, parallel: 20 }
  t1: { platform: spectrum4-sn5600-256x100g, os: nvue, down: { count: 40 } }
routing: bgp-unnumbered
qos: none
",
    );
    let compared = place.json(0, &["design", "--compare", "a.yaml", "a.yaml"]);
    let checked = place.json(0, &["check", "a.yaml"]);
    let tiers = compared["fabrics"][0]["design"]["tiers"].as_array().expect("a list");
    let models = checked["summary"]["models"].as_array().expect("a list");
    assert_eq!((tiers.len(), models.len()), (2, 2));
    for (tier, model) in tiers.iter().zip(models) {
        let count = |row: &serde_json::Value, name: &str| row[name].as_u64().expect("a count");
        assert_eq!(count(model, "cages"), 64, "{model}");
        assert_eq!(count(tier, "cages"), count(model, "cages"), "{tier} {model}");
        assert_eq!(count(tier, "cages_used"), 64 - count(model, "unused_cages"), "{tier} {model}");
    }
}
