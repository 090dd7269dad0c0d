//! Restores the order of packets of one sender.
//!
//! In: numbered packets in any order, the time. Out: packets in order, each once, and the numbers received, for
//! acknowledgements. Invariants: the waiting time of a packet, the number of waiting packets and their bytes are
//! limited. At a limit, the missing packet is skipped. TCP mistakes reordering for loss, so it could not use many paths
//! without this buffer.

use crate::wire::{SACK_BITS, Sack};

/// Limits of the number of packets that can wait.
pub const WINDOW_MAX: usize = 512;
const WINDOW_MIN: usize = 64;

/// The first packet that arrives may not be the first that was sent. The buffer waits for up to this many
/// packets before it.
const LOOK_BACK: u32 = 32;

/// A waiting packet; `None` if its contents were for the agent.
type BufferedPacket = Option<Vec<u8>>;

/// Memory of the smallest buffer.
pub(crate) const LEAST_BYTES: usize = WINDOW_MIN * size_of::<Option<BufferedPacket>>();

/// The handling of a received packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveOutcome {
    /// It was next in order. It was passed on, with the packets that waited for it.
    InOrder,
    /// It waits for earlier packets.
    Waits,
    /// It had already arrived.
    Duplicate,
    /// It had been skipped, and was passed on immediately.
    Late,
}

/// The packets of one sender.
#[derive(Debug)]
pub struct Reorder {
    epoch: Option<u16>,
    /// Number of the next packet in order.
    next: u32,
    /// Number of the first packet that arrived; earlier ones do not count as missed.
    first: u32,
    /// One past the highest number that arrived.
    end: u32,
    buffer: Vec<Option<BufferedPacket>>,
    /// Maximum number of waiting packets after enlarging the buffer.
    max_capacity: usize,
    n_waiting: usize,
    bytes: usize,
    budget: usize,
    /// Time since which the next packet is missing.
    since_ns: u64,
    wait_ns: u64,
    /// Whether each of the last numbers arrived: number n is bit n modulo its length.
    arrival_bits: [u64; SACK_BITS / 64],
    /// Packets that waited for an earlier one.
    pub reordered: u64,
    /// Packets that were skipped.
    pub missed: u64,
    /// Packets that arrived more than once.
    pub duplicates: u64,
}

impl Reorder {
    /// Makes an empty buffer. The buffer waits for each gap no longer than `wait_ns`, and waiting packets
    /// have at most `budget` bytes in total. The buffer can grow to twice the number of packets that a sender
    /// may have in flight (`under_way`).
    pub fn new(under_way: u32, wait_ns: u64, budget: usize) -> Self {
        Reorder {
            epoch: None,
            next: 0,
            first: 0,
            end: 0,
            buffer: (0..WINDOW_MIN).map(|_| None).collect(),
            max_capacity: (under_way as usize * 2).clamp(WINDOW_MIN, WINDOW_MAX).next_power_of_two(),
            n_waiting: 0,
            bytes: 0,
            budget,
            since_ns: 0,
            wait_ns,
            arrival_bits: [0; SACK_BITS / 64],
            reordered: 0,
            missed: 0,
            duplicates: 0,
        }
    }

    /// Returns the epoch of the sender.
    pub fn epoch(&self) -> Option<u16> {
        self.epoch
    }

    /// Returns whether packets wait.
    pub fn is_waiting(&self) -> bool {
        self.n_waiting > 0
    }

    /// Returns how many later packets arrived before this one.
    pub fn reorder_distance(&self, (epoch, number): (u16, u32)) -> u32 {
        let behind = self.end.wrapping_sub(number);
        if self.epoch == Some(epoch) && behind <= u32::MAX / 2 { behind.saturating_sub(1) } else { 0 }
    }

    /// Returns the memory needed to double the buffer; `None` if this packet does not need it, or the maximum is
    /// reached.
    pub(crate) fn wants_bytes(&self, (epoch, number): (u16, u32)) -> Option<usize> {
        let ahead = number.wrapping_sub(self.next) as usize;
        let needed = self.epoch == Some(epoch) && (self.buffer.len()..self.max_capacity).contains(&ahead);
        needed.then_some(self.buffer.len() * size_of::<Option<BufferedPacket>>())
    }

