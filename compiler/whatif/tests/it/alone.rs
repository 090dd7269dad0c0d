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
