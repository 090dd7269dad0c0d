//! Switches that follow from the counts of a fabric alone.
//!
//! In: a plan. Out: [`Plain`], asked by switch. Invariants: the rule is that of [`closc_plan::touch`]; a switch that no
//! exception and no pin touches has the same files as in a fabric without any.

use std::collections::BTreeSet;

use closc_plan::{Plan, Touch, touch};
use closc_topology::Switch;

use crate::meaning::{exceptions, pins};

/// Switches that no exception and no pin touches.
#[derive(Debug, Clone)]
pub struct Plain {
    touched: BTreeSet<Touch>,
}

impl Plain {
    /// Takes a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut touched: BTreeSet<Touch> = pins(plan).map(|(switch, _)| Touch::Switch(switch)).collect();
        for (exception, _) in exceptions(plan) {
            touch(exception, plan.fabric(), &mut |at| {
                touched.insert(at);
            });
        }
        Plain { touched }
    }

    /// Tells whether a switch is one of them.
    pub fn has(&self, switch: Switch) -> bool {
        ![Touch::Switch(switch), Touch::Plane(switch.plane)].iter().any(|touch| self.touched.contains(touch))
    }
}
