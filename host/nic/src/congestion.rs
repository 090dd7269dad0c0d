//! Congestion control of one destination: it limits packets in flight, and decides which losses full queues explain.
//!
//! In: round trips, ECN marks, trimmed packets, losses, all with the time at which the packet was sent. Out: a window
//! in packets, and for each loss whether its plane was crowded when the packet was sent. Invariants: no I/O and no
//! clock; the window is between [`WINDOW_MIN`] and the configured maximum. Losses and trims among the packets of one
//! window shrink it to half at most. A loss without a full queue never shrinks it.
//!
//! The rules follow NSCC, the sender-based congestion control of the Ultra Ethernet specification (UE 1.0, section
//! 3.6.13). It is the congestion control profile `uet-1.0-nscc` of MRC (arXiv 2605.04333, OCP MRC 1.0):
//!
//! | | delay below target | delay at or above target |
//! |---|---|---|
//! | no mark | grow in proportion to the distance from the target | grow by at most one packet per round trip, the same for all senders |
//! | marked | hold: another path takes the load | shrink by the share of marks times the excess delay |
//!
//! A trimmed packet, and one that a full queue dropped, shrink the window. MRC does not mark at the port to the
//! receiver, so in an incast trims and drops are the only signals. Delay alone does not shrink the window: on a busy
//! machine it may come from the processors.

/// Maximum number of planes.
const PLANES_MAX: usize = 32;
/// Minimum window: with a single packet in flight, every loss would cost a timeout.
pub(crate) const WINDOW_MIN: u32 = 2;
/// Initial window, in packets per plane. In an incast of many senders, their first windows meet in one queue.
const FIRST_PER_PLANE: u32 = 2;
/// Minimum of the target queueing delay. The target is the round trip of an empty fabric (UE 1.0: 0.75 of that if
/// switches trim).
const TARGET_MIN_NS: u64 = 500_000;
/// A queueing delay of this many targets indicates a queue that is full or nearly full.
const CROWDED: u64 = 3;
/// Up to this queueing delay, every sender adds one packet per round trip. Above it, all senders add less, by the same
/// factor, so they still share the queue equally. With many senders and a long queue, one packet each would overfill
/// it.
const FAIR_NS: u64 = 2_000_000;
/// Factor of the excess delay by which a marked packet shrinks the window (`gamma` of UE 1.0).
const GAMMA: f64 = 0.8;
/// Packets by which a trimmed or dropped packet shrinks the window. With 1, a sender that adds a packet per round trip
/// would also lose one per round trip.
const SHRINK: f64 = 2.0;

/// A period in which packets of a plane met full queues. Its limits are transmission times of packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Episode {
    first_ns: u64,
    last_ns: u64,
}

/// Contents of an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub struct Arrivals {
    /// Packets that arrived.
    pub packets: u32,
    /// Number of those that were marked.
    pub marked: u32,
    /// Shortest round trip among them: that of the packet whose acknowledgement was delayed least.
    pub rtt_ns: u64,
    /// Packets in flight before the acknowledgement.
    pub in_flight: u32,
}

/// Congestion control of one destination.
#[derive(Debug, Clone)]
pub struct Congestion {
    window: f64,
    most: f64,
    /// The shortest round trip; 0 before the first.
    base_ns: u64,
    /// The last round trip.
    rtt_ns: u64,
    /// Packets below this number were sent before the window was last shrunk.
    shrunk_at: Option<u32>,
    /// Packets below `shrunk_at` cannot shrink the window below this value.
    floor: f64,
    episodes: [Option<Episode>; PLANES_MAX],
}

impl Congestion {
    /// Starts with some packets per plane. The window never exceeds `most`.
    pub fn new(planes: u32, most: u32) -> Self {
        let most = most.max(WINDOW_MIN);
        Congestion {
            window: f64::from((planes.max(1) * FIRST_PER_PLANE).clamp(WINDOW_MIN, most)),
            most: f64::from(most),
            base_ns: 0,
            rtt_ns: 0,
            shrunk_at: None,
            floor: f64::from(WINDOW_MIN),
            episodes: [None; PLANES_MAX],
        }
    }

