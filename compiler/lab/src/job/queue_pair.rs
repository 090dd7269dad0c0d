//! A queue pair of a host that cannot choose paths: one flow with constant addresses and ports.
//!
//! In: messages, acknowledgements, the time. Out: packets to send, messages that arrived. Invariants: no I/O and no
//! clock of its own. A packet is retransmitted until it is acknowledged. The flow never changes its ports. So if
//! switches lose its path, it stalls until they assign another one. After a retransmission timeout, only the oldest
//! packet is retransmitted, with exponential backoff.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum number of packets in flight.
const WINDOW: usize = 32;
/// Minimum and maximum retransmission timeout, in nanoseconds.
const RESEND_NS: std::ops::RangeInclusive<u64> = 20_000_000..=1_000_000_000;

/// A packet to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PacketToSend {
    /// Its number.
    pub(super) number: u64,
    /// Message bytes in it.
    pub(super) bytes: u32,
    /// For a retransmission, the time of the previous transmission, which counts as lost.
    pub(super) lost: Option<u64>,
}

/// A message that is completely acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageCompletion {
    /// The caller's identifier of the message.
    pub(super) message: usize,
    /// Number of packets sent for it, and number of these that are retransmissions.
    pub(super) packets: (u64, u64),
}

/// A packet in flight.
#[derive(Debug, Clone, Copy)]
struct PacketInFlight {
    at_ns: u64,
    bytes: u32,
    message: usize,
    /// Whether it has been retransmitted since the last acknowledgement.
    is_asked: bool,
}

/// A message that is not completely acknowledged.
#[derive(Debug, Clone, Copy, Default)]
struct MessageProgress {
    remaining: u64,
    packets: (u64, u64),
}

/// The sending side.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    unit: u32,
    next: u64,
    /// Messages with unsent bytes.
    queue: VecDeque<(usize, u64)>,
    open: BTreeMap<usize, MessageProgress>,
    in_flight: BTreeMap<u64, PacketInFlight>,
    /// Mean round-trip time; 0 before the first measurement.
    round_trip_ns: u64,
    /// Number of consecutive retransmissions of the oldest packet without an acknowledgement.
    silent: u32,
}

impl Sender {
    /// Creates a sender with this packet size.
    pub(super) fn new(unit: u32) -> Sender {
        Sender {
            unit: unit.max(1),
            next: 0,
            queue: VecDeque::new(),
            open: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            round_trip_ns: 0,
            silent: 0,
        }
    }

    /// Queues a message.
    pub(super) fn order(&mut self, message: usize, bytes: u64) {
        let bytes = bytes.max(1);
        self.queue.push_back((message, bytes));
        let left = bytes.div_ceil(u64::from(self.unit));
        self.open.insert(message, MessageProgress { remaining: left, packets: (0, 0) });
    }

    /// Returns the time of the next transmission: 0 for immediately, and `None` if all packets were sent and
    /// acknowledged.
    pub(super) fn next_ns(&self) -> Option<u64> {
        let oldest = self.in_flight.values().next().map(|sent| sent.at_ns + self.resend_ns());
        if self.has_room() { Some(0) } else { oldest }
    }

    /// Returns the next packet, if one is due.
    pub(super) fn take(&mut self, now_ns: u64) -> Option<PacketToSend> {
        let resend_ns = self.resend_ns();
        // After a timeout, one packet probes the peer. After an acknowledgement, all packets are retransmitted in
        // turn.
        let some = if self.silent > 0 { 1 } else { WINDOW };
        let late = self.in_flight.iter_mut().take(some).find(|(_, sent)| sent.at_ns + resend_ns <= now_ns);
        if let Some((number, sent)) = late {
            let lost = sent.at_ns;
            self.silent += u32::from(sent.is_asked);
            (sent.at_ns, sent.is_asked) = (now_ns, true);
            let (number, bytes, message) = (*number, sent.bytes, sent.message);
            self.count(message, true);
            return Some(PacketToSend { number, bytes, lost: Some(lost) });
        }
        if !self.has_room() {
            return None;
        }
        let (message, left) = self.queue.front_mut()?;
        let bytes = (*left).min(u64::from(self.unit)) as u32;
        let message = *message;
        *left -= u64::from(bytes);
        if *left == 0 {
            self.queue.pop_front();
        }
        let number = self.next;
        self.next += 1;
        self.in_flight.insert(number, PacketInFlight { at_ns: now_ns, bytes, message, is_asked: false });
        self.count(message, false);
        Some(PacketToSend { number, bytes, lost: None })
    }

    /// Processes an acknowledgement of a packet with its time of transmission; returns the message that it completes.
    pub(super) fn handle_ack(&mut self, number: u64, sent_ns: u64, now_ns: u64) -> Option<MessageCompletion> {
        let sent = self.in_flight.remove(&number)?;
        self.silent = 0;
        self.in_flight.values_mut().for_each(|sent| sent.is_asked = false);
        let took_ns = now_ns.saturating_sub(sent_ns);
        self.round_trip_ns =
            if self.round_trip_ns == 0 { took_ns } else { (7 * self.round_trip_ns + took_ns) / 8 };
        let open = self.open.get_mut(&sent.message)?;
        open.remaining -= 1;
        if open.remaining > 0 {
            return None;
        }
        let packets = open.packets;
        self.open.remove(&sent.message);
        Some(MessageCompletion { message: sent.message, packets })
    }

