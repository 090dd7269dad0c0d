//! Compares a failure with a fabric in which the same elements are declared absent. That fabric is compiled,
//! and the independent verifier reads the tree.
//!
//! `whatif` must report a path for exactly the pairs and planes whose packets arrive in that tree. With `srv6-static`,
//! the numbers of paths must also be equal. The fabric must be rejected if and only if a pair is cut off.

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_compile::compile_in_memory;
use closc_diagnostics::Diagnostics;
use closc_plan::Plan;
use closc_tests::shape::{Shape, any_routing, islands, three_tiers, try_plan, two_tiers};
use closc_verify::{Options, verify};
use closc_whatif::{Element, Elements, Kind, WhatIf};
use proptest::prelude::*;
use proptest::sample::Index;

const KINDS: [Kind; 6] = [Kind::T0T1, Kind::T1T2, Kind::NicT0, Kind::T0, Kind::T1, Kind::T2];

/// Returns the text of a shape with another routing mode.
fn yaml_with_routing(shape: &Shape, routing: Routing) -> String {
    let os = if routing == Routing::BgpUnnumbered { "os: frr" } else { "os: linux" };
    let yaml = shape.yaml();
    if shape.t1 == 0 || shape.t2.as_ref().is_some_and(|t2| t2.steps == 0) {
        return yaml;
    }
    let (first, tiers) = yaml.split_once("tiers:").expect("a shape writes its tiers");
    format!("{first}routing: {}\ntiers:{}", routing.keyword(), tiers.replace("os: linux", os))
}

/// Picks elements of the kinds that the fabric has.
fn pick(elements: &Elements<'_>, picks: &[(Index, Index)]) -> BTreeSet<Element> {
    let kinds: Vec<Kind> = KINDS.into_iter().filter(|kind| !elements.all(*kind).is_empty()).collect();
    picks.iter().map(|(kind, element)| *element.get(&elements.all(*kind.get(&kinds)))).collect()
}

/// Returns the names of lost elements in the syntax of `exceptions.absent`.
fn absent(plan: &Plan, elements: &Elements<'_>, failed: &[Element]) -> String {
    let losses = elements.losses_of(failed);
    let topology = plan.topology();
    let switches: BTreeSet<String> =
        losses.switches.iter().map(|switch| topology.naming.switch(*switch).to_string()).collect();
    let links = losses.links.iter().filter(|link| {
        let upper = plan.fabric().upper_end(**link).map(|(switch, _)| switch);
        let lower = match link {
            closc_topology::Link::Fabric { lower, .. } => Some(*lower),
            closc_topology::Link::Host(_) => None,
        };
        !upper.into_iter().chain(lower).any(|end| losses.switches.contains(&end))
    });
    let names: Vec<String> = switches.into_iter().chain(links.map(|link| plan.link_name(*link))).collect();
    format!("exceptions: {{ absent: [{}] }}\n", names.join(", "))
}

/// Counts ordered pairs of NICs with a path, and their paths; both are summed over planes.
fn remaining_paths(plan: &Plan, failed: &[Element]) -> (u128, u128) {
    let elements = Elements::of(plan.fabric());
    let planes = elements.all(Kind::Plane);
    let (mut pairs, mut paths) = (0, 0);
    for own in &planes {
        let others: Vec<Element> = planes.iter().filter(|plane| *plane != own).copied().collect();
        let outcome = WhatIf::with_failures(elements, &others).fail(failed, 0);
        pairs += 2 * u128::from(outcome.pairs() - outcome.cut_off);
        let counts = outcome.distances.iter().flat_map(|apart| apart.paths.counts().to_vec());
        paths += counts.map(|(paths, pairs)| 2 * u128::from(paths) * u128::from(pairs)).sum::<u128>();
    }
    (pairs, paths)
}

/// Returns the codes of messages about NICs that are cut off.
fn codes(plan: &Plan) -> Vec<&'static str> {
    let mut found = Diagnostics::new();
    closc_fabric::checks::check(plan.fabric(), &mut found);
    found.iter().map(|diagnostic| diagnostic.rule.code).filter(|code| code.contains("082")).collect()
}

