//! An operator's view of five common changes. Artefacts that the report does not name do not change.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use closc_artefacts::Routing;
use closc_diff::rollout::{Limit, Rollout};
use closc_diff::{Difference, Item, Options, Report, Side, TouchedArtefacts, impact, show};
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_render::{Templates, path_table, targets};
use closc_tests::exceptions::{related_shapes, shapes_with_exceptions};
use closc_tests::shape::{Shape, in_blocks, plan};
use closc_topology::{Nic, Pins, PlaneId, Switch, TierId, ZoneId};
use proptest::prelude::*;

const BASE: Shape = Shape {
    planes: 4,
    groups: 4,
    per_group: 2,
    rails: 1,
    t1: 4,
    parallel: 1,
    t2: None,
    exceptions: String::new(),
};

fn with(lines: &str) -> Shape {
    Shape { exceptions: lines.into(), ..BASE }
}

fn report(old: &Shape, new: &Shape) -> Report {
    report_of(&old.plan(), &new.plan())
}

fn report_of(old: &Plan, new: &Plan) -> Report {
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    Report::of_plans((old, side("old")), (new, side("new")), Options::default())
}

fn text(old: &Shape, new: &Shape) -> String {
    text_of(&report(old, new))
}

fn text_of(report: &Report) -> String {
    // Colours are escape sequences that end in `m`.
    let drawn = show::human::draw(report, 120, false);
    let mut plain = String::new();
    for (at, part) in drawn.split('\u{1b}').enumerate() {
        plain.push_str(if at == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) });
    }
    plain
}

#[test]
fn a_renamed_tier() {
    let new = with("naming: { t1: \"spine-{plane}-{index:03}\" }\n");
    let text = text(&BASE, &new);
    assert!(text.contains("~ naming.t1  16 T1s renamed, `p0-t1-001` -> `spine-0-001`"), "{text}");
    assert!(text.contains("no pair of NICs loses or gains a path"), "{text}");
    assert!(text.contains("hitless: names carry no traffic"), "{text}");
}

/// An additional pin changes only its T0.
#[test]
fn a_pin_more() {
    let old = BASE.plan_with_routing(Routing::EcmpStatic);
    let t0 = |index| Switch { plane: PlaneId(2), tier: TierId::T0, zone: ZoneId(0), index };
    let nic = Nic { zone: ZoneId(0), group: 3, downlink: 1 };
    let pinned = |pins: Pins| {
        let mut topology = old.topology().clone();
        topology.ecmp.pins = Arc::new(pins);
        Plan::new(Fabric::new(Arc::new(topology)))
    };
    let one = pinned([(t0(0), [(nic, 1)].into())].into());
    let two = pinned([(t0(0), [(nic, 1)].into()), (t0(1), [(nic, 3)].into())].into());
    let difference = Difference::compare(one.fabric(), two.fabric());
    let applied = difference.apply(one.topology()).expect("it starts from there");
    assert_eq!(applied.ecmp, two.topology().ecmp);
    let touched = TouchedArtefacts::of(&difference, &one, &two);
    let switches: Vec<Switch> = two.switches().filter(|switch| touched.switch(*switch)).collect();
    assert_eq!(switches, [t0(1)]);
    for switch in two.switches().filter(|switch| *switch != t0(1)) {
        assert_eq!(one.device(switch).routes, two.device(switch).routes);
    }
    assert_ne!(one.device(t0(1)).routes, two.device(t0(1)).routes);
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    let report = Report::of_plans((&one, side("old")), (&two, side("new")), Options::default());
    let text = show::human::draw(&report, 120, false);
    assert!(text.contains("1 pin on 1 T0 -> 2 pins on 2 T0s") && text.contains("hitless"), "{text}");
    assert!(
        text.contains("p2-t0-002 sends to su004-n002/nic0 by uplink 3 in place of all uplinks"),
        "{text}"
    );
}

