//! Packets sent to a NIC that are not known to have arrived yet.
//!
//! In: packets as they are sent, acknowledgements, the time. Out: packets that arrived and packets that were
//! lost, with their entropy values. Invariants: a packet number is never reused, so an acknowledgement
//! identifies one packet and one path. Memory is bounded. A packet is lost or overtaken if packets have
//! arrived that were sent later by more than the lateness limit. It is lost if a packet of its plane and
//! queue has arrived that was sent later, or in the same burst. Otherwise it may wait in a full queue,
//! because probes and retransmissions use queues other than that of data. Its contents are then
//! retransmitted, but its path is not judged yet. The limit grows when such a packet arrives after all. If no
//! later packet is acknowledged, the contents are retransmitted after a timeout. This does not count against
//! the path. The timeout grows if retransmissions were needless, as in RFC 8985 6.2 (step 4). Times are on
//! the clock that stops while the process does not run.

use crate::wire::{SACK_BITS, Sack};

/// The contents of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cargo {
    /// A packet of the node. Its sender retransmits it if necessary.
    Inner,
    /// A probe that requests an acknowledgement.
    Probe,
    /// A piece of a write.
    Chunk {
        /// The write.
        write: u64,
        /// Where the piece begins.
        offset: u64,
        /// Its length.
        len: u32,
    },
}

/// A packet in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketInFlight {
    /// Its number.
    pub number: u32,
    /// Its path.
    pub entropy: u32,
    /// Its plane.
    pub plane: u8,
    /// Time at which it left.
    pub at_ns: u64,
    /// The same time, on the clock that stops while the process does not run.
    pub ran_ns: u64,
    /// Whether its contents were retransmitted although its loss is not certain.
    pub again: bool,
    /// Whether it has a DSCP other than that of data, so it may wait in another queue and overtake data.
    pub overtakes: bool,
    /// Whether packets of other planes or queues overtook it, so a full queue may have dropped it.
    pub overtaken: bool,
    /// Its contents.
    pub cargo: Cargo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    UnderWay,
    /// Its contents were retransmitted after a timeout, and its arrival is unknown.
    Overdue,
    /// Packets of other planes or queues overtook it. Its contents were retransmitted, and its arrival is unknown.
    Overtaken,
    Arrived,
    Lost,
}

/// The result of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived.
    Arrived(PacketInFlight),
    /// It was lost.
    Lost(PacketInFlight),
    /// Packets of other planes or queues overtook it, so it may be lost. Another verdict follows.
    Overtaken(PacketInFlight),
    /// It was declared lost but arrived.
    Late(PacketInFlight),
}

/// Maximum number of planes.
const PLANES_MAX: usize = 32;
/// Limits of the number of packets in the log.
const ROOM_MAX: usize = 1024;
const ROOM_MIN: usize = 64;
/// Maximum number of packets declared overdue at a time.
const FEW: usize = 2;
/// Maximum number of times that the timeout doubles while nothing arrives.
const BACKOFF_MAX: u32 = 4;
/// Maximum value of `slack`.
const SLACK_MAX: u64 = 3;
/// Initial value of `slack`, while the response time of the far NIC is unknown.
const SLACK: u64 = 1;
/// `slack` decreases by one after this many consecutive packets without a needless retransmission.
const CALM: u32 = 1024;
/// Lateness limit, in round trips.
const RTTS: u64 = 4;
/// Multiple of the lateness limit for which a lost packet is kept, because it may still be reported as arrived.
const KEPT: u64 = 4;
/// Packets of a plane that leave within this time, or within half a round trip, meet the same last queue. To fill it
/// within half a round trip for as long as the lateness limit, seven more senders would be needed.
const BURST_NS: u64 = 100_000;
const LATE_MIN_NS: u64 = 1_000_000;
const LATE_MAX_NS: u64 = 50_000_000;

