//! A scenario on a fabric: the faults after each step, and the expected goodput and paths.
//!
//! In: a scenario, the model, and its paths. Out: a [`Timeline`], or the first invalid step. Invariants: steps
//! without effect are rejected. Expected values depend only on the cables.

use std::collections::BTreeSet;
use std::time::Duration;

use super::pattern::Work;
use super::scenario::{Action, Scenario, ScenarioFault, names};
use super::spread::{RemainingCapacity, Spread};
use crate::lab::fault::{Fault, Harm};
use crate::model::{CableId, Model};

/// A valid step.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedStep {
    /// Time of the step.
    pub at: Duration,
    /// Action.
    pub action: Action,
    /// Faults after the step.
    pub active_faults: Vec<Fault>,
}

/// Computes the remaining capacity of a pattern during faults.
pub(super) trait CapacityModel {
    /// Returns the remaining capacity during these faults.
    fn remaining_capacity(&self, work: &Work, standing: &[(Fault, Harm)]) -> RemainingCapacity;
}

/// A scenario on a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Steps.
    pub steps: Vec<TimedStep>,
    /// Expected capacity: before the first step, and after each.
    pub plan: Vec<RemainingCapacity>,
}

impl Timeline {
    /// Resolves all names of a scenario, and computes the expected goodput of a pattern with spraying.
    pub fn bind(
        scenario: &Scenario,
        model: &Model,
        spread: &Spread,
        work: &Work,
    ) -> Result<Timeline, ScenarioFault> {
        Timeline::over(scenario, model, spread, work)
    }

    /// Like [`Timeline::bind`], with any model of the remaining capacity.
    pub(super) fn over(
        scenario: &Scenario,
        model: &Model,
        paths: &dyn CapacityModel,
        work: &Work,
    ) -> Result<Timeline, ScenarioFault> {
        let mut standing = UnrepairedFaults::default();
        let mut steps = Vec::with_capacity(scenario.steps.len());
        let mut plan = vec![paths.remaining_capacity(work, &standing.0)];
        for step in &scenario.steps {
            standing.take(&step.action, model).map_err(|what| ScenarioFault::at(step.place, what))?;
            plan.push(paths.remaining_capacity(work, &standing.0));
            steps.push(TimedStep {
                at: step.at,
                action: step.action.clone(),
                active_faults: standing.faults(),
            });
        }
        Ok(Timeline { steps, plan })
    }
}

/// Faults that have not been repaired yet, each with its effect.
#[derive(Debug, Clone, Default)]
pub(super) struct UnrepairedFaults(Vec<(Fault, Harm)>);

impl UnrepairedFaults {
    /// Adds or repairs faults. The error is the reason why an action does not fit the fabric or the other faults.
    pub(super) fn take(&mut self, action: &Action, model: &Model) -> Result<(), String> {
        match action {
            Action::Break(new) => {
                let harm = new.harm(model).map_err(|error| error.to_string())?;
                let same = |(other, there): &&(Fault, Harm)| {
                    other.names().iter().any(|name| new.names().contains(name)) || there.excludes(&harm)
                };
                if let Some((other, _)) = self.0.iter().find(same) {
                    return Err(format!("{new} is not possible while {other}; restore that first"));
                }
                self.0.push((new.clone(), harm));
            }
            Action::Restore(name) => {
                let broken: BTreeSet<String> = self.0.iter().flat_map(|(f, _)| f.names()).collect();
                let meant = |f: &Fault| name.as_ref().is_none_or(|name| f.names().contains(name));
                let before = self.0.len();
                self.0.retain(|(f, _)| !meant(f));
                if self.0.len() == before {
                    let what = name.as_deref().unwrap_or("all");
                    return Err(format!("`restore: {what}` does not repair anything; {}", names(&broken)));
                }
            }
        }
        Ok(())
    }

    /// Returns the faults, oldest first.
    pub(super) fn faults(&self) -> Vec<Fault> {
        self.0.iter().map(|(fault, _)| fault.clone()).collect()
    }
}

impl CapacityModel for Spread {
    fn remaining_capacity(&self, work: &Work, standing: &[(Fault, Harm)]) -> RemainingCapacity {
        let mut dead: BTreeSet<CableId> = BTreeSet::new();
        for (_, harm) in standing {
            match harm {
                Harm::Down(_) | Harm::Swapped(..) => dead.extend(harm.cables()),
                // Agents stop using a path over the cable after a loss. The other paths of the plane remain.
                Harm::Lossy(..) | Harm::Narrow(..) => {}
            }
        }
        Spread::remaining_capacity(self, work, &dead)
    }
}
