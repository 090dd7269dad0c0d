//! Data to send to one switch, with digests of its state before and after.
//!
//! In: a plan that was made or loaded, and the live state of the switch. Out: the state after the plan. Invariants: a
//! switch that is in neither of the two states is rejected.

use std::sync::Arc;

use closc_runtime::proto::v1;

use crate::bind::OmittedEntries;
use crate::fault::{Fault, Operation};
use crate::invalid::InvalidState;
use crate::report::PipelineStep;
use crate::state::{State, StateDigest};
use crate::target::Program;
use crate::tree::TargetState;

/// Data to send to one switch.
#[derive(Debug, Clone, PartialEq)]
pub struct DevicePlan {
    /// Its plane, if known.
    pub plane: Option<u8>,
    /// Name of the program that it will run.
    pub program: String,
    /// Whether the program has to be set, which empties the tables.
    pub set_pipeline: bool,
    /// Its state now, or after the program is set.
    pub live: StateDigest,
    /// Its state after the push.
    pub target_digest: StateDigest,
    /// Entries that are omitted because its program has no table for them.
    pub(crate) omissions: Vec<OmittedEntries>,
    /// The updates, in the order in which they are sent.
    pub updates: Vec<v1::Update>,
    /// Upper bound of the entities that the switch holds before and after. For a plan from a file it is the number of
    /// updates.
    pub(crate) max_entities: usize,
}

impl DevicePlan {
    /// Returns whether anything will be sent.
    pub fn changes(&self) -> bool {
        self.set_pipeline || !self.updates.is_empty()
    }

    /// Checks that the switch still runs the program that it ran when the plan was made.
    pub(crate) fn check_pipeline(&self, has_pipeline: bool) -> Result<(), Fault> {
        if has_pipeline || self.set_pipeline {
            return Ok(());
        }
        Err(Fault::Moved { changes: vec![format!("it no longer runs pipeline `{}`", self.program)] })
    }

    /// Returns the state after the plan, if the switch is in that state or in the one for which the plan was made.
    ///
    /// If this push set the program, the plan was made for empty tables. A switch that kept its entries then needs more
    /// removals, and ends in the same state.
    pub(crate) fn resolve(
        &self,
        program: &Arc<Program>,
        live: &State,
        step: PipelineStep,
    ) -> Result<TargetState, Fault> {
        let info = program.info();
        let found = live.digest(info);
        if found == self.target_digest {
            return Ok(TargetState::new(program.clone(), live.clone()));
        }
        let nothing = State::default();
        let start = if step == PipelineStep::Reconciled { &nothing } else { live };
        let found = start.digest(info);
        if found != self.live {
            return Err(Fault::Moved { changes: self.live.changed_objects(&found) });
        }
        let invalid = |invalid: InvalidState| Fault::InvalidState { operation: Operation::Writing, invalid };
        let state = start.apply_updates(info, &self.updates).map_err(invalid)?;
        if state.digest(info) != self.target_digest {
            let reason = "the updates of the plan do not produce its target state".to_owned();
            return Err(Fault::Ended { reason });
        }
        Ok(TargetState::new(program.clone(), state))
    }
}
