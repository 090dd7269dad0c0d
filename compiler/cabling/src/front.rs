//! Ports of a front panel that the plan has no use for.
//!
//! In: a switch of the plan, and a name that a report uses for a port. Out: the port, by its own name, where the panel
//! has it under any split of its cages. Invariants: every port of the panel belongs to the fabric, whether or not the
//! plan uses it; management ports are not on it. The names of a platform are computed once.

use std::collections::HashMap;
use std::sync::Arc;

use closc_plan::Plan;
use closc_platform::Platform;
use closc_topology::Switch;
use smol_str::SmolStr;

/// The name of each port, by its name and by its alias.
type Names = HashMap<SmolStr, SmolStr>;

/// The panels of a plan.
#[derive(Debug, Default)]
pub(crate) struct Fronts(Vec<(Arc<Platform>, Names)>);

impl Fronts {
    /// Returns the name of a port on the panel of a switch.
    pub(crate) fn find(&mut self, plan: &Plan, switch: Switch, word: &str) -> Option<SmolStr> {
        let platform = &plan.topology().hardware(switch).0;
        let known = self.0.iter().position(|(own, _)| Arc::ptr_eq(own, platform));
        let at = known.unwrap_or_else(|| {
            self.0.push((Arc::clone(platform), names(platform)));
            self.0.len() - 1
        });
        self.0[at].1.get(word).cloned()
    }
}

/// The names and aliases of all ports under all splits. A name goes before an alias.
fn names(platform: &Platform) -> Names {
    let ports: Vec<_> = platform.ports().collect();
    let aliases = ports.iter().map(|port| (port.alias.clone(), port.name.clone()));
    let own = ports.iter().map(|port| (port.name.clone(), port.name.clone()));
    aliases.chain(own).collect()
}
