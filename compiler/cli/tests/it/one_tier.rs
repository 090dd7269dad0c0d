//! A fabric with only T0s: every command treats NICs of different T0 groups as pairs without a path.

use crate::common::Place;

/// Two rails and two planes: each rail has its own switch in each plane.
fn yaml(nodes: u16, os: &str) -> String {
    format!(
        "fabric: rails\nplanes: 2\nrouting: ecmp-static\nhosts: {{ groups: 2, per_group: {nodes}, nics_per_node: 2, rails: 2, nic: {{ speed: \
         200G, lanes: 2 }}, os: linux }}\ntiers: {{ t0: {{ platform: linux, os: {os} }} }}\ncables: {{ nic-t0: {{ length: 1m, medium: \
         virtual }} }}\nqos: none\n"
    )
}

fn place() -> Place {
    let place = Place::new();
    place.write("fabric.yaml", yaml(4, "linux"));
    place
}

#[test]
fn check_and_verify_count_pairs_that_have_a_path() {
    let place = place();
    let text = place.ends(0, &["check", "fabric.yaml"]);
    assert!(text.contains("2  paths between NICs of one T0 group\n"), "{text}");
    assert!(text.contains("0  paths between NICs of different groups: no tier connects T0s\n"), "{text}");
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree"]);
    // 8 NICs in 2 planes: each reaches 3 of the 7 others.
    let text = place.ends(0, &["verify", "tree"]);
    assert!(text.contains("deliveries: 48 of 48 that cables lead to arrive"), "{text}");
    assert!(text.contains("; 64 have no path\n"), "{text}");
}

#[test]
fn whatif_counts_pairs_of_one_group() {
    let place = place();
    let text = place.ends(0, &["whatif", "fabric.yaml"]);
    assert!(text.contains("one failure at a time; 12 pairs of NICs\n") && !text.contains("NaN"), "{text}");
    let text = place.ends(0, &["whatif", "fabric.yaml", "--fail", "p0-t0-001"]);
    assert!(text.contains("12 pairs of NICs: 6 (50 %) lose paths") && !text.contains("NaN"), "{text}");
}

#[test]
fn diff_and_grow_add_no_pairs_across_groups() {
    let place = place();
    place.write("larger.yaml", yaml(6, "linux"));
    let text = place.ends(2, &["diff", "fabric.yaml", "larger.yaml"]);
    assert!(text.contains("18 pairs of NICs inside a T0 group are added, with 2 paths\n"), "{text}");
    assert!(!text.contains("across T0 groups"), "{text}");
    let text = place.ends(2, &["grow", "fabric.yaml", "larger.yaml"]);
    assert!(text.contains("no plugged cable moves\n"), "{text}");
    place.write("frr.yaml", yaml(4, "frr"));
    let text = place.ends(2, &["diff", "fabric.yaml", "frr.yaml"]);
    assert!(text.contains("~ tiers.t0.os  linux -> frr\n") && !text.contains("tiers.t1"), "{text}");
}

#[test]
fn demands_between_rails_are_not_carried() {
    let place = place();
    let demands = |to: &str| format!("source,destination,gbps\nsu001-n001/nic0,su001-n002/{to},50\n");
    place.write("rail.csv", demands("nic0"));
    let text = place.ends(0, &["te", "fabric.yaml", "--demand", "rail.csv"]);
    assert!(text.contains("50.0 Gb/s of 50.0 Gb/s carried"), "{text}");
    place.write("rails.csv", demands("nic1"));
    let text = place.ends(1, &["te", "fabric.yaml", "--demand", "rails.csv"]);
    assert!(text.contains("group-0001 to group-0002: no tier connects the two NICs, by design"), "{text}");
}

#[test]
fn exports_are_written_or_refused_by_name() {
    let place = place();
    for export in ["drawing", "report", "cables", "tables", "scheduler", "kubernetes", "order"] {
        place.ends(0, &["export", export, "fabric.yaml", "--out", export]);
    }
    let run = place.closc(&["export", "simulation", "--for", "htsim", "fabric.yaml", "--out", "sim"]);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        !run.status.success() && text.contains("htsim has no way to describe a fabric without T0-T1 cables"),
        "{text}"
    );
}
