//! Many switches in one process, with links between their ports.
//!
//! In: packets at ports. Out: packets at ports without a link. Invariants: with a virtual clock, the result does not
//! depend on the number of threads. A link has a delay of at least [`FabricConfig::latency_ns`], so switches cannot
//! influence each other within that time, and their packets are ordered before they arrive.

mod inbox;
mod link;
mod run;

pub use inbox::{FabricHandle, Injection};
pub use link::{Corruption, LinkCount, LinkEnd, LinkError};
pub use run::{Driver, RunCount};

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::{Arc, Mutex};

use crate::switch::{Clock, Outbox, Switch};
use inbox::{Inbox, Plug};
use link::Links;

/// A switch of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

/// Configuration of a fabric.
#[derive(Clone, Debug)]
pub struct FabricConfig {
    /// Its clock, which all its switches must share.
    pub clock: Clock,
    /// Delay of a link in nanoseconds, at least 1.
    pub latency_ns: u64,
    /// Minimum number of simultaneous packets for which several threads are used.
    pub parallel_from: usize,
    /// Whether lost packets are kept for [`Fabric::take_lost`].
    pub keeps_lost: bool,
}

impl Default for FabricConfig {
    fn default() -> Self {
        Self { clock: Clock::new_virtual(), latency_ns: 1_000, parallel_from: 512, keeps_lost: false }
    }
}

/// A packet that leaves the fabric through a port without a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The switch.
    pub node: Node,
    /// Its port.
    pub port: u32,
    /// The time.
    pub at_ns: u64,
    /// The packet.
    pub frame: Vec<u8>,
}

/// A packet that a link or a full queue lost, or that a program dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostPacket {
    /// Time of the loss.
    pub at_ns: u64,
    /// The packet as it was on the link, or as [`Sink::discard`](crate::Sink::discard) receives it.
    pub frame: Vec<u8>,
    /// Whether a switch dropped it, not a link.
    pub in_switch: bool,
}

/// A packet on its way to a port.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at_ns: u64,
    /// Order of packets with the same time.
    number: u64,
    node: u32,
    port: u32,
    frame: Vec<u8>,
}

/// Switches and links.
pub struct Fabric {
    config: FabricConfig,
    switches: Vec<Arc<Switch>>,
    links: Links,
    inbox: Arc<Inbox>,
    arrivals: BinaryHeap<Reverse<Arrival>>,
    /// Times at which switches have work, such as a packet that leaves a queue.
    due_times: BTreeSet<(u64, u32)>,
    due_by_switch: Vec<Option<u64>>,
    outboxes: Vec<Mutex<Outbox>>,
    lost: Vec<LostPacket>,
    number: u64,
    /// Packets sent to ports, while they are recorded.
    entered_packets: Option<Vec<(LinkEnd, Vec<u8>)>>,
}

impl std::fmt::Debug for Fabric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fabric").field("switches", &self.switches.len()).finish_non_exhaustive()
    }
}

impl Fabric {
    /// Returns a fabric without switches.
    pub fn new(config: FabricConfig) -> Self {
        Self {
            config,
            switches: Vec::new(),
            links: Links::default(),
            inbox: Arc::default(),
            arrivals: BinaryHeap::new(),
            due_times: BTreeSet::new(),
            due_by_switch: Vec::new(),
            outboxes: Vec::new(),
            lost: Vec::new(),
            number: 0,
            entered_packets: None,
        }
    }

    /// Returns the clock that its switches must share.
    pub fn clock(&self) -> Clock {
        self.config.clock.clone()
    }

    /// Adds a switch, whose packets use links from now on.
    pub fn add(&mut self, switch: Arc<Switch>) -> Node {
        let node = Node(self.switches.len() as u32);
        switch.set_ports(Arc::new(Plug::new(node, Arc::clone(&self.inbox))));
        self.switches.push(switch);
        self.links.add_node();
        self.due_by_switch.push(None);
        let outbox = if self.config.keeps_lost { Outbox::with_lost() } else { Outbox::new() };
        self.outboxes.push(Mutex::new(outbox));
        node
    }

    /// Returns a switch.
    pub fn switch(&self, node: Node) -> Option<&Arc<Switch>> {
        self.switches.get(node.0 as usize)
    }

    /// Returns the switches in the order in which they were added.
    pub fn switches(&self) -> impl Iterator<Item = (Node, &Arc<Switch>)> {
        (0..).map(Node).zip(&self.switches)
    }

