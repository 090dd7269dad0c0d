//! Switches whose files follow from the counts of a fabric alone.
//!
//! In: a plan. Out: [`Plain`], which finds them. Invariants: the rule is that of [`closc_plan::touch`]. A switch that
//! no exception and no pin touches has the same files as in a fabric without exceptions and pins.

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
    /// Finds these switches in a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut touched: BTreeSet<Touch> = pins(plan).map(|(switch, _)| Touch::Switch(switch)).collect();
        for (exception, _) in exceptions(plan) {
            touch(exception, plan.fabric(), &mut |at| {
                touched.insert(at);
            });
        }
        Plain { touched }
    }

    /// Returns whether a switch is one of them.
    pub fn has(&self, switch: Switch) -> bool {
        ![Touch::Switch(switch), Touch::Plane(switch.plane)].iter().any(|touch| self.touched.contains(touch))
    }
}