/// Content of an unused slot.
const NONE: (PacketInFlight, Fate) = (
    PacketInFlight {
        number: 0,
        entropy: 0,
        plane: 0,
        at_ns: 0,
        ran_ns: 0,
        again: false,
        overtakes: false,
        overtaken: false,
        cargo: Cargo::Inner,
    },
    Fate::Arrived,
);

/// Memory of the smallest log.
pub(crate) const LEAST_BYTES: usize = ROOM_MIN * size_of::<(PacketInFlight, Fate)>();

/// The packets to one NIC.
#[derive(Debug)]
pub struct SentLog {
    ring: Vec<(PacketInFlight, Fate)>,
    /// Maximum number of packets after enlarging the log.
    max_capacity: usize,
    /// The next number.
    next: u32,
    /// All packets before this number have arrived, are lost, or were dropped from the log.
    oldest: u32,
    /// Time at which the most recent packet that arrived was sent.
    latest_ns: u64,
    /// The same for each plane, without packets that overtake.
    in_order_ns: [u64; PLANES_MAX],
    /// Lateness after which a packet counts as lost.
    late_ns: u64,
    rtt_ns: u64,
    /// Time at which the first round trip became known.
    first_rtt_ns: u64,
    in_flight: u32,
    /// Time of the last timeout, and the number of timeouts since a packet arrived.
    overdue_ns: u64,
    backoff: u32,
    /// Multiple of `late_ns` that is added to the timeout, because earlier retransmissions were needless.
    slack: u64,
    /// Packets that arrived since `slack` changed.
    calm: u32,
    /// Packets that left the log before an answer, whether or not they were retransmitted.
    forgotten: u64,
}

impl SentLog {
    /// Makes an empty log that can grow to several windows of packets.
    pub fn of_window(window: u32) -> Self {
        SentLog {
            ring: vec![NONE; ROOM_MIN],
            max_capacity: (window as usize * 4).clamp(ROOM_MIN, ROOM_MAX).next_power_of_two(),
            next: 0,
            oldest: 0,
            latest_ns: 0,
            in_order_ns: [0; PLANES_MAX],
            late_ns: 2 * LATE_MIN_NS,
            rtt_ns: 0,
            first_rtt_ns: u64::MAX,
            in_flight: 0,
            overdue_ns: 0,
            backoff: 0,
            slack: SLACK,
            calm: 0,
            forgotten: 0,
        }
    }

    /// Returns the number of the next packet.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// Returns whether the far NIC should be asked about overdue packets. After several questions without an answer, it
    /// should not.
    pub fn is_worth_asking(&self) -> bool {
        self.backoff < BACKOFF_MAX
    }

    /// Handles the answer to a probe that was sent at `sent_ns`. If it was sent after a timeout, the far NIC
    /// is reachable again, so the next retransmission does not wait for the doubled timeouts of the outage.
    pub fn probe_answered(&mut self, sent_ns: u64) {
        if sent_ns > self.overdue_ns {
            self.backoff = 0;
        }
    }

    /// Returns the number of packets in flight that are not overdue.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns the smoothed round trip, 0 before the first.
    pub fn rtt_ns(&self) -> u64 {
        self.rtt_ns
    }

    /// Returns the lateness limit, after which a packet is lost.
    pub fn late_ns(&self) -> u64 {
        self.late_ns
    }

    /// Returns whether there is room for another packet. Overdue packets can be dropped, because they have been
    /// retransmitted.
    pub fn has_room(&self) -> bool {
        !self.is_full() || self.ring[self.place(self.oldest)].1 != Fate::UnderWay
    }

    /// Returns the memory needed to double the log; `None` if the maximum is reached, or if the packet to be replaced
    /// is no longer needed.
    pub(crate) fn wants_bytes(&self, now_ns: u64) -> Option<usize> {
        let (pushed_out, _) = &self.ring[self.place(self.next)];
        let is_known = pushed_out.number == self.next.wrapping_sub(self.ring.len() as u32);
        let is_young = is_known && now_ns.saturating_sub(pushed_out.at_ns) < KEPT * self.late_ns;
        let may = self.ring.len() < self.max_capacity && (is_young || !self.has_room());
        may.then_some(self.bytes())
    }

