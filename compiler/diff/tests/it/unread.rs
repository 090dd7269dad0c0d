//! Settings that the routing of both sides does not read, and defaults that follow from another tier.

use closc_compile::{Part, Unit};
use closc_diff::grow::WorkOrder;
use closc_diff::rollout::{Limit, Rollout};
use closc_diff::{Item, Options, Report, Side};
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::shape::plan;

fn report(old: &Plan, new: &Plan) -> Report {
    let side = |source: &str| Side { source: source.into(), fabric: "g".into(), digest: source.into() };
    let templates = Templates::builtin();
    let differs = |item| {
        let unit = match item {
            Item::Switch(switch) => Unit::Switch(switch),
            Item::Node(node) => Unit::Host(node),
            Item::Table(zone, group) => Unit::Group(zone, group),
            Item::List(plane) => Unit::Cables(plane),
        };
        unit.differs(old, new, &templates)
    };
    Report::of_plans_with((old, side("old")), (new, side("new")), Options::default(), Some(&differs), None)
}

/// Returns the steps of the rollout, and whether it is hitless.
fn rollout(old: &Plan, new: &Plan) -> (bool, String) {
    let rollout = report(old, new).rollout.expect("plans have one");
    (rollout.hitless, rollout.steps.join("\n"))
}

fn fabric(routing: &str, t1: &str, more: &str) -> Plan {
    plan(&format!(
        "fabric: g\nrouting: {routing}\nplanes: 2\n\
         hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 800G, lanes: 8 }} }}\n\
         tiers:\n  t0: {{ platform: th5-64x800g, os: sonic, down: {{ breakout: 2x400G }}, up: 2 }}\n  \
         t1: {{ platform: th5-64x800g, os: sonic{t1}\nqos: none\n{more}"
    ))
}

const TWO_TIERS: &str = " }";
const THREE_TIERS: &str = ", up: 2 }\n  t2: { platform: th5-64x800g, os: sonic }";

/// Every artefact of both plans has the same bytes.
fn compiles_equally(old: &Plan, new: &Plan) -> bool {
    let templates = Templates::builtin();
    Unit::all(new, &Part::default()).into_iter().all(|unit| !unit.differs(old, new, &templates))
}

#[test]
fn settings_that_no_side_reads_have_no_consequence() {
    let cases = [
        ("srv6-static", "addresses: { asn_base: 4211000000 }\n"),
        ("ecmp-static", "addresses: { asn_base: 4211000000 }\n"),
        ("ecmp-static", "srv6: { block: \"fcbc:bbbb::/32\" }\n"),
        ("bgp-unnumbered", "srv6: { block: \"fcbc:bbbb::/32\" }\n"),
        ("ecmp-static", "srv6: { plan: plane-in-block }\n"),
        ("bgp-unnumbered", "srv6: { widths: { role: 3, plane: 3, zone: 0, index: 10 } }\n"),
        ("ecmp-static", "entropy: { udp_port: 4800 }\n"),
        ("bgp-unnumbered", "entropy: { udp_port: 4800, seed: 7 }\n"),
        ("bgp-unnumbered", "mtu: { payload: 4000 }\n"),
        ("srv6-static", "ecmp: { qps_per_connection: 4, balance: adaptive }\n"),
    ];
    for (routing, setting) in cases {
        let (old, new) = (fabric(routing, TWO_TIERS, ""), fabric(routing, TWO_TIERS, setting));
        assert!(compiles_equally(&old, &new), "{routing} {setting}");
        for (old, new) in [(&old, &new), (&new, &old)] {
            let report = report(old, new);
            assert!(report.artefacts.is_empty(), "{routing} {setting}: {:?}", report.artefacts);
            let warnings: Vec<&String> =
                report.changes.iter().filter_map(|line| line.warning.as_ref()).collect();
            let expected = format!("no effect with `{routing}`");
            assert!(!warnings.is_empty(), "{routing} {setting}: {:?}", report.changes);
            assert!(
                warnings.iter().all(|warning| **warning == expected),
                "{routing} {setting}: {warnings:?}"
            );
            let rollout = report.rollout.expect("plans have one");
            assert!(rollout.hitless, "{routing} {setting}: {:?}", rollout.steps);
            let waves = Rollout::new(old, new, Limit { share: 0.5 }).expect("nothing is drained").waves;
            assert!(
                waves.iter().all(|wave| wave.drained.is_empty() && wave.switches.is_empty()),
                "{waves:?}"
            );
            assert!(WorkOrder::compare(old, new).is_empty());
        }
    }
}

/// A third tier changes defaults of segments and entropy, which only `srv6-static` reads.
#[test]
fn a_third_tier_renumbers_segments_only_where_hosts_write_them() {
    for routing in ["ecmp-static", "bgp-unnumbered"] {
        let (old, new) = (fabric(routing, TWO_TIERS, ""), fabric(routing, THREE_TIERS, ""));
        let report = report(&old, &new);
        let subjects: Vec<&str> = report.changes.iter().map(|line| line.subject.as_str()).collect();
        let has = |part: &str| subjects.iter().any(|subject| subject.starts_with(part));
        assert!(!has("srv6") && !has("entropy") && !has("cables.t1-t2"), "{subjects:?}");
        assert!(has("tiers.t2") && has("tiers.t1.up"), "{subjects:?}");
        let (hitless, steps) = rollout(&old, &new);
        assert!(hitless, "{routing}: {steps}");
        let waves = Rollout::new(&old, &new, Limit { share: 0.5 }).expect("nothing is drained").waves;
        assert!(waves.iter().all(|wave| wave.drained.is_empty()), "{waves:?}");
    }
    let (old, new) = (fabric("srv6-static", TWO_TIERS, ""), fabric("srv6-static", THREE_TIERS, ""));
    let (hitless, steps) = rollout(&old, &new);
    assert!(!hitless && steps.contains("a path names segments"), "{steps}");
}

