//! Switches that a push reloads are drained, and all others are not.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use closc_diff::rollout::{Limit, Rollout, Step};
use closc_diff::{Options, Place, ReloadComparison, Report, Side};
use closc_plan::Plan;
use closc_tests::shape::plan;
use closc_topology::{Switch, TierId};

fn fabric(planes: u8, groups: u16, routing: &str, more: &str) -> Plan {
    plan(&format!(
        "fabric: pod\nplanes: {planes}\nrouting: {routing}\n\
         hosts: {{ groups: {groups}, per_group: 2, nic: {{ speed: {planes}00G, lanes: {planes} }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: 2 }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n\
         cables: {{ nic-t0: {{ length: 3m }}, t0-t1: {{ length: 30m }} }}\nqos: none\n{more}"
    ))
}

/// Returns the T1s among some switches.
fn t1s(some: &[Switch]) -> BTreeMap<Switch, String> {
    let of_tier = some.iter().filter(|switch| switch.tier == TierId::T1);
    of_tier.map(|switch| (*switch, "its ports change".to_owned())).collect()
}

fn steps(old: &Plan, new: &Plan, reloads: ReloadComparison<'_>) -> Vec<String> {
    let side = |source: &str| Side { source: source.into(), fabric: "pod".into(), digest: source.into() };
    let sides = ((old, side("old")), (new, side("new")));
    let report = Report::of_plans_with(sides.0, sides.1, Options::default(), None, Some(reloads));
    let rollout = report.rollout.expect("plans have one");
    assert_eq!(rollout.hitless, rollout.steps.iter().all(|step| step.starts_with("hitless: ")));
    rollout.steps
}

#[test]
fn growth_drains_switches_that_reload() {
    for routing in ["srv6-static", "ecmp-static", "bgp-unnumbered"] {
        let (old, new) = (fabric(2, 4, routing, ""), fabric(2, 8, routing, ""));
        let reloads = |_: &Plan, _: &Plan, some: &[Switch]| t1s(some);
        let text = steps(&old, &new, &reloads).join("\n");
        assert!(text.contains("drain plane by plane (T1): 4 switches reload: its ports change"), "{text}");
        let limit = Limit::one_plane(old.topology());
        let rollout =
            Rollout::with_comparison(&old, &new, limit, None, Some(&reloads)).expect("it has an order");
        let drained: BTreeSet<Place> = rollout.waves.iter().flat_map(|wave| wave.drained.clone()).collect();
        let t1s: BTreeSet<Place> =
            old.switches().filter(|switch| switch.tier == TierId::T1).map(Place::Switch).collect();
        assert_eq!(drained, t1s, "{routing}");
        for wave in &rollout.waves {
            let configured = wave.switches.iter().filter(|switch| t1s.contains(&Place::Switch(**switch)));
            for switch in configured {
                assert!(wave.drained.contains(&Place::Switch(*switch)), "{routing}: {switch:?} is in use");
            }
        }
        let none = |_: &Plan, _: &Plan, _: &[Switch]| BTreeMap::new();
        let text = steps(&old, &new, &none).join("\n");
        assert!(text.starts_with("hitless: "), "{text}");
    }
}

/// Of more than a thousand switches, only the first and the last of each class are compared.
#[test]
fn large_fabrics_compare_two_switches_of_each_class() {
    let of = |more: &str| fabric(8, 150, "srv6-static", more);
    let (old, new) = (of(""), of("services: { ntp: [192.0.2.1] }\n"));
    let asked = Cell::new(0);
    let reloads = |_: &Plan, _: &Plan, some: &[Switch]| {
        asked.set(some.len());
        t1s(some)
    };
    let text = steps(&old, &new, &reloads).join("\n");
    assert!(text.contains("drain plane by plane (T1): 16 switches reload"), "{text}");
    assert_eq!(asked.get(), 4);
}

/// A wave with switches that reload lasts as long as a reload, whether or not another change drains them too.
#[test]
fn a_wave_with_reloads_includes_their_time() {
    let (old, new) = (fabric(2, 4, "ecmp-static", ""), fabric(2, 8, "ecmp-static", ""));
    let mtu = fabric(2, 4, "ecmp-static", "mtu: { link: 9000 }\n");
    let reloads = |_: &Plan, _: &Plan, some: &[Switch]| t1s(some);
    let none = |_: &Plan, _: &Plan, _: &[Switch]| BTreeMap::new();
    let waves = |new: &Plan, reloads: ReloadComparison<'_>| {
        let limit = Limit::one_plane(old.topology());
        Rollout::with_comparison(&old, new, limit, None, Some(reloads)).expect("it has an order").waves
    };
    for new in [&new, &mtu] {
        let drained = |wave: &&closc_diff::rollout::Wave| {
            wave.drained.iter().any(|place| matches!(place, Place::Switch(Switch { tier: TierId::T1, .. })))
        };
        let found = waves(new, &reloads);
        assert!(found.iter().any(|wave| drained(&wave)), "{found:#?}");
        for wave in found.iter().filter(drained) {
            assert!(wave.steps.iter().any(|step| matches!(step, Step::Reload { switches: 2 })), "{wave:#?}");
            assert!(wave.duration.0 >= 420, "{wave:#?}");
        }
    }
    let quick = waves(&mtu, &none);
    assert!(quick.iter().all(|wave| wave.duration.0 < 420), "{quick:#?}");
}

/// A switch that an exception names is compared by itself, wherever it is in its class.
#[test]
fn large_fabrics_compare_switches_with_exceptions() {
    for exception in [
        "absent: [p3-t0-075--p3-t1-002]",
        "absent: [su075-n001/nic0]",
        "drained: [p3-t0-075--p3-t1-002]",
        "isolated: [p3-t0-075--p3-t1-002]",
        "cables: { p3-t0-075--p3-t1-002: { length: 50m } }",
    ] {
        let of =
            |more: &str| fabric(8, 150, "srv6-static", &format!("exceptions: {{ {exception} }}\n{more}"));
        let (old, new) = (of(""), of("services: { ntp: [192.0.2.1] }\n"));
        // A NIC is absent on one T0 of each plane, and these T0s are one class.
        let is_odd = |switch: &Switch| old.switch_name(*switch).ends_with("-t0-075");
        let asked = Cell::new(0);
        let reloads = |_: &Plan, _: &Plan, some: &[Switch]| {
            asked.set(some.len());
            some.iter().filter(|one| is_odd(one)).map(|one| (*one, "its ports change".to_owned())).collect()
        };
        let text = steps(&old, &new, &reloads).join("\n");
        assert!(text.contains("drain plane by plane (T0): "), "{exception}: {text}");
        assert!(asked.get() <= 12, "{exception}: {} switches", asked.get());
    }
}
