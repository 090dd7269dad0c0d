//! Properties over random fabrics: applying a difference results in the new side, and counting gives the same
//! result as walking.

use std::collections::BTreeMap;

use closc_artefacts::Routing;
use closc_diff::{Delta, Difference, MovedCable, PairChange, Population, Share, impact};
use closc_fabric::Fabric;
use closc_plan::{PathKind, Plan};
use closc_tests::exceptions::{regrown_islands, related_shapes, shapes_with_exceptions};
use closc_tests::shape::{Shape, any_routing, try_plan};
use closc_topology::{Link, Node, Spans, Topology, ZoneSizes};
use proptest::prelude::*;

use crate::walk::{Paths, walk};

/// Returns the complete meaning of a topology, so that no list of fields is needed here.
fn meaning(topology: &Topology) -> String {
    format!(
        "{:?}",
        Topology { spans: Spans::default(), zone_sizes: ZoneSizes::default(), ..topology.clone() }
    )
}

/// Paths of each ordered pair, plane by plane, with the distance. A NIC is known by its node and number.
type NamedPaths = BTreeMap<[(Node, u8); 2], (PathKind, Vec<u64>)>;

fn name_pairs(plan: &Plan, paths: Paths) -> NamedPaths {
    let name = |nic| plan.topology().node_of(nic);
    let pair = |((from, to), paths)| ([name(from), name(to)], (PathKind::classify(from, to), paths));
    paths.into_iter().map(pair).collect()
}

/// Computes the rows of `impact` by walking all paths.
fn rows_by_walk(old: &Plan, new: &Plan) -> BTreeMap<(PathKind, Option<Share>, Option<Share>, u16), u64> {
    let ((before, planned_before), (after, planned_after)) = (walk(old), walk(new));
    let (before, after) = (name_pairs(old, before), name_pairs(new, after));
    let mut rows = BTreeMap::new();
    let pairs: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for pair in pairs.into_iter().filter(|[from, to]| from < to) {
        let (kind, _) = after.get(pair).or_else(|| before.get(pair)).expect("a pair is on one of the sides");
        let kind = *kind;
        let share = |paths: Option<&(PathKind, Vec<u64>)>, planned: &BTreeMap<PathKind, u64>| {
            let (own, paths) = paths?;
            let planned = planned.get(own).copied().unwrap_or(0);
            Some(Share { usable: paths.iter().sum(), planned })
        };
        let at = |paths: Option<&(PathKind, Vec<u64>)>, plane: usize| {
            paths.and_then(|(_, paths)| paths.get(plane)).copied().unwrap_or(0)
        };
        let mut planes = 0;
        let directions = [*pair, [pair[1], pair[0]]].map(|direction| {
            let (a, b) = (before.get(&direction), after.get(&direction));
            planes |= (0..16).fold(0, |mask, plane| mask | u16::from(at(a, plane) != at(b, plane)) << plane);
            (share(a, &planned_before), share(b, &planned_after))
        });
        // The pair is represented by the direction that loses more, or gains more if neither loses.
        let part = |share: Option<Share>| share.map_or(0.0, Share::part);
        let gains = directions.iter().all(|(a, b)| a.is_some() && b.is_some() && part(*b) - part(*a) >= 0.0);
        let order = |(a, b): &(Option<Share>, Option<Share>)| {
            let (a, b) = (part(*a), part(*b));
            if gains { (a - b, a, b) } else { (b - a, b, a) }
        };
        let worse = directions.iter().min_by(|a, b| order(a).partial_cmp(&order(b)).expect("numbers"));
        let (a, b) = *worse.expect("two directions");
        // With one tier, T0 groups have no paths to each other.
        let has_paths = [a, b].iter().flatten().any(|share| share.planned > 0);
        if has_paths && (planes != 0 || a != b) {
            *rows.entry((kind, a, b, planes)).or_insert(0) += 1;
        }
    }
    rows
}

fn count_rows(rows: &[PairChange]) -> BTreeMap<(PathKind, Option<Share>, Option<Share>, u16), u64> {
    rows.iter().map(|row| ((row.kind, row.old, row.new, row.planes), row.pairs)).collect()
}

