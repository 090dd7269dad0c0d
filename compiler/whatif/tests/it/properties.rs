//! Random fabrics with random failures. Path counts must equal those of a walk over every path. Classes must match the
//! results of failing every combination separately.

#[path = "walk/mod.rs"]
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_plan::{PathKind, Plan};
use closc_tests::exceptions::{islands_with_exceptions, shapes_with_exceptions};
use closc_tests::shape::{Shape, any_routing};
use closc_topology::Nic;
use closc_whatif::{AdapterPairs, Element, Elements, Kind, Outcome, WhatIf, kind_word};
use proptest::prelude::*;
use proptest::sample::Index;

use walk::{PairCapacity, kind, walk};

/// Picks existing elements by random indexes into the kinds, and into the elements of a kind.
fn pick(elements: &Elements<'_>, picks: &[(Index, Index)]) -> Vec<Element> {
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| !elements.all(*kind).is_empty()).collect();
    picks
        .iter()
        .map(|(kind, element)| *element.get(&elements.all(*kind.get(&kinds))))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn failures() -> impl Strategy<Value = Vec<(Index, Index)>> {
    prop::collection::vec(any::<(Index, Index)>(), 0..5)
}

/// Sums the paths of each direction over all planes.
fn total(paths: &[[u64; 2]]) -> [u64; 2] {
    [0, 1].map(|direction: usize| paths.iter().map(|paths| paths[direction]).sum())
}

/// Returns the loss of the direction that loses more.
fn larger_loss(before: [u64; 2], after: [u64; 2]) -> u64 {
    (before[0] - after[0]).max(before[1] - after[1])
}

fn smaller_direction(directions: [u64; 2]) -> u64 {
    directions[0].min(directions[1])
}

/// Compares the worst pairs of an outcome with the results of a walk over every path.
fn check_worst(outcome: &Outcome, walked: &BTreeMap<(Nic, Nic), PairCapacity>) -> Result<(), TestCaseError> {
    for worst in &outcome.worst {
        let (a, b) = worst.example;
        let left = &walked[&(a.min(b), a.max(b))];
        prop_assert_eq!(worst.paths, smaller_direction(total(&left.after)));
        prop_assert_eq!(
            (worst.before, worst.planned_paths),
            (smaller_direction(total(&left.before)), left.planned_paths)
        );
    }
    Ok(())
}

/// Counts the pairs of adapters by their pairs of NICs; `None` if each adapter has a single NIC.
fn adapter_pairs(plan: &Plan, walked: &BTreeMap<(Nic, Nic), PairCapacity>) -> Option<AdapterPairs> {
    let topology = plan.topology();
    let mut found: BTreeMap<(Nic, Nic), bool> = BTreeMap::new();
    for ((from, to), left) in walked {
        let (from, to) = (topology.adapter(*from), topology.adapter(*to));
        if from != to {
            let is_connected = smaller_direction(total(&left.after)) > 0;
            *found.entry((from.min(to), from.max(to))).or_default() |= is_connected;
        }
    }
    let cut_off = found.values().filter(|is_connected| !**is_connected).count() as u64;
    topology.has_adapters().then_some(AdapterPairs { all: found.len() as u64, cut_off })
}