    /// Returns the memory of the buffer beyond its minimum, in bytes, without the packets in it.
    pub(crate) fn wide_bytes(&self) -> usize {
        self.buffer.len() * size_of::<Option<BufferedPacket>>() - LEAST_BYTES
    }

    /// Doubles the buffer, up to its maximum.
    pub fn widen(&mut self) {
        self.resize((self.buffer.len() * 2).min(self.max_capacity));
    }

    /// Shrinks the buffer to its minimum if nothing waits.
    pub fn narrow(&mut self) {
        if self.n_waiting == 0 {
            self.resize(WINDOW_MIN);
        }
    }

    fn resize(&mut self, room: usize) {
        let mut waiting: Vec<Option<BufferedPacket>> = (0..room).map(|_| None).collect();
        for number in (0..self.buffer.len().min(room) as u32).map(|n| self.next.wrapping_add(n)) {
            let slot = self.slot(number);
            waiting[number as usize & (room - 1)] = self.buffer[slot].take();
        }
        self.buffer = waiting;
    }

    /// Handles a packet. `packet` is `None` if it is not for the node. Packets that are in order go to `out`.
    pub fn take(
        &mut self,
        (epoch, number): (u16, u32),
        packet: Option<&[u8]>,
        now_ns: u64,
        out: &mut impl FnMut(&[u8]),
    ) -> ReceiveOutcome {
        if self.epoch != Some(epoch) {
            // The sender started a new epoch. Packets waiting from the old one are passed on.
            self.flush(out);
            let next = number - number.min(LOOK_BACK);
            (self.epoch, self.next, self.end, self.first) = (Some(epoch), next, number, number);
            self.since_ns = now_ns;
            self.arrival_bits = [0; SACK_BITS / 64];
        }
        let ahead = number.wrapping_sub(self.next);
        if ahead > u32::MAX / 2 {
            return self.take_old(number, packet, out);
        }
        // A jump beyond any window means that nothing arrived for a long time. Continue at the current number.
        if ahead as usize >= 4 * self.max_capacity {
            self.flush(out);
            self.missed += u64::from(number.wrapping_sub(self.end).min(1 << 20));
            self.next = number;
        }
        self.mark(number);
        while number.wrapping_sub(self.next) as usize >= self.buffer.len() {
            self.pass_over(now_ns, out);
        }
        if number == self.next {
            if let Some(packet) = packet {
                out(packet);
            }
            self.next = self.next.wrapping_add(1);
            self.drain(now_ns, out);
            return ReceiveOutcome::InOrder;
        }
        let place = self.slot(number);
        let slot = &mut self.buffer[place];
        if slot.is_some() {
            self.duplicates += 1;
            return ReceiveOutcome::Duplicate;
        }
        if self.n_waiting == 0 {
            self.since_ns = now_ns;
        }
        self.bytes += packet.map_or(0, <[u8]>::len);
        *slot = Some(packet.map(<[u8]>::to_vec));
        self.n_waiting += 1;
        self.reordered += 1;
        while self.bytes > self.budget {
            self.pass_over(now_ns, out);
        }
        ReceiveOutcome::Waits
    }

    fn take_old(
        &mut self,
        number: u32,
        packet: Option<&[u8]>,
        out: &mut impl FnMut(&[u8]),
    ) -> ReceiveOutcome {
        let age = self.end.wrapping_sub(number) as usize;
        let (word, bit) = place(number);
        if age > SACK_BITS || self.arrival_bits[word] >> bit & 1 == 1 {
            self.duplicates += 1;
            return ReceiveOutcome::Duplicate;
        }
        self.arrival_bits[word] |= 1 << bit;
        if let Some(packet) = packet {
            out(packet);
        }
        ReceiveOutcome::Late
    }

    /// Records that a number arrived, and drops numbers that leave the acknowledgement window.
    fn mark(&mut self, number: u32) {
        let beyond = number.wrapping_sub(self.end);
        if beyond <= u32::MAX / 2 {
            for n in 0..beyond.min(SACK_BITS as u32) {
                let (word, bit) = place(self.end.wrapping_add(n));
                self.arrival_bits[word] &= !(1 << bit);
            }
            if beyond as usize >= SACK_BITS {
                self.arrival_bits = [0; SACK_BITS / 64];
            }
            self.end = number.wrapping_add(1);
        }
        let (word, bit) = place(number);
        self.arrival_bits[word] |= 1 << bit;
    }

