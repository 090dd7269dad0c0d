//! State of one far NIC that packets go to or come from.

use closc_paths::Destination;
use closc_paths_engine::PathId;

use crate::congestion::Congestion;
use crate::reorder::{self, Reorder};
use crate::reordered_paths::OvertakenPaths;
use crate::sent_log::{self, SentLog};
use crate::share::{Grant, Usage};
use crate::writes::{IncomingWrites, OutgoingWrite};

/// Maximum number of congestion marks in one acknowledgement.
pub(crate) const MARKS: usize = 16;

/// Maximum number of paths that are probed immediately because an answer was missed or a packet was overtaken.
pub(crate) const SUSPECTS: usize = 8;

/// Capacity and time limits of a channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Planes of the fabric.
    pub(crate) planes: u32,
    /// Maximum number of packets of writes in flight.
    pub(crate) window: u32,
    /// Longest time that a packet waits for an earlier one.
    pub(crate) reorder_ns: u64,
    /// Maximum bytes of waiting packets.
    pub(crate) reorder_bytes: usize,
}

/// The channel of one far NIC.
#[derive(Debug)]
pub struct Channel {
    /// Its address.
    pub address: [u8; 16],
    /// Its paths in the engine.
    pub path: PathId,
    /// Its position in the fabric.
    pub to: Destination,
    /// Row of its group in the group counters.
    pub(crate) group: usize,
    /// Epoch of packets to it. It changes each time the channel is opened, because packet numbers restart.
    pub(crate) epoch: u16,
    /// Log of packets sent to it.
    pub sent: SentLog,
    /// Congestion control, which limits packets in flight.
    pub congestion: Congestion,
    /// Rate that the far NIC grants, which limits writes to it.
    pub(crate) grant: Grant,
    first_window: u32,
    /// Data received from it, which determines the grants of this NIC.
    pub(crate) usage: Usage,
    /// Reordering buffer for packets from it.
    pub reorder: Reorder,
    /// Incoming writes.
    pub incoming_writes: IncomingWrites,
    /// Outgoing writes.
    pub outgoing_writes: Vec<OutgoingWrite>,
    /// Time of the last packet or message from its agent, on the clock that stops while the process does not run.
    pub alive_ns: Option<u64>,
    /// Time of the last numbered packet sent or received, except probes sent.
    pub last_use_ns: u64,
    /// Packets that have not been acknowledged to it yet, and the time of the first of them.
    pub(crate) pending_acks: u32,
    pub(crate) pending_acks_since_ns: u64,
    /// Packets that were missing when the last acknowledgement was sent.
    pub(crate) missed: u64,
    pub(crate) marks: [u32; MARKS],
    pub(crate) n_marks: u8,
    /// Times of the next probe of bad paths, and of the next probe of a path in use.
    pub(crate) probe_at_ns: u64,
    pub(crate) look_at_ns: u64,
    pub(crate) probe_round: usize,
    /// Whether all paths were bad at the last probes, and the number of rounds in which all bad paths are probed.
    pub(crate) was_lost: bool,
    pub(crate) eager_rounds: u32,
    /// Paths to probe immediately, and whether by a long probe. They are not bad, but their last probe was not
    /// answered, or a packet over them was overtaken.
    pub(crate) suspects: Vec<(u8, u32, bool)>,
    /// Paths from it whose packets were overtaken.
    pub(crate) overtaken: OvertakenPaths,
    /// Counters.
    pub tally: Tally,
}

/// Counters of a channel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Packets sent over each plane.
    pub sent: [u64; 32],
    /// Packets received.
    pub received: u64,
    /// Packets known to have arrived.
    pub arrived: u64,
    /// Packets lost.
    pub lost: u64,
    /// Packets that were declared lost but arrived.
    pub late: u64,
    /// Packets that were trimmed to their headers.
    pub cut: u64,
    /// Time of the last loss.
    pub last_lost_ns: u64,
}

/// Time for which an unacknowledged packet of the node keeps its channel open. After this time, the sender
/// has retransmitted it.
const UNANSWERED_NS: u64 = 100_000_000;

/// Without a path, an acknowledgement is retried after this time. Unused paths are probed at the same interval.
const LATER_NS: u64 = 10_000_000;

