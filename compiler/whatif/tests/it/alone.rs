//! Bandwidth of a pair of NICs while no other pair sends, where uplinks of T0s are slower than NIC ports.

use closc_plan::PathKind;
use closc_tests::shape::plan;
use closc_whatif::{Elements, WhatIf};

/// Returns a three-tier fabric of two planes: 400G NIC ports, T0s with two 100G uplinks, and T1s with four.
fn fabric(routing: &str) -> String {
    format!(
        "fabric: slow-uplinks
planes: 2
zones: 2
routing: {routing}
hosts: {{ groups: 4, per_group: 2, nic: {{ speed: 800G, lanes: 8 }}, os: linux }}
tiers:
  t0: {{ platform: linux, os: linux, down: {{ breakout: 1x400G }}, up: {{ count: 2, breakout: 1x100G }} }}
  t1: {{ platform: linux, os: linux, down: {{ breakout: 1x100G }}, up: {{ count: 4, breakout: 1x100G }} }}
  t2: {{ platform: linux, os: linux, count: 4, down: {{ breakout: 1x100G }} }}
cables:
  nic-t0: {{ length: 1m, medium: virtual }}
  t0-t1: {{ length: 1m, medium: virtual }}
  t1-t2: {{ length: 1m, medium: virtual }}
"
    )
}

/// Several paths between zones share an uplink of the T0, and therefore its bandwidth.
#[test]
fn paths_between_zones_share_the_uplinks_of_a_t0() {
    for routing in ["srv6-static", "ecmp-static"] {
        let plan = plan(&fabric(routing));
        let elements = Elements::of(plan.fabric());
        let cable = elements.parse("z0-p0-t0-001--z0-p0-t1-001").expect("the cable exists");
        let outcome = WhatIf::new(elements).fail(&cable, 1);
        let alone = |kind: PathKind| {
            let apart =
                outcome.distances.iter().find(|apart| apart.kind == kind).expect("there are such pairs");
            apart.alone_mbps.counts().to_vec()
        };
        // Of the 120 pairs, 8 share a T0. After the cable failure, the two NICs of one T0 have three 100G
        // uplinks left.
        assert_eq!(alone(PathKind::Local), [(800_000, 8)], "{routing}");
        assert_eq!(alone(PathKind::Zone), [(300_000, 12), (400_000, 36)], "{routing}");
        assert_eq!(alone(PathKind::Far), [(300_000, 16), (400_000, 48)], "{routing}");
    }
}

/// NICs of 400G in zone 0 and of 800G in zone 1. Pairs of slow NICs that lose no path have all of their paths.
#[test]
fn slow_nics_have_all_of_their_paths() {
    let plan = plan(
        "fabric: two-speeds\nplanes: 2\nzones: 2\nrouting: ecmp-static\n\
         hosts: { groups: 4, per_group: 8, nic: { speed: 400G, lanes: 4 }, \
         nic_by_zone: { 1: { speed: 800G, lanes: 8, cages: 2 } }, per_group_by_zone: { 1: 4 } }\n\
         tiers:\n  t0: { platform: th5-64x800g, os: sonic, down: { count: 8, breakout: 4x200G }, \
         up: { count: 4, breakout: 2x400G }, by_zone: { 1: { platform: th5-128x400g } } }\n\
         \x20 t1: { platform: th5-128x400g, os: sonic, up: 4 }\n\
         \x20 t2: { platform: th5-128x400g, os: eos, ports_per_zone: 4 }\nqos: none\n",
    );
    let elements = Elements::of(plan.fabric());
    let failed = elements.parse("z1-p0-t1-002").expect("the T1 exists");
    let outcome = WhatIf::new(elements).fail(&failed, 1);
    let intact = outcome.path_share.counts().last().copied();
    assert_eq!((outcome.pairs(), outcome.affected_pairs), (1128, 608));
    assert_eq!(intact, Some((outcome.denominator, 1128 - 608)), "{:?}", outcome.path_share);
}