    /// Passes on packets that waited long enough.
    pub fn tick(&mut self, now_ns: u64, out: &mut impl FnMut(&[u8])) {
        while self.n_waiting > 0 && now_ns.saturating_sub(self.since_ns) >= self.wait_ns {
            let since = self.since_ns;
            self.pass_over(now_ns, out);
            // Packets after this gap have waited about as long as those before it.
            if self.n_waiting > 0 && since + 2 * self.wait_ns <= now_ns {
                self.since_ns = since;
            }
        }
    }

    /// Skips missing packets up to the next waiting one.
    fn pass_over(&mut self, now_ns: u64, out: &mut impl FnMut(&[u8])) {
        while self.buffer[self.slot(self.next)].is_none() {
            let (word, bit) = place(self.next);
            let is_past = self.next.wrapping_sub(self.first) > u32::MAX / 2;
            self.missed += u64::from(!is_past && self.arrival_bits[word] >> bit & 1 == 0);
            self.next = self.next.wrapping_add(1);
            if self.n_waiting == 0 {
                return;
            }
        }
        self.drain(now_ns, out);
    }

    /// Returns the slot of a number; the length of the buffer is a power of two.
    fn slot(&self, number: u32) -> usize {
        number as usize & (self.buffer.len() - 1)
    }

    fn drain(&mut self, now_ns: u64, out: &mut impl FnMut(&[u8])) {
        loop {
            let place = self.slot(self.next);
            let Some(waiting) = self.buffer[place].take() else { break };
            self.n_waiting -= 1;
            if let Some(packet) = waiting {
                self.bytes -= packet.len();
                out(&packet);
            }
            self.next = self.next.wrapping_add(1);
        }
        self.since_ns = now_ns;
    }

    /// Passes on all waiting packets, and skips the missing ones.
    pub(crate) fn flush(&mut self, out: &mut impl FnMut(&[u8])) {
        while self.n_waiting > 0 {
            self.pass_over(0, out);
        }
    }

    /// Returns an acknowledgement of the most recent numbers.
    pub fn acknowledge(&self, ports: u32) -> Option<Sack> {
        let epoch = self.epoch?;
        let base = self.end.wrapping_sub(SACK_BITS as u32);
        let mut bits = [0; SACK_BITS / 64];
        // Rotate the ring so that the oldest number comes first: whole words and a shift.
        let (first, shift) = place(base);
        for (n, word) in bits.iter_mut().enumerate() {
            let low = self.arrival_bits[(first + n) % self.arrival_bits.len()];
            let high = self.arrival_bits[(first + n + 1) % self.arrival_bits.len()];
            *word = if shift == 0 { low } else { low >> shift | high << (64 - shift) };
        }
        Some(Sack { epoch, base, bits, ports, marks: [0; 16], n_marks: 0, kbps: 0 })
    }
}