#[test]
fn a_drained_t1() {
    let text = text(&BASE, &with("exceptions: { drained: [p3-t1-002] }\n"));
    assert_eq!(
        text,
        "~ exceptions.drained  drain T1 `p3-t1-002`\nimpact\n  24 pairs of NICs across T0 groups lose 1 of their \
         16 paths, in plane 3 (6.25 %)\n  no pair is cut off\nrollout\n  hitless: hosts stop using \
         it; nothing else changes\nartefacts\n  ~8 nodes, ~4 path tables, ~1 cable lists\n"
    );
}

/// If switches choose paths, they use drained equipment when no other path is left.
#[test]
fn a_drain_of_the_last_path_of_a_plane_moves_no_traffic() {
    for routing in [Routing::EcmpStatic, Routing::BgpUnnumbered] {
        for (before, last) in [
            ("\"p3-t1-[001-003]\"", "p3-t1-004"),
            ("\"p3-t0-002--p3-t1-[001-003]\"", "p3-t0-002--p3-t1-004"),
            ("\"p3-t0-002--p3-t1-[001-003]\"", "p3-t1-004"),
        ] {
            // Nodes without generated files do not have routes that avoid the drained path.
            let bare =
                |lines: &str| plan(&with(lines).yaml_with_routing(routing).replacen("\n  os: linux", "", 1));
            let drained = |names: &str| bare(&format!("exceptions: {{ drained: [{names}] }}\n"));
            let (old, new) = (drained(before), drained(&format!("{before}, {last}")));
            let rollout = report_of(&old, &new).rollout.expect("plans have one");
            assert!(!rollout.hitless, "{routing:?} {last}: {rollout:?}");
            let steps = rollout.steps.join("\n");
            let wanted =
                "no artefact makes nodes avoid plane 3, where only drained paths lead to some NICs: keep";
            assert!(steps.contains(wanted), "{routing:?} {last}: {steps}");
            // With `before` only, one path is left.
            let rollout = report_of(&bare(""), &old).rollout.expect("plans have one");
            assert!(rollout.hitless, "{routing:?} {last}: {rollout:?}");
        }
    }
}

/// The share is relative to the paths before the change.
#[test]
fn a_second_drain_takes_a_share_of_what_the_first_left() {
    let drained = |names: &str| with(&format!("exceptions: {{ drained: [{names}] }}\n"));
    let text = text(&drained("p3-t1-001"), &drained("p3-t1-001, p3-t1-002"));
    assert!(text.contains("lose 1 of their 15 paths, in plane 3 (6.67 %)"), "{text}");
}

/// Slower uplinks do not change paths, but halve the bandwidth of a T0.
#[test]
fn slower_uplinks_change_the_oversubscription() {
    let file = |breakout: &str| {
        format!(
            "fabric: speeds\nplanes: 1\nrouting: bgp-unnumbered\n\
             hosts: {{ groups: 8, per_group: 16, nic: {{ speed: 800G, lanes: 8 }} }}\ntiers:\n  \
             t0: {{ platform: spectrum4-sn5600, os: nvue, up: {{ count: 16, breakout: {breakout} }} }}\n  \
             t1: {{ platform: spectrum4-sn5600, os: nvue, down: {{ breakout: {breakout} }} }}\n"
        )
    };
    let text = text_of(&report_of(&plan(&file("1x800G")), &plan(&file("2x400G"))));
    let wanted =
        "tiers.t0.oversubscription  1:1 -> 2:1: uplinks of each T0 have 6,400 Gb/s instead of 12,800";
    assert!(text.contains(wanted), "{text}");
}

/// Hosts cannot stop using their only path.
#[test]
fn a_drain_that_leaves_nothing() {
    let one = |lines: &str| Shape { planes: 1, exceptions: lines.into(), ..BASE };
    for lines in ["p0-t1-[001-004]", "p0-t0-001"] {
        let report = report(&one(""), &one(&format!("exceptions: {{ drained: [\"{lines}\"] }}\n")));
        let rollout = report.rollout.as_ref().expect("plans have one");
        let pairs = report.impact.cut_off;
        assert!(pairs > 0 && !rollout.hitless, "{rollout:?}");
        let wanted = format!("not hitless: {pairs} pairs of NICs have no path in the new fabric");
        assert_eq!(rollout.steps, [wanted], "{lines}");
    }
}

