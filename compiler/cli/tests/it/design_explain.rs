//! `closc design --explain`: its answers agree with the list of designs.

use crate::common::Place;

fn design_args(flags: &str) -> Vec<&str> {
    ["design"].into_iter().chain(flags.split(' ')).collect()
}

const SMALL: &str = "--nics 512 --speed 800G --planes 2 --platform spectrum4-sn5600 --routing bgp-unnumbered";

/// The file has the numbers of a design, but other rails or nodes.
#[test]
fn a_fabric_outside_of_the_need_is_not_on_the_front() {
    let place = Place::new();
    place.ends(0, &design_args(&format!("{SMALL} --rails 8 --out file.yaml")));
    let inside = place.json(0, &design_args(&format!("{SMALL} --rails 8 --explain file.yaml")));
    assert!(inside["on_front"] == true && inside["unbeaten"] == true, "{inside:#}");
    for other in ["--rails 1", "--rails 4 --nics-per-node 4"] {
        let explain = format!("{SMALL} {other} --explain file.yaml");
        let explained = place.json(0, &design_args(&explain));
        assert!(explained["on_front"] == false && explained["unbeaten"] == true, "{other}: {explained:#}");
        let page = place.ends(0, &design_args(&explain));
        assert!(
            page.contains("It does not meet the requirements, so it is not on the front"),
            "{other}: {page}"
        );
    }
}

/// The document contains the same known faults of a release as the text.
#[test]
fn known_faults_of_a_named_fabric_are_listed() {
    let place = Place::new();
    place.ends(0, &design_args(&format!("{SMALL} --os sonic --out file.yaml")));
    let explain = format!("{SMALL} --os sonic --explain file.yaml");
    let explained = place.json(0, &design_args(&explain));
    let faults = explained["named"]["known_faults"].as_array().expect("a list");
    assert!(!faults.is_empty() && explained["warnings"] == 0, "{explained:#}");
    let page = place.ends(0, &design_args(&explain));
    for fault in faults {
        let line = format!("known fault: {}\n", fault.as_str().expect("a text"));
        assert!(page.contains(&line), "{page}");
    }
    let compared = place.json(0, &design_args("--compare file.yaml file.yaml"));
    assert_eq!(compared["fabrics"][0]["design"]["known_faults"], explained["named"]["known_faults"]);
}

/// Designs that exceed an assumed limit may have better numbers, but do not beat a design within published limits.
#[test]
fn designs_that_exceed_an_assumed_limit_have_their_own_heading() {
    let place = Place::new();
    let own = place.ends(0, &["platforms", "th4-64x400g", "--yaml"]);
    let own =
        own.replacen("id: th4-64x400g", "id: site-box", 1).replacen("neighbours: 256", "neighbours: 90", 1);
    place.write("site.yaml", &own);
    let flags =
        "--nics 1024 --os eos --routing bgp-unnumbered --planes 4 --platforms site.yaml --platform site-box";
    let found = place.json(0, &design_args(&format!("{flags} --show 32")));
    let rows = found["designs"].as_array().expect("a list");
    let is_assumed = |row: &&serde_json::Value| !row["assumed"].is_null();
    let number = |row: &serde_json::Value, name: &str| row[name].as_u64().expect("a number");
    let (firm, assumed) = rows
        .iter()
        .filter(|row| !is_assumed(row))
        .find_map(|firm| {
            let is_better = |row: &&serde_json::Value| {
                ["switches", "capacity_gbps", "cables_switch", "modules"]
                    .iter()
                    .all(|name| number(row, name) <= number(firm, name))
            };
            Some((firm, rows.iter().filter(is_assumed).find(is_better)?))
        })
        .expect("a design within published limits, and one with better numbers");
    place.write("firm.yaml", firm["file"].as_str().expect("a text"));
    place.write("assumed.yaml", assumed["file"].as_str().expect("a text"));

    let explained = place.json(0, &design_args(&format!("{flags} --explain firm.yaml")));
    assert!(explained["on_front"] == true, "{explained:#}");
    assert_eq!(explained["beaten_by"], serde_json::json!([]), "{explained:#}");
    assert!(!explained["assumed_better"][0]["design"]["assumed"].is_null(), "{explained:#}");
    let page = place.ends(0, &design_args(&format!("{flags} --explain firm.yaml")));
    let heading = "These have better numbers, but exceed an assumed limit or need a later release.";
    assert!(page.contains("It is on the front") && page.contains(heading), "{page}");

    let explained = place.json(0, &design_args(&format!("{flags} --explain assumed.yaml")));
    assert_eq!(explained["named"]["assumed"], assumed["assumed"], "{explained:#}");
    assert_eq!(explained["warnings"], 0, "the file allows W0904");
    let page = place.ends(0, &design_args(&format!("{flags} --explain assumed.yaml")));
    assert!(page.contains("assumed limit exceeded: ") && !page.contains(heading), "{page}");
}