fn place(number: u32) -> (usize, u32) {
    let at = number as usize % SACK_BITS;
    (at / 64, (at % 64) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sent_log::has_bit;

    fn feed(reorder: &mut Reorder, numbers: &[u32], now: u64) -> Vec<u8> {
        let mut out = Vec::new();
        for number in numbers {
            let byte = [*number as u8];
            reorder.take((1, *number), Some(&byte), now, &mut |packet| out.extend_from_slice(packet));
        }
        out
    }

    #[test]
    fn packets_come_out_in_order_and_once() {
        let mut reorder = Reorder::new(192, 1000, 1 << 20);
        assert_eq!(feed(&mut reorder, &[0, 3, 1, 2, 2, 5, 4, 0], 0), [0, 1, 2, 3, 4, 5]);
        assert_eq!((reorder.reordered, reorder.duplicates, reorder.missed), (2, 2, 0));
        assert!(!reorder.is_waiting());
    }

    #[test]
    fn a_missing_packet_is_waited_for_and_then_passed_over() {
        let mut reorder = Reorder::new(192, 1000, 1 << 20);
        assert_eq!(feed(&mut reorder, &[0, 2, 3], 10), [0]);
        let mut out = Vec::new();
        reorder.tick(1009, &mut |packet| out.extend_from_slice(packet));
        assert!(out.is_empty());
        reorder.tick(1010, &mut |packet| out.extend_from_slice(packet));
        assert_eq!(out, [2, 3]);
        assert_eq!(reorder.missed, 1);
        assert_eq!(feed(&mut reorder, &[1, 1], 2000), [1], "late, handed on once");
    }

    #[test]
    fn neither_packets_nor_bytes_pile_up() {
        let mut reorder = Reorder::new(192, 1 << 60, 10);
        feed(&mut reorder, &[0], 0);
        let numbers: Vec<u32> = (2..30).collect();
        assert_eq!(feed(&mut reorder, &numbers, 0).len(), 28, "11 bytes wait, which is one too many");
        let mut reorder = Reorder::new(192, 1 << 60, 1 << 20);
        feed(&mut reorder, &[0], 0);
        let numbers: Vec<u32> = (2..3000).collect();
        assert!(feed(&mut reorder, &numbers, 0).len() > 1900);
    }

    #[test]
    fn room_grows_with_what_waits() {
        let mut reorder = Reorder::new(192, 1 << 60, 1 << 20);
        feed(&mut reorder, &[0], 0);
        for number in (2..=300).rev().step_by(3) {
            while let Some(bytes) = reorder.wants_bytes((1, number)) {
                assert_eq!(bytes, reorder.buffer.len() * size_of::<Option<BufferedPacket>>());
                reorder.widen();
            }
            assert!(feed(&mut reorder, &[number], 0).is_empty());
        }
        assert_eq!(reorder.buffer.len(), 512);
        reorder.narrow();
        assert!(reorder.wide_bytes() > 0, "what waits is kept");
        let all: Vec<u32> = (1..=300).collect();
        let came: Vec<u8> = all.iter().map(|number| *number as u8).collect();
        let missing: Vec<u32> = all.into_iter().filter(|number| number % 3 != 0).collect();
        assert_eq!(feed(&mut reorder, &missing, 0), came, "in order, and none is missing");
        reorder.narrow();
        assert_eq!((reorder.wide_bytes(), reorder.missed), (0, 0));
    }

    #[test]
    fn a_sender_that_starts_over_is_followed() {
        let mut reorder = Reorder::new(192, 1000, 1 << 20);
        feed(&mut reorder, &[0, 2], 0);
        let mut out = Vec::new();
        for number in [1u8, 0, 2] {
            reorder.take((2, u32::from(number)), Some(&[10 + number]), 0, &mut |packet| {
                out.extend_from_slice(packet);
            });
        }
        assert_eq!(out, [2, 10, 11, 12], "2 waited and is handed on first");
        assert_eq!(reorder.epoch(), Some(2));
    }

    #[test]
    fn numbers_wrap() {
        let mut reorder = Reorder::new(192, 1000, 1 << 20);
        let last = u32::MAX;
        feed(&mut reorder, &[last - 2], 0);
        reorder.tick(1000, &mut |_| ());
        assert_eq!(reorder.missed, 0, "nothing is known of those before the first");
        assert_eq!(feed(&mut reorder, &[last - 1, 1, last, 0], 0), [254, 255, 0, 1]);
        let sack = reorder.acknowledge(0).unwrap();
        assert!([last - 1, last, 0, 1].into_iter().all(|number| has_bit(&sack, number)));
    }

    #[test]
    fn acknowledgements_say_what_came() {
        let mut reorder = Reorder::new(192, 1000, 1 << 20);
        let numbers: Vec<u32> = (0..2000).filter(|n| n % 7 != 0).collect();
        feed(&mut reorder, &numbers, 0);
        let sack = reorder.acknowledge(0b11).unwrap();
        assert_eq!((sack.base, sack.ports), (1999 + 1 - 1024, 0b11));
        for number in sack.base..2000 {
            assert_eq!(has_bit(&sack, number), number % 7 != 0, "{number}");
        }
    }
}
