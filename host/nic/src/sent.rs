//! Packets sent to a NIC that are not known to have arrived yet.
//!
//! In: packets as they are sent, acknowledgements, the time. Out: packets that arrived and packets that were lost, with
//! their entropy values. Invariants: a packet number is never reused, so an acknowledgement identifies one packet and
//! one path. Memory is bounded. A packet is declared lost if packets that were sent later, by more than the lateness
//! limit, have arrived. The limit grows when a packet declared lost arrives after all. If no later packet is
//! acknowledged, the contents are retransmitted after a timeout. This does not count against the path. The timeout
//! grows if retransmissions were needless, as in RFC 8985 6.2 (step 4). Times are of the clock that stops while the
//! process does not run.

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
pub struct Sent {
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
    /// Whether its contents were retransmitted after a timeout.
    pub again: bool,
    /// Its contents.
    pub cargo: Cargo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    UnderWay,
    /// Its contents were retransmitted after a timeout, and its arrival is unknown.
    Overdue,
    Arrived,
    Lost,
}

/// The result of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived.
    Arrived(Sent),
    /// It was lost.
    Lost(Sent),
    /// It was declared lost but arrived.
    Late(Sent),
}

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
const LATE_MIN_NS: u64 = 1_000_000;
const LATE_MAX_NS: u64 = 50_000_000;

/// Content of an unused slot.
const NONE: (Sent, Fate) = (
    Sent { number: 0, entropy: 0, plane: 0, at_ns: 0, ran_ns: 0, again: false, cargo: Cargo::Inner },
    Fate::Arrived,
);

/// Memory of the smallest log.
pub(crate) const LEAST_BYTES: usize = ROOM_MIN * size_of::<(Sent, Fate)>();

/// The packets to one NIC.
#[derive(Debug)]
pub struct SentLog {
    ring: Vec<(Sent, Fate)>,
    /// Maximum number of packets after enlarging the log.
    room_max: usize,
    /// The next number.
    next: u32,
    /// All packets before this number have arrived, are lost, or were dropped from the log.
    oldest: u32,
    /// Time at which the most recent packet that arrived was sent.
    latest_ns: u64,
    /// Lateness after which a packet counts as lost.
    late_ns: u64,
    rtt_ns: u64,
    under_way: u32,
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
            room_max: (window as usize * 4).clamp(ROOM_MIN, ROOM_MAX).next_power_of_two(),
            next: 0,
            oldest: 0,
            latest_ns: 0,
            late_ns: 2 * LATE_MIN_NS,
            rtt_ns: 0,
            under_way: 0,
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

    /// Returns the number of packets in flight that are not overdue.
    pub fn under_way(&self) -> u32 {
        self.under_way
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
        let may = self.ring.len() < self.room_max && (is_young || !self.has_room());
        may.then_some(self.bytes())
    }

    /// Returns the memory of the log beyond its minimum, in bytes.
    pub(crate) fn wide_bytes(&self) -> usize {
        self.bytes() - LEAST_BYTES
    }

    fn bytes(&self) -> usize {
        self.ring.len() * size_of::<(Sent, Fate)>()
    }

    /// Doubles the log, up to its maximum.
    pub fn widen(&mut self) {
        self.resize((self.ring.len() * 2).min(self.room_max));
    }