/// The table by tier and the line about artefacts count the same switches.
#[test]
fn tiers_count_the_switches_that_were_found_to_change() {
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    let (old, new) = (BASE, with("exceptions: { drained: [p2-t1-002] }\n"));
    let (old, new) = (old.plan_with_routing(Routing::EcmpStatic), new.plan_with_routing(Routing::EcmpStatic));
    let differs =
        |item: Item| matches!(item, Item::Switch(switch) if switch.tier == TierId::T0 && switch.index == 1);
    let (old, new) = ((&old, side("old")), (&new, side("new")));
    let report = Report::of_plans_with(old, new, Options::default(), Some(&differs), None);
    let switches = report.artefacts.iter().find(|found| found.kind == "switches").map(|found| found.changed);
    assert_eq!(switches, Some(1));
    assert_eq!(report.touched.iter().map(|tier| tier.changed).sum::<u64>(), 1, "{:?}", report.touched);
}

/// If there are too many artefacts, the report states that they were counted without being compared.
#[test]
fn too_many_artefacts_are_not_compared_and_the_report_says_so() {
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    let drawn = |groups: u16| {
        let old = Shape { groups, ..BASE };
        let new = Shape { groups, ..with("exceptions: { drained: [p2-t1-002, p3-t1-002] }\n") };
        let looked = Cell::new(0);
        let differs = |_| {
            looked.set(looked.get() + 1);
            true
        };
        let (old, new) =
            (old.plan_with_routing(Routing::EcmpStatic), new.plan_with_routing(Routing::EcmpStatic));
        let sides = ((&old, side("old")), (&new, side("new")));
        let report = Report::of_plans_with(sides.0, sides.1, Options::default(), Some(&differs), None);
        (show::human::draw(&report, 200, false), looked.get())
    };
    let (few, looked) = drawn(4);
    assert!(looked > 0 && !few.contains("at most"), "{looked}: {few}");
    let (many, looked) = drawn(800);
    assert!(looked == 0 && many.contains("the number of changed ones is an upper limit"), "{looked}: {many}");
}

#[test]
fn a_changed_dscp() {
    let change = |dscp: u8| {
        let mut shape = with("");
        shape.exceptions = format!("# {dscp}\n");
        shape.yaml().replace(
            "qos: lossy-trim\n",
            &format!("qos: {{ base: lossy-trim, classes: {{ data: {{ dscp: [{dscp}] }} }} }}\n"),
        )
    };
    let (old, new) = (closc_tests::shape::plan(&change(20)), closc_tests::shape::plan(&change(22)));
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
    let lines: Vec<String> = report.changes.iter().map(|l| format!("{}  {}", l.subject, l.text)).collect();
    assert_eq!(lines, ["qos.classes.data.dscp  20 -> 22"]);
    assert!(report.rollout.unwrap().steps[0].starts_with("not hitless, drain plane by plane"), "{lines:?}");
}

/// No order of waves works, because neither a switch nor a path table can have both segment plans.
#[test]
fn another_plan_of_segments() {
    let of = |block: &str| plan(&in_blocks(&BASE.yaml()).replace("plane-in-block", block));
    let (bits, apart) = (BASE.plan(), of("plane-in-block, block: \"fcbb:bb00::/32\""));
    for (old, new) in [(&bits, &apart), (&apart, &bits)] {
        let text = text_of(&report_of(old, new)).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches("the whole fabric stops").count(), 1, "{text}");
        assert!(text.contains("push all 32 switches, give hosts their 4 path tables, verify"), "{text}");
        assert!(text.contains("a host with an old table reaches no other host in the meantime"), "{text}");
        let refused = Rollout::new(old, new, Limit { share: 1.0 }).expect_err("it is refused").to_string();
        assert!(
            refused.starts_with("no order keeps traffic up: `srv6.plan` changes from plane-in-"),
            "{refused}"
        );
    }
    // Plane 0 has the same block as in the old plan.
    let beside = text_of(&report_of(&bits, &of("plane-in-block")));
    let beside = beside.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(beside.contains("both plans use `fcbb:bbbb::/32`"), "{beside}");
}