    /// Returns the number of packets that may be in flight.
    pub fn window(&self) -> u32 {
        self.window as u32
    }

    /// Returns the target queueing delay.
    pub fn target_ns(&self) -> u64 {
        self.base_ns.max(TARGET_MIN_NS)
    }

    /// Handles an acknowledgement.
    pub fn handle_ack(&mut self, arrivals: &Arrivals) {
        let Arrivals { packets, marked, rtt_ns, in_flight: under_way } = *arrivals;
        if packets == 0 {
            return;
        }
        self.base_ns = if self.base_ns == 0 { rtt_ns } else { self.base_ns.min(rtt_ns) };
        self.rtt_ns = rtt_ns;
        let (delay_ns, target_ns) = (rtt_ns - self.base_ns, self.target_ns());
        if marked > 0 {
            if delay_ns >= target_ns {
                let excess = 1.0 - target_ns as f64 / delay_ns.max(1) as f64;
                self.set(self.window - f64::from(marked.min(packets)) * GAMMA * excess);
            }
            return;
        }
        // An unused window does not prove that the fabric can carry more.
        if f64::from(under_way) < self.window / 2.0 {
            return;
        }
        let slower = FAIR_NS as f64 / delay_ns.max(FAIR_NS) as f64;
        let fair = slower * f64::from(packets) / self.window;
        let missing = f64::from(packets) * (target_ns.saturating_sub(delay_ns)) as f64 / target_ns as f64;
        self.set(self.window + fair.max(missing));
    }

    /// Handles a packet that was trimmed or dropped by a full queue. `next` is the number of the next packet to be
    /// sent.
    pub fn shrink(&mut self, number: u32, next: u32) {
        let is_before = self.shrunk_at.is_some_and(|at| at.wrapping_sub(number).cast_signed() > 0);
        if !is_before {
            (self.shrunk_at, self.floor) = (Some(next), self.window / 2.0);
        }
        let least = self.floor.min(self.window);
        self.set((self.window - SHRINK).max(least));
    }

    fn set(&mut self, window: f64) {
        self.window = window.clamp(f64::from(WINDOW_MIN), self.most);
    }

    /// Handles the shortest round trip of a plane's packets in an acknowledgement, with the time at which that packet
    /// was sent.
    pub fn record_rtt(&mut self, plane: u8, rtt_ns: u64, sent_ns: u64) {
        if self.base_ns > 0 && rtt_ns.saturating_sub(self.base_ns) >= CROWDED * self.target_ns() {
            self.crowd(plane, sent_ns);
        }
    }

    /// Records the transmission time of a packet that met a full queue: it was trimmed, or its plane was delayed for
    /// long.
    pub fn crowd(&mut self, plane: u8, sent_ns: u64) {
        let reach_ns = self.reach_ns();
        let Some(known) = self.episodes.get_mut(usize::from(plane)) else { return };
        let same = known.filter(|episode| sent_ns <= episode.last_ns.saturating_add(reach_ns));
        *known = Some(match same {
            Some(Episode { first_ns, last_ns }) => {
                Episode { first_ns: first_ns.min(sent_ns), last_ns: last_ns.max(sent_ns) }
            }
            None => Episode { first_ns: sent_ns, last_ns: sent_ns },
        });
    }

    /// Returns whether queues of a plane were full when a packet was sent, which explains its loss. Packets sent within
    /// two round trips are assumed to share a queue.
    pub(crate) fn is_crowded(&self, plane: u8, sent_ns: u64) -> bool {
        let episode = self.episodes.get(usize::from(plane)).copied().flatten();
        let reach_ns = self.reach_ns();
        episode.is_some_and(|episode| {
            sent_ns.saturating_add(reach_ns) >= episode.first_ns
                && sent_ns <= episode.last_ns.saturating_add(reach_ns)
        })
    }

    fn reach_ns(&self) -> u64 {
        2 * self.rtt_ns.max(self.target_ns())
    }
}

#[cfg(test)]
mod tests;