    /// Shrinks the log to its minimum if nothing is in flight.
    pub fn narrow(&mut self) {
        if self.under_way == 0 {
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
    fn forget_oldest(&mut self) -> (Sent, Fate) {
        let (old, fate) = self.ring[self.place(self.oldest)];
        self.under_way -= u32::from(fate == Fate::UnderWay);
        self.forgotten += u64::from(matches!(fate, Fate::UnderWay | Fate::Overdue));
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

    /// Adds a packet. If the log is full, the oldest packet is dropped. If it was a piece of a write in flight, it is
    /// returned for retransmission.
    pub fn sent(
        &mut self,
        (entropy, plane): (u32, u8),
        cargo: Cargo,
        (at_ns, ran_ns): (u64, u64),
    ) -> Option<Sent> {
        let mut pushed_out = None;
        if self.is_full() {
            let (old, fate) = self.forget_oldest();
            let must_go_again = fate == Fate::UnderWay && matches!(old.cargo, Cargo::Chunk { .. });
            pushed_out = must_go_again.then_some(old);
        }
        let sent = Sent { number: self.next, entropy, plane, at_ns, ran_ns, again: false, cargo };
        let place = self.place(self.next);
        self.ring[place] = (sent, Fate::UnderWay);
        self.next = self.next.wrapping_add(1);
        self.under_way += 1;
        pushed_out
    }

    /// Handles an acknowledgement.
    ///
    /// If packets are acknowledged only after the far NIC was asked, the measured time may include a lost
    /// acknowledgement. Such a value could make the timeout far too long. But packets in growing queues are really
    /// late, so these measurements may at most double the round trip.
    pub fn acknowledged(&mut self, sack: &Sack, now_ns: u64, mut verdict: impl FnMut(Verdict)) {
        let timed_from_ns = if self.backoff > 0 { self.overdue_ns } else { 0 };
        let grown_ns = if self.rtt_ns == 0 { u64::MAX } else { 2 * self.rtt_ns };
        for (n, word) in sack.bits.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let number = sack.base.wrapping_add(n as u32 * 64 + bit);
                self.arrived(number, (now_ns, timed_from_ns, grown_ns), &mut verdict);
            }
        }
        self.give_up(self.latest_ns.saturating_sub(self.late_ns), &mut verdict);
    }

    fn arrived(
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
                self.under_way -= 1;
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
            Fate::Lost => {
                self.late_ns = (self.late_ns * 2).min(LATE_MAX_NS);
                verdict(Verdict::Late(*sent));
            }
        }
        *fate = Fate::Arrived;
        if sent.ran_ns > self.latest_ns {
            self.latest_ns = sent.ran_ns;
            let most_ns = if sent.ran_ns < timed_from_ns { grown_ns } else { u64::MAX };
            let rtt_ns = now_ns.saturating_sub(sent.ran_ns).min(most_ns);
            self.rtt_ns = if self.rtt_ns == 0 { rtt_ns } else { self.rtt_ns - self.rtt_ns / 8 + rtt_ns / 8 };
            // Decrease the limit slowly, so that one late packet does not soon cause another false loss.
            let wanted = (RTTS * self.rtt_ns).clamp(LATE_MIN_NS, LATE_MAX_NS);
            self.late_ns =
                if wanted > self.late_ns { wanted } else { self.late_ns - (self.late_ns - wanted) / 256 };
        }
    }

    /// Handles a packet that was trimmed. Its contents must be retransmitted immediately, but its path is good.
    pub fn cut(&mut self, number: u32) -> Option<Sent> {
        if !self.is_known(number) {
            return None;
        }
        let place = self.place(number);
        let (sent, fate) = &mut self.ring[place];
        if sent.number != number || !matches!(fate, Fate::UnderWay | Fate::Overdue) {
            return None;
        }
        self.under_way -= u32::from(*fate == Fate::UnderWay);
        *fate = Fate::Arrived;
        self.backoff = 0;
        Some(*sent)
    }

    fn is_known(&self, number: u32) -> bool {
        number.wrapping_sub(self.next) > u32::MAX / 2
            && self.next.wrapping_sub(number) as usize <= self.ring.len()
    }

    /// Returns packets in the log that neither arrived nor were lost, oldest first.
    pub(crate) fn without_verdict(&self) -> impl Iterator<Item = &Sent> {
        let count = self.next.wrapping_sub(self.oldest);
        let known = (0..count).map(|n| &self.ring[self.place(self.oldest.wrapping_add(n))]);
        known.filter(|(_, fate)| matches!(fate, Fate::UnderWay | Fate::Overdue)).map(|(sent, _)| sent)
    }

    /// Declares packets lost that were sent before `before_ns`.
    fn give_up(&mut self, before_ns: u64, verdict: &mut impl FnMut(Verdict)) {
        while self.oldest != self.next {
            let place = self.place(self.oldest);
            let (sent, fate) = &mut self.ring[place];
            if matches!(fate, Fate::UnderWay | Fate::Overdue) {
                if sent.ran_ns >= before_ns {
                    return;
                }
                self.under_way -= u32::from(*fate == Fate::UnderWay);
                *fate = Fate::Lost;
                verdict(Verdict::Lost(*sent));
            }
            self.oldest = self.oldest.wrapping_add(1);
        }
    }

