//! The slow way: every path of every pair, asked of the path table one by one.

use std::collections::BTreeMap;

use closc_plan::{PathKind, Plan};
use closc_topology::Nic;

/// Usable paths of each pair, plane by plane.
pub(crate) type Paths = BTreeMap<(Nic, Nic), Vec<u64>>;

/// Walks every path of every pair and asks the path table, plane by plane; and the planned number of paths.
pub(crate) fn walk(plan: &Plan) -> (Paths, BTreeMap<PathKind, u64>) {
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let mut planned = BTreeMap::new();
    let mut found = Paths::new();
    for from in &nics {
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
            planned.insert(PathKind::between(*from, *to), all);
            found.insert((*from, *to), usable);
        }
    }
    (found, planned)
}
