//! Switches whose files depend only on the counts of a fabric.
//!
//! In: a plan. Out: [`PlainSwitches`], the set of these switches. Invariants: the rule is that of
//! [`closc_plan::touch`]. A switch that is not touched by any exception or pin has the same files as in a
//! fabric without exceptions and pins.

use std::collections::BTreeSet;

use closc_plan::{ArtefactSet, Plan, touch};
use closc_topology::Switch;

use crate::meaning::{exceptions, pins};

/// Switches that are not touched by any exception or pin.
#[derive(Debug, Clone)]
pub struct PlainSwitches {
    touched_sets: BTreeSet<ArtefactSet>,
}

impl PlainSwitches {
    /// Finds these switches in a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut touched: BTreeSet<ArtefactSet> =
            pins(plan).map(|(switch, _)| ArtefactSet::Switch(switch)).collect();
        for (exception, _) in exceptions(plan) {
            touch(exception, plan.fabric(), &mut |at| {
                touched.insert(at);
            });
        }
        PlainSwitches { touched_sets: touched }
    }

    /// Returns whether no exception or pin affects a switch.
    pub fn has(&self, switch: Switch) -> bool {
        ![ArtefactSet::Switch(switch), ArtefactSet::Plane(switch.plane)]
            .iter()
            .any(|touch| self.touched_sets.contains(touch))
    }
}
