//! Links between ports.

use thiserror::Error;

use super::Node;
use crate::state::Random;

/// Maximum port number of a link.
const LAST_PORT: u32 = 65_535;

/// A port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkEnd {
    /// The switch.
    pub node: Node,
    /// The port.
    pub port: u32,
}

/// The reason why a link cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LinkError {
    /// There is no such switch.
    #[error("the fabric has no switch number {}", .0.0)]
    NoNode(Node),
    /// The port number is too large.
    #[error("port {0} is beyond {LAST_PORT}, the last one that can have a link")]
    Port(u32),
    /// The port has a link already.
    #[error("port {} of switch number {} has a link already", .0.port, .0.node.0)]
    Taken(LinkEnd),
    /// Both ends are the same.
    #[error("port {} of switch number {} cannot be linked to itself", .0.port, .0.node.0)]
    Loop(LinkEnd),
}

/// Packets that a port sent over its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCount {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// Packets that were lost because the link was down or lossy, or because they were too long for it.
    pub lost: u64,
}

#[derive(Clone, Debug)]
struct LinkHalf {
    peer: LinkEnd,
    up: bool,
    count: LinkCount,
    loss: Option<Loss>,
    /// Maximum frame length in bytes; `None` for no limit.
    longest: Option<usize>,
    corruption: Option<Corruption>,
}

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

/// Random loss in one direction of a link.
#[derive(Clone, Debug)]
struct Loss {
    /// Per million.
    ppm: u32,
    random: Random,
}

/// A port that changes bytes of a share of its frames at random.
#[derive(Clone, Debug)]
pub struct Corruption {
    /// Per million.
    ppm: u32,
    random: Random,
}

impl Corruption {
    /// Corrupts this share of frames, per million. The seed determines which frames and bytes change.
    pub fn new(ppm: u32, seed: u64) -> Self {
        Corruption { ppm, random: Random::new(seed) }
    }

    /// Changes one to four bytes of a frame, or leaves it unchanged.
    pub fn apply(&mut self, frame: &mut [u8]) {
        let dice = self.random.number_between(0, 999_999);
        let Some(last) = frame.len().checked_sub(1).filter(|_| dice.is_some_and(|n| n < u64::from(self.ppm)))
        else {
            return;
        };
        for _ in 0..=self.random.number_between(0, 3).unwrap_or_default() {
            let place = self.random.number_between(0, last as u64).unwrap_or_default();
            frame[place as usize] ^= self.random.number_between(1, 255).unwrap_or(1) as u8;
        }
    }
}

/// Destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// To the port at the other end of the link.
    To(LinkEnd),
    /// Out of the fabric.
    Out,
    Lost,
}

/// The links of a fabric, by switch and port.
#[derive(Debug, Default)]
pub(super) struct Links {
    halves: Vec<Vec<Option<LinkHalf>>>,
}

impl Links {
    pub(super) fn add_node(&mut self) {
        self.halves.push(Vec::new());
    }

    fn half(&self, end: LinkEnd) -> Option<&LinkHalf> {
        self.halves.get(end.node.0 as usize)?.get(end.port as usize)?.as_ref()
    }

    fn half_mut(&mut self, end: LinkEnd) -> Option<&mut LinkHalf> {
        self.halves.get_mut(end.node.0 as usize)?.get_mut(end.port as usize)?.as_mut()
    }

    pub(super) fn connect(&mut self, a: LinkEnd, b: LinkEnd) -> Result<(), LinkError> {
        if a == b {
            return Err(LinkError::Loop(a));
        }
        for end in [a, b] {
            if end.node.0 as usize >= self.halves.len() {
                return Err(LinkError::NoNode(end.node));
            }
            if end.port > LAST_PORT {
                return Err(LinkError::Port(end.port));
            }
            if self.half(end).is_some() {
                return Err(LinkError::Taken(end));
            }
        }
        for (end, peer) in [(a, b), (b, a)] {
            let ports = &mut self.halves[end.node.0 as usize];
            if ports.len() <= end.port as usize {
                ports.resize(end.port as usize + 1, None);
            }
            ports[end.port as usize] = Some(LinkHalf {
                peer,
                up: true,
                count: LinkCount::default(),
                loss: None,
                longest: None,
                corruption: None,
            });
        }
        Ok(())
    }

    /// Removes a link; returns its other end.
    pub(super) fn disconnect(&mut self, end: LinkEnd) -> Option<LinkEnd> {
        let peer = self.peer(end)?;
        for end in [end, peer] {
            self.halves[end.node.0 as usize][end.port as usize] = None;
        }
        Some(peer)
    }

    pub(super) fn peer(&self, end: LinkEnd) -> Option<LinkEnd> {
        self.half(end).map(|half| half.peer)
    }

    pub(super) fn count(&self, end: LinkEnd) -> Option<LinkCount> {
        self.half(end).map(|half| half.count)
    }

    /// Sets a link down or up; returns its other end.
    pub(super) fn set_up(&mut self, end: LinkEnd, up: bool) -> Option<LinkEnd> {
        let peer = self.peer(end)?;
        for end in [end, peer] {
            self.half_mut(end)?.up = up;
        }
        Some(peer)
    }

    /// Sets the loss rate of a link in both directions; returns whether there is a link.
    pub(super) fn set_loss(&mut self, end: LinkEnd, ppm: u32, seed: u64) -> bool {
        let Some(peer) = self.peer(end) else { return false };
        for (end, seed) in [(end, seed), (peer, !seed)] {
            if let Some(half) = self.half_mut(end) {
                half.loss = (ppm > 0).then(|| Loss { ppm, random: Random::new(seed) });
            }
        }
        true
    }

    /// Drops frames on a link, in both directions, that are longer than the MTU plus the Ethernet header.
    /// Returns whether there is a link.
    pub(super) fn set_mtu(&mut self, end: LinkEnd, mtu: Option<u16>) -> bool {
        let Some(peer) = self.peer(end) else { return false };
        for end in [end, peer] {
            if let Some(half) = self.half_mut(end) {
                half.longest = mtu.map(|mtu| usize::from(mtu) + ETHERNET);
            }
        }
        true
    }

    /// Sets the corruption of frames that leave a port over its link; returns whether there is a link.
    pub(super) fn set_corruption(&mut self, end: LinkEnd, corruption: Option<Corruption>) -> bool {
        let Some(half) = self.half_mut(end) else { return false };
        half.corruption = corruption;
        true
    }

    /// Returns the destination of a packet that leaves a port, and counts the packet. A faulty link may change its bytes.
    pub(super) fn destination(&mut self, end: LinkEnd, frame: &mut [u8]) -> Destination {
        let bytes = frame.len();
        let Some(half) = self.half_mut(end) else { return Destination::Out };
        let lost = |loss: &mut Loss| {
            loss.random.number_between(0, 999_999).is_some_and(|dice| dice < u64::from(loss.ppm))
        };
        let is_long = half.longest.is_some_and(|longest| bytes > longest);
        if !half.up || is_long || half.loss.as_mut().is_some_and(lost) {
            half.count.lost += 1;
            return Destination::Lost;
        }
        half.count.packets += 1;
        half.count.bytes += bytes as u64;
        if let Some(corruption) = &mut half.corruption {
            corruption.apply(frame);
        }
        Destination::To(half.peer)
    }
}