    /// Links two ports.
    pub fn link(&mut self, a: LinkEnd, b: LinkEnd) -> Result<(), LinkError> {
        self.links.connect(a, b)
    }

    /// Removes the link at a port and its counters. Packets sent at either end leave the fabric from now on.
    /// Returns its other end.
    pub fn unlink(&mut self, end: LinkEnd) -> Option<LinkEnd> {
        self.links.disconnect(end)
    }

    /// Sets the link at a port down or up, for both of its switches. Returns whether there is a link.
    pub fn set_link(&mut self, end: LinkEnd, up: bool) -> bool {
        let Some(peer) = self.links.set_up(end, up) else { return false };
        for end in [end, peer] {
            if let Some(switch) = self.switch(end.node) {
                switch.set_port(end.port, up);
            }
        }
        true
    }

    /// Sets the loss rate of the link at a port, in packets per million and in both directions. The seed determines
    /// which packets are lost. Returns whether there is a link.
    pub fn set_loss(&mut self, end: LinkEnd, ppm: u32, seed: u64) -> bool {
        self.links.set_loss(end, ppm, seed)
    }

    /// Limits the frame length on the link at a port, in both directions. Frames longer than the MTU plus the
    /// Ethernet header are dropped; `None` removes the limit. Returns whether there is a link.
    pub fn set_mtu(&mut self, end: LinkEnd, mtu: Option<u16>) -> bool {
        self.links.set_mtu(end, mtu)
    }

    /// Lets a port change bytes of frames that leave it over its link; `None` ends it. Returns whether there is a link.
    pub fn set_corruption(&mut self, end: LinkEnd, corruption: Option<Corruption>) -> bool {
        self.links.set_corruption(end, corruption)
    }

    /// Takes the lost packets, in an order that does not depend on the number of threads. Without
    /// [`FabricConfig::keeps_lost`] there are none.
    pub fn take_lost(&mut self) -> Vec<LostPacket> {
        std::mem::take(&mut self.lost)
    }

    /// Returns the time of the next event, if there is one.
    pub fn next_ns(&self) -> Option<u64> {
        let arrival = self.arrivals.peek().map(|Reverse(arrival)| arrival.at_ns);
        let due = self.due_times.first().map(|(at_ns, _)| *at_ns);
        arrival.into_iter().chain(due).min()
    }

    /// Returns the other end of the link at a port.
    pub fn peer(&self, end: LinkEnd) -> Option<LinkEnd> {
        self.links.peer(end)
    }

    /// Returns the counters of packets that a port sent over its link.
    pub fn count(&self, end: LinkEnd) -> Option<LinkCount> {
        self.links.count(end)
    }

    /// Starts recording the packets that are sent to ports, until [`Self::take_entered`] is called.
    pub fn keep_entered(&mut self) {
        self.entered_packets = Some(Vec::new());
    }

    /// Returns the packets that were sent to ports since [`Self::keep_entered`], in the order of sending, and stops
    /// recording. Packets that have not arrived yet are included.
    pub fn take_entered(&mut self) -> Vec<(LinkEnd, Vec<u8>)> {
        self.entered_packets.take().unwrap_or_default()
    }

    /// Sends a packet into a port at the current time.
    pub fn inject(&mut self, node: Node, port: u32, frame: Vec<u8>) {
        self.inject_at(self.config.clock.now_ns(), node, port, frame);
    }

    /// Sends a packet into a port at a time that is not in the past.
    pub fn inject_at(&mut self, at_ns: u64, node: Node, port: u32, frame: Vec<u8>) {
        self.arrive(at_ns, LinkEnd { node, port }, frame);
    }

    /// Returns a handle with which other threads send packets into ports.
    pub fn handle(&self) -> FabricHandle {
        FabricHandle::new(Arc::clone(&self.inbox))
    }

    fn arrive(&mut self, at_ns: u64, end: LinkEnd, frame: Vec<u8>) {
        if end.node.0 as usize >= self.switches.len() {
            return;
        }
        self.number += 1;
        if let Some(entered) = &mut self.entered_packets {
            entered.push((end, frame.clone()));
        }
        let (node, port) = (end.node.0, end.port);
        self.arrivals.push(Reverse(Arrival { at_ns, number: self.number, node, port, frame }));
    }
}
