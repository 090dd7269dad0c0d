//! Ports of a front panel that are not in the plan.
//!
//! In: a switch of the plan, and a port name from a report. Out: the name of the port, if any breakout of the
//! panel's cages has it. Invariants: every port of the panel belongs to the fabric, whether or not the plan
//! uses it. Management ports are not on the panel. The names of a platform are computed once.

use std::collections::HashMap;
use std::sync::Arc;

use closc_plan::Plan;
use closc_platform::Platform;
use closc_topology::Switch;
use smol_str::SmolStr;

/// Maps the name and the alias of each port to its name.
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

/// Returns the names and aliases of all ports with all breakouts. A name takes precedence over an alias.
fn names(platform: &Platform) -> Names {
    let ports: Vec<_> = platform.ports().collect();
    let aliases = ports.iter().map(|port| (port.alias.clone(), port.name.clone()));
    let own = ports.iter().map(|port| (port.name.clone(), port.name.clone()));
    aliases.chain(own).collect()
}
