//! Observations of a job, before anything is computed from them.
//!
//! Invariants: times are nanoseconds after the first message. NICs are numbers in the order of the job.

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Sender.
    pub from: usize,
    /// Intended receiver.
    pub to: usize,
    /// Time at which it was submitted.
    pub at_ns: u64,
    /// Time from submission until the sender received the last acknowledgement; `None` if it did not.
    pub took_ns: Option<u64>,
    /// Number of packets sent for it, and number of these that are retransmissions.
    pub packets: (u64, u64),
}

/// A sample of the received bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Time of the sample.
    pub at_ns: u64,
    /// Bytes of messages received by each NIC, without duplicates.
    pub received: Vec<u64>,
}

/// A lost packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// Time of the loss. In virtual time, this is the time at which a cable, switch or port dropped it. On the kernel
    /// that time is unknown, so it is the time of transmission, or the start of the step that broke its path.
    pub lost_ns: u64,
    /// The step that caused it; `None` before the first.
    pub step: Option<usize>,
    /// Whether a switch dropped it because of a full queue or a missing entry. Known only in virtual time.
    pub in_switch: bool,
    /// Whether it was a probe without data, sent to check for losses of earlier packets.
    pub is_probe: bool,
    /// The sender's report; `None` if there is none.
    pub report: Option<LossReport>,
}

/// The sender's report about a lost packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossReport {
    /// Sender.
    pub from: usize,
    /// Intended receiver.
    pub to: usize,
    /// Its entropy value; the source port if switches choose the path.
    pub entropy: u32,
    /// Time of transmission.
    pub sent_ns: u64,
    /// Time of the answer that revealed the loss.
    pub known_ns: Option<u64>,
}

/// A path that changed its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Sender.
    pub from: usize,
    /// Destination.
    pub to: usize,
    /// The entropy value.
    pub entropy: u32,
    /// State before and after.
    pub states: (String, String),
    /// Time of the change.
    pub at_ns: u64,
}

/// A completed step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Start and end, in nanoseconds.
    pub span_ns: (u64, u64),
    /// Why the step failed.
    pub failed: Option<String>,
}

/// Record of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Messages in the order of submission.
    pub messages: Vec<Message>,
    /// Received bytes, over time.
    pub samples: Vec<Sample>,
    /// Lost packets.
    pub losses: Vec<Loss>,
    /// Changes of path states.
    pub changes: Vec<Change>,
    /// The executed steps, in order.
    pub marks: Vec<Mark>,
    /// Time of the last arrival, or of the end of the job.
    pub end_ns: u64,
    /// Time at which senders stopped; `None` if the number of messages was fixed.
    pub stop_ns: Option<u64>,
    /// Number of bytes with wrong contents.
    pub wrong_bytes: u64,
    /// Number of duplicate packets.
    pub repeated: u64,
    /// Packets sent over each plane.
    pub planes: Vec<u64>,
    /// Number of losses and changes that agents discarded before they were read.
    pub forgotten: u64,
    /// Number of packets without an answer at the end. They belong to messages that arrived, or are no longer tracked
    /// by their sender.
    pub unanswered: u64,
    /// Mean round-trip time between NICs before the first fault.
    pub rtt_ns: u64,
}
