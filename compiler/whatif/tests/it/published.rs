//! Published numbers of a fabric, compared with counts from its file.
//!
//! Source: arXiv 2605.04333, sections 2 and 5. The loss of a T0-T1 link costs 0.4 %, and that of a NIC link
//! 12 %. A failed T0 costs its group one plane, and a failed T1 costs nothing in steady state. Two tiers need
//! 3/5 of the switches and 2/3 of the optics of three tiers, and paths have 3 switches instead of 5.

use std::fs;
use std::path::Path;

use closc_plan::Plan;
use closc_tests::shape::plan;
use closc_whatif::{Design, Elements, Figure, Kind, Outcome, WhatIf, draw, ratio};

fn reference(name: &str) -> Plan {
    plan(&text(name))
}

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../topologies/reference").join(name);
    fs::read_to_string(path).expect("the reference fabric is in the tree")
}

fn fail(plan: &Plan, name: &str) -> Outcome {
    let elements = Elements::of(plan.fabric());
    WhatIf::new(elements).fail(&elements.parse(name).unwrap(), 1)
}

fn is_close(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() < 1e-12
}

#[test]
fn what_one_failure_costs_on_the_reference_fabric() {
    let plan = reference("mrc-8x512.yaml");
    let pairs = 131_072 * 131_071 / 2;
    let of_group = 256 * (131_072 - 256) + 256 * 255 / 2;

    let cable = fail(&plan, "p3-t0-017--p3-t1-005");
    assert!(is_close(cable.part_of_plane(cable.plane_loss_max), 1.0 / 256.0), "0.4 % of the plane's share");
    assert!(is_close(cable.part(cable.loss_max), 1.0 / 2048.0));
    assert_eq!((cable.pairs(), cable.affected_pairs), (pairs, 256 * (131_072 - 256)));
    assert_eq!((cable.solo_min_mbps, cable.cut_off), (800_000, 0), "a pair alone goes round it");

    let port = fail(&plan, "su017-n004/nic2.p3");
    assert!(is_close(port.part(port.loss_max), 0.125), "12.5 % of the NIC's bandwidth");
    assert_eq!((port.affected_pairs, port.cut_off, port.solo_min_mbps), (131_071, 0, 700_000));

    let module = fail(&plan, "su017-n004/nic2/cage1");
    assert!(is_close(module.part(module.loss_max), 1.0), "all 8 planes of the NIC are lost at once");
    assert_eq!((module.affected_pairs, module.cut_off, module.nics_cut_off.len()), (131_071, 131_071, 1));

    let t0 = fail(&plan, "p3-t0-017");
    assert!(is_close(t0.part(t0.loss_max), 0.125), "one plane");
    assert!(is_close(t0.part_of_plane(t0.plane_loss_max), 1.0));
    assert_eq!((t0.affected_pairs, t0.cut_off), (of_group, 0), "of its group only");

    let t1 = fail(&plan, "p3-t1-005");
    assert_eq!((t1.cut_off, t1.nics_cut_off.len()), (0, 0), "no pair is cut off");
    assert_eq!(t1.solo_min_mbps, 800_000, "nothing, once load is spread anew");
    assert!(is_close(t1.part(t1.loss_max), 1.0 / 2048.0));

    let plane = fail(&plan, "plane 3");
    assert!(is_close(plane.part(plane.loss_max), 0.125));
    assert_eq!((plane.affected_pairs, plane.cut_off), (pairs, 0));

    let nic = fail(&plan, "su017-n004/nic2");
    assert_eq!((nic.newly_cut_off, nic.nics_cut_off.len(), nic.nodes_cut_off), (131_071, 1, 0));
}

