//! Agents that answer no more.
//!
//! In: the source that spoke for a NIC, its last error. Out: a line for people. Invariants: a source that never was the agent of a NIC
//! is not a dead agent; an agent that moved to another socket is not dead.

use closc_plan::Plan;
use closc_topology::Nic;

use crate::element::nic_name;
use crate::verdict::clock;

/// An agent that answered before, or that is bound to a NIC, and does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeadAgent {
    /// Its NIC.
    pub(crate) nic: Nic,
    /// The path of its socket.
    pub(crate) source: String,
    /// When it last answered; 0 if it never did.
    pub(crate) seen_ms: u64,
    /// Last error.
    pub(crate) fault: String,
}

impl DeadAgent {
    /// Describes it in a line.
    pub(crate) fn line(&self, plan: &Plan, now_ms: u64) -> String {
        let nic = nic_name(plan.topology(), self.nic);
        let since = match self.seen_ms {
            0 => "it never answered".to_owned(),
            seen_ms => format!("no answer since {}", clock(seen_ms, now_ms)),
        };
        let DeadAgent { source, fault, .. } = self;
        format!("agent of NIC {nic} is dead: {since} at {source}: {fault}")
    }
}
