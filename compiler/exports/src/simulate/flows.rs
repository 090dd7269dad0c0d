//! Flows: a pattern over all NICs, or demands between named ones.
//!
//! In: a pattern or demands, and the NICs of a plane. Out: flows by number, in the order of senders.
//! Invariants: no NIC sends to itself; a pattern has one flow per NIC, not one per pair; each plane carries
//! an equal share of every flow.

use closc_topology::Nic;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::numbers::Numbers;
use crate::Refusal;

/// Senders and receivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// No flows.
    None,
    /// Every NIC to the next one, and the last to the first.
    Ring {
        /// Bytes of each flow, over all planes.
        bytes: u64,
    },
    /// Every NIC sends one flow and receives one: a random cycle over all NICs, drawn from the seed.
    Permutation {
        /// Bytes of each flow, over all planes.
        bytes: u64,
        /// Seed of the random cycle.
        seed: u64,
    },
    /// Listed flows.
    Flows(Vec<Flow>),
}

/// A flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Sender.
    pub from: Nic,
    /// Receiver.
    pub to: Nic,
    /// Amount, over all planes.
    pub bytes: u64,
}

/// A pattern of flows, and the number of planes that share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traffic {
    /// Senders and receivers.
    pub pattern: Pattern,
    /// Planes that share each flow.
    pub planes: u64,
}

/// A flow of a plane, by the numbers of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HostFlow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: u64,
}

impl Traffic {
    /// Returns the flows of a plane; rejects a flow of more than `most` bytes.
    pub(super) fn of(
        &self,
        format: &'static str,
        numbers: &Numbers,
        most: u64,
    ) -> Result<Vec<HostFlow>, Refusal> {
        let hosts = numbers.hosts.len();
        let share = |bytes: u64| bytes.div_ceil(self.planes.max(1)).max(1);
        let found: Vec<HostFlow> = match &self.pattern {
            Pattern::None => Vec::new(),
            Pattern::Ring { .. } | Pattern::Permutation { .. } if hosts < 2 => Vec::new(),
            Pattern::Ring { bytes } => {
                let flow = |from| HostFlow { from, to: (from + 1) % hosts, bytes: share(*bytes) };
                (0..hosts).map(flow).collect()
            }
            Pattern::Permutation { bytes, seed } => {
                let cycle = cycle(hosts, *seed);
                let flow = |(from, to)| HostFlow { from, to, bytes: share(*bytes) };
                cycle.into_iter().enumerate().map(flow).collect()
            }
            Pattern::Flows(flows) => {
                // A NIC without a cable in this plane has no flows here; its traffic uses the other planes.
                let number = |flow: &Flow| {
                    let (from, to) = (numbers.host(flow.from)?, numbers.host(flow.to)?);
                    Some(HostFlow { from, to, bytes: share(flow.bytes) })
                };
                flows.iter().filter_map(number).collect()
            }
        };
        match found.iter().map(|flow| flow.bytes).max() {
            Some(bytes) if bytes > most => Err(Refusal::TooMany {
                format,
                subject: "bytes in a flow",
                arithmetic: format!("{} / {} planes", bytes * self.planes, self.planes),
                count: bytes,
                maximum: most,
                help: "send less with `--bytes` or `--milliseconds`",
            }),
            Some(_) | None => Ok(found),
        }
    }
}

/// Draws one cycle over `count` elements (Sattolo's shuffle): no element is its own successor.
fn cycle(count: usize, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut next: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        let below = u64::try_from(at).unwrap_or(u64::MAX);
        let other = usize::try_from(random.next_u64() % below).unwrap_or(0);
        next.swap(at, other);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_passes_everyone_once() {
        for count in [2, 3, 17, 256] {
            let next = cycle(count, 7);
            let (mut at, mut steps) = (0, 0);
            loop {
                at = next[at];
                steps += 1;
                if at == 0 {
                    break;
                }
            }
            assert_eq!(steps, count);
        }
        assert_ne!(cycle(64, 1), cycle(64, 2));
    }
}
