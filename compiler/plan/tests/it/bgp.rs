//! Growth adds BGP sessions and changes no other BGP setting of a switch.

use closc_artefacts::Routing;
use closc_plan::{BgpIntent, BgpNeighbour, Plan};
use closc_tests::shape::{Shape, T2};

fn shape(groups: u16, t1: u16, zones: Option<u16>) -> Shape {
    let t2 = zones.map(|zones| T2 { zones, steps: 2, parallel: 1, rows: 0, node_zones: 1 });
    Shape { planes: 1, groups, per_group: 1, rails: 1, t1, parallel: 1, t2, exceptions: String::new() }
}

/// Removes sessions from an intent, because a larger fabric has more of them.
fn remove_sessions(bgp: &BgpIntent) -> BgpIntent {
    BgpIntent { neighbours: Vec::<BgpNeighbour>::new(), ..bgp.clone() }
}

fn grows(small: &Plan, large: &Plan) {
    for switch in small.switches() {
        let (old, new) = (small.device(switch).bgp, large.device(switch).bgp);
        let (old, new) = (old.expect("it speaks BGP"), new.expect("it speaks BGP"));
        assert_eq!(remove_sessions(&old), remove_sessions(&new), "{switch:?}");
    }
}

/// Prefix limits depend on hardware and address fields, so growth changes none of them.
#[test]
fn growth_moves_no_limit() {
    let routed = |shape: &Shape| shape.plan_with_routing(Routing::BgpUnnumbered);
    let small = routed(&shape(3, 2, None));
    for (groups, t1) in [(4, 2), (5, 3), (9, 4), (17, 8), (33, 2)] {
        grows(&small, &routed(&shape(groups, t1, None)));
    }
    let small = routed(&shape(2, 2, Some(2)));
    for (groups, zones) in [(3, 2), (2, 3), (9, 5)] {
        grows(&small, &routed(&shape(groups, 2, Some(zones))));
    }
}

/// AS numbers are checked only with BGP and may overflow without it, so plans without BGP contain none.
#[test]
fn plans_without_bgp_have_no_as_numbers() {
    let yaml = shape(2, 2, None).yaml().replace("addresses: {", "addresses: { asn_base: 4294967295,");
    for routing in [Routing::Srv6Static, Routing::EcmpStatic] {
        let plan = closc_tests::shape::plan(
            &yaml.replace("tiers:", &format!("routing: {}\ntiers:", routing.keyword())),
        );
        assert!(plan.switches().all(|switch| plan.device(switch).system.asn.is_none()), "{routing:?}");
    }
}
