//! A slow reference that counts the paths of every pair, one pair at a time. If hosts choose paths, each path
//! is looked up in the path table.

use std::collections::BTreeMap;

use closc_plan::{PathKind, Plan};
use closc_tests::spread::Spread;
use closc_topology::Nic;

/// Usable paths of each ordered pair, plane by plane.
pub(crate) type Paths = BTreeMap<(Nic, Nic), Vec<u64>>;

/// Counts the usable paths of every pair by plane. Also returns the planned number of paths.
pub(crate) fn walk(plan: &Plan) -> (Paths, BTreeMap<PathKind, u64>) {
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let mut planned = BTreeMap::new();
    let mut found = Paths::new();
    let spread = Spread::new(plan.fabric(), [].iter(), [].iter(), [].iter());
    for (from, to) in nics.iter().flat_map(|from| nics.iter().map(move |to| (from, to))) {
        if from != to && !plan.is_source_routed() {
            let planes = u64::from(plan.topology().planes);
            planned.insert(PathKind::classify(*from, *to), spread.planned_paths(*from, *to) * planes);
            found.insert((*from, *to), spread.remaining_paths(*from, *to));
        }
    }
    for from in nics.iter().filter(|_| plan.is_source_routed()) {
        let table = plan.path_table(from.zone, from.group);
        for to in nics.iter().filter(|to| from < *to) {
            let mut usable = vec![0; usize::from(plan.topology().planes)];
            let mut all = 0;
            for path in plan.paths(*from, *to) {
                all += 1;
                if table.denies(path.plane, *from, *to, path.choice).is_none() {
                    usable[usize::from(path.plane.0)] += 1;
                }
            }
            planned.insert(PathKind::classify(*from, *to), all);
            // The uSID of a cable is the same in both directions.
            found.insert((*to, *from), usable.clone());
            found.insert((*from, *to), usable);
        }
    }
    (found, planned)
}
