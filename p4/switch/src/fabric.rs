//! Many switches in one process, linked port to port.
//!
//! In: packets at ports. Out: packets at ports without a link. Invariants: with a standing clock the
//! same packets at the same times come out the same way, whatever the number of threads: a link takes at least
//! [`FabricConfig::latency_ns`], so that within that time no switch can influence another, and what they send is
//! put in order before it arrives.

mod inbox;
mod link;
mod run;

pub use inbox::{FabricHandle, Injection};
pub use link::{LinkCount, LinkEnd, LinkError};
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

/// Setup of a fabric.
#[derive(Clone, Debug)]
pub struct FabricConfig {
    /// Its time. Every switch of it must have the same clock.
    pub clock: Clock,
    /// Time that a packet takes over a link, at least 1.
    pub latency_ns: u64,
    /// Packets at one moment from which on several threads work on them.
    pub parallel_from: usize,
    /// Whether packets are kept that got lost, for [`Fabric::take_lost`].
    pub keeps_lost: bool,
}

impl Default for FabricConfig {
    fn default() -> Self {
        Self { clock: Clock::standing(), latency_ns: 1_000, parallel_from: 512, keeps_lost: false }
    }
}

/// A packet that leaves the fabric by a port without a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The switch.
    pub node: Node,
    /// Its port.
    pub port: u32,
    /// When.
    pub at_ns: u64,
    /// The packet.
    pub frame: Vec<u8>,
}

/// A packet that got lost: on a link that was down or lossy, in a full queue, or because a program dropped it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When.
    pub at_ns: u64,
    /// The packet, as it was then.
    pub frame: Vec<u8>,
    /// Whether a switch dropped it, and no link.
    pub in_switch: bool,
}

/// A packet on its way to a port.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at_ns: u64,
    /// Order among packets of one time.
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
    /// Switches that have something to do at a time, such as a packet that leaves a queue.
    due: BTreeSet<(u64, u32)>,
    due_of: Vec<Option<u64>>,
    outboxes: Vec<Mutex<Outbox>>,
    lost: Vec<Lost>,
    number: u64,
    /// Packets that entered ports, while requested.
    entered: Option<Vec<(LinkEnd, Vec<u8>)>>,
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
            due: BTreeSet::new(),
            due_of: Vec::new(),
            outboxes: Vec::new(),
            lost: Vec::new(),
            number: 0,
            entered: None,
        }
    }

    /// Returns the clock that its switches must have.
    pub fn clock(&self) -> Clock {
        self.config.clock.clone()
    }

    /// Adds a switch; what it sends from now on goes over the links.
    pub fn add(&mut self, switch: Arc<Switch>) -> Node {
        let node = Node(self.switches.len() as u32);
        switch.set_ports(Arc::new(Plug::new(node, Arc::clone(&self.inbox))));
        self.switches.push(switch);
        self.links.add_node();
        self.due_of.push(None);
        let outbox = if self.config.keeps_lost { Outbox::with_lost() } else { Outbox::new() };
        self.outboxes.push(Mutex::new(outbox));
        node
    }

    /// Returns a switch.
    pub fn switch(&self, node: Node) -> Option<&Arc<Switch>> {
        self.switches.get(node.0 as usize)
    }

    /// Returns the switches in the order they were added.
    pub fn switches(&self) -> impl Iterator<Item = (Node, &Arc<Switch>)> {
        (0..).map(Node).zip(&self.switches)
    }

    /// Links two ports.
    pub fn link(&mut self, a: LinkEnd, b: LinkEnd) -> Result<(), LinkError> {
        self.links.connect(a, b)
    }

    /// Takes the link at a port away, with what it counted; packets that leave by either end leave the fabric from now
    /// on. Returns its other end.
    pub fn unlink(&mut self, end: LinkEnd) -> Option<LinkEnd> {
        self.links.disconnect(end)
    }

    /// Cuts the link at a port or mends it; both switches see it. Returns whether there is a link.
    pub fn set_link(&mut self, end: LinkEnd, up: bool) -> bool {
        let Some(peer) = self.links.set_up(end, up) else { return false };
        for end in [end, peer] {
            if let Some(switch) = self.switch(end.node) {
                switch.set_port(end.port, up);
            }
        }
        true
    }

    /// Lets the link at a port lose so many packets of a million in both directions, by chance that follows from the seed.
    /// Returns whether there is a link.
    pub fn set_loss(&mut self, end: LinkEnd, ppm: u32, seed: u64) -> bool {
        self.links.set_loss(end, ppm, seed)
    }

    /// Lets the link at a port lose IP packets longer than an MTU in both directions; none for all that pass. Returns whether
    /// there is a link.
    pub fn set_mtu(&mut self, end: LinkEnd, mtu: Option<u16>) -> bool {
        self.links.set_mtu(end, mtu)
    }

    /// Takes the packets that got lost, in an order that does not depend on the number of threads; none unless they are kept.
    pub fn take_lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.lost)
    }

    /// Returns when something happens next, if anything does.
    pub fn next_ns(&self) -> Option<u64> {
        let arrival = self.arrivals.peek().map(|Reverse(arrival)| arrival.at_ns);
        let due = self.due.first().map(|(at_ns, _)| *at_ns);
        arrival.into_iter().chain(due).min()
    }

    /// Returns the other end of the link at a port.
    pub fn peer(&self, end: LinkEnd) -> Option<LinkEnd> {
        self.links.peer(end)
    }

    /// Returns what a port sent over its link.
    pub fn count(&self, end: LinkEnd) -> Option<LinkCount> {
        self.links.count(end)
    }

    /// Keeps every packet that enters a port of a switch from now on, until [`Self::entered`] is asked.
    pub fn keep_entered(&mut self) {
        self.entered = Some(Vec::new());
    }

    /// Returns what entered ports of switches since [`Self::keep_entered`], in order, and keeps nothing any more.
    pub fn entered(&mut self) -> Vec<(LinkEnd, Vec<u8>)> {
        self.entered.take().unwrap_or_default()
    }

    /// Puts a packet into a port, now.
    pub fn inject(&mut self, node: Node, port: u32, frame: Vec<u8>) {
        self.inject_at(self.config.clock.now_ns(), node, port, frame);
    }

    /// Puts a packet into a port at a time that is not over yet.
    pub fn inject_at(&mut self, at_ns: u64, node: Node, port: u32, frame: Vec<u8>) {
        self.arrive(at_ns, LinkEnd { node, port }, frame);
    }

    /// Returns what other threads put packets in with.
    pub fn handle(&self) -> FabricHandle {
        FabricHandle::new(Arc::clone(&self.inbox))
    }

    fn arrive(&mut self, at_ns: u64, end: LinkEnd, frame: Vec<u8>) {
        if end.node.0 as usize >= self.switches.len() {
            return;
        }
        self.number += 1;
        if let Some(entered) = &mut self.entered {
            entered.push((end, frame.clone()));
        }
        let (node, port) = (end.node.0, end.port);
        self.arrivals.push(Reverse(Arrival { at_ns, number: self.number, node, port, frame }));
    }
}
