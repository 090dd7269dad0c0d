//! `closc export order`: counts of switches, modules, cables and power, compared with those of `closc design`.

mod common;

use std::collections::BTreeMap;

use common::Place;

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
    // Equal orders are equal bytes, so the workbook contains no timestamp.
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
