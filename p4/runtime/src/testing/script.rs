//! Faults of a fake target.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tonic::Code;

use crate::client::Rpc;
use crate::proto::v1;
use crate::proto::v1::set_forwarding_pipeline_config_request::Action;

/// The fault of one Write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// The connection breaks after some of the updates were applied and before the answer.
    Disconnect {
        /// Number of updates applied.
        after_updates: usize,
    },
    /// Another controller becomes primary just before the Write.
    LosePrimary,
    /// The Write fails without a detail per update.
    FailWithoutDetails,
    /// The answer has the wrong number of details.
    WrongDetails,
    /// The answer never arrives.
    NoAnswer,
}

/// The faults of a fake target. The default has none.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fault of its own, and a target may have any of them"
)]
pub struct Script {
    /// Updates to reject, by their number over all Writes, from 0.
    pub refuse_updates: BTreeMap<u64, (Code, String)>,
    /// Entities whose updates are rejected.
    pub refuse_entities: Vec<v1::Entity>,
    /// Whether a failed update aborts the later updates of its table in the same Write, as on SONiC hardware. These are
    /// answered with `ABORTED` and do not count as updates.
    pub aborts_rest: bool,
    /// Writes that fail, by their number, from 0.
    pub write_faults: BTreeMap<u64, WriteFault>,
    /// Delay before each answer.
    pub delays: BTreeMap<Rpc, Duration>,
    /// Pipeline actions that the target does not implement, by their numbers.
    pub unimplemented_actions: BTreeSet<i32>,
    /// Whether only the first pipeline can be set with `VERIFY_AND_COMMIT`, and later ones only with reconciliation, as
    /// on SONiC hardware.
    pub commits_once: bool,
    /// Whether only reads of table entries are implemented.
    pub reads_tables_only: bool,
    /// Maximum number of entries per table.
    pub table_limit: Option<usize>,
    /// Whether groups and members must exist before objects that refer to them, as on BMv2.
    pub check_references: bool,
}

impl Script {
    /// Makes a pipeline action unimplemented.
    #[must_use]
    pub fn without_action(mut self, action: Action) -> Self {
        self.unimplemented_actions.insert(action.into());
        self
    }

    /// Makes an update fail.
    #[must_use]
    pub fn refuse(mut self, update: u64, code: Code, message: &str) -> Self {
        self.refuse_updates.insert(update, (code, message.to_owned()));
        self
    }

    /// Makes a Write fail.
    #[must_use]
    pub fn write_fault(mut self, write: u64, fault: WriteFault) -> Self {
        self.write_faults.insert(write, fault);
        self
    }

    /// Adds a delay before each answer to a call.
    #[must_use]
    pub fn delay(mut self, rpc: Rpc, delay: Duration) -> Self {
        self.delays.insert(rpc, delay);
        self
    }
}
