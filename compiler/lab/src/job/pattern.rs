//! Traffic patterns: senders, receivers and dependencies.
//!
//! In: a pattern, the number of NICs, a seed. Out: the next message of each NIC. Invariants: a NIC never sends to
//! itself. The same seed gives the same messages, independent of time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

/// Senders and receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Every NIC sends to one other NIC, and receives from one.
    Permutation,
    /// Every NIC sends to all others in turn, starting with the next one.
    AllToAll,
    /// Every NIC sends to the next one. A message waits for one from the previous NIC, as in a ring
    /// all-reduce.
    Ring,
    /// All NICs send to the first one.
    Incast,
    /// NIC `i` sends to NIC `i + n / 2`, so all traffic crosses between the halves of the fabric.
    Bisection,
}

impl Pattern {
    /// All patterns.
    pub const ALL: [Pattern; 5] =
        [Pattern::Permutation, Pattern::AllToAll, Pattern::Ring, Pattern::Incast, Pattern::Bisection];

    /// Returns its keyword.
    pub fn as_str(self) -> &'static str {
        match self {
            Pattern::Permutation => "permutation",
            Pattern::AllToAll => "all-to-all",
            Pattern::Ring => "ring",
            Pattern::Incast => "incast",
            Pattern::Bisection => "bisection",
        }
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Pattern::ALL.into_iter().find(|pattern| pattern.as_str() == word);
        found.ok_or_else(|| {
            format!("`{word}` is not a pattern; expected permutation, all-to-all, ring, incast or bisection")
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The next message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextMessage {
    /// Sender.
    pub from: usize,
    /// Its number within the sender, from 0.
    pub number: u64,
    /// Receiver.
    pub to: usize,
}

/// The messages of a job.
#[derive(Debug, Clone)]
pub struct Work {
    pattern: Pattern,
    /// For a permutation: the receiver of each NIC.
    targets: Vec<usize>,
    /// Maximum number of messages of a NIC in flight.
    max_in_flight: usize,
    /// Number of messages per NIC, if it is fixed.
    messages_per_nic: Option<u64>,
    /// Number of messages per NIC that bursts have allowed so far, if messages are sent in bursts.
    allowed: Option<u64>,
    next: Vec<u64>,
    in_flight: Vec<BTreeSet<u64>>,
    /// For a ring: number of messages that arrived at each NIC without a gap, and the messages after the first gap.
    arrivals: Vec<(u64, BTreeSet<u64>)>,
}

impl Work {
    /// Plans the messages of `nics` NICs.
    pub fn new(pattern: Pattern, nics: usize, outstanding: usize, most: Option<u64>, seed: u64) -> Work {
        Work {
            pattern,
            targets: cycle(nics, seed),
            max_in_flight: outstanding.max(1),
            messages_per_nic: most,
            allowed: None,
            next: vec![0; nics],
            in_flight: vec![BTreeSet::new(); nics],
            arrivals: vec![(0, BTreeSet::new()); nics],
        }
    }

    /// Sends messages in bursts. A burst has as many messages as a NIC may have in flight. It starts only when it is
    /// allowed.
    #[must_use]
    pub fn in_bursts(self) -> Work {
        Work { allowed: Some(0), ..self }
    }

    /// Sets the total number of allowed bursts.
    pub fn allow_bursts(&mut self, bursts: u64) {
        if let Some(allowed) = &mut self.allowed {
            *allowed = bursts.saturating_mul(self.max_in_flight as u64);
        }
    }

    /// Returns the pattern.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Returns the receivers of a NIC, without duplicates.
    pub fn destinations(&self, from: usize) -> Vec<usize> {
        let n = self.next.len();
        match self.pattern {
            Pattern::Incast if from == 0 => Vec::new(),
            Pattern::AllToAll => (0..n.saturating_sub(1) as u64).map(|k| self.target(from, k)).collect(),
            Pattern::Permutation | Pattern::Ring | Pattern::Incast | Pattern::Bisection => {
                vec![self.target(from, 0)]
            }
        }
    }

    fn target(&self, from: usize, number: u64) -> usize {
        let n = self.next.len();
        match self.pattern {
            Pattern::Permutation => self.targets[from],
            Pattern::AllToAll => (from + 1 + (number % (n as u64 - 1)) as usize) % n,
            Pattern::Ring => (from + 1) % n,
            Pattern::Incast => 0,
            Pattern::Bisection => (from + n / 2) % n,
        }
    }

    /// Removes and returns the next message of a NIC, if it may send one.
    pub fn take(&mut self, from: usize) -> Option<NextMessage> {
        let number = self.next[from];
        let bound = self.messages_per_nic.into_iter().chain(self.allowed).min();
        let counted = bound.is_some_and(|most| number >= most);
        let silent = self.pattern == Pattern::Incast && from == 0;
        if counted
            || silent
            || self.in_flight[from].len() >= self.max_in_flight
            || !self.is_free(from, number)
        {
            return None;
        }
        self.next[from] += 1;
        self.in_flight[from].insert(number);
        Some(NextMessage { from, number, to: self.target(from, number) })
    }

    /// In a ring, a NIC starts with as many messages as it may have in flight, then passes on received ones. With n
    /// messages in flight, message k waits for message k - n of the previous NIC.
    fn is_free(&self, from: usize, number: u64) -> bool {
        self.pattern != Pattern::Ring || number < self.arrivals[from].0 + self.max_in_flight as u64
    }

    /// Records the arrival of a message.
    pub fn record_arrival(&mut self, from: usize, number: u64) {
        if !self.in_flight[from].remove(&number) {
            return;
        }
        if self.pattern == Pattern::Ring {
            let to = self.target(from, number);
            let (whole, beyond) = &mut self.arrivals[to];
            beyond.insert(number);
            while beyond.remove(whole) {
                *whole += 1;
            }
        }
    }

    /// Returns the number of messages in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.iter().map(BTreeSet::len).sum()
    }

    /// Returns whether every message was sent and has arrived; false if their number is not fixed.
    pub fn is_done(&self) -> bool {
        let Some(most) = self.messages_per_nic else { return false };
        let sends = |from: &usize| !(self.pattern == Pattern::Incast && *from == 0);
        self.in_flight() == 0 && (0..self.next.len()).filter(sends).all(|from| self.next[from] >= most)
    }

    /// Returns the number of messages from each NIC to each other.
    pub fn message_counts(&self) -> BTreeMap<(usize, usize), u64> {
        let mut ordered = BTreeMap::new();
        for from in 0..self.next.len() {
            for number in 0..self.next[from] {
                *ordered.entry((from, self.target(from, number))).or_default() += 1;
            }
        }
        ordered
    }
}

/// A random permutation with a single cycle (Sattolo), so no NIC sends to itself.
fn cycle(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = seed;
    let mut draw = |below: usize| {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % below.max(1) as u64) as usize
    };
    for at in (1..n).rev() {
        order.swap(at, draw(at));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_has_everybody_send_and_receive_once() {
        for seed in 0..50 {
            for n in 2..9 {
                let work = Work::new(Pattern::Permutation, n, 1, None, seed);
                let mut targets: Vec<usize> = (0..n).flat_map(|from| work.destinations(from)).collect();
                assert!(targets.iter().enumerate().all(|(from, to)| from != *to), "{targets:?}");
                targets.sort_unstable();
                assert_eq!(targets, (0..n).collect::<Vec<_>>());
            }
        }
        let targets = |seed| Work::new(Pattern::Permutation, 8, 1, None, seed).targets;
        assert_eq!(targets(3), targets(3));
        assert_ne!(targets(3), targets(4));
    }

    #[test]
    fn all_to_all_serves_everybody_in_turn_and_never_the_sender() {
        let mut work = Work::new(Pattern::AllToAll, 4, 100, Some(6), 0);
        let taken: Vec<usize> = std::iter::from_fn(|| work.take(1)).map(|next| next.to).collect();
        assert_eq!(taken, [2, 3, 0, 2, 3, 0]);
        assert_eq!(work.destinations(1), [2, 3, 0]);
    }

    #[test]
    fn a_ring_passes_on_what_it_got() {
        let mut work = Work::new(Pattern::Ring, 3, 2, Some(4), 0);
        for from in 0..3 {
            let next = |number| Some(NextMessage { from, number, to: (from + 1) % 3 });
            assert_eq!((work.take(from), work.take(from)), (next(0), next(1)));
        }
        work.record_arrival(1, 0);
        assert_eq!(work.take(1), None, "nothing came in yet");
        work.record_arrival(0, 0);
        assert_eq!(work.take(1).map(|next| next.number), Some(2), "what came from 0 goes on");
        assert_eq!(work.take(0), None);
        assert_eq!(work.take(2), None);
    }

    #[test]
    fn in_a_bisection_everybody_sends_to_the_other_half() {
        for n in 2..9 {
            let work = Work::new(Pattern::Bisection, n, 1, None, 1);
            let mut targets: Vec<usize> = (0..n).flat_map(|from| work.destinations(from)).collect();
            assert!(targets.iter().enumerate().all(|(from, to)| from.abs_diff(*to) >= n / 2), "{targets:?}");
            targets.sort_unstable();
            assert_eq!(targets, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn in_an_incast_the_target_is_silent() {
        let mut work = Work::new(Pattern::Incast, 3, 1, Some(2), 0);
        assert_eq!(work.take(0), None);
        assert_eq!((work.take(1).map(|n| n.to), work.take(2).map(|n| n.to)), (Some(0), Some(0)));
        assert!(work.destinations(0).is_empty());
    }

    #[test]
    fn what_is_under_way_is_bounded_and_the_end_is_known() {
        let mut work = Work::new(Pattern::Permutation, 2, 2, Some(3), 0);
        assert!(work.take(0).is_some() && work.take(0).is_some() && work.take(0).is_none());
        work.record_arrival(0, 1);
        work.record_arrival(0, 1);
        assert_eq!(work.in_flight(), 1);
        assert_eq!(work.take(0).map(|next| next.number), Some(2));
        assert!(!work.is_done());
        work.record_arrival(0, 0);
        work.record_arrival(0, 2);
        for number in 0..3 {
            assert!(work.take(1).is_some());
            work.record_arrival(1, number);
        }
        assert!(work.is_done());
        assert_eq!(work.message_counts(), BTreeMap::from([((0, 1), 3), ((1, 0), 3)]));
        assert!(!Work::new(Pattern::Ring, 2, 1, None, 0).is_done(), "a job by time ends by time");
    }

    #[test]
    fn words_are_read_back() {
        for pattern in Pattern::ALL {
            assert_eq!(pattern.as_str().parse(), Ok(pattern));
        }
        assert!("gather".parse::<Pattern>().unwrap_err().contains("`gather`"));
    }
}
