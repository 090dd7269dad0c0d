//! Planes by NIC: zones that only nodes connect. Every command treats NICs of different zones as pairs without a
//! path.

use crate::common::Place;

/// Two planes by NIC, where each NIC has one port: NIC k of a node is in zone k. A zone has two T0s and two T1s.
fn yaml(nodes: u16, routing: &str, os: &str) -> String {
    format!(
        "fabric: by-nic\nplanes: 1\nzones: 2\nrouting: {routing}\nhosts: {{ groups: 2, per_group: {nodes}, nics_per_node: 2, rails: 2, \
         zones_per_node: 2, nic: {{ speed: 100G, lanes: 1 }}, os: linux }}\ntiers:\n  t0: {{ platform: linux, os: {os}, up: 2 }}\n  t1: {{ \
         platform: linux, os: {os} }}\ncables:\n  nic-t0: {{ length: 1m, medium: virtual }}\n  t0-t1: {{ length: 1m, medium: virtual \
         }}\nqos: none\n"
    )
}

fn place() -> Place {
    let place = Place::new();
    place.write("fabric.yaml", yaml(2, "ecmp-static", "linux"));
    place
}

#[test]
fn check_and_verify_count_pairs_that_have_a_path() {
    let place = place();
    let text = place.ends(0, &["check", "fabric.yaml"]);
    assert!(text.contains("2  paths between NICs of different groups\n"), "{text}");
    assert!(text.contains("0  paths between NICs of different zones: no tier connects zones\n"), "{text}");
    place.write("bgp.yaml", yaml(2, "bgp-unnumbered", "frr"));
    for file in ["fabric.yaml", "bgp.yaml"] {
        place.ends(0, &["compile", "--quiet", file, "--out", file.trim_end_matches(".yaml")]);
        // 8 NICs: each reaches 3 of the 7 others.
        let text = place.ends(0, &["verify", file.trim_end_matches(".yaml")]);
        assert!(text.contains("deliveries: 24 of 24 that cables lead to arrive"), "{text}");
        assert!(text.contains("; 32 have no path\n"), "{text}");
    }
}

#[test]
fn hosts_cannot_choose_paths() {
    let place = place();
    place.write("srv6.yaml", yaml(2, "srv6-static", "linux"));
    let run = place.closc(&["check", "srv6.yaml"]);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(text.contains("`srv6-static` needs a T2 tier for 2 zones"), "{text}");
}

/// The first switch drops a packet for another plane by NIC, and nodes do not send such packets.
#[test]
fn no_route_leads_to_another_zone() {
    let place = place();
    place.ends(0, &["compile", "--quiet", "fabric.yaml", "--out", "tree"]);
    let batch = |device: &str| {
        std::fs::read_to_string(place.path(&format!("tree/{device}/ip.batch"))).expect("a file")
    };
    // The fourth hextet of an address begins with the zone.
    let is_of_zone_1 = |line: &&str| line.contains("route replace fd00:c105:1:10");
    for switch in ["z0-p0-t0-001", "z0-p0-t1-001"] {
        let text = batch(&format!("switches/{switch}"));
        let routes: Vec<&str> = text.lines().filter(is_of_zone_1).collect();
        assert!(routes.is_empty(), "{switch}: {routes:?}");
    }
    let text = batch("hosts/z0-su001-n001");
    let across: Vec<&str> = text.lines().filter(|line| line.contains(" via ")).filter(is_of_zone_1).collect();
    assert!(!across.is_empty() && across.iter().all(|line| line.contains("dev nic1p0")), "{across:?}");
}

#[test]
fn whatif_counts_pairs_of_one_zone() {
    let place = place();
    let text = place.ends(0, &["whatif", "fabric.yaml"]);
    assert!(text.contains("one failure at a time; 12 pairs of NICs\n") && !text.contains("NaN"), "{text}");
    let text = place.ends(1, &["whatif", "fabric.yaml", "--fail", "z1-p0-t0-001"]);
    assert!(text.contains("12 pairs of NICs: 5 (41.7 %) lose paths") && !text.contains("NaN"), "{text}");
}

#[test]
fn diff_and_grow_add_no_pairs_across_zones() {
    let place = place();
    place.write("larger.yaml", yaml(3, "ecmp-static", "linux"));
    let text = place.ends(2, &["diff", "fabric.yaml", "larger.yaml"]);
    assert!(text.contains("inside a T0 group are added") && text.contains("across T0 groups"), "{text}");
    assert!(!text.contains("across zones"), "{text}");
    let text = place.ends(2, &["grow", "fabric.yaml", "larger.yaml"]);
    assert!(text.contains("no plugged cable moves\n"), "{text}");
}

#[test]
fn demands_between_zones_are_not_carried() {
    let place = place();
    let demands = |to: &str| format!("source,destination,gbps\nz0-su001-n001/nic0,z0-su002-n001/{to},50\n");
    place.write("zone.csv", demands("nic0"));
    let text = place.ends(0, &["te", "fabric.yaml", "--demand", "zone.csv"]);
    assert!(text.contains("50.0 Gb/s of 50.0 Gb/s carried"), "{text}");
    place.write("zones.csv", demands("nic1"));
    let text = place.ends(1, &["te", "fabric.yaml", "--demand", "zones.csv"]);
    let said = "z0-group-0001 to z1-group-0002: no tier connects the two NICs, by design";
    assert!(text.contains(said), "{text}");
}

#[test]
fn exports_are_written_or_refused_by_name() {
    let place = place();
    for export in ["drawing", "report", "cables", "tables", "scheduler", "kubernetes", "order"] {
        place.ends(0, &["export", export, "fabric.yaml", "--out", export]);
    }
    place.ends(0, &["export", "simulation", "--for", "infragraph", "fabric.yaml", "--out", "sim"]);
    for simulator in ["htsim", "astra-sim", "ns3"] {
        let run = place.closc(&["export", "simulation", "--for", simulator, "fabric.yaml", "--out", "sim"]);
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        let is_named = text.contains("no switch connects") || text.contains("zones only nodes connect");
        assert!(!run.status.success() && is_named, "{simulator}: {text}");
    }
}