/// Cages of uplinks that a T0 did not have are split while nothing uses them. SONiC reloads for that many new ports, so
/// this is Cumulus Linux.
#[test]
fn uplinks_with_a_breakout_are_new_ports() {
    let of = |up: &str, more: &str| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 2\n\
             hosts: {{ groups: 2, per_group: 4, nic: {{ speed: 800G, lanes: 8 }} }}\n\
             tiers:\n  t0: {{ platform: spectrum4-sn5600, os: nvue, down: {{ breakout: 2x400G }}{up} }}\n{more}qos: none\n"
        ))
    };
    let old = of("", "");
    let new = of(
        ", up: { count: 4, breakout: 2x400G }",
        "  t1: { platform: spectrum4-sn5600, os: nvue, down: { breakout: 2x400G } }\n\
         cables: { t0-t1: { length: 50m, medium: dr } }\n",
    );
    for (old, new) in [(&old, &new), (&new, &old)] {
        let report = report(old, new);
        let subjects: Vec<&str> = report.changes.iter().map(|line| line.subject.as_str()).collect();
        for implied in ["tiers.t0.up.breakout", "cables.t0-t1", "entropy.active"] {
            assert!(!subjects.contains(&implied), "{subjects:?}");
        }
    }
    let (hitless, steps) = rollout(&old, &new);
    assert!(hitless, "{steps}");
}

/// T2s reserve downlinks by the default widths of segments. Another reserve moves no cable.
#[test]
fn another_reserve_of_downlinks_changes_no_path() {
    let [old, new] =
        ["", "srv6: { plan: plane-in-block }\n"].map(|more| fabric("ecmp-static", THREE_TIERS, more));
    for (old, new) in [(&old, &new), (&new, &old)] {
        let (hitless, steps) = rollout(old, new);
        assert!(hitless, "{steps}");
    }
}

/// A T0 without uplinks has no bundles, so bundles of several cables are new. The same is true of T1s and a new third
/// tier.
#[test]
fn the_first_uplinks_have_bundles() {
    let of = |up: &str, t1: &str, more: &str| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 2\n\
             hosts: {{ groups: 2, per_group: 4, nic: {{ speed: 800G, lanes: 8 }} }}\n\
             tiers:\n  t0: {{ platform: spectrum4-sn5600, os: nvue, down: {{ breakout: 2x400G }}{up} }}\n{t1}{more}qos: none\n"
        ))
    };
    let t1 = "  t1: { platform: spectrum4-sn5600, os: nvue";
    let cables = "cables: { t0-t1: { length: 50m, medium: dr8 } }\n";
    let one_tier = of("", "", "");
    let two_tiers =
        |parallel: u8| of(&format!(", up: 4, parallel: {parallel}"), &format!("{t1} }}\n"), cables);
    let t2 = "  t2: { platform: spectrum4-sn5600, os: nvue }\n";
    let three_tiers =
        |parallel: u8| of(", up: 4", &format!("{t1}, up: 4, parallel: {parallel} }}\n{t2}"), cables);
    let cases = [
        (&one_tier, [two_tiers(1), two_tiers(2)], "tiers.t0.parallel"),
        (&two_tiers(1), [three_tiers(1), three_tiers(2)], "tiers.t1.parallel"),
    ];
    for (old, [single, double], implied) in &cases {
        let (hitless, steps) = rollout(old, double);
        assert!(hitless, "{steps}");
        assert_eq!(steps, rollout(old, single).1);
        assert_eq!(rollout(double, old).1, rollout(single, old).1);
        let lines = report(old, double).changes;
        assert!(lines.iter().all(|line| line.subject != *implied), "{lines:?}");
        let waves = Rollout::new(old, double, Limit { share: 0.5 }).expect("nothing is drained").waves;
        assert!(waves.iter().all(|wave| wave.drained.is_empty()), "{waves:?}");
    }
}

/// `0` and `0-63` are the same cages of a switch with 64. Only ports that both sides have count.
#[test]
fn other_text_of_the_same_cages_is_no_change() {
    let of = |groups: u8, cages: &str| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 2\nzones: 2\n\
             hosts: {{ groups: {groups}, per_group: 4, nic: {{ speed: 800G, lanes: 8 }} }}\n\
             tiers:\n  t0: {{ platform: th5-64x800g, os: sonic, down: {{ breakout: 2x400G }}, up: 2 }}\n  \
             t1: {{ platform: th5-64x800g, os: sonic, down: {{ breakout: 1x800G{cages} }}, up: {{ count: 2, first_cage: 40 }} }}\n  \
             t2: {{ platform: th5-64x800g, os: sonic }}\nqos: none\n"
        ))
    };
    let old = of(4, "");
    for cages in [", cages: \"0-15\"", ", cages: \"0-3, 8-19\""] {
        let new = of(4, cages);
        assert!(compiles_equally(&old, &new), "{cages}");
        for (old, new) in [(&old, &new), (&new, &old)] {
            let report = report(old, new);
            assert!(report.is_empty(), "{cages}: {:?}", report.changes);
            assert!(Rollout::new(old, new, Limit { share: 0.5 }).expect("it has an order").waves.is_empty());
        }
    }
    let (hitless, steps) = rollout(&old, &of(6, ", cages: \"0-15\""));
    assert!(hitless, "{steps}");
    let moved = report(&of(6, ""), &of(6, ", cages: \"0-3, 8-19\""));
    assert!(
        moved.changes.iter().any(|line| line.subject == "tiers.t1.down.first_cage"),
        "{:?}",
        moved.changes
    );
    assert!(!moved.rollout.expect("plans have one").hitless);
}