#[test]
fn items_without_a_price_or_power_are_named() {
    let place = Place::new();
    let flags = "--nics 1024 --platform th5-64x800g --speed 800G";
    place.ends(0, &design_args(&format!("{flags} --out th5.yaml")));
    let remedy = "add the power of switches in a file for `--platforms`, or use another `--objective`";
    let said = place.ends(1, &design_args(&format!("{flags} --objective power --explain th5.yaml")));
    assert!(said.contains("`th5.yaml` has items without published power: `th5-64x800g`"), "{said}");
    assert!(said.contains(remedy), "{said}");
    let said = place.ends(1, &design_args(&format!("{flags} --objective power")));
    assert!(said.contains("without published power; the first has `th5-64x800g`"), "{said}");
    assert!(said.contains(remedy), "{said}");
    place.write("prices.csv", "item,price\nspectrum4-sn5600,1\ncable nic-t0,1\n");
    for named in ["--nics 1024 --explain th5.yaml", "--compare th5.yaml th5.yaml"] {
        let said = place.ends(1, &design_args(&format!("{named} --prices prices.csv")));
        let items = "add `th5-64x800g`, `cable switch-switch`, `module switch-switch`";
        assert!(said.contains(items), "{named}: {said}");
    }
}

/// The message names the options that permit a design.
#[test]
fn limits_that_no_design_keeps_are_refused_with_advice() {
    let place = Place::new();
    for (flags, wanted) in [
        ("--nics 2048 --tiers 1", "no design keeps these limits: use `--tiers 2`"),
        ("--nics 16 --tiers 3 --planes 1", "no design keeps these limits: use `--tiers 1`"),
        (
            "--nics 512 --grow-to 800000 --planes 1 --platform spectrum3-sn4700",
            "no design keeps these limits: use a smaller `--grow-to`, or none",
        ),
        (
            "--nics 400000000 --planes 4",
            "no design keeps these limits: none of `--tiers`, `--planes` and `--oversubscription` alone is known to permit one",
        ),
        (
            "--nics 1024 --routing srv6-static --os eos",
            "E0213: `eos` does not support `routing: srv6-static`; change `--routing` or `--os`",
        ),
        ("--nics 64 --pick abc --out x.yaml", "expected a whole number"),
    ] {
        let code = if flags.contains("abc") || flags.contains("--os eos") { 64 } else { 1 };
        let said = place.ends(code, &design_args(flags));
        assert!(said.contains(wanted), "{flags}: {said}");
    }
}

/// One end has 800G over eight lanes of 100G, the other over four lanes of 200G.
#[test]
fn cables_with_different_lanes_at_their_ends_are_printed() {
    let place = Place::new();
    let flags = "--nics 1024 --speed 800G --planes 8 --routing bgp-unnumbered --platform th6-1024x100g,spectrum6-sn6600";
    let found = place.json(0, &design_args(flags));
    let rows = found["designs"].as_array().expect("a list");
    let lanes = "t0-t1 ports have 8 x 100G and 4 x 200G lanes: order modules with equal optical lanes";
    let is_of = |row: &serde_json::Value, t0: &str, t1: &str| {
        row["tiers"][0]["platform"] == t0 && row["tiers"][1]["platform"] == t1
    };
    let (th6, sn6600) = ("th6-1024x100g", "spectrum6-sn6600");
    let mixed = rows.iter().find(|row| is_of(row, th6, sn6600)).expect("a design with both");
    assert_eq!(mixed["unequal_lanes"], serde_json::json!([lanes]), "{mixed:#}");
    let equal = rows.iter().find(|row| is_of(row, sn6600, sn6600)).expect("a design with one");
    assert_eq!(equal["unequal_lanes"], serde_json::json!([]), "{equal:#}");
    let page = place.ends(0, &design_args(flags));
    assert!(page.contains(&format!("    modules: {lanes}\n")), "{page}");
}

