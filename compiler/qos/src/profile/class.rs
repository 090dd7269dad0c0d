//! A traffic class of a profile.
//!
//! In: values from a preset or a file. Out: a [`Class`], plain data. Invariants: names are valid table names on every
//! target. [`super::check`] checks the combination of values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::name::ClassName;
use crate::codes::{Dscp, DynamicThreshold, Priority, PriorityGroup, Queue, TrafficClass, Weight};
use crate::ecn::Ecn;

/// Purpose of a class. Only data, acknowledgements and other traffic may have several classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Training data: RDMA writes and reads.
    Data,
    /// Retransmitted data.
    Retransmit,
    /// Acknowledgements, if the NIC sends them with a DSCP other than that of data.
    Acknowledge,
    /// Clear-to-send messages of receiver-driven admission (NCCL: `NCCL_IB_FIFO_TC`).
    Cts,
    /// Congestion notification packets of DCQCN.
    Cnp,
    /// Packets that a switch has trimmed.
    Trimmed,
    /// Routing, probes and other traffic that keeps the network up.
    Control,
    /// All other traffic.
    Other,
}

impl Role {
    /// Returns the keyword in YAML.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Retransmit => "retransmit",
            Self::Acknowledge => "acknowledge",
            Self::Cts => "cts",
            Self::Cnp => "cnp",
            Self::Trimmed => "trimmed",
            Self::Control => "control",
            Self::Other => "other",
        }
    }

    /// Returns whether packets of the role carry its code point: hosts send them, or switches that trimmed them.
    pub const fn is_sent(self) -> bool {
        match self {
            Self::Data | Self::Retransmit | Self::Acknowledge | Self::Cts | Self::Cnp | Self::Trimmed => true,
            Self::Control | Self::Other => false,
        }
    }

    /// Returns whether at most one class can have the role.
    pub const fn is_unique(self) -> bool {
        match self {
            Self::Data | Self::Acknowledge | Self::Other => false,
            Self::Retransmit | Self::Cts | Self::Cnp | Self::Trimmed | Self::Control => true,
        }
    }
}

/// Scheduling of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Strict priority.
    Strict,
    /// Deficit weighted round robin, with this weight.
    Dwrr(Weight),
}

/// A class of traffic, and its treatment by switches and hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Class {
    /// The name.
    pub name: ClassName,
    /// Purpose.
    pub role: Role,
    /// The code points of the class. Senders use the first. Empty for classes that only switches use.
    pub dscp: Vec<Dscp>,
    /// The traffic class inside the switch.
    pub tc: TrafficClass,
    /// The egress queue.
    pub queue: Queue,
    /// The ingress priority group.
    pub priority_group: PriorityGroup,
    /// The 802.1Q priority: that of PFC frames, and that of the class on hosts.
    pub priority: Priority,
    /// Scheduling of the queue.
    pub scheduler: Scheduler,
    /// Whether the class is lossless.
    pub pfc: bool,
    /// ECN marking.
    pub ecn: Ecn,
    /// Whether packets are trimmed instead of dropped.
    pub trim: bool,
    /// Dynamic threshold of the priority group in the ingress pool.
    pub ingress_threshold: DynamicThreshold,
    /// Dynamic threshold of the queue in the egress pool.
    pub egress_threshold: DynamicThreshold,
}

impl Class {
    /// Returns the code point that senders of this class use.
    pub fn mark(&self) -> Option<Dscp> {
        self.dscp.first().copied()
    }

    /// Returns SONiC's ingress and egress thresholds, which differ for lossless and lossy traffic (`default_dynamic_th`
    /// 0 and `egress_lossless_profile` 7; `ingress_lossy_profile` and `egress_lossy_profile` 3).
    pub(super) const fn default_thresholds(pfc: bool) -> (DynamicThreshold, DynamicThreshold) {
        let (ingress, egress) = if pfc { (0, 7) } else { (3, 3) };
        (DynamicThreshold::constant(ingress), DynamicThreshold::constant(egress))
    }
}