    /// Passes overdue packets to `what`: the last packets of a burst, or any packets if the far NIC does not answer. No
    /// later packet can show whether they arrived, so their contents must be retransmitted.
    ///
    /// Only the oldest few are passed at a time, and at growing intervals. The acknowledgement of one retransmission
    /// also covers the rest. So a receiver that had no processor for a while does not receive all packets twice.
    pub fn overdue(&mut self, now_ns: u64, mut what: impl FnMut(Sent)) {
        // The lateness limit has a maximum, because paths differ little. The response time has none.
        let answer_ns = self.late_ns.max(RTTS * self.rtt_ns);
        let patience = (answer_ns + self.slack * self.late_ns).max(5_000_000) << self.backoff;
        if self.under_way == 0 || now_ns.saturating_sub(self.overdue_ns) < patience {
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
                self.under_way -= 1;
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
mod tests {
    use super::*;

    fn sack(numbers: &[u32]) -> Sack {
        let base = numbers.iter().copied().min().unwrap_or(0);
        let mut bits = [0; SACK_BITS / 64];
        for number in numbers {
            let at = (number - base) as usize;
            bits[at / 64] |= 1 << (at % 64);
        }
        Sack { epoch: 1, base, bits, ports: 0, marks: [0; 16], n_marks: 0 }
    }

    /// A log of maximum size.
    fn wide() -> SentLog {
        let mut log = SentLog::of_window(256);
        while log.ring.len() < log.room_max {
            log.widen();
        }
        log
    }

    fn log(n: u32, step_ns: u64) -> SentLog {
        let mut log = wide();
        for number in 0..n {
            let at_ns = u64::from(number) * step_ns;
            log.sent((number * 10, 0), Cargo::Inner, (at_ns, at_ns));
        }
        log
    }

    fn verdicts(log: &mut SentLog, sack: &Sack, now: u64) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut out = (Vec::new(), Vec::new(), Vec::new());
        log.acknowledged(sack, now, |verdict| match verdict {
            Verdict::Arrived(sent) => out.0.push(sent.number),
            Verdict::Lost(sent) => out.1.push(sent.number),
            Verdict::Late(sent) => out.2.push(sent.number),
        });
        out
    }

    #[test]
    fn reordering_is_not_loss() {
        let mut log = log(5, 1000);
        assert_eq!(verdicts(&mut log, &sack(&[0, 2, 3, 4]), 10_000), (vec![0, 2, 3, 4], vec![], vec![]));
        assert_eq!(verdicts(&mut log, &sack(&[1]), 20_000), (vec![1], vec![], vec![]));
        assert_eq!(log.under_way(), 0);
    }

    #[test]
    fn what_was_sent_long_before_what_arrived_is_lost() {
        let mut log = log(5, 3_000_000);
        assert_eq!(verdicts(&mut log, &sack(&[0, 4]), 12_100_000).1, [1, 2, 3]);
        assert_eq!(log.under_way(), 0);
    }

    #[test]
    fn a_packet_that_was_called_lost_and_arrives_widens_the_limit() {
        let mut log = log(3, 3_000_000);
        verdicts(&mut log, &sack(&[2]), 6_100_000);
        let before = log.late_ns();
        assert_eq!(verdicts(&mut log, &sack(&[0, 2]), 7_000_000).2, [0]);
        assert!(log.late_ns() > before);
        assert_eq!(verdicts(&mut log, &sack(&[0, 2]), 7_000_000), (vec![], vec![], vec![]), "said once");
    }

    #[test]
    fn the_end_of_a_burst_is_overdue() {
        let mut log = log(2, 1000);
        let mut late = Vec::new();
        log.overdue(1_000_000, |sent| late.push(sent.number));
        assert!(late.is_empty());
        log.overdue(900_000_000, |sent| late.push(sent.number));
        assert_eq!(late, [0, 1]);
    }

    #[test]
    fn an_acknowledgement_that_was_lost_makes_nobody_patient() {
        let mut log = log(100, 1000);
        let early: Vec<u32> = (0..90).collect();
        verdicts(&mut log, &sack(&early), 1_000_000);
        let (rtt_ns, late_ns) = (log.rtt_ns(), log.late_ns());
        log.overdue(40_000_000, |_| ());
        let rest: Vec<u32> = (90..100).collect();
        assert_eq!(verdicts(&mut log, &sack(&rest), 40_500_000).0, rest);
        assert!(
            log.rtt_ns() <= 2 * rtt_ns && log.late_ns() <= late_ns.max(8 * rtt_ns),
            "asked for, and 40 ms old"
        );
        log.sent((1, 0), Cargo::Inner, (50_000_000, 50_000_000));
        verdicts(&mut log, &sack(&[100]), 60_000_000);
        assert!(log.rtt_ns() > rtt_ns, "a round trip that is longer counts");
    }

    /// Returns the time until the first packet of an unacknowledged burst is retransmitted.
    fn patience_ns(log: &mut SentLog, now_ns: u64) -> u64 {
        log.sent((1, 0), Cargo::Inner, (now_ns, now_ns));
        let mut waited_ns = 0;
        while log.under_way() > 0 {
            waited_ns += 100_000;
            log.overdue(now_ns + waited_ns, |_| ());
        }
        waited_ns
    }

    #[test]
    fn a_needless_resend_makes_patient_and_many_arrivals_undo_it() {
        let mut log = SentLog::of_window(256);
        let (mut now_ns, mut number, mut waited) = (1_000_000_000, 0, Vec::new());
        let arrive = |log: &mut SentLog, number: u32, now_ns: u64| {
            log.sent((1, 0), Cargo::Inner, (now_ns, now_ns));
            verdicts(log, &sack(&[number]), now_ns + 4_000_000);
        };
        for _ in 0..5 {
            for _ in 0..20 {
                arrive(&mut log, number, now_ns);
                (number, now_ns) = (number + 1, now_ns + 5_000_000);
            }
            let waited_ns = patience_ns(&mut log, now_ns);
            waited.push(waited_ns / 10_000_000);
            now_ns += waited_ns;
            // The packet was late, not lost.
            assert_eq!(verdicts(&mut log, &sack(&[number]), now_ns).0, [number]);
            (number, now_ns) = (number + 1, now_ns + 300_000_000);
        }
        assert!(waited[0] < waited[1] && waited[1] < waited[2], "{waited:?}");
        let most = waited[4];
        for _ in 0..4 * CALM {
            arrive(&mut log, number, now_ns);
            (number, now_ns) = (number + 1, now_ns + 5_000_000);
        }
        let waited_ns = patience_ns(&mut log, now_ns);
        assert!(waited_ns / 10_000_000 < most, "{waited_ns} {waited:?}");
    }

    #[test]
    fn what_is_overdue_is_lost_when_something_later_arrives_and_not_before() {
        let mut log = log(2, 1000);
        log.overdue(900_000_000, |_| ());
        assert_eq!(log.under_way(), 0);
        assert_eq!(verdicts(&mut log, &sack(&[1]), 900_000_100), (vec![1], vec![], vec![]), "it did arrive");
        log.sent((7, 0), Cargo::Inner, (900_000_200, 900_000_200));
        assert_eq!(verdicts(&mut log, &sack(&[2]), 900_000_300), (vec![2], vec![0], vec![]));
    }

    #[test]
    fn room_grows_with_what_is_sent_and_nothing_is_forgotten_by_that() {
        let mut log = SentLog::of_window(256);
        for number in 0..500 {
            while let Some(bytes) = log.wants_bytes(number) {
                assert_eq!(bytes, log.ring.len() * size_of::<(Sent, Fate)>());
                log.widen();
            }
            assert_eq!(log.sent((1, 0), Cargo::Inner, (number, number)), None);
        }
        assert_eq!((log.ring.len(), log.forgotten, log.under_way()), (512, 0, 500));
        log.narrow();
        assert_eq!(log.ring.len(), 512, "all of it is under way");
        let all: Vec<u32> = (0..500).collect();
        assert_eq!(verdicts(&mut log, &sack(&all), 1000).0, all);
        log.narrow();
        assert_eq!((log.ring.len(), log.wide_bytes()), (ROOM_MIN, 0));
        // A slow sender does not need more than the minimum.
        for number in 0..500 {
            let now_ns = KEPT * LATE_MAX_NS * (number + 1);
            assert_eq!(log.wants_bytes(now_ns), None);
            log.sent((1, 0), Cargo::Inner, (now_ns, now_ns));
            assert_eq!(
                verdicts(&mut log, &sack(&[500 + number as u32]), now_ns + 1).0,
                [500 + number as u32]
            );
        }
    }

    #[test]
    fn overdue_packets_make_room() {
        let mut log = log(ROOM_MAX as u32, 1);
        assert!(!log.has_room());
        log.overdue(900_000_000, |_| ());
        assert!(log.has_room());
        let chunk = Cargo::Chunk { write: 7, offset: 0, len: 100 };
        assert_eq!(log.sent((1, 0), chunk, (900_000_000, 900_000_000)), None, "its cargo went again");
        assert_eq!(log.forgotten(), 1, "and its result stays unknown");
    }

    #[test]
    fn a_receiver_that_is_slow_is_not_sent_everything_again() {
        let mut log = log(200, 1000);
        let mut late = Vec::new();
        for now in 1..200u64 {
            log.overdue(now * 1_000_000, |sent| late.push(sent.number));
        }
        assert!((4..=20).contains(&late.len()), "{late:?}");
        let rest: Vec<u32> = (190..200).collect();
        assert_eq!(verdicts(&mut log, &sack(&rest), 200_000_000).0, rest);
    }

    #[test]
    fn the_ring_forgets_the_oldest_and_gives_writes_back() {
        let mut log = wide();
        let chunk = Cargo::Chunk { write: 7, offset: 0, len: 100 };
        assert_eq!(log.sent((1, 0), chunk, (0, 0)), None);
        for _ in 1..ROOM_MAX {
            assert_eq!(log.sent((1, 0), Cargo::Inner, (0, 0)), None);
        }
        assert!(!log.has_room());
        assert_eq!(log.sent((1, 0), Cargo::Inner, (0, 0)).map(|s| s.cargo), Some(chunk));
        assert_eq!((log.forgotten, log.under_way()), (1, ROOM_MAX as u32));
    }

    #[test]
    fn acknowledgements_of_what_was_never_sent_say_nothing() {
        let mut log = log(3, 1000);
        assert_eq!(verdicts(&mut log, &sack(&[100, 900]), 10_000), (vec![], vec![], vec![]));
        assert_eq!(log.under_way(), 3);
    }
}
