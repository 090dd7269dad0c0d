//! Recently lost packets, and packets without an answer. The losses show how long a bad path stays in use.
//!
//! In: lost packets. Out: the most recent losses, numbered. Invariants: the number of stored losses is bounded. A gap
//! in the numbers shows that some were discarded.

use std::collections::VecDeque;
use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};

use crate::sent_log::{Cargo, PacketInFlight};

/// Number of losses that are kept.
pub const LOSSES_MAX: usize = 2048;
/// Maximum number of losses in one answer.
pub const ANSWER_MAX: usize = 512;

/// A packet that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Number, from 1.
    pub number: u64,
    /// The NIC that it was sent to.
    pub to: Ipv6Addr,
    /// The plane on which it was lost.
    pub plane: u8,
    /// Its path.
    pub entropy: u32,
    /// Its packet number, which counts packets to that NIC.
    pub packet: u32,
    /// When it was sent, by the agent's clock.
    pub sent_ns: u64,
    /// When it was declared lost.
    pub known_ns: u64,
    /// Whether the packet arrived after all. Such an entry corrects an earlier loss.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub came: bool,
    /// Whether it was a probe without data, sent after unacknowledged packets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probe: bool,
}

impl Loss {
    /// A loss of a packet to a NIC. [`Losses::push`] assigns its number.
    pub fn of(to: Ipv6Addr, sent: &PacketInFlight, known_ns: u64) -> Loss {
        let PacketInFlight { number: packet, plane, entropy, at_ns: sent_ns, cargo, .. } = *sent;
        let probe = cargo == Cargo::Probe;
        Loss { number: 0, to, plane, entropy, packet, sent_ns, known_ns, came: false, probe }
    }

    /// A packet that was declared lost but arrived.
    pub(crate) fn late_arrival(to: Ipv6Addr, sent: &PacketInFlight, known_ns: u64) -> Loss {
        Loss { came: true, ..Loss::of(to, sent, known_ns) }
    }
}

/// A packet of an unfinished write that is neither acknowledged nor lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnansweredPacket {
    /// The NIC that it was sent to.
    pub to: Ipv6Addr,
    /// Its path.
    pub entropy: u32,
    /// Its packet number, which counts packets to that NIC.
    pub packet: u32,
    /// When it was sent, by the agent's clock.
    pub sent_ns: u64,
}

impl UnansweredPacket {
    /// Describes a packet to a NIC.
    pub(crate) fn of(to: Ipv6Addr, sent: &PacketInFlight) -> UnansweredPacket {
        UnansweredPacket { to, entropy: sent.entropy, packet: sent.number, sent_ns: sent.at_ns }
    }
}

/// Packets that are neither acknowledged nor lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// Number of such packets of unfinished writes.
    pub count: u64,
    /// The first of them.
    pub packets: Vec<UnansweredPacket>,
    /// Other such packets: those of finished writes, and those that left the log before an answer.
    #[serde(default)]
    pub others: u64,
}

impl Silence {
    /// Adds a packet.
    pub(crate) fn take(&mut self, packet: UnansweredPacket) {
        self.count += 1;
        if self.packets.len() < LOSSES_MAX {
            self.packets.push(packet);
        }
    }
}

/// The most recent losses.
#[derive(Debug, Default)]
pub struct Losses {
    ring: VecDeque<Loss>,
    count: u64,
}

impl Losses {
    /// Adds a loss and assigns its number.
    pub fn push(&mut self, loss: Loss) {
        if self.ring.len() == LOSSES_MAX {
            self.ring.pop_front();
        }
        self.count += 1;
        self.ring.push_back(Loss { number: self.count, ..loss });
    }

    /// Returns losses after a number, oldest first, at most `ANSWER_MAX`.
    pub fn losses_after(&self, number: u64) -> Vec<Loss> {
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
        let first = losses.losses_after(0);
        assert_eq!((first.len(), first[0].number), (ANSWER_MAX, 6), "five were forgotten, and it shows");
        let last = losses.losses_after(LOSSES_MAX as u64 + 3);
        assert_eq!(last.iter().map(|loss| loss.number).collect::<Vec<_>>(), [2052, 2053]);
    }
}
