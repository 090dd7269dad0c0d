//! Packets that were lost lately, one by one: who measures how fast a path was left asks for them, and for those of which nothing
//! is known.
//!
//! In: verdicts. Out: the last of them, numbered. Invariants: so many are remembered and no more; a number that is missing
//! says that some were forgotten.

use std::collections::VecDeque;
use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};

use crate::sent::{Cargo, Sent};

/// Losses that are remembered.
pub const LOSSES_MAX: usize = 2048;
/// Losses that one answer has.
pub const ANSWER_MAX: usize = 512;

/// A packet that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Counts from 1.
    pub number: u64,
    /// The NIC that it was sent to.
    pub to: Ipv6Addr,
    /// The plane that lost it.
    pub plane: u8,
    /// Its path.
    pub entropy: u32,
    /// Its number among packets to that NIC.
    pub packet: u32,
    /// When it was sent, by the agent's clock.
    pub sent_ns: u64,
    /// When it was known to be lost.
    pub known_ns: u64,
    /// Whether this takes back what was said of the packet before: it arrived after all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub came: bool,
    /// Whether it was a probe that asked what became of packets before it: it carried nothing that has to go again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probe: bool,
}

impl Loss {
    /// A packet to a NIC that is known to be lost. It gets its number where it is remembered.
    pub fn of(to: Ipv6Addr, sent: &Sent, known_ns: u64) -> Loss {
        let Sent { number: packet, plane, entropy, at_ns: sent_ns, cargo, .. } = *sent;
        let probe = cargo == Cargo::Probe;
        Loss { number: 0, to, plane, entropy, packet, sent_ns, known_ns, came: false, probe }
    }

    /// A packet that was called lost and arrived after all.
    pub(crate) fn came(to: Ipv6Addr, sent: &Sent, known_ns: u64) -> Loss {
        Loss { came: true, ..Loss::of(to, sent, known_ns) }
    }
}

/// A packet of a write that is not done, of which nobody said that it arrived or did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// The NIC that it was sent to.
    pub to: Ipv6Addr,
    /// Its path.
    pub entropy: u32,
    /// Its number among packets to that NIC.
    pub packet: u32,
    /// When it was sent, by the agent's clock.
    pub sent_ns: u64,
}

impl Unanswered {
    /// A packet to a NIC.
    pub(crate) fn of(to: Ipv6Addr, sent: &Sent) -> Unanswered {
        Unanswered { to, entropy: sent.entropy, packet: sent.number, sent_ns: sent.at_ns }
    }
}

/// Those packets: the first of them, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// All of them.
    pub count: u64,
    /// The first of them.
    pub packets: Vec<Unanswered>,
    /// Besides them, packets of which no word came: of writes that are done, and those for which there was no room any more.
    #[serde(default)]
    pub others: u64,
}

impl Silence {
    /// Adds a packet.
    pub(crate) fn take(&mut self, packet: Unanswered) {
        self.count += 1;
        if self.packets.len() < LOSSES_MAX {
            self.packets.push(packet);
        }
    }
}

/// The last losses.
#[derive(Debug, Default)]
pub struct Losses {
    ring: VecDeque<Loss>,
    count: u64,
}

impl Losses {
    /// Remembers a loss; its number is given here.
    pub fn push(&mut self, loss: Loss) {
        if self.ring.len() == LOSSES_MAX {
            self.ring.pop_front();
        }
        self.count += 1;
        self.ring.push_back(Loss { number: self.count, ..loss });
    }

    /// Returns those after a number, oldest first, so many at most.
    pub fn after(&self, number: u64) -> Vec<Loss> {
        self.ring.iter().filter(|loss| loss.number > number).take(ANSWER_MAX).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_and_room_is_bounded() {
        let mut losses = Losses::default();
        let loss = Loss {
            number: 0,
            to: Ipv6Addr::LOCALHOST,
            plane: 1,
            entropy: 2,
            packet: 5,
            sent_ns: 3,
            known_ns: 4,
            came: false,
            probe: false,
        };
        for _ in 0..LOSSES_MAX + 5 {
            losses.push(loss);
        }
        let first = losses.after(0);
        assert_eq!((first.len(), first[0].number), (ANSWER_MAX, 6), "five were forgotten, and it shows");
        let last = losses.after(LOSSES_MAX as u64 + 3);
        assert_eq!(last.iter().map(|loss| loss.number).collect::<Vec<_>>(), [2052, 2053]);
    }
}
