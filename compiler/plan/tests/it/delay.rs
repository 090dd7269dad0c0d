//! The delay of the longest path counts every cable and switch once in each direction.

use closc_plan::Plan;
use closc_tests::shape::{Shape, T2, plan};
use closc_topology::{TierId, ZoneId};

const SMALL: Shape = Shape::SMALL;

fn terms(shape: &Shape) -> (String, String) {
    let plan = shape.plan();
    let delay = plan.delay();
    let value = |name| delay.terms.term(name).expect("every delay has this step").value.to_string();
    (value("cable"), value("switches"))
}

#[test]
fn one_group_is_one_switch_away_from_itself() {
    // Twice 1 m to the NICs; 2 x 1 x 700 ns.
    assert_eq!(terms(&Shape { groups: 1, ..SMALL }), ("2".into(), "1400".into()));
}

#[test]
fn two_tiers_are_three_switches() {
    // 1 + 2 + 2 + 1 m; 2 x 3 x 700 ns.
    assert_eq!(terms(&SMALL), ("6".into(), "4200".into()));
}

#[test]
fn three_tiers_are_five_switches() {
    let t2 = Some(T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 });
    assert_eq!(terms(&Shape { t2, ..SMALL }), ("12".into(), "7000".into()));
}

#[test]
fn the_farthest_zones_determine_the_delay() {
    let t2 = Some(T2 { zones: 3, steps: 2, parallel: 1, rows: 0, node_zones: 1 });
    let text = Shape { t2, ..SMALL }.yaml().replace(
        "t1-t2: { length: 3m, medium: virtual }",
        "t1-t2: { length: 3m, medium: virtual }\n  by_zone: { 2: { length: 80km, medium: virtual } }",
    );
    let cable = plan(&text).delay().terms.term("cable").expect("every delay has this step").value.to_string();
    // 2 x (1 + 2) m in the halls, 3 m and 80 km to the T2 between them.
    assert_eq!(cable, "80009");
}

/// Computed by hand: 9,216 B and 84 B take 372 ns at 200G and 744 ns at 100G. Each NIC adds 500 ns, each switch 700 ns
/// per direction, and each metre 2 / 0.198 ns.
#[test]
fn packets_arrive_at_the_speed_of_the_slowest_link() {
    let file = |zones: u16, zone1: &str, uplinks: &str| {
        plan(&format!(
            "fabric: shape\nplanes: 1\nzones: {zones}\nrouting: ecmp-static\nqos: none\nmtu: {{ link: 9216 }}\nhosts: {{ groups: 2, \
             per_group: 2, nic: {{ speed: 200G }}{zone1} }}\ntiers:\n  t0: {{ platform: linux, down: {{ breakout: 1x200G }}, up: {{ \
             count: 2, breakout: 1x{uplinks} }}{} }}\n  t1: {{ platform: linux, down: {{ breakout: 1x{uplinks} }}, up: {{ count: 1, \
             breakout: 1x400G }} }}\n  t2: {{ platform: linux, down: {{ breakout: 1x400G }} }}\ncables:\n  nic-t0: {{ length: 1m, \
             medium: virtual }}\n  t0-t1: {{ length: 10m, medium: virtual }}\n  t1-t2: {{ length: 100m, medium: virtual }}\n",
            if zone1.is_empty() { "" } else { ", by_zone: { 1: { down: { breakout: 1x100G } } }" },
        ))
    };
    let of = |plan: &Plan, zone| {
        let delay = plan.delay_from(ZoneId(zone));
        (delay.base_rtt.0, delay.bdp.0)
    };
    let rtt = |switches: u64, meters: u64, sending: u64| {
        1_000 + 2 * 700 * switches + sending + (2 * meters * 1_000).div_ceil(198)
    };
    // With one zone, paths never use a T2, so its cables do not matter.
    let one = rtt(3, 22, 372);
    assert_eq!(of(&file(1, "", "400G"), 0), (one, one * 25));
    // Uplinks slower than NIC ports carry every packet between groups.
    let slow = rtt(3, 22, 744);
    assert_eq!(of(&file(1, "", "100G"), 0), (slow, slow * 25));
    // One of three zones has 100G NICs. Whether it sends or receives, packet and acknowledgement take 744 ns.
    // The bandwidth-delay product uses the speed of the sender.
    let mixed = file(3, ", nic_by_zone: { 1: { speed: 100G } }", "400G");
    let far = rtt(5, 222, 744);
    assert_eq!(
        [0, 1, 2].map(|zone| of(&mixed, zone)),
        [(far, far * 25), (far, far * 25 / 2), (far, far * 25)]
    );
    assert_eq!(mixed.delay().base_rtt.0, far);
    assert_eq!(mixed.delay_of_tier(TierId::T0).base_rtt.0, slow, "the zone with 100G NICs");
    assert_eq!(of(&file(2, "", "400G"), 0).0, rtt(5, 222, 372), "equal zones");
}

/// An absent NIC leaves more buffer to the other ports of its T0. Both zones keep the same target delay.
#[test]
fn equal_zones_have_one_target_delay_despite_absent_nics() {
    let text = "fabric: shape\nplanes: 2\nzones: 2\nhosts: { groups: 2, per_group: 3, nic: { speed: 1600G, lanes: 16 }, os: none }\n\
                routing: srv6-static\ntiers:\n  t0: { platform: th5-64x800g, os: sonic, up: 2 }\n  t1: { platform: th5-64x800g, os: \
                sonic, up: 2 }\n  t2: { platform: th5-64x800g, os: sonic }\ncables:\n  nic-t0: { length: 1m, medium: dac }\n  \
                t0-t1: { length: 2m, medium: dac }\n  t1-t2: { length: 2m, medium: dac }\nqos: { base: lossless, classes: { \
                data: { ecn: { fill: { min: 20, max: 60, probability: 10 } } } } }\n";
    let targets = |text: &str| plan(text).zone_delays().iter().map(|delay| delay.target).collect::<Vec<_>>();
    let whole = targets(text);
    let less = targets(&format!("{text}exceptions: {{ absent: [z0-su001-n002/nic0] }}\n"));
    assert!(whole[0].is_some() && whole[0] == whole[1], "{whole:?}");
    assert!(less[0].is_some() && less[0] == less[1], "{less:?}");
}