/// Compares an outcome with the results of a walk over every path.
fn check(
    plan: &Plan,
    outcome: &Outcome,
    walked: &BTreeMap<(Nic, Nic), PairCapacity>,
) -> Result<(), TestCaseError> {
    let mut paths: BTreeMap<PathKind, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut alone: BTreeMap<PathKind, BTreeMap<u64, u64>> = BTreeMap::new();
    let (mut touched, mut cut, mut newly, mut loss_max, mut plane_loss, mut loss_sum) = (0, 0, 0, 0, 0, 0);
    let mut reached = BTreeSet::new();
    let mut least = None;
    let port = u64::from(plan.topology().port_speed(closc_topology::ZoneId(0)).mbps());
    for (pair, left) in walked {
        let lost_paths = larger_loss(total(&left.before), total(&left.after));
        let (before, after) = (smaller_direction(total(&left.before)), smaller_direction(total(&left.after)));
        *paths.entry(kind(*pair)).or_default().entry(after).or_default() += 1;
        let planes = left.after.iter().filter(|paths| smaller_direction(**paths) > 0).count() as u64;
        *alone.entry(kind(*pair)).or_default().entry(planes * port).or_default() += 1;
        touched += u64::from(lost_paths > 0);
        cut += u64::from(after == 0);
        newly += u64::from(after == 0 && before > 0);
        let part = outcome.denominator / left.planned_paths;
        prop_assert_eq!(part * left.planned_paths, outcome.denominator);
        loss_max = loss_max.max(lost_paths * part);
        loss_sum += u128::from(lost_paths * part);
        let planes = left.before.iter().zip(&left.after);
        plane_loss =
            planes.map(|(before, after)| larger_loss(*before, *after) * part).fold(plane_loss, u64::max);
        if after > 0 {
            reached.extend([pair.0, pair.1]);
        }
        least = Some(least.map_or(after * part, |least: u64| least.min(after * part)));
    }
    prop_assert_eq!(outcome.pairs(), walked.len() as u64);
    for apart in &outcome.distances {
        let counts: Vec<(u64, u64)> = paths.remove(&apart.kind).unwrap_or_default().into_iter().collect();
        prop_assert_eq!(apart.paths.counts(), counts.as_slice(), "{}", kind_word(apart.kind));
        let counts: Vec<(u64, u64)> = alone.remove(&apart.kind).unwrap_or_default().into_iter().collect();
        prop_assert_eq!(apart.alone_mbps.counts(), counts.as_slice(), "{}", kind_word(apart.kind));
    }
    prop_assert!(paths.is_empty());
    let counts = (outcome.affected_pairs, outcome.cut_off, outcome.newly_cut_off);
    prop_assert_eq!(counts, (touched, cut, newly));
    prop_assert_eq!((outcome.loss_max, outcome.plane_loss_max), (loss_max, plane_loss));
    prop_assert_eq!(outcome.loss_sum, loss_sum);
    let cut_off: Vec<Nic> = plan.fabric().nics().filter(|nic| !reached.contains(nic)).collect();
    prop_assert_eq!(&outcome.nics_cut_off, &cut_off);
    let nodes = plan.nodes().filter(|node| {
        let topology = plan.topology();
        let nics = (0..topology.hosts.nics_per_node).map(|number| topology.nic_of(*node, number));
        nics.filter(|nic| plan.fabric().has_nic(*nic)).all(|nic| cut_off.contains(&nic))
    });
    prop_assert_eq!(outcome.nodes_cut_off, nodes.count() as u64);
    prop_assert_eq!(outcome.adapter_pairs, adapter_pairs(plan, walked));
    prop_assert_eq!(outcome.share.minimum(), least.unwrap_or(0));
    check_worst(outcome, walked)?;
    if let (Some(first), Some(least)) = (outcome.worst.first(), least) {
        prop_assert_eq!(first.share, least);
    }
    Ok(())
}

fn compare(
    shape: &Shape,
    routing: Routing,
    given: &[(Index, Index)],
    more: &[(Index, Index)],
) -> Result<(), TestCaseError> {
    let plan = shape.plan_with_routing(routing);
    let elements = Elements::of(plan.fabric());
    let (given, more) = (pick(&elements, given), pick(&elements, more));
    let outcome = WhatIf::with_failures(elements, &given).fail(&more, 4);
    let walked = walk(&plan, &elements.losses_of(&given), &elements.losses_of(&more));
    check(&plan, &outcome, &walked)
}

/// The impact of a failure, in comparable form.
type Cost = (u64, u64, u64, u128, u64, u64, usize, u64);

