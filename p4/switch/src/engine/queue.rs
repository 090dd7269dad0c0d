//! Queues between ingress and egress, with time supplied by the caller.
//!
//! Queues are disabled by default: packets pass without delay, and their metadata shows an empty queue. A
//! port with a rate serves one packet at a time, the highest priority first. Queued packets carry the depth
//! of their queue in their metadata.

use std::collections::{BTreeMap, VecDeque};

use super::frame::PacketState;

/// Send rate of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Packets per second, independent of their length.
    Packets(u64),
    /// Bits per second.
    Bits(u64),
}

/// Queues of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Send rate of the port.
    pub rate: Rate,
    /// Maximum number of packets in each queue; further ones are dropped.
    pub depth: usize,
}

impl QueueConfig {
    /// Returns the transmission time of a packet of this length, in nanoseconds.
    fn service_ns(&self, bytes: u64) -> u64 {
        let (amount, rate) = match self.rate {
            Rate::Packets(rate) => (1, rate),
            Rate::Bits(rate) => (u128::from(bytes) * 8, rate),
        };
        (amount * 1_000_000_000 / u128::from(rate.max(1))) as u64
    }
}

/// A packet in a queue between ingress and egress.
#[derive(Debug)]
pub(crate) struct QueuedPacket {
    /// Headers and metadata.
    pub(crate) words: Box<[u64]>,
    /// Payload after the parsed headers.
    pub(crate) payload: Vec<u8>,
    pub(crate) packet: PacketState,
    /// Egress port.
    pub(crate) port: u32,
    /// Queue of the port.
    pub(crate) priority: usize,
    /// Time at which it was enqueued.
    pub(crate) enqueued_ns: u64,
}

#[derive(Debug)]
struct Port {
    config: QueueConfig,
    /// One queue per priority.
    queues: Vec<VecDeque<QueuedPacket>>,
    /// Time at which the port finishes its current transmission.
    free_ns: u64,
    /// Packets dropped by full queues.
    dropped: u64,
}

impl Port {
    /// Returns the time of the next departure.
    fn due_ns(&self) -> Option<u64> {
        let first =
            self.queues.iter().filter_map(|queue| queue.front()).map(|packet| packet.enqueued_ns).min()?;
        Some(first.max(self.free_ns))
    }
}

/// A packet that leaves its queue.
#[derive(Debug)]
pub(crate) struct Departure {
    pub(crate) packet: QueuedPacket,
    /// Time of the departure.
    pub(crate) at_ns: u64,
    /// Number of packets that remain in its queue.
    pub(crate) remaining: usize,
}

/// The queues of a switch.
#[derive(Debug)]
pub(crate) struct Queues {
    ports: BTreeMap<u32, Port>,
    priorities: usize,
}

impl Queues {
    /// Returns disabled queues.
    pub(crate) fn new(priorities: usize) -> Self {
        Self { ports: BTreeMap::new(), priorities: priorities.max(1) }
    }

    /// Returns the number of priorities of each port.
    pub(crate) fn priorities(&self) -> usize {
        self.priorities
    }

    /// Enables or disables the queues of a port. Disabling drops their packets.
    pub(crate) fn configure(&mut self, port: u32, config: Option<QueueConfig>) {
        match config {
            Some(config) => {
                let queues = || (0..self.priorities).map(|_| VecDeque::new()).collect();
                let port = self.ports.entry(port).or_insert_with(|| Port {
                    config,
                    queues: queues(),
                    free_ns: 0,
                    dropped: 0,
                });
                port.config = config;
            }
            None => {
                self.ports.remove(&port);
            }
        }
    }

    /// Returns whether the queues of a port are enabled.
    #[inline]
    pub(crate) fn has(&self, port: u32) -> bool {
        !self.ports.is_empty() && self.ports.contains_key(&port)
    }

    /// Returns the number of packets in a queue.
    pub(crate) fn depth(&self, port: u32, priority: usize) -> usize {
        self.ports.get(&port).and_then(|port| port.queues.get(priority)).map_or(0, VecDeque::len)
    }

    /// Puts a packet into a queue; returns whether there was space.
    pub(crate) fn push(&mut self, port: u32, priority: usize, packet: QueuedPacket) -> bool {
        let Some(port) = self.ports.get_mut(&port) else { return false };
        let depth = port.config.depth;
        match port.queues.get_mut(priority) {
            Some(queue) if queue.len() < depth => {
                queue.push_back(packet);
                true
            }
            Some(_) | None => {
                port.dropped += 1;
                false
            }
        }
    }

    /// Returns the number of packets dropped by full queues, per port.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = (u32, u64)> {
        self.ports.iter().map(|(port, of)| (*port, of.dropped)).filter(|(_, dropped)| *dropped > 0)
    }

    /// Returns the time of the next departure of any queue.
    pub(crate) fn due_ns(&self) -> Option<u64> {
        self.ports.values().filter_map(Port::due_ns).min()
    }

    /// Removes and returns the next packet that is due by `now_ns`.
    pub(crate) fn pop(&mut self, now_ns: u64) -> Option<Departure> {
        let due = self.ports.values_mut().filter_map(|port| Some((port.due_ns()?, port)));
        let (at_ns, port) = due.min_by_key(|(at, _)| *at).filter(|(at, _)| *at <= now_ns)?;
        let arrived =
            |queue: &VecDeque<QueuedPacket>| queue.front().is_some_and(|packet| packet.enqueued_ns <= at_ns);
        let queue = port.queues.iter_mut().rev().find(|queue| arrived(queue))?;
        let packet = queue.pop_front()?;
        let left = queue.len();
        port.free_ns = at_ns + port.config.service_ns(packet.packet.length);
        Some(Departure { packet, at_ns, remaining: left })
    }
}
