//! `closc design` and releases: a file states a later release if it has fewer faults for the design, and each known
//! fault of a proposal is printed.

use serde_json::Value;

use crate::common::Place;

fn design_args(flags: &str) -> Vec<&str> {
    ["design"].into_iter().chain(flags.split(' ')).collect()
}

fn designs(found: &Value) -> &Vec<Value> {
    found["designs"].as_array().expect("a list")
}

const PARALLEL: &str = "--nics 128 --planes 4 --routing srv6-static --os sonic --platform th5-512x100g";

/// SONiC 202511 programs one of several locators, and 202605 all of them. So two designs are listed: one with
/// parallel cables and a later release, and one for the assumed release.
#[test]
fn parallel_cables_with_source_routing_come_with_their_release() {
    let place = Place::new();
    let found = place.json(0, &design_args(&format!("{PARALLEL} --objective switches")));
    let first = &designs(&found)[0];
    assert_eq!(first["switches"], 16, "{found:#}");
    let release = first["release"].as_str().expect("a release");
    let reason = "the first release without the fault sonic-net/sonic-buildimage#24938";
    assert!(release.starts_with("`sonic` 202605, ") && release.contains(reason), "{release}");
    place.write("parallel.yaml", first["file"].as_str().expect("a text"));
    place.ends(0, &["check", "parallel.yaml", "-D", "warnings", "--allow", "W0203"]);
    place.ends(0, &["compile", "parallel.yaml", "--out", "tree"]);
    place.ends(0, &["verify", "tree"]);
    let usual =
        designs(&found).iter().find(|row| row["release"].is_null()).expect("one for the usual release");
    assert_eq!(usual["switches"], 48, "{found:#}");
    let page = place.ends(0, &design_args(PARALLEL));
    assert!(page.contains(&format!("    release: {release}\n")), "{page}");

    // The other design is not beaten, because it does not need a later release.
    place.write("usual.yaml", usual["file"].as_str().expect("a text"));
    let flags = format!("{PARALLEL} --explain usual.yaml");
    let explained = place.json(0, &design_args(&flags));
    assert!(
        explained["on_front"] == true && explained["beaten_by"] == serde_json::json!([]),
        "{explained:#}"
    );
    assert_eq!(explained["assumed_better"][0]["design"]["switches"], 16, "{explained:#}");
    let page = place.ends(0, &design_args(&flags));
    assert!(page.contains("need a later release") && page.contains("    release: `sonic` 202605"), "{page}");
}

/// A proposal has no findings except known faults of a release, and every output format lists each of them.
#[test]
fn known_faults_are_printed_in_every_form() {
    let place = Place::new();
    let flags = "--nics 512 --planes 1 --tiers 2 --platform th5-128x400g --os sonic --routing ecmp-static";
    let found = place.json(0, &design_args(flags));
    let row = &designs(&found)[0];
    let fault =
        row["known_faults"][0].as_str().expect("Broadcom switches ignore the fields of a hash").to_owned();
    place.write("fault.yaml", row["file"].as_str().expect("a text"));
    let report = place.json(0, &["check", "fault.yaml"]);
    let faults = row["known_faults"].as_array().expect("a list").len();
    assert_eq!(report["warnings"].as_u64(), Some(faults as u64), "{report:#}");
    let page = place.ends(0, &design_args(flags));
    assert!(page.contains(&format!("    known fault: {fault}\n")), "{page}");
    for form in ["csv", "html"] {
        let text = place.ends(0, &design_args(&format!("{flags} --format {form}")));
        assert!(text.contains("known fault: "), "{form}: {text}");
    }
}

/// Switches of a single tier do not spread traffic, so their hash fields have no effect.
#[test]
fn a_single_tier_has_no_fault_of_hashing() {
    let place = Place::new();
    let found =
        place.json(0, &design_args("--nics 64 --planes 1 --tiers 1 --platform th5-128x400g --os sonic"));
    let row = &designs(&found)[0];
    assert_eq!(row["known_faults"], serde_json::json!([]), "{row:#}");
    place.write("one.yaml", row["file"].as_str().expect("a text"));
    place.ends(0, &["check", "one.yaml", "-D", "warnings"]);
}

/// All releases have this fault, so the assumed release is kept.
#[test]
fn a_release_is_stated_only_if_it_has_fewer_faults() {
    let place = Place::new();
    for routing in ["ecmp-static", "bgp-unnumbered"] {
        let flags =
            format!("--nics 512 --planes 1 --tiers 2 --platform th5-128x400g --os sonic --routing {routing}");
        let found = place.json(0, &design_args(&flags));
        assert!(designs(&found).iter().all(|row| row["release"].is_null()), "{found:#}");
    }
}
