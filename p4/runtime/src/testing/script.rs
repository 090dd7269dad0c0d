//! Misbehaviour of a fake target.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tonic::Code;

use crate::client::Rpc;
use crate::proto::v1;
use crate::proto::v1::set_forwarding_pipeline_config_request::Action;

/// Handling of one Write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// The connection breaks after some of its updates were applied, and before the answer.
    Disconnect {
        /// Number applied.
        after_updates: usize,
    },
    /// Another controller becomes primary just before it.
    LosePrimary,
    /// It fails without saying which update was wrong.
    FailWithoutDetails,
    /// The answer is about another number of updates.
    WrongDetails,
    /// Its answer never comes.
    NoAnswer,
}

/// The faults of a fake target. The default has none.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fault of its own, and a target may have any of them"
)]
pub struct Script {
    /// Updates to refuse, by their number over all Writes, from 0.
    pub refuse_updates: BTreeMap<u64, (Code, String)>,
    /// Entities that no update may name.
    pub refuse_entities: Vec<v1::Entity>,
    /// Whether the first failure of a table ends it in a Write: its other updates are answered `ABORTED` and not tried, as on
    /// SONiC hardware. Those do not count as updates.
    pub aborts_rest: bool,
    /// Writes to fail, by their number, from 0.
    pub write_faults: BTreeMap<u64, WriteFault>,
    /// Delay before each answer.
    pub delays: BTreeMap<Rpc, Duration>,
    /// Pipeline actions that the target does not know, by their numbers.
    pub unimplemented_actions: BTreeSet<i32>,
    /// Whether only the first pipeline is taken with empty tables, and further ones are reconciled, as SONiC hardware does it.
    pub commits_once: bool,
    /// Whether members, groups and replication can be read.
    pub reads_tables_only: bool,
    /// The most entries that a table takes.
    pub table_limit: Option<usize>,
    /// Whether groups and members must exist before what names them, as BMv2 wants it.
    pub check_references: bool,
}

impl Script {
    /// Lets the target not know a pipeline action.
    #[must_use]
    pub fn without_action(mut self, action: Action) -> Self {
        self.unimplemented_actions.insert(action.into());
        self
    }

    /// Lets the target refuse an update.
    #[must_use]
    pub fn refuse(mut self, update: u64, code: Code, message: &str) -> Self {
        self.refuse_updates.insert(update, (code, message.to_owned()));
        self
    }

    /// Lets a Write fail.
    #[must_use]
    pub fn write_fault(mut self, write: u64, fault: WriteFault) -> Self {
        self.write_faults.insert(write, fault);
        self
    }

    /// Lets the target think before each answer to a call.
    #[must_use]
    pub fn delay(mut self, rpc: Rpc, delay: Duration) -> Self {
        self.delays.insert(rpc, delay);
        self
    }
}
