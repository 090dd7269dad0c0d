//! Observations of a job, before anything is computed from them.
//!
//! Invariants: times are nanoseconds after the first message; NICs are numbers in the order of the job.

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Sender.
    pub from: usize,
    /// Intended receiver.
    pub to: usize,
    /// When it was ordered.
    pub at_ns: u64,
    /// Time until the sender knew that all of it arrived; none if it never did.
    pub took_ns: Option<u64>,
    /// Packets sent for it, and those of them that were sent again.
    pub packets: (u64, u64),
}

/// Packets received by NICs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at_ns: u64,
    /// Bytes of messages, each counted once, for each NIC.
    pub received: Vec<u64>,
}

/// A packet that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// When: in virtual time the moment at which a cable, a switch or a port lost it; on the kernel, where that is invisible, when
    /// it was sent, or when the step began that took its path from under it.
    pub lost_ns: u64,
    /// The step that it is charged to; nothing before the first.
    pub step: Option<usize>,
    /// Whether a switch dropped it, as its queue was full or no entry fits, and no cable: known in virtual time only.
    pub in_switch: bool,
    /// Whether it was a probe that asked what became of packets before it, and carried nothing.
    pub is_probe: bool,
    /// Sender's knowledge of it; none where it never arrived.
    pub word: Option<Word>,
}

/// Knowledge of the sender of a lost packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Sender.
    pub from: usize,
    /// Intended receiver.
    pub to: usize,
    /// Its path.
    pub entropy: u32,
    /// When it was sent.
    pub sent_ns: u64,
    /// Time at which its sender knew; none without any answer.
    pub known_ns: Option<u64>,
}

/// A path whose state changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path owner.
    pub from: usize,
    /// Where it goes.
    pub to: usize,
    /// The entropy value.
    pub entropy: u32,
    /// State before and after.
    pub states: (String, String),
    /// When.
    pub at_ns: u64,
}

/// A step that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// When it began and ended.
    pub span_ns: (u64, u64),
    /// Why it could not be done.
    pub failed: Option<String>,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Messages in the order in which they were ordered.
    pub messages: Vec<Message>,
    /// Received packets, over time.
    pub samples: Vec<Sample>,
    /// Packets lost.
    pub losses: Vec<Loss>,
    /// States that changed.
    pub changes: Vec<Change>,
    /// The steps of the scenario that were done, in order.
    pub marks: Vec<Mark>,
    /// When the last message arrived, or the job was given up.
    pub end_ns: u64,
    /// Until when senders had more to send, whatever arrived; nothing where they had a number of messages to send.
    pub wanted_ns: Option<u64>,
    /// Bytes that were not what they should be.
    pub wrong_bytes: u64,
    /// Packets of messages that came again.
    pub repeated: u64,
    /// Packets sent over each plane.
    pub planes: Vec<u64>,
    /// Losses and changes that agents had forgotten when they were asked.
    pub forgotten: u64,
    /// Packets of which no word had come at the end: of messages that arrived, or for which their sender had no room any more.
    pub unanswered: u64,
    /// Round trips between NICs, mean, before anything broke.
    pub rtt_ns: u64,
}
