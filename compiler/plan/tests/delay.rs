//! The delay of the longest path counts every cable and switch once each way.

use closc_tests::shape::{Shape, T2, plan};

const SMALL: Shape = Shape::SMALL;

fn terms(shape: &Shape) -> (String, String) {
    let delay = shape.plan().delay();
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
    let t2 = Some(T2 { zones: 2, steps: 2, parallel: 1, rows: false });
    assert_eq!(terms(&Shape { t2, ..SMALL }), ("12".into(), "7000".into()));
}

#[test]
fn the_farthest_zones_count() {
    let t2 = Some(T2 { zones: 3, steps: 2, parallel: 1, rows: false });
    let text = Shape { t2, ..SMALL }.yaml().replace(
        "t1-t2: { length: 3m, medium: virtual }",
        "t1-t2: { length: 3m, medium: virtual }\n  by_zone: { 2: { length: 80km, medium: virtual } }",
    );
    let cable = plan(&text).delay().terms.term("cable").expect("every delay has this step").value.to_string();
    // 2 x (1 + 2) m in the halls, 3 m and 80 km to the T2 between.
    assert_eq!(cable, "80009");
}

/// A NIC that is absent leaves more of the buffer to the other ports of its T0, and moves no target.
#[test]
fn zones_that_are_alike_aim_at_one_delay_whatever_is_absent() {
    let text = "fabric: shape\nplanes: 2\nzones: 2\nhosts: { groups: 2, per_group: 3, nic: { speed: 1600G, lanes: 16 }, os: none }\n\
                routing: srv6-static\ntiers:\n  t0: { platform: th5-64x800g, os: sonic, up: 2 }\n  t1: { platform: th5-64x800g, os: \
                sonic, up: 2 }\n  t2: { platform: th5-64x800g, os: sonic }\ncables:\n  nic-t0: { length: 1m, medium: dac }\n  \
                t0-t1: { length: 2m, medium: dac }\n  t1-t2: { length: 3m, medium: dac }\nqos: { base: lossless, classes: { \
                data: { ecn: { fill: { min: 20, max: 60, probability: 10 } } } } }\n";
    let targets = |text: &str| plan(text).zone_delays().iter().map(|delay| delay.target).collect::<Vec<_>>();
    let whole = targets(text);
    let less = targets(&format!("{text}exceptions: {{ absent: [z0-su001-n002/nic0] }}\n"));
    assert!(whole[0].is_some() && whole[0] == whole[1], "{whole:?}");
    assert!(less[0].is_some() && less[0] == less[1], "{less:?}");
}