/// Returns additions, removals and moves by comparing all elements of both sides. A NIC is known by its node and
/// number.
fn compare_elements(old: &Fabric, new: &Fabric) -> Population {
    fn delta<T: Copy>(old: &[(String, T)], new: &[(String, T)]) -> Delta<T> {
        let only = |of: &[(String, T)], other: &[(String, T)]| {
            let is_only = |(name, _): &&(String, T)| other.iter().all(|(own, _)| own != name);
            of.iter().filter(is_only).map(|(_, item)| *item).collect()
        };
        Delta { added: only(new, old), removed: only(old, new) }
    }
    let switches = |fabric: &Fabric| -> Vec<_> {
        fabric.switches().map(|switch| (format!("{switch:?}"), switch)).collect()
    };
    let nics = |fabric: &Fabric| -> Vec<_> {
        fabric.nics().map(|nic| (format!("{:?}", fabric.topology().node_of(nic)), nic)).collect()
    };
    let cables = |fabric: &Fabric| -> Vec<(String, Link)> {
        let name = |link: &Link| match link {
            Link::Host(port) => format!("{:?} {:?}", port.plane, fabric.topology().node_of(port.nic)),
            Link::Fabric { .. } => format!("{link:?}"),
        };
        fabric.links().map(|link| (name(&link), link)).collect()
    };
    let (before, after) = (cables(old), cables(new));
    let both = after.iter().filter_map(|(name, link)| {
        let (_, other) = before.iter().find(|(own, _)| own == name)?;
        Some(MovedCable { old: *other, new: *link })
    });
    Population {
        switches: delta(&switches(old), &switches(new)),
        nics: delta(&nics(old), &nics(new)),
        cables: delta(&before, &after),
        moved: both.filter(|cable| old.upper_end(cable.old) != new.upper_end(cable.new)).collect(),
    }
}

fn check(old: &Shape, new: &Shape, routing: Routing) -> Result<(), TestCaseError> {
    let (old, new) = (old.plan_with_routing(routing), new.plan_with_routing(routing));
    let difference = Difference::compare(old.fabric(), new.fabric());
    let applied = difference.apply(old.topology()).expect("a difference fits what it was made from");
    prop_assert_eq!(meaning(&applied), meaning(new.topology()));
    prop_assert_eq!(difference.is_empty(), meaning(old.topology()) == meaning(new.topology()));
    if !difference.is_empty() {
        prop_assert!(difference.apply(new.topology()).is_err(), "a stale difference is refused");
    }
    prop_assert_eq!(
        Population::compare(old.fabric(), new.fabric()),
        compare_elements(old.fabric(), new.fabric())
    );
    let rows = impact(old.fabric(), new.fabric());
    prop_assert_eq!(count_rows(&rows), rows_by_walk(&old, &new));
    for row in rows {
        prop_assert_eq!(PathKind::classify(row.example.0, row.example.1), row.kind);
        prop_assert!(row.example.0 != row.example.1);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_same_numbers_with_other_exceptions((old, new) in related_shapes(), routing in any_routing()) {
        check(&old, &new, routing)?;
    }

    /// Two fabrics differ by one count. Only the smaller one has exceptions.
    #[test]
    fn one_number_differs(
        (old, new) in related_shapes(), what in 0..5u8, by in 1..=2u16, routing in any_routing(),
    ) {
        let mut new = new;
        // Exceptions may name elements that the new fabric does not have.
        new.exceptions.clear();
        match (what, &mut new.t2) {
            (0, _) => new.groups += by * u16::from(new.rails),
            (1, _) => new.per_group += by,
            (2, Some(t2)) => t2.zones += by,
            (3, Some(t2)) => t2.steps += by,
            (2 | 3, None) => new.t1 += by,
            (4, t2) => {
                new.t1 += by;
                // With `rows` below the number of T1s, every row must have the same number of T1s.
                let rows = t2.as_ref().map_or(0, |t2| t2.rows);
                if rows > 0 && rows < new.t1 {
                    new.t1 = new.t1.next_multiple_of(rows);
                }
            }
            (_, _) => {}
        }
        // Fabrics whose T1s do not divide evenly over rows are rejected.
        prop_assume!(try_plan(&new.yaml()).is_ok());
        check(&old, &new, routing)?;
        check(&new, &old, routing)?;
    }

    #[test]
    fn islands_before_or_after((one, other) in regrown_islands(), more in shapes_with_exceptions()) {
        check(&one, &other, Routing::EcmpStatic)?;
        check(&one, &more, Routing::EcmpStatic)?;
        check(&more, &one, Routing::EcmpStatic)?;
    }

    #[test]
    fn any_two_fabrics(old in shapes_with_exceptions(), new in shapes_with_exceptions(), routing in any_routing()) {
        check(&old, &new, routing)?;
    }
}
