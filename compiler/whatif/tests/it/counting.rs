//! `diff` and `whatif` count pairs with separate implementations. If an edit of the file and a failure remove
//! the same switches and cables, both report the same numbers.

use std::sync::Arc;

use closc_diff::impact;
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_tests::exceptions::shapes_with_exceptions;
use closc_topology::Link;
use closc_whatif::{Element, Elements, Kind, WhatIf};
use proptest::prelude::*;
use proptest::sample::Index;

/// Picks existing switches and cables between them.
fn pick(plan: &Plan, picks: &[(Index, Index)]) -> Vec<Element> {
    let elements = Elements::of(plan.fabric());
    let kinds = [Kind::T0, Kind::T1, Kind::T2, Kind::T0T1, Kind::T1T2];
    let kinds: Vec<Vec<Element>> =
        kinds.iter().map(|kind| elements.all(*kind)).filter(|all| !all.is_empty()).collect();
    picks.iter().map(|(kind, element)| *element.get(kind.get(kinds.as_slice()).as_slice())).collect()
}

/// Returns the fabric in which elements are declared absent.
fn declare_absent(plan: &Plan, elements: &[Element]) -> Fabric {
    let mut topology = plan.topology().clone();
    for element in elements {
        match *element {
            Element::Switch(switch) => drop(topology.exceptions.absent_switches.insert(switch)),
            Element::Link(link @ Link::Fabric { .. }) => drop(topology.exceptions.absent_links.insert(link)),
            _ => panic!("{element:?} is neither a switch nor a cable between switches"),
        }
    }
    Fabric::new(Arc::new(topology))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_edit_and_a_failure_have_equal_impact(
        shape in shapes_with_exceptions(), picks in prop::collection::vec(any::<(Index, Index)>(), 1..5)
    ) {
        let plan = shape.plan();
        let failed = pick(&plan, &picks);
        let outcome = WhatIf::new(Elements::of(plan.fabric())).fail(&failed, 1);
        let changes = impact(plan.fabric(), &declare_absent(&plan, &failed));
        let (mut touched, mut cut_off) = (0, 0);
        for change in &changes {
            let (Some(old), Some(new)) = (change.old, change.new) else {
                prop_assert!(false, "a NIC was added or removed: {change:?}");
                continue;
            };
            prop_assert!(new.usable <= old.usable && new.planned == old.planned, "{change:?}");
            touched += if new.usable < old.usable { change.pairs } else { 0 };
            cut_off += if new.usable == 0 && old.usable > 0 { change.pairs } else { 0 };
        }
        prop_assert_eq!((touched, cut_off), (outcome.affected_pairs, outcome.newly_cut_off));
    }
}
