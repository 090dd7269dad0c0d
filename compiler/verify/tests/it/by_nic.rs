//! Planes by NIC: damage that leads from one plane to another, or loses packets inside one, is found.

use closc_artefacts::Memory;
use closc_tests::shape::{Shape, T2};
use closc_verify::{Options, verify};

use crate::common;
use crate::common::damage::{Damage, damage};

const SHAPE: Shape = Shape {
    planes: 1,
    groups: 2,
    per_group: 2,
    rails: 2,
    t1: 2,
    parallel: 1,
    t2: Some(T2 { zones: 2, steps: 0, parallel: 1, rows: 0, node_zones: 2 }),
    exceptions: String::new(),
};

const NODE: &str = "hosts/z0-su001-n001/ip.batch";
const T0: &str = "switches/z0-p0-t0-001/ip.batch";
const T1: &str = "switches/z0-p0-t1-001/ip.batch";
const CABLES: &str = "cables/plane-0.csv";

const DAMAGES: &[(&str, &str, Damage, &str)] = &[
    (
        "a NIC sends to every plane",
        NODE,
        Damage::Text(
            "unreachable fd00:c105:1::/48 from fd00:c105:1:1::1/128",
            "fd00:c105:1::/48 from fd00:c105:1:1::1/128 via fd00:c105:2:0:1:1:0:b dev nic0p0",
        ),
        "V1712",
    ),
    (
        "a NIC has a route to another plane",
        NODE,
        Damage::More(
            "route replace fd00:c105:1:1000::/52 from fd00:c105:1:1::1/128 via fd00:c105:2:0:1:1:0:b dev nic0p0\n",
        ),
        "V1712",
    ),
    ("a NIC does not send to its plane", NODE, Damage::Lost("fd00:c105:1:1000::/52 from"), "V1712"),
    ("a T0 has no route to its plane", T0, Damage::Lost("replace fd00:c105:1::/52"), "V1702"),
    (
        "a T0 has a route to another plane instead",
        T0,
        Damage::All("fd00:c105:1::/52", "fd00:c105:1:1000::/52"),
        "V1702",
    ),
    ("a T1 has no route to a group", T1, Damage::Lost("fd00:c105:1:2::/64"), "V1702"),
    ("cables lead to the other plane", CABLES, Damage::Exchange("z0-p0-t1-001", "z1-p0-t1-001"), "V0304"),
];

#[test]
fn damage_is_found() {
    let plan = SHAPE.plan();
    let whole = common::tree(&plan);
    let codes = |tree: &Memory| {
        let report =
            verify(tree, &Options { digests: false, max_violations: usize::MAX, ..Options::default() });
        report.map(|report| report.violations.iter().map(|found| found.rule.code).collect::<Vec<_>>())
    };
    assert_eq!(codes(&whole).expect("the tree can be read"), [""; 0]);
    for (what, file, kind, code) in DAMAGES {
        let mut tree = whole.clone();
        damage(&plan, &mut tree, file, *kind);
        let found = codes(&tree).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(found.contains(code), "{what}: {found:?}, not {code}");
    }
}

/// If a T0 forwards packets for another plane, a T1 drops them: no cable leads there, whatever the routes are.
#[test]
fn no_route_of_a_switch_crosses() {
    let plan = SHAPE.plan();
    let mut tree = common::tree(&plan);
    let route = "route replace fd00:c105:1:1000::/52 via fd00:c105:2:1000:1:1:0:b dev eth501\n";
    damage(&plan, &mut tree, T0, Damage::More(route));
    let report = verify(&tree, &Options { digests: false, ..Options::default() }).expect("it can be read");
    let (delivery, walk) = (report.delivery.expect("switches choose"), report.choices.expect("it is small"));
    // There are eight NICs. Each reaches the 3 others of its plane, and none of the 4 NICs of the other plane.
    assert_eq!((delivery.deliveries, delivery.possible, delivery.arrive), (56, 24, 24));
    assert_eq!((walk.deliveries, walk.arrive), (56, 24));
}
