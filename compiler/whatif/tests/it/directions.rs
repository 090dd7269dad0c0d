//! If switches choose paths, each direction of a pair is summed over all planes, and the smaller sum counts.
//! The minimum is not taken per plane.

use closc_artefacts::Routing;
use closc_tests::shape::Shape;
use closc_topology::{Link, PlaneId, Switch, TierId, ZoneId};
use closc_whatif::report::Trace;
use closc_whatif::{Element, Elements, Outcome, WhatIf, read_trace, show};

/// Returns a shape with two groups, and two cables from each T0 to each T1.
fn parallel() -> Shape {
    Shape { planes: 2, t1: 4, parallel: 2, ..Shape::SMALL }
}

/// Returns an uplink of the T0 of a group.
fn cable(plane: u8, group: u16, up: u16) -> Element {
    let lower = Switch { plane: PlaneId(plane), tier: TierId::T0, zone: ZoneId(0), index: group };
    Element::Link(Link::Fabric { lower, up })
}

fn fail(routing: Routing, failed: &[Element]) -> Outcome {
    let plan = parallel().plan_with_routing(routing);
    WhatIf::new(Elements::of(plan.fabric())).fail(failed, 1)
}

#[test]
fn a_loss_at_each_end_costs_each_direction_one_path() {
    // Each T0 loses one of its two cables to a T1, either in different planes or in the same one.
    let in_two_planes = [cable(0, 0, 0), cable(1, 1, 0)];
    let in_one_plane = [cable(0, 0, 0), cable(0, 1, 2)];
    for failed in [in_two_planes, in_one_plane] {
        for routing in [Routing::EcmpStatic, Routing::BgpUnnumbered] {
            let outcome = fail(routing, &failed);
            let zone = &outcome.distances[1];
            assert_eq!((zone.planned, zone.paths.minimum()), (16, 15), "{}", routing.keyword());
            assert_eq!((outcome.worst[0].paths, outcome.worst[0].before), (15, 16));
            assert_eq!(outcome.loss_max * 16, outcome.denominator);
        }
        let named = fail(Routing::Srv6Static, &failed);
        assert_eq!(named.distances[1].paths.minimum(), 14, "a uSID names a cable for both directions");
    }
}

#[test]
fn a_second_loss_at_the_other_end_touches_the_pair() {
    let plan = parallel().plan_with_routing(Routing::EcmpStatic);
    let given = WhatIf::with_failures(Elements::of(plan.fabric()), &[cable(0, 0, 0)]);
    let outcome = given.fail(&[cable(1, 1, 0)], 1);
    assert_eq!(outcome.distances[1].paths.minimum(), 15, "the worse direction has what it had");
    assert_eq!(outcome.affected_pairs, 4, "and the other loses one");
    assert_eq!(outcome.loss_max * 16, outcome.denominator);
}

#[test]
fn a_trace_without_a_cut_ends_with_zero_seconds() {
    let plan = parallel().plan();
    let elements = Elements::of(plan.fabric());
    let events = read_trace(&elements, "time,event,element\n0,down,p0-t1-001\n10,up,p0-t1-001\n").unwrap();
    let report = Trace::new(elements, &[], &WhatIf::new(elements).follow(&events));
    let text = show::trace(&report);
    assert!(text.contains("at least one pair was cut off for 0 s"), "{text}");
    assert!(report.seconds_cut_off.is_sign_positive());
}