impl Channel {
    pub(crate) fn new(
        address: [u8; 16],
        path: PathId,
        to: Destination,
        limits: &Limits,
        now_ns: u64,
    ) -> Self {
        let congestion = Congestion::new(limits.planes, limits.window);
        Channel {
            address,
            path,
            to,
            group: 0,
            epoch: 0,
            sent: SentLog::of_window(limits.window),
            first_window: congestion.window(),
            congestion,
            grant: Grant::new(now_ns),
            usage: Usage::default(),
            reorder: Reorder::new(limits.window, limits.reorder_ns, limits.reorder_bytes),
            incoming_writes: IncomingWrites::default(),
            outgoing_writes: Vec::new(),
            alive_ns: None,
            last_use_ns: now_ns,
            pending_acks: 0,
            pending_acks_since_ns: 0,
            missed: 0,
            marks: [0; MARKS],
            n_marks: 0,
            probe_at_ns: now_ns,
            look_at_ns: now_ns,
            probe_round: 0,
            was_lost: false,
            eager_rounds: 0,
            suspects: Vec::with_capacity(SUSPECTS),
            overtaken: OvertakenPaths::default(),
            tally: Tally::default(),
        }
    }

    /// Records a packet that must be acknowledged.
    pub(crate) fn owe(&mut self, mark: Option<u32>, now_ns: u64) {
        if self.pending_acks == 0 {
            self.pending_acks_since_ns = now_ns;
        }
        self.pending_acks += 1;
        self.tally.received += 1;
        if let (Some(entropy), true) = (mark, usize::from(self.n_marks) < MARKS) {
            self.marks[usize::from(self.n_marks)] = entropy;
            self.n_marks += 1;
        }
    }

    /// Returns the number of packets that may be in flight. It is small while nothing is known about the far NIC.
    pub(crate) fn window(&self, now_ns: u64) -> u32 {
        let window = self.congestion.window();
        if self.grant.is_stale(now_ns) { window.min(self.first_window) } else { window }
    }

    /// Returns whether packets became missing since the last acknowledgement, so that their sender should know soon.
    pub(crate) fn has_news(&self) -> bool {
        self.reorder.missed != self.missed
    }

    /// Records that all packets so far are acknowledged.
    pub(crate) fn record_ack(&mut self) {
        (self.pending_acks, self.n_marks, self.missed) = (0, 0, self.reorder.missed);
    }

    /// Postpones acknowledgements because no path is available now. They are retried after `LATER_NS`.
    pub(crate) fn acknowledges_later(&mut self, now_ns: u64) {
        self.pending_acks_since_ns = now_ns + LATER_NS;
    }

    /// Returns the memory of a channel without traffic, in bytes.
    pub(crate) fn min_bytes() -> usize {
        let suspects = SUSPECTS * size_of::<(u8, u32, bool)>();
        size_of::<Channel>() + sent_log::LEAST_BYTES + reorder::LEAST_BYTES + suspects
    }

    /// Returns its memory beyond [`Self::min_bytes`].
    pub(crate) fn wide_bytes(&self) -> usize {
        self.sent.wide_bytes() + self.reorder.wide_bytes()
    }

    /// Returns whether the channel must stay open: for a write in either direction, or for an acknowledgement
    /// that one side expects. A silent far NIC keeps it open for a limited time only. Outgoing writes keep it
    /// open without a limit, because a job waits for them.
    pub(crate) fn is_waited_for(&self, now_ns: u64, idle_ns: u64) -> bool {
        let unused_ns = now_ns.saturating_sub(self.last_use_ns);
        let leaves = self.is_writing();
        let comes = self.incoming_writes.is_open() || self.reorder.is_waiting() || self.pending_acks > 0;
        let unanswered = self.alive_ns.is_some() && self.sent.in_flight() > 0;
        leaves || comes && unused_ns <= idle_ns || unanswered && unused_ns <= UNANSWERED_NS
    }

    /// Returns whether an outgoing write is not finished.
    pub(crate) fn is_writing(&self) -> bool {
        self.outgoing_writes.iter().any(|write| write.ended_ns.is_none())
    }

    /// Returns whether a timer may expire before the next probe: for waiting packets, packets in flight, owed
    /// acknowledgements, or outgoing writes.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_awaited() || self.is_writing()
    }

    /// Returns whether packets wait, or acknowledgements are owed or expected.
    pub(crate) fn is_awaited(&self) -> bool {
        self.pending_acks > 0 || self.sent.in_flight() > 0 || self.reorder.is_waiting()
    }

    /// Returns whether outgoing writes are finished, and traffic stopped at least `idle_ns` ago.
    pub(crate) fn is_idle(&self, now_ns: u64, idle_ns: u64) -> bool {
        !self.is_writing() && now_ns.saturating_sub(self.last_use_ns) > idle_ns
    }
}