/// Compares classes with the results of failing every combination separately, without symmetry.
fn one_by_one(plan: &Plan, kinds: &[Kind], together: usize) -> Result<(), TestCaseError> {
    let elements = Elements::of(plan.fabric());
    let whatif = WhatIf::new(elements);
    let all: Vec<Element> = kinds.iter().flat_map(|kind| elements.all(*kind)).collect();
    let cost = |outcome: &Outcome| -> Cost {
        (
            outcome.newly_cut_off,
            outcome.loss_max,
            outcome.plane_loss_max,
            outcome.loss_sum,
            outcome.affected_pairs,
            outcome.solo_min_mbps,
            outcome.nics_cut_off.len(),
            outcome.nodes_cut_off,
        )
    };
    let mut wanted: BTreeMap<Cost, u128> = BTreeMap::new();
    for (at, first) in all.iter().enumerate() {
        if together == 1 {
            *wanted.entry(cost(&whatif.fail(&[*first], 0))).or_default() += 1;
        }
        for second in all[at + 1..].iter().filter(|_| together == 2) {
            *wanted.entry(cost(&whatif.fail(&[*first, *second], 0))).or_default() += 1;
        }
    }
    let mut found: BTreeMap<Cost, u128> = BTreeMap::new();
    for class in whatif.fail_combinations(kinds, together) {
        prop_assert_eq!(class.example.len(), together);
        prop_assert_eq!(cost(&whatif.fail(&class.example, 0)), cost(&class.outcome));
        *found.entry(cost(&class.outcome)).or_default() += class.count;
    }
    prop_assert_eq!(found, wanted);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn counting_agrees_with_walking(
        shape in shapes_with_exceptions(), routing in any_routing(), given in failures(), more in failures(),
    ) {
        compare(&shape, routing, &given, &more)?;
    }

    #[test]
    fn parallel_cables_with_ecmp(
        shape in shapes_with_exceptions(),
        routing in prop_oneof![Just(Routing::EcmpStatic), Just(Routing::BgpUnnumbered)],
        parallel in 2..4_u16,
        given in prop::collection::vec(any::<(Index, Index)>(), 0..6),
        more in prop::collection::vec(any::<(Index, Index)>(), 1..16),
    ) {
        let shape = Shape { parallel, exceptions: String::new(), ..shape };
        let plan = shape.plan_with_routing(routing);
        let elements = Elements::of(plan.fabric());
        let cables = |picks: &[(Index, Index)]| -> Vec<Element> {
            let kinds = [elements.all(Kind::T0T1), elements.all(Kind::T1T2)];
            let kinds: Vec<_> = kinds.into_iter().filter(|all| !all.is_empty()).collect();
            picks.iter().map(|(kind, one)| *one.get(kind.get(kinds.as_slice()).as_slice())).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let (given, more) = (cables(&given), cables(&more));
        let outcome = WhatIf::with_failures(elements, &given).fail(&more, 4);
        check(&plan, &outcome, &walk(&plan, &elements.losses_of(&given), &elements.losses_of(&more)))?;
    }

    #[test]
    fn pairs_are_counted_within_islands(shape in islands_with_exceptions(), given in failures(), more in failures()) {
        compare(&shape, Routing::EcmpStatic, &given, &more)?;
        one_by_one(&shape.plan(), &Kind::ALL, 1)?;
    }

    #[test]
    fn classes_equal_separate_single_failures(shape in shapes_with_exceptions(), routing in any_routing()) {
        one_by_one(&shape.plan_with_routing(routing), &Kind::ALL, 1)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn classes_equal_separate_double_failures(shape in shapes_with_exceptions(), routing in any_routing(), first in any::<Index>(), second in any::<Index>()) {
        let plan = shape.plan_with_routing(routing);
        let elements = Elements::of(plan.fabric());
        let kinds: BTreeSet<Kind> = [*first.get(&Kind::ALL), *second.get(&Kind::ALL)].into();
        let kinds: Vec<Kind> = kinds.into_iter().collect();
        let count: usize = kinds.iter().map(|kind| elements.all(*kind).len()).sum();
        prop_assume!(count <= 120);
        one_by_one(&plan, &kinds, 2)?;
    }
}
