//! All that is kept of one NIC that packets go to or come from.

use closc_paths::Destination;
use closc_paths_engine::PathId;

use crate::congestion::Congestion;
use crate::overtaken::Overtaken;
use crate::reorder::{self, Reorder};
use crate::sent::{self, SentLog};
use crate::writes::{Arriving, Leaving};

/// Congestion marks that one acknowledgement names.
pub(crate) const MARKS: usize = 16;

/// Paths that are probed again at once because an answer was missed, so many at a time.
pub(crate) const SUSPECTS: usize = 8;

/// Capacity and patience of a channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Planes of the fabric.
    pub(crate) planes: u32,
    /// Packets of writes under way.
    pub(crate) window: u32,
    /// Time that a packet waits for one before it.
    pub(crate) reorder_ns: u64,
    /// Bytes that wait.
    pub(crate) reorder_bytes: usize,
}

/// One far NIC.
#[derive(Debug)]
pub struct Channel {
    /// Its address.
    pub address: [u8; 16],
    /// Its paths.
    pub path: PathId,
    /// Where it is.
    pub to: Destination,
    /// The place of its group among those that are counted apart.
    pub(crate) group: usize,
    /// The epoch of what goes there: another one each time that it is opened, as its numbers begin again.
    pub(crate) epoch: u16,
    /// Packets sent there.
    pub sent: SentLog,
    /// Limit of packets under way.
    pub congestion: Congestion,
    /// Packets from there.
    pub reorder: Reorder,
    /// Writes that come from there.
    pub arriving: Arriving,
    /// Writes that go there.
    pub leaving: Vec<Leaving>,
    /// When anything last came from its agent, by the time that this one ran.
    pub alive_ns: Option<u64>,
    /// When anything was last sent or received.
    pub used_ns: u64,
    /// Packets that no acknowledgement speaks of yet, and since when.
    pub(crate) owed: u32,
    pub(crate) owed_since_ns: u64,
    pub(crate) marks: [u32; MARKS],
    pub(crate) n_marks: u8,
    /// When paths that are bad, and one that is not, are probed next.
    pub(crate) probe_at_ns: u64,
    pub(crate) look_at_ns: u64,
    pub(crate) probe_round: usize,
    /// Paths that missed an answer and are not bad, and whether to a long probe: they are probed again at once.
    pub(crate) suspects: Vec<(u8, u32, bool)>,
    /// Paths from there whose packets others overtook.
    pub(crate) overtaken: Overtaken,
    /// Counters.
    pub tally: Tally,
}

/// Counters of a channel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Packets sent over each plane.
    pub sent: [u64; 32],
    /// Packets that came.
    pub received: u64,
    /// Packets known to have arrived.
    pub arrived: u64,
    /// Packets lost.
    pub lost: u64,
    /// Packets called lost that arrived.
    pub late: u64,
    /// Packets of which only the headers arrived.
    pub cut: u64,
    /// When a packet was last lost.
    pub last_lost_ns: u64,
}

/// Packets of the node that nobody acknowledges are waited for no longer: who sent them will have sent them again.
const UNANSWERED_NS: u64 = 100_000_000;

/// Without a path an acknowledgement is tried again so much later, which is how often paths that are out are probed.
const LATER_NS: u64 = 10_000_000;

impl Channel {
    pub(crate) fn new(
        address: [u8; 16],
        path: PathId,
        to: Destination,
        limits: &Limits,
        now_ns: u64,
    ) -> Self {
        Channel {
            address,
            path,
            to,
            group: 0,
            epoch: 0,
            sent: SentLog::of_window(limits.window),
            congestion: Congestion::new(limits.planes, limits.window),
            reorder: Reorder::new(limits.window, limits.reorder_ns, limits.reorder_bytes),
            arriving: Arriving::default(),
            leaving: Vec::new(),
            alive_ns: None,
            used_ns: now_ns,
            owed: 0,
            owed_since_ns: 0,
            marks: [0; MARKS],
            n_marks: 0,
            probe_at_ns: now_ns,
            look_at_ns: now_ns,
            probe_round: 0,
            suspects: Vec::with_capacity(SUSPECTS),
            overtaken: Overtaken::default(),
            tally: Tally::default(),
        }
    }

    /// Notes a packet that an acknowledgement has to speak of.
    pub(crate) fn owe(&mut self, mark: Option<u32>, now_ns: u64) {
        if self.owed == 0 {
            self.owed_since_ns = now_ns;
        }
        self.owed += 1;
        self.tally.received += 1;
        if let (Some(entropy), true) = (mark, usize::from(self.n_marks) < MARKS) {
            self.marks[usize::from(self.n_marks)] = entropy;
            self.n_marks += 1;
        }
    }

    /// Puts off what is owed, because no path leads there now: whoever waits for it asks again once there is one.
    pub(crate) fn acknowledges_later(&mut self, now_ns: u64) {
        self.owed_since_ns = now_ns + LATER_NS;
    }

    /// The bytes of a channel that nothing is under way in.
    pub(crate) fn least_bytes() -> usize {
        let suspects = SUSPECTS * size_of::<(u8, u32, bool)>();
        size_of::<Channel>() + sent::LEAST_BYTES + reorder::LEAST_BYTES + suspects
    }

    /// The bytes that it takes beyond those.
    pub(crate) fn wide_bytes(&self) -> usize {
        self.sent.wide_bytes() + self.reorder.wide_bytes()
    }

    /// Tells whether somebody would miss it: who writes, who is owed an acknowledgement, or who waits for one. Not for ever where
    /// the far side is silent, except for writes that leave, which somebody asked for.
    pub(crate) fn is_waited_for(&self, now_ns: u64, idle_ns: u64) -> bool {
        let unused_ns = now_ns.saturating_sub(self.used_ns);
        let leaves = self.is_writing();
        let comes = self.arriving.is_open() || self.reorder.is_waiting() || self.owed > 0;
        let unanswered = self.alive_ns.is_some() && self.sent.under_way() > 0;
        leaves || comes && unused_ns <= idle_ns || unanswered && unused_ns <= UNANSWERED_NS
    }

    /// Tells whether a write leaves that has not ended.
    pub(crate) fn is_writing(&self) -> bool {
        self.leaving.iter().any(|write| write.ended_ns.is_none())
    }

    /// Tells whether time alone may give it something to do before its next probe: packets that wait or are waited for, an
    /// acknowledgement that is owed, a write that leaves.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_awaited() || self.is_writing()
    }

    /// Tells whether packets wait, or word of them is owed or waited for.
    pub(crate) fn is_awaited(&self) -> bool {
        self.owed > 0 || self.sent.under_way() > 0 || self.reorder.is_waiting()
    }

    /// Tells whether nobody would miss it.
    pub(crate) fn is_idle(&self, now_ns: u64, idle_ns: u64) -> bool {
        !self.is_writing() && now_ns.saturating_sub(self.used_ns) > idle_ns
    }
}
