//! Adapters with two NICs in one plane (dual ToR): every command counts one adapter with two NICs.

use crate::common::Place;

const FILE: &str = "topologies/examples/dual-tor.yaml";

/// Writes the example with a routing mode.
fn place(routing: &str) -> Place {
    let place = Place::new();
    let text = std::fs::read_to_string(place.path(FILE)).expect("the example");
    let changed = text.replace("routing: bgp-unnumbered", &format!("routing: {routing}"));
    place.write("fabric.yaml", changed);
    place
}

#[test]
fn every_routing_is_proved_and_survives_a_t0() {
    for routing in ["srv6-static", "ecmp-static", "bgp-unnumbered"] {
        let place = place(routing);
        let text = place.ends(0, &["check", "fabric.yaml"]);
        for line in ["256  NICs\n", "128  adapters\n", "8  T0 switches\n", "256  host links\n"] {
            assert!(text.contains(line), "{routing}: {line}: {text}");
        }
        place.ends(0, &["compile", "--quiet", "fabric.yaml", "--out", "tree"]);
        place.ends(0, &["verify", "tree"]);
        let text = place.ends(1, &["whatif", "fabric.yaml", "--fail", "p0-t0-001"]);
        assert!(
            text.contains(
                "128 adapters: 0 are cut off, 32 keep some of their NICs; 0 of 8,128 pairs are cut off\n"
            ),
            "{routing}: {text}"
        );
        let text = place.ends(1, &["whatif", "fabric.yaml", "--fail", "su001-n001/adapter3"]);
        assert!(
            text.contains(
                "128 adapters: 1 is cut off, 0 keep some of their NICs; 127 of 8,128 pairs are cut off\n"
            ),
            "{routing}: {text}"
        );
    }
}

#[test]
fn cages_are_those_of_the_adapter() {
    let place = place("srv6-static");
    for (cages, count) in [(2, 256), (1, 128)] {
        let text = std::fs::read_to_string(place.path("fabric.yaml")).expect("the file");
        place.write("cages.yaml", text.replace("cages: 2", &format!("cages: {cages}")));
        let folder = format!("lists{cages}");
        place.ends(0, &["export", "cables", "cages.yaml", "--out", &folder]);
        let bill = place.path(&folder).join("cables/bill.csv");
        let text = std::fs::read_to_string(bill).expect("the bill");
        let row = text.lines().find(|line| line.starts_with("nic-t0,")).expect("a row of NIC cables");
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells[5..7], ["256", &count.to_string()], "{row}");
    }
}

#[test]
fn a_bond_is_rejected_with_what_to_write() {
    let place = place("bgp-unnumbered");
    let text = std::fs::read_to_string(place.path("fabric.yaml")).expect("the file");
    place.write("bond.yaml", text.replace("  rails: 2 ", "  bond: lacp\n  rails: 2 "));
    let run = place.closc(&["check", "bond.yaml"]);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(text.contains("error[E0329]: a LACP bond over several T0s is not supported"), "{text}");
    assert!(text.contains("remove `hosts.bond`"), "{text}");
    place.ends(0, &["explain", "E0329"]);
}

/// More pairs of T0s renumber nothing.
#[test]
fn growth_moves_nothing() {
    let place = place("srv6-static");
    let text = std::fs::read_to_string(place.path("fabric.yaml")).expect("the file");
    place.write("larger.yaml", text.replace("groups: 8", "groups: 16").replace("spare: 192", "spare: 128"));
    let text = place.ends(2, &["grow", "fabric.yaml", "larger.yaml"]);
    assert!(
        text.contains("no plugged cable moves\nexisting addresses and segments are unchanged\n"),
        "{text}"
    );
}

/// Both NICs of the only adapter of a node share its transceiver. Their ports are the backups of each other, because
/// they are on different T0s.
#[test]
fn backups_on_one_adapter_share_its_transceiver() {
    let place = Place::new();
    place.write(
        "fabric.yaml",
        "fabric: one-adapter\nplanes: 2\nrouting: ecmp-static\nqos: none\nhosts: { groups: 4, per_group: 1, nics_per_node: 2, \
         rails: 2, nics_per_adapter: 2, nic: { speed: 800G, lanes: 8 }, os: none, outputs: [netplan, nccl] }\ntiers:\n  \
         t0: { platform: spectrum4-sn5600, os: sonic, down: { breakout: 2x400G }, up: 2 }\n  \
         t1: { platform: spectrum4-sn5600, os: sonic, count: 2 }\n",
    );
    place.ends(0, &["compile", "--quiet", "fabric.yaml", "--out", "tree"]);
    place.ends(0, &["verify", "tree"]);
    let file = "tree/hosts/su001-n001/backup-ports.json";
    let backups: serde_json::Value = serde_json::from_str(&place.read(file)).expect("it is JSON");
    let pair = &backups["pairs"][0];
    assert_eq!(
        (&pair["backup"]["name"], &pair["shares"][0]),
        (&"nic1p1".into(), &"transceiver".into()),
        "{pair}"
    );
    place.write(file, place.read(file).replacen("\"transceiver\"", "", 1));
    let text = place.ends(1, &["verify", "tree"]);
    assert!(text.contains("`nic0p0` and `nic1p1` share other components than listed"), "{text}");
}