    /// Returns the memory of the log beyond its minimum, in bytes.
    pub(crate) fn wide_bytes(&self) -> usize {
        self.bytes() - LEAST_BYTES
    }

    fn bytes(&self) -> usize {
        self.ring.len() * size_of::<(PacketInFlight, Fate)>()
    }

    /// Doubles the log, up to its maximum.
    pub fn widen(&mut self) {
        self.resize((self.ring.len() * 2).min(self.max_capacity));
    }

    /// Shrinks the log to its minimum if nothing is in flight.
    pub fn narrow(&mut self) {
        if self.in_flight == 0 {
            self.resize(ROOM_MIN);
        }
    }

    fn resize(&mut self, room: usize) {
        let mut ring = vec![NONE; room];
        let kept = room.min(self.ring.len()) as u32;
        for number in (0..kept).map(|back| self.next.wrapping_sub(back + 1)) {
            ring[number as usize & (room - 1)] = self.ring[self.place(number)];
        }
        while self.next.wrapping_sub(self.oldest) > kept {
            self.forget_oldest();
        }
        self.ring = ring;
    }

    /// Drops the oldest packet, and counts it if it neither arrived nor was lost.
    fn forget_oldest(&mut self) -> (PacketInFlight, Fate) {
        let (old, fate) = self.ring[self.place(self.oldest)];
        self.in_flight -= u32::from(fate == Fate::UnderWay);
        self.forgotten += u64::from(!matches!(fate, Fate::Arrived | Fate::Lost));
        self.oldest = self.oldest.wrapping_add(1);
        (old, fate)
    }