fn check(shape: &Shape, routing: Routing, picks: &[(Index, Index)]) -> Result<(), TestCaseError> {
    let whole = try_plan(&yaml_with_routing(shape, routing)).expect("a shape without exceptions is a fabric");
    let elements = Elements::of(whole.fabric());
    let failed: Vec<Element> = pick(&elements, picks).into_iter().collect();
    let yaml = format!("{}{}", yaml_with_routing(shape, routing), absent(&whole, &elements, &failed));
    let outcome = WhatIf::new(elements).fail(&failed, 0);
    let plan = try_plan(&yaml).expect("absences are within the numbers");
    let found = codes(&plan);
    // A NIC without a cable is rejected even if there is no other NIC.
    prop_assume!(outcome.pairs() > 0);
    prop_assert_eq!(!found.is_empty(), outcome.cut_off > 0, "{:?} of {}", found, yaml);
    let drained = codes(&try_plan(&yaml.replace("absent:", "drained:")).expect("as before"));
    prop_assert_eq!(!drained.is_empty(), outcome.cut_off > 0, "{:?} of what is drained in {}", drained, yaml);
    if found.iter().any(|code| code.starts_with('E')) {
        return Ok(());
    }
    let own = WhatIf::new(Elements::of(plan.fabric())).fail(&[], 0);
    prop_assert_eq!(own.cut_off, outcome.cut_off);
    let report =
        verify(&compile_in_memory(&plan).expect("it compiles"), &Options::default()).expect("it can be read");
    prop_assert_eq!(report.broken, 0, "{:?}", report.violations);
    let (pairs, paths) = remaining_paths(&whole, &failed);
    prop_assert_eq!((pairs, paths), remaining_paths(&plan, &[]), "as failures and as absences");
    match (report.delivery, report.paths) {
        (Some(delivery), _) => {
            prop_assert_eq!(delivery.doubtful, 0);
            prop_assert_eq!((delivery.arrive, delivery.possible), (pairs, pairs));
        }
        (None, Some(counts)) => prop_assert_eq!(counts.arrive, paths),
        (None, None) => prop_assert!(false, "nothing was proved"),
    }
    Ok(())
}

fn failures() -> impl Strategy<Value = Vec<(Index, Index)>> {
    prop::collection::vec(any::<(Index, Index)>(), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn failures_are_absences_in_two_tiers(
        shape in two_tiers().prop_filter("small", |shape| shape.groups * shape.per_group <= 16),
        routing in any_routing(), picks in failures(),
    ) {
        check(&shape, routing, &picks)?;
    }

    #[test]
    fn failures_are_absences_in_islands(shape in islands(), picks in failures()) {
        check(&shape, Routing::EcmpStatic, &picks)?;
    }

    #[test]
    fn failures_are_absences_in_three_tiers(
        shape in three_tiers(), routing in any_routing(), picks in failures(),
    ) {
        check(&shape, routing, &picks)?;
    }
}

/// One zone loses half of its T1s, and another zone loses the other half. Paths of uSIDs use the same T1
/// number in both zones. Switches choose freely.
#[test]
fn other_halves_of_two_zones() {
    let shape = Shape {
        planes: 1,
        t1: 4,
        t2: Some(closc_tests::shape::T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 }),
        ..Shape::SMALL
    };
    for (routing, cut_off) in
        [(Routing::Srv6Static, true), (Routing::EcmpStatic, false), (Routing::BgpUnnumbered, false)]
    {
        let plan = try_plan(&yaml_with_routing(&shape, routing)).unwrap();
        let elements = Elements::of(plan.fabric());
        let t1s = elements.all(Kind::T1);
        let failed: Vec<Element> = [0, 1, 6, 7].map(|at: usize| t1s[at]).to_vec();
        let outcome = WhatIf::new(elements).fail(&failed, 0);
        assert_eq!(outcome.cut_off > 0, cut_off, "{}", routing.keyword());
        let yaml = format!("{}{}", yaml_with_routing(&shape, routing), absent(&plan, &elements, &failed));
        let found = codes(&try_plan(&yaml).unwrap());
        assert_eq!(found, if cut_off { vec!["E0821"] } else { vec![] }, "{}", routing.keyword());
        let drained = codes(&try_plan(&yaml.replace("absent:", "drained:")).unwrap());
        assert_eq!(drained, if cut_off { vec!["W0821"] } else { vec![] }, "{}", routing.keyword());
        let far = outcome.distances.iter().find(|apart| apart.planned > 4).unwrap();
        assert_eq!(far.paths.minimum(), if cut_off { 0 } else { 4 }, "half of eight");
    }
}