/// A fabric that no design beats is not on the front if `check` prints a warning for it. The warning is the reason:
/// with a hwsku that has its cages, the search proposes it.
#[test]
fn warnings_that_keep_a_fabric_from_the_front_are_printed() {
    let place = Place::new();
    let flags = "--nics 1024 --speed 800G --planes 8 --routing bgp-unnumbered --os sonic --tiers 2";
    let hwsku = "hwskus:\n    - { breakouts: [8x100G, 2x400G], hwsku: Site-SN5640 }\n";
    let own = place.ends(0, &["platforms", "spectrum5-sn5640", "--yaml"]);
    assert!(own.contains("hwskus:\n"), "{own}");
    let own = own.replacen("id: spectrum5-sn5640", "id: site-box", 1).replacen("hwskus:\n", hwsku, 1);
    place.write("site.yaml", own);
    let fabric = |platform: &str| {
        format!(
            "fabric: fabric\nplanes: 8\nrouting: bgp-unnumbered\n\
             hosts: {{ groups: 4, per_group: 256, nics_per_node: 8, nic: {{ speed: 800G, lanes: 8 }} }}\n\
             tiers:\n  t0: {{ platform: {platform}, os: sonic, down: {{ count: 256, cages: \"0-31\" }}, \
             up: {{ count: 64, breakout: 2x400G, cages: \"32-63\" }}, parallel: 32 }}\n  \
             t1: {{ platform: {platform}, os: sonic, down: {{ count: 128, breakout: 2x400G }} }}\n\
             cables: {{ nic-t0: {{ length: 2m, medium: dac }}, t0-t1: {{ length: 30m, medium: dr4 }} }}\n\
             qos: sonic-ai-lossy\nwarnings: {{ W0901: allow }}\n"
        )
    };
    let explain = |platform: &str| {
        place.write("file.yaml", fabric(platform));
        format!("{flags} --platforms site.yaml --platform {platform} --explain file.yaml")
    };
    let line = explain("spectrum5-sn5640");
    let explained = place.json(0, &design_args(&line));
    assert!(explained["unbeaten"] == true && explained["on_front"] == false, "{explained:#}");
    let warning = "W0201: hwsku `Mellanox-SN5640-C448O16` has 2x400G and 8x100G in other cages";
    assert_eq!(explained["warning_messages"], serde_json::json!([warning]));
    let page = place.ends(0, &design_args(&line));
    let reason = format!("warning {warning}\nThe search does not propose fabrics with these warnings;");
    assert!(page.contains(&reason), "{page}");
    let explained = place.json(0, &design_args(&explain("site-box")));
    assert!(explained["on_front"] == true && explained["warning_messages"] == serde_json::json!([]));
}

/// T1s with twice as much bandwidth down as up, as in `docs/designs.md` "Rules for every design".
const NARROW_T1S: &str = r#"
fabric: narrow
planes: 1
routing: bgp-unnumbered
zones: 6
hosts: { groups: 40, per_group: 32, nics_per_node: 8, nic: { speed: 400G, lanes: 8 } }
tiers:
  t0: { platform: th4-64x400g, os: eos, down: { count: 32 }, up: { count: 32 }, oversubscription: "1:1" }
  t1:
    platform: th4-64x400g
    os: eos
    down: { count: 40 }
    up: { count: 20, first_cage: 44 }
    parallel: 10
    oversubscription: "2:1"
  t2: { platform: th4-64x400g, os: eos, wiring: rows, rows: 32, ports_per_zone: 10 }
cables:
  nic-t0: { length: 2m, medium: dac }
  t0-t1: { length: 30m, medium: dr4 }
  t1-t2: { length: 100m, medium: dr4 }
qos: none
warnings: { W0901: allow, W0906: allow }
"#;

/// Regression: a fabric with oversubscribed T1s was called unbeaten for a need at 1:1.
#[test]
fn t1s_with_less_bandwidth_up_than_down_do_not_meet_a_need() {
    let place = Place::new();
    place.write("narrow.yaml", NARROW_T1S);
    let flags = "--nics 7680 --planes 1 --platform th4-64x400g --os eos --tiers 3 --explain narrow.yaml";
    let explained = place.json(0, &design_args(flags));
    assert_eq!(
        explained["outside"],
        serde_json::json!([
            "its T1s have 2:1 bandwidth down to up, and the search gives T1s as much up as down"
        ])
    );
    assert_eq!(explained["on_front"], false);
}

/// A design with less bisection bandwidth does not beat a fabric with more, and its bisection is printed.
#[test]
fn designs_with_less_bisection_have_their_own_heading() {
    let place = Place::new();
    place.ends(0, &design_args(&format!("{SMALL} --rails 8 --out even.yaml")));
    let flags = format!("{SMALL} --rails 8 --oversubscription 2:1 --explain even.yaml");
    let explained = place.json(0, &design_args(&flags));
    assert_eq!(explained["beaten_by"], serde_json::json!([]), "{explained:#}");
    let narrow = &explained["less_bisection"][0];
    let numbers = narrow["numbers"].as_array().expect("a list");
    let bisection = numbers.iter().find(|number| number["number"] == "bisection, Gb/s").expect("it differs");
    assert_eq!(bisection["named"], explained["named"]["bisection_gbps"]);
    assert_eq!(bisection["design"], narrow["design"]["bisection_gbps"]);
    let page = place.ends(0, &design_args(&flags));
    assert!(page.contains("These have better numbers, but less bisection bandwidth per NIC."), "{page}");
}
