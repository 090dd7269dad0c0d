//! Agents that no longer answer.
//!
//! In: the source that reported for a NIC, its last error. Out: a line of text. Invariants: only a source that was the
//! agent of a NIC, or is bound to one, can be dead. An agent that moved to another socket is not dead.

use closc_plan::Plan;
use closc_topology::Nic;

use crate::element::nic_name;
use crate::verdict::clock;

/// An agent that answered before or is bound to a NIC, and does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeadAgent {
    /// Its NIC.
    pub(crate) nic: Nic,
    /// The path of its socket.
    pub(crate) source: String,
    /// Time of its last answer; 0 if there was none.
    pub(crate) last_seen_ms: u64,
    /// Last error.
    pub(crate) fault: String,
}

impl DeadAgent {
    /// Describes it in one line.
    pub(crate) fn line(&self, plan: &Plan, now_ms: u64) -> String {
        let nic = nic_name(plan.topology(), self.nic);
        let since = match self.last_seen_ms {
            0 => "it never answered".to_owned(),
            seen_ms => format!("no answer since {}", clock(seen_ms, now_ms)),
        };
        let DeadAgent { source, fault, .. } = self;
        format!("agent of NIC {nic} is dead: {since} at {source}: {fault}")
    }
}
