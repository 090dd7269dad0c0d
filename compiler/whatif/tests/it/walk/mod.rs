//! Reference implementation: walks every path of every pair, hop by hop.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::{Path, PathKind, Plan};
use closc_tests::spread::Spread;
use closc_topology::{Link, Nic, PlaneId};
use closc_whatif::Losses;

/// Remaining capacity of a pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PairCapacity {
    /// Paths in each plane before the failure, in both directions.
    pub(crate) before: Vec<[u64; 2]>,
    pub(crate) after: Vec<[u64; 2]>,
    pub(crate) planned_paths: u64,
}

/// Returns the planes that exist, or all planes if none exists.
fn built_planes(plan: &Plan) -> BTreeSet<PlaneId> {
    let all: BTreeSet<PlaneId> = plan.topology().plane_ids().collect();
    let built: BTreeSet<PlaneId> = all.difference(&plan.topology().absent_planes()).copied().collect();
    if built.is_empty() { all } else { built }
}

/// Walks every path of every pair.
pub(crate) fn walk(plan: &Plan, given: &Losses, losses: &Losses) -> BTreeMap<(Nic, Nic), PairCapacity> {
    if !plan.is_source_routed() {
        return spread(plan, given, losses);
    }
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let planes = usize::from(plan.topology().planes);
    let built = built_planes(plan);
    let mut found = BTreeMap::new();
    for from in &nics {
        let table = plan.path_table(from.zone, from.group);
        for to in nics.iter().filter(|to| from < *to) {
            let mut left =
                PairCapacity { before: vec![[0; 2]; planes], after: vec![[0; 2]; planes], planned_paths: 0 };
            for path in plan.paths(*from, *to).filter(|path| built.contains(&path.plane)) {
                left.planned_paths += 1;
                let plane = usize::from(path.plane.0);
                let works = table.denies(path.plane, *from, *to, path.choice).is_none()
                    && survives(given, *from, *to, &path);
                let survives = works && survives(losses, *from, *to, &path);
                // With uSIDs, a path has the same cables in both directions.
                left.before[plane].iter_mut().for_each(|paths| *paths += u64::from(works));
                left.after[plane].iter_mut().for_each(|paths| *paths += u64::from(survives));
            }
            found.insert((*from, *to), left);
        }
    }
    found
}

/// Counts the paths of every pair if switches choose paths.
fn spread(plan: &Plan, given: &Losses, losses: &Losses) -> BTreeMap<(Nic, Nic), PairCapacity> {
    let lost = |all: &[&Losses], nic: &Nic| all.iter().any(|losses| losses.nics.contains(nic));
    let of = |all: &[&Losses]| {
        let planes: Vec<_> = all.iter().flat_map(|losses| &losses.planes).collect();
        let switches: Vec<_> = all.iter().flat_map(|losses| &losses.switches).collect();
        let links: Vec<_> = all.iter().flat_map(|losses| &losses.links).collect();
        Spread::new(plan.fabric(), planes.into_iter(), switches.into_iter(), links.into_iter())
    };
    let (then, now) = ([given], [given, losses]);
    let (before, after) = (of(&then), of(&now));
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let planes = usize::from(plan.topology().planes);
    let mut found = BTreeMap::new();
    for from in &nics {
        for to in nics.iter().filter(|to| from < *to) {
            let left = |spread: &Spread<'_>, all: &[&Losses]| {
                if lost(all, from) || lost(all, to) {
                    return vec![[0; 2]; planes];
                }
                let (there, back) = (spread.remaining_paths(*from, *to), spread.remaining_paths(*to, *from));
                there.into_iter().zip(back).map(|(there, back)| [there, back]).collect()
            };
            let planned = before.planned_paths(*from, *to) * built_planes(plan).len() as u64;
            // With one tier, T0 groups have no paths to each other.
            if planned == 0 {
                continue;
            }
            let left = PairCapacity {
                before: left(&before, &then),
                after: left(&after, &now),
                planned_paths: planned,
            };
            found.insert((*from, *to), left);
        }
    }
    found
}

fn survives(losses: &Losses, from: Nic, to: Nic, path: &Path) -> bool {
    let link = |link: &Link| losses.links.contains(link);
    !losses.planes.contains(&path.plane)
        && !losses.nics.contains(&from)
        && !losses.nics.contains(&to)
        && !link(&path.first)
        && !path.hops.iter().any(|hop| losses.switches.contains(&hop.switch) || link(&hop.link))
}

/// Returns the distance between the two ends of a pair.
pub(crate) fn kind(pair: (Nic, Nic)) -> PathKind {
    PathKind::classify(pair.0, pair.1)
}
