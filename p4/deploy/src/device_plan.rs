//! Data to send to one switch, with digests of its state before and after.
//!
//! In: a plan that was made or loaded, and what the switch holds. Out: the state that the plan leads to. Invariants: a
//! switch that is not as it was, nor as it will be, is refused.

use std::sync::Arc;

use closc_runtime::proto::v1;

use crate::bind::LeftOut;
use crate::fault::{Fault, Operation};
use crate::invalid::InvalidState;
use crate::report::PipelineStep;
use crate::state::{State, StateDigest};
use crate::target::Program;
use crate::tree::Desired;

/// Data to send to one switch.
#[derive(Debug, Clone, PartialEq)]
pub struct DevicePlan {
    /// Its plane, where that is known.
    pub plane: Option<u8>,
    /// Name of the program it is to run.
    pub program: String,
    /// Whether the program has to be set, which empties the tables.
    pub set_pipeline: bool,
    /// Contents now, or once the program is set.
    pub live: StateDigest,
    /// Future contents.
    pub desired: StateDigest,
    /// Missing functions, as its program has no table for them.
    pub(crate) left_out: Vec<LeftOut>,
    /// The updates, in the order in which they are sent.
    pub updates: Vec<v1::Update>,
    /// The most entities that the switch is known to hold before and after. What a file says of it is not known.
    pub(crate) known: usize,
}

impl DevicePlan {
    /// Says whether anything will be sent.
    pub fn changes(&self) -> bool {
        self.set_pipeline || !self.updates.is_empty()
    }

    /// Checks that the switch runs what it ran when the plan was made.
    pub(crate) fn check_pipeline(&self, has_pipeline: bool) -> Result<(), Fault> {
        if has_pipeline || self.set_pipeline {
            return Ok(());
        }
        Err(Fault::Moved { moved: vec![format!("it no longer runs pipeline `{}`", self.program)] })
    }

    /// Returns the state that the plan leads to, if the switch is as it was when the plan was made, or if it is
    /// already as it will be.
    ///
    /// A program that was set in this push was planned with empty tables. A switch that kept its entries then has more to
    /// lose, and in the end the same.
    pub(crate) fn resolve(
        &self,
        program: &Arc<Program>,
        live: &State,
        step: PipelineStep,
    ) -> Result<Desired, Fault> {
        let info = program.info();
        let found = live.digest(info);
        if found == self.desired {
            return Ok(Desired::new(program.clone(), live.clone()));
        }
        let nothing = State::default();
        let start = if step == PipelineStep::Reconciled { &nothing } else { live };
        let found = start.digest(info);
        if found != self.live {
            return Err(Fault::Moved { moved: self.live.moved(&found) });
        }
        let invalid = |invalid: InvalidState| Fault::InvalidState { operation: Operation::Writing, invalid };
        let state = start.after(info, &self.updates).map_err(invalid)?;
        if state.digest(info) != self.desired {
            let reason = "the updates of the plan do not lead to the state that it names".to_owned();
            return Err(Fault::Ended { reason });
        }
        Ok(Desired::new(program.clone(), state))
    }
}