#[test]
fn one_percent_of_all_cables_between_switches() {
    let plan = reference("mrc-8x512.yaml");
    let elements = Elements::of(plan.fabric());
    let failed = draw(&elements, &["t0-t1=1%".parse().unwrap()], 7).unwrap();
    // A binomial distribution of 1,048,576 draws, with a standard deviation of 102.
    assert!((10_486 - 510..10_486 + 510).contains(&failed.len()), "{}", failed.len());
    let outcome = WhatIf::new(elements).fail(&failed, 3);
    assert_eq!(outcome.pairs(), 131_072 * 131_071 / 2, "every pair is counted");
    // A path remains if both of its cables do, so a share of 0.99^2 remains.
    let zone = outcome.distances.last().unwrap();
    assert!((zone.paths.mean() / 2048.0 - 0.9801).abs() < 0.0005, "{}", zone.paths.mean());
    assert_eq!((outcome.cut_off, outcome.solo_min_mbps), (0, 800_000));
    assert!(zone.paths.minimum() > 1_900 && zone.paths.minimum() < zone.paths.quantile(1));
    assert_eq!(outcome.worst[0].paths, zone.paths.minimum());
}

fn figure(design: &Design, what: &str) -> Figure {
    *design.figures.iter().find(|figure| figure.what == what).unwrap()
}

fn compare(ours: &Design, theirs: &Design, what: &str) -> Option<(u64, u64)> {
    ratio(figure(ours, what), ours.nics, figure(theirs, what), theirs.nics)
}

/// Returns a fabric of eight planes with as many NICs as the three-tier fabric: 64 groups, and 8 cables from
/// each T0 to each of 32 T1s.
fn eight_planes_of_equal_size() -> String {
    text("mrc-8x512.yaml")
        .replace("groups: 512", "groups: 64")
        .replace("os: sonic, down: 256, up: 256,", "os: frr, down: 256, up: 256, parallel: 8,")
        .replace("os: sonic, count: 256", "os: frr, count: 32")
        .replace("qos: lossy-trim", "qos: none")
}

#[test]
fn eight_planes_of_two_tiers_against_one_of_three() {
    let (two, three) = (plan(&eight_planes_of_equal_size()), reference("three-tier-64x800g.yaml"));
    let (two, three) = (Design::of(Elements::of(two.fabric())), Design::of(Elements::of(three.fabric())));
    assert_eq!((two.nics, three.nics), (16_384, 16_384));
    assert_eq!(compare(&two, &three, "switches"), Some((3, 5)));
    assert_eq!(compare(&two, &three, "modules in cages and NICs"), Some((2, 3)));
    assert_eq!(figure(&two, "switches on the longest path").value, 3);
    assert_eq!(figure(&three, "switches on the longest path").value, 5);
    assert_eq!(figure(&two, "NICs behind one switch").value, 256);
    assert_eq!(figure(&three, "NICs behind one switch").value, 32);
    let cost = |design: &Design, kind: Kind| {
        let found = design.failures.iter().find(|(other, _)| *other == kind).unwrap();
        found.1.outcome.clone()
    };
    // "0.4 % (not 3 %)"
    let (a, b) = (cost(&two, Kind::T0T1), cost(&three, Kind::T0T1));
    assert!(is_close(a.part_of_plane(a.plane_loss_max), 1.0 / 256.0));
    assert!(is_close(b.part_of_plane(b.plane_loss_max), 1.0 / 32.0));
    // The loss of a NIC cable, transceiver or T0 costs the NIC one eighth of its bandwidth in one fabric, and
    // everything in the other.
    for kind in [Kind::NicT0, Kind::Cage, Kind::T0] {
        let (a, b) = (cost(&two, kind), cost(&three, kind));
        assert!(is_close(a.part(a.loss_max), 0.125) && a.cut_off == 0, "{kind:?}");
        assert!(is_close(b.part(b.loss_max), 1.0) && b.cut_off > 0, "{kind:?}");
    }
    assert_eq!(cost(&three, Kind::T0).nics_cut_off.len(), 32);
}

#[test]
fn the_reference_fabrics_differ_in_size_and_compare_for_each_nic() {
    let plans = [reference("mrc-4x256.yaml"), reference("three-tier-64x800g.yaml")];
    let [four, three] = plans.each_ref().map(|plan| Design::of(Elements::of(plan.fabric())));
    assert_eq!((four.nics, three.nics), (32_768, 16_384));
    assert_eq!(compare(&four, &three, "switches"), Some((3, 5)));
    assert_eq!(compare(&four, &three, "modules in cages and NICs"), Some((2, 3)));
}