#[test]
fn a_new_t0_group() {
    let new = Shape { groups: 5, ..BASE };
    let text = text(&BASE, &new);
    for line in [
        "~ hosts.groups  T0 groups of a zone: 4 -> 5",
        "+ switches  4 T0s, `p0-t0-005` to `p3-t0-005`",
        "+ nics  2 NICs,",
        "+ cables  8 nic-t0 cables,",
        "+ cables  16 t0-t1 cables,",
        "hitless: new elements are up before hosts use them",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// Growth with drained elements adds planned paths. Pairs keep their previous paths, so they lose nothing.
#[test]
fn drained_growth_takes_nothing_away() {
    let new =
        Shape { t1: 8, exceptions: "exceptions: { drained: [\"p[0-3]-t1-[005-008]\"] }\n".into(), ..BASE };
    let (old, new) =
        (BASE.plan_with_routing(Routing::EcmpStatic), new.plan_with_routing(Routing::EcmpStatic));
    let pairs = impact(old.fabric(), new.fabric());
    assert!(pairs.iter().any(|row| row.old.map(|share| share.planned) != row.new.map(|share| share.planned)));
    for row in pairs {
        assert!(row.loss().is_none_or(|loss| loss <= 0.0), "{row:?}");
    }
}

#[test]
fn a_longer_cable() {
    let text = text(&BASE, &with("exceptions: { cables: { p0-t0-001--p0-t1-003: { length: 9m } } }\n"));
    assert!(
        text.contains("~ exceptions.cables  t0-t1 cable `p0-t0-001--p0-t1-003`: 2m virtual -> 9m virtual"),
        "{text}"
    );
    assert!(text.contains("drain `p0-t0-001--p0-t1-003` first"), "{text}");
}

type Bytes = Vec<(String, Vec<u8>)>;

fn switch(plan: &Plan, switch: closc_topology::Switch, templates: &Templates) -> Bytes {
    let intent = plan.device(switch);
    let target = targets::target(intent.os).expect("these fabrics run Linux");
    let files = target.device(&intent, templates).expect("a valid fabric renders");
    files.into_iter().map(|file| (file.path.to_string(), file.bytes)).collect()
}

/// Renders both sides and checks that only the named artefacts have changed.
fn check(old: &Shape, new: &Shape) -> Result<(), TestCaseError> {
    let (old, new) = (old.plan(), new.plan());
    let touched = TouchedArtefacts::of(&Difference::compare(old.fabric(), new.fabric()), &old, &new);
    let templates = Templates::builtin();
    let both: BTreeSet<_> = old.switches().collect();
    for at in new.switches().filter(|at| both.contains(at) && !touched.switch(*at)) {
        prop_assert_eq!(switch(&old, at, &templates), switch(&new, at, &templates), "{:?}", at);
    }
    let nodes: BTreeSet<_> = old.nodes().collect();
    for node in new.nodes().filter(|node| nodes.contains(node) && !touched.host(*node)) {
        let files = |plan: &Plan| -> Bytes {
            let files = targets::host(&plan.host(node), &templates).expect("a valid fabric renders");
            let routes = plan.node_routes(node).map(|routes| {
                targets::linux::host_routes(&routes, &templates).expect("a valid fabric renders")
            });
            files.into_iter().chain(routes).map(|file| (file.path.to_string(), file.bytes)).collect()
        };
        prop_assert_eq!(files(&old), files(&new), "{:?}", node);
    }
    let groups: BTreeSet<_> = old.groups().collect();
    for (zone, group) in new.groups().filter(|at| groups.contains(at) && !touched.table(at.0, at.1)) {
        let files = |plan: &Plan| path_table::render(&plan.path_table(zone, group)).map(|file| file.bytes);
        prop_assert_eq!(files(&old), files(&new), "group {}", group);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn artefacts_that_are_not_named_do_not_change((old, new) in related_shapes()) {
        check(&old, &new)?;
    }

    #[test]
    fn nor_do_they_between_any_two_fabrics(old in shapes_with_exceptions(), new in shapes_with_exceptions()) {
        check(&old, &new)?;
    }
}
