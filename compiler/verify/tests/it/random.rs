//! No false alarms: random valid fabrics of every target, with random exceptions, are verified without violations, and
//! walking every path gives the same numbers as the proof.

use closc_tests::shape::{self, Shape};
use closc_verify::{Options, verify};

use crate::common;
use crate::common::fabrics::{Fabrics, Target};

#[test]
fn valid_fabrics_verify() {
    let mut fabrics = Fabrics::new();
    let (mut walked, mut absent, mut drained) = (0, 0, 0);
    for number in 0..200 {
        let (target, yaml, plan) = fabrics.next();
        let tree = common::tree(&plan);
        let report = verify(&tree, &Options::default()).expect("the tree can be read");
        assert!(report.holds(), "fabric {number}, {target:?}:\n{yaml}\n{}", report.text());
        let paths = report.paths.expect("hosts write paths");
        let walk = report.walk.expect("the fabric is small");
        assert_eq!((paths.named, paths.arrive, paths.in_use), (walk.walked, walk.arrive, walk.in_use));
        walked += walk.walked;
        absent += usize::from(paths.arrive < paths.named);
        drained += usize::from(paths.in_use < paths.arrive);
    }
    println!("{walked} paths walked; {absent} fabrics with absent paths, {drained} with drained ones");
    assert!(absent > 20 && drained > 20, "exceptions take paths away: {absent}, {drained}");
}

/// A fabric that is just small enough to walk every path: 64 T0s in each plane.
#[test]
fn sixty_four_t0s_are_walked_one_by_one() {
    let shape = Shape {
        planes: 2,
        groups: 64,
        per_group: 2,
        rails: 1,
        t1: 8,
        parallel: 1,
        t2: None,
        exceptions: "exceptions: { absent: [p0-t1-003, p1-t0-007--p1-t1-002], drained: [p1-t1-005] }\n"
            .to_owned(),
    };
    // Nodes have only path tables, because other files would take most of the time.
    let yaml = Target::Frr.apply(&shape.yaml()).replace("  os: linux\ntiers", "tiers");
    let plan = shape::plan(&yaml);
    let report = verify(&common::tree(&plan), &Options::default()).expect("the tree can be read");
    assert!(report.holds(), "{}", report.text());
    let (paths, walk) =
        (report.paths.expect("hosts write paths"), report.walk.expect("there are few enough"));
    assert_eq!((paths.named, paths.arrive, paths.in_use), (walk.walked, walk.arrive, walk.in_use));
    // Pairs inside a group have one path per plane, other pairs one for each of the 8 T1s.
    assert_eq!(paths.named, 2 * (64 * 2 + 128 * 126 * 8));
    // Plane 0 lacks a T1, and plane 1 lacks a cable.
    assert_eq!(paths.arrive, paths.named - 128 * 126 - 2 * 2 * 126);
}