    /// Last transmission of each unacknowledged packet.
    pub(super) fn send_times(&self) -> impl Iterator<Item = u64> + '_ {
        self.in_flight.values().map(|sent| sent.at_ns)
    }

    /// Mean round-trip time; `None` before the first measurement.
    pub(super) fn round_trip_ns(&self) -> Option<u64> {
        (self.round_trip_ns > 0).then_some(self.round_trip_ns)
    }

    fn has_room(&self) -> bool {
        self.silent == 0 && self.in_flight.len() < WINDOW && !self.queue.is_empty()
    }

    fn resend_ns(&self) -> u64 {
        let usual = (4 * self.round_trip_ns).clamp(*RESEND_NS.start(), *RESEND_NS.end());
        (usual << self.silent.min(6)).min(*RESEND_NS.end())
    }

    fn count(&mut self, message: usize, is_again: bool) {
        if let Some(open) = self.open.get_mut(&message) {
            open.packets.0 += 1;
            open.packets.1 += u64::from(is_again);
        }
    }
}

/// The receiving side.
#[derive(Debug, Clone, Default)]
pub(super) struct Receiver {
    /// All packets below this number have arrived.
    next_expected: u64,
    out_of_order: BTreeSet<u64>,
}

impl Receiver {
    /// Processes a packet; returns whether its number is new.
    pub(super) fn take(&mut self, number: u64) -> bool {
        let is_new = number >= self.next_expected && self.out_of_order.insert(number);
        while self.out_of_order.remove(&self.next_expected) {
            self.next_expected += 1;
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn drain(sender: &mut Sender, now_ns: u64) -> Vec<PacketToSend> {
        std::iter::from_fn(|| sender.take(now_ns)).collect()
    }

    #[test]
    fn a_message_is_done_when_all_of_it_is_acknowledged() {
        let mut sender = Sender::new(1000);
        sender.order(7, 2500);
        sender.order(8, 10);
        let sent: Vec<(u64, u32)> = drain(&mut sender, 0).iter().map(|own| (own.number, own.bytes)).collect();
        assert_eq!(sent, [(0, 1000), (1, 1000), (2, 500), (3, 10)]);
        assert_eq!(
            (sender.handle_ack(3, 0, MS), sender.handle_ack(3, 0, MS)),
            (Some(MessageCompletion { message: 8, packets: (1, 0) }), None)
        );
        assert_eq!((sender.handle_ack(0, 0, MS), sender.handle_ack(2, 0, MS)), (None, None));
        assert_eq!(sender.handle_ack(1, 0, MS), Some(MessageCompletion { message: 7, packets: (3, 0) }));
        assert_eq!((sender.next_ns(), sender.send_times().count()), (None, 0));
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again_less_and_less_often_until_somebody_answers() {
        let mut sender = Sender::new(1000);
        sender.order(0, 3000);
        assert_eq!(drain(&mut sender, 0).len(), 3);
        let (mut now_ns, mut times) = (0, Vec::new());
        while now_ns < 5000 * MS {
            now_ns = sender.next_ns().expect("the oldest").max(now_ns);
            let again = drain(&mut sender, now_ns);
            assert!(again.iter().all(|own| own.lost.is_some()), "{again:?}");
            times.push((now_ns / MS, again.len()));
        }
        let asked: Vec<u64> = times.iter().map(|(at, _)| *at).collect();
        assert_eq!(asked[..5], [20, 40, 80, 160, 320]);
        assert_eq!(times[0].1, 3);
        assert!(times[1..].iter().all(|(_, count)| *count == 1), "{times:?}");
        assert!(asked.windows(2).all(|pair| pair[1] - pair[0] <= 1000), "{asked:?}");
        // After an answer, the other packets are retransmitted immediately, and new ones are sent.
        sender.order(1, 1000);
        assert_eq!(sender.handle_ack(0, now_ns - MS, now_ns), None);
        let back: Vec<u64> = drain(&mut sender, now_ns + MS).iter().map(|own| own.number).collect();
        assert_eq!(back, [1, 2, 3]);
        for number in 1..4 {
            sender.handle_ack(number, now_ns + MS, now_ns + 2 * MS);
        }
        assert_eq!(sender.next_ns(), None);
    }

    #[test]
    fn a_window_is_not_passed() {
        let mut sender = Sender::new(1);
        sender.order(0, 1000);
        assert_eq!(drain(&mut sender, 0).len(), WINDOW);
        sender.handle_ack(5, 0, 1);
        assert_eq!(drain(&mut sender, 1).len(), 1);
    }

    #[test]
    fn a_packet_counts_once() {
        let mut receiver = Receiver::default();
        let taken: Vec<bool> =
            [0, 2, 2, 1, 0, 3, 9, 2].into_iter().map(|number| receiver.take(number)).collect();
        assert_eq!(taken, [true, true, false, true, false, true, true, false]);
        assert_eq!((receiver.next_expected, receiver.out_of_order.len()), (4, 1));
    }
}
