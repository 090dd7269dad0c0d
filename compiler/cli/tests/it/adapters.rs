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
