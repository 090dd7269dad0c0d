//! A scenario on a fabric: what is broken after each step, and what that should leave of goodput and of paths.
//!
//! In: a scenario, the model, what paths there are. Out: a [`Timeline`], or the first step that does not fit. Invariants: no
//! step breaks what is broken or repairs what is whole; what should be left follows from the cables alone.

use std::collections::BTreeSet;
use std::time::Duration;

use super::pattern::Work;
use super::scenario::{Action, Scenario, ScenarioFault, names};
use super::spread::{Left, Spread};
use crate::lab::fault::{Fault, Harm};
use crate::model::{CableId, Model};

/// A step that fits the fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// When.
    pub at: Duration,
    /// Event.
    pub action: Action,
    /// Faults afterwards.
    pub standing: Vec<Fault>,
}

/// Estimate of the remaining capacity of a pattern during a fault.
pub(super) trait Remains {
    /// Returns what is left while these faults stand.
    fn left(&self, work: &Work, standing: &[(Fault, Harm)]) -> Left;
}

/// A scenario on a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Event.
    pub steps: Vec<Bound>,
    /// Expected capacity: before the first step, and after each.
    pub plan: Vec<Left>,
}

impl Timeline {
    /// Looks up every name of a scenario, and computes what should be left of the goodput of a pattern that is sprayed.
    pub fn bind(
        scenario: &Scenario,
        model: &Model,
        spread: &Spread,
        work: &Work,
    ) -> Result<Timeline, ScenarioFault> {
        Timeline::over(scenario, model, spread, work)
    }

    /// The same, over whatever says what is left.
    pub(super) fn over(
        scenario: &Scenario,
        model: &Model,
        paths: &dyn Remains,
        work: &Work,
    ) -> Result<Timeline, ScenarioFault> {
        let mut standing: Vec<(Fault, Harm)> = Vec::new();
        let mut steps = Vec::with_capacity(scenario.steps.len());
        let mut plan = vec![paths.left(work, &standing)];
        for step in &scenario.steps {
            let fault = |what: String| ScenarioFault::at(step.place, what);
            match &step.action {
                Action::Break(new) => {
                    let harm = new.harm(model).map_err(|error| fault(error.to_string()))?;
                    let same = |(other, there): &&(Fault, Harm)| {
                        other.names().iter().any(|name| new.names().contains(name)) || there.excludes(&harm)
                    };
                    if let Some((other, _)) = standing.iter().find(same) {
                        return Err(fault(format!("{new}: not while {other}; restore that first")));
                    }
                    standing.push((new.clone(), harm));
                }
                Action::Restore(name) => {
                    let broken: BTreeSet<String> = standing.iter().flat_map(|(f, _)| f.names()).collect();
                    let meant = |f: &Fault| name.as_ref().is_none_or(|name| f.names().contains(name));
                    let before = standing.len();
                    standing.retain(|(f, _)| !meant(f));
                    if standing.len() == before {
                        let what = name.as_deref().unwrap_or("all");
                        return Err(fault(format!("`restore: {what}` repairs nothing; {}", names(&broken))));
                    }
                }
            }
            plan.push(paths.left(work, &standing));
            let now = standing.iter().map(|(fault, _)| fault.clone()).collect();
            steps.push(Bound { at: step.at, action: step.action.clone(), standing: now });
        }
        Ok(Timeline { steps, plan })
    }
}

impl Remains for Spread {
    fn left(&self, work: &Work, standing: &[(Fault, Harm)]) -> Left {
        let mut dead: BTreeSet<CableId> = BTreeSet::new();
        for (_, harm) in standing {
            match harm {
                Harm::Down(_) | Harm::Swapped(..) => dead.extend(harm.cables()),
                // Paths over it are left as soon as they lose a packet; others of the plane remain.
                Harm::Lossy(..) => {}
            }
        }
        Spread::left(self, work, &dead)
    }
}
