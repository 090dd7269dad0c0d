//! The slow way: every path of every pair, one by one, hop by hop.

use std::collections::BTreeMap;

use closc_plan::{Path, PathKind, Plan};
use closc_topology::{Link, Nic};
use closc_whatif::Losses;

/// What is left to a pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Paths of each plane before, and after.
    pub(crate) before: Vec<u64>,
    pub(crate) after: Vec<u64>,
    pub(crate) planned: u64,
}

/// Walks every path of every pair.
pub(crate) fn walk(plan: &Plan, given: &Losses, losses: &Losses) -> BTreeMap<(Nic, Nic), Left> {
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let planes = usize::from(plan.topology().planes);
    let mut found = BTreeMap::new();
    for from in &nics {
        let table = plan.path_table(from.zone, from.group);
        for to in nics.iter().filter(|to| from < *to) {
            let mut left = Left { before: vec![0; planes], after: vec![0; planes], planned: 0 };
            for path in plan.paths(*from, *to) {
                left.planned += 1;
                let plane = usize::from(path.plane.0);
                let works = table.denies(path.plane, *from, *to, path.choice).is_none()
                    && survives(given, *from, *to, &path);
                left.before[plane] += u64::from(works);
                left.after[plane] += u64::from(works && survives(losses, *from, *to, &path));
            }
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

/// Returns how far apart the ends of a pair are.
pub(crate) fn kind(pair: (Nic, Nic)) -> PathKind {
    PathKind::between(pair.0, pair.1)
}