    /// Returns the number of packets that left the log before an answer.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    fn is_full(&self) -> bool {
        self.next.wrapping_sub(self.oldest) as usize >= self.ring.len()
    }

    /// Returns the slot of a number; the length of the ring is a power of two.
    fn place(&self, number: u32) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// Adds a packet; `overtakes` as in [`PacketInFlight`]. If the log is full, the oldest packet is dropped. If it was
    /// a piece of a write in flight, it is returned for retransmission.
    pub fn push(
        &mut self,
        (entropy, plane): (u32, u8),
        (cargo, overtakes): (Cargo, bool),
        (at_ns, ran_ns): (u64, u64),
    ) -> Option<PacketInFlight> {
        let mut pushed_out = None;
        if self.is_full() {
            let (old, fate) = self.forget_oldest();
            let must_go_again = fate == Fate::UnderWay && matches!(old.cargo, Cargo::Chunk { .. });
            pushed_out = must_go_again.then_some(old);
        }
        let sent = PacketInFlight {
            number: self.next,
            entropy,
            plane,
            at_ns,
            ran_ns,
            again: false,
            overtakes,
            overtaken: false,
            cargo,
        };
        let place = self.place(self.next);
        self.ring[place] = (sent, Fate::UnderWay);
        self.next = self.next.wrapping_add(1);
        self.in_flight += 1;
        pushed_out
    }

    /// Handles an acknowledgement.
    ///
    /// If packets are acknowledged only after the far NIC was asked, the measured time may include a lost
    /// acknowledgement. Such a value could make the timeout far too long. But packets in growing queues are really
    /// late, so these measurements may at most double the round trip.
    pub fn handle_ack(&mut self, sack: &Sack, now_ns: u64, mut verdict: impl FnMut(Verdict)) {
        let timed_from_ns = if self.backoff > 0 { self.overdue_ns } else { 0 };
        let grown_ns = if self.rtt_ns == 0 { u64::MAX } else { 2 * self.rtt_ns };
        for (n, word) in sack.bits.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let number = sack.base.wrapping_add(n as u32 * 64 + bit);
                self.record_arrival(number, (now_ns, timed_from_ns, grown_ns), &mut verdict);
            }
        }
        self.give_up(self.latest_ns.saturating_sub(self.late_ns), &mut verdict);
    }

    fn record_arrival(
        &mut self,
        number: u32,
        (now_ns, timed_from_ns, grown_ns): (u64, u64, u64),
        verdict: &mut impl FnMut(Verdict),
    ) {
        if !self.is_known(number) {
            return;
        }
        let place = self.place(number);
        let (sent, fate) = &mut self.ring[place];
        if sent.number != number {
            return;
        }
        match *fate {
            Fate::Arrived => return,
            Fate::UnderWay => {
                self.in_flight -= 1;
                (self.backoff, self.calm) = (0, self.calm + 1);
                if self.calm > CALM {
                    (self.slack, self.calm) = (self.slack.saturating_sub(1), 1);
                }
                verdict(Verdict::Arrived(*sent));
            }
            Fate::Overdue => {
                self.backoff = 0;
                // Packets retransmitted together count once.
                if self.calm > 0 {
                    (self.slack, self.calm) = ((self.slack + 1).min(SLACK_MAX), 0);
                }
                verdict(Verdict::Arrived(*sent));
            }
            Fate::Overtaken => {
                self.backoff = 0;
                let needed_ns = now_ns.saturating_sub(sent.ran_ns).min(2 * self.late_ns);
                self.late_ns = self.late_ns.max(needed_ns).min(LATE_MAX_NS);
                verdict(Verdict::Arrived(*sent));
            }
            Fate::Lost => {
                self.late_ns = (self.late_ns * 2).min(LATE_MAX_NS);
                verdict(Verdict::Late(*sent));
            }
        }
        *fate = Fate::Arrived;
        if !sent.overtakes
            && let Some(in_order_ns) = self.in_order_ns.get_mut(usize::from(sent.plane))
        {
            *in_order_ns = sent.ran_ns.max(*in_order_ns);
        }
        let ran_ns = sent.ran_ns;
        if ran_ns > self.latest_ns {
            self.latest_ns = ran_ns;
            let most_ns = if ran_ns < timed_from_ns { grown_ns } else { u64::MAX };
            self.measure(now_ns.saturating_sub(ran_ns).min(most_ns), now_ns);
        }
    }

    fn measure(&mut self, rtt_ns: u64, now_ns: u64) {
        self.first_rtt_ns = self.first_rtt_ns.min(now_ns);
        self.rtt_ns = if self.rtt_ns == 0 { rtt_ns } else { self.rtt_ns - self.rtt_ns / 8 + rtt_ns / 8 };
        // Decrease the limit slowly, so that one late packet does not soon cause another false loss.
        let wanted = (RTTS * self.rtt_ns).clamp(LATE_MIN_NS, LATE_MAX_NS);
        self.late_ns =
            if wanted > self.late_ns { wanted } else { self.late_ns - (self.late_ns - wanted) / 256 };
    }

    /// Handles a packet that was trimmed. Its contents must be retransmitted immediately, but its path is good.
    pub fn cut(&mut self, number: u32) -> Option<PacketInFlight> {
        if !self.is_known(number) {
            return None;
        }
        let place = self.place(number);
        let (sent, fate) = &mut self.ring[place];
        if sent.number != number || !matches!(fate, Fate::UnderWay | Fate::Overdue | Fate::Overtaken) {
            return None;
        }
        self.in_flight -= u32::from(*fate == Fate::UnderWay);
        *fate = Fate::Arrived;
        self.backoff = 0;
        Some(*sent)
    }

    fn is_known(&self, number: u32) -> bool {
        number.wrapping_sub(self.next) > u32::MAX / 2
            && self.next.wrapping_sub(number) as usize <= self.ring.len()
    }

    /// Returns packets in the log that neither arrived nor were lost, oldest first.
    pub(crate) fn undecided_packets(&self) -> impl Iterator<Item = &PacketInFlight> {
        let count = self.next.wrapping_sub(self.oldest);
        let known = (0..count).map(|n| &self.ring[self.place(self.oldest.wrapping_add(n))]);
        known.filter(|(_, fate)| !matches!(fate, Fate::Arrived | Fate::Lost)).map(|(sent, _)| sent)
    }

    /// Declares packets lost or overtaken that were sent before `before_ns`. An overtaken packet is lost after the
    /// longest time for which a packet can be late.
    fn give_up(&mut self, before_ns: u64, verdict: &mut impl FnMut(Verdict)) {
        let latest_ns = self.latest_ns.saturating_sub(LATE_MAX_NS);
        let burst_ns = BURST_NS.max(self.rtt_ns / 2);
        let (mut at, mut is_settled) = (self.oldest, true);
        while at != self.next {
            let place = self.place(at);
            let (sent, fate) = &mut self.ring[place];
            if matches!(fate, Fate::UnderWay | Fate::Overdue | Fate::Overtaken) {
                if sent.ran_ns >= before_ns {
                    return;
                }
                self.in_flight -= u32::from(*fate == Fate::UnderWay);
                let in_order_ns = self.in_order_ns.get(usize::from(sent.plane)).copied().unwrap_or_default();
                // Before the first round trip, the lateness limit is shorter than a full queue may take.
                let burst_ns = if sent.ran_ns < self.first_rtt_ns { 0 } else { burst_ns };
                if sent.ran_ns < (in_order_ns + burst_ns).max(latest_ns) {
                    *fate = Fate::Lost;
                    verdict(Verdict::Lost(*sent));
                } else {
                    if *fate != Fate::Overtaken {
                        verdict(Verdict::Overtaken(*sent));
                    }
                    (*fate, is_settled) = (Fate::Overtaken, false);
                    (sent.again, sent.overtaken) = (true, true);
                }
            }
            at = at.wrapping_add(1);
            if is_settled {
                self.oldest = at;
            }
        }
    }

    /// Passes overdue packets to `what`: the last packets of a burst, or any packets if the far NIC does not answer. No
    /// later packet can show whether they arrived, so their contents must be retransmitted.
    ///
    /// Only the oldest few are passed at a time, and at growing intervals. The acknowledgement of one
    /// retransmission also covers the rest. So a receiver that had no processor time for a while does not
    /// receive all packets twice.
    pub fn overdue(&mut self, now_ns: u64, mut what: impl FnMut(PacketInFlight)) {
        // The lateness limit has a maximum, because paths differ little. The response time has none.
        let answer_ns = self.late_ns.max(RTTS * self.rtt_ns);
        let patience = (answer_ns + self.slack * self.late_ns).max(5_000_000) << self.backoff;
        if self.in_flight == 0 || now_ns.saturating_sub(self.overdue_ns) < patience {
            return;
        }
        let before_ns = now_ns.saturating_sub(patience);
        let (mut at, mut count) = (self.oldest, 0);
        while at != self.next && count < FEW {
            let place = self.place(at);
            let (sent, fate) = &mut self.ring[place];
            if *fate == Fate::UnderWay {
                if sent.ran_ns >= before_ns {
                    break;
                }
                count += 1;
                *fate = Fate::Overdue;
                sent.again = true;
                self.in_flight -= 1;
                what(*sent);
            }
            at = at.wrapping_add(1);
        }
        if count > 0 {
            self.overdue_ns = now_ns;
            self.backoff = (self.backoff + 1).min(BACKOFF_MAX);
        }
    }
}

/// Returns whether an acknowledgement contains a number.
pub fn has_bit(sack: &Sack, number: u32) -> bool {
    let at = number.wrapping_sub(sack.base) as usize;
    at < SACK_BITS && sack.bits[at / 64] >> (at % 64) & 1 == 1
}

#[cfg(test)]
mod tests;
