//! Expected path of a packet, from its destination address and the cable lists.
//!
//! In: the NIC port that sends it, and the outer destination address. Out: [`PacketPath`]: every cable and segment on
//! its path. Invariants: the plan is not used, and routes are used only if parallel cables are absent. So an error in
//! either makes the counters differ from this expectation.

use std::net::Ipv6Addr;

use ipnet::Ipv6Net;

use crate::model::{DeviceId, Model, PortId};
use crate::segment::Segment;

/// Expected path of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketPath {
    /// Egress ports, in order; the packet arrives at the far end of each.
    pub crossings: Vec<PortId>,
    /// Devices on the path with their segments; the last segment is that of the NIC.
    pub segments: Vec<(DeviceId, Segment)>,
}

impl PacketPath {
    /// Returns the port where it ends.
    pub fn end(&self) -> PortId {
        self.crossings.last().expect("a route has at least the cable of the NIC").peer()
    }
}

/// Why a destination address is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalkFault {
    /// The address is outside the block.
    #[error("{0} is not in the block of the fabric")]
    OutsideBlock(Ipv6Addr),
    /// The first segment is not that of the switch at the other end of the cable.
    #[error("the cable leads to `{device}`, which does not have segment {segment}")]
    WrongSwitch {
        /// The device at the other end.
        device: String,
        /// The segment.
        segment: Segment,
    },
    /// The device has no cable to a device with the next segment.
    #[error("`{at}` has no cable to a device with segment {segment}")]
    NoCable {
        /// The current device.
        at: String,
        /// The segment.
        segment: Segment,
    },
    /// The list continues after a NIC, or ends at a switch.
    #[error("the list ends at `{0}`")]
    WrongEnd(String),
}

impl Model {
    /// Follows a packet from the port of a NIC.
    pub fn walk(&self, from: PortId, destination: Ipv6Addr) -> Result<PacketPath, WalkFault> {
        if !self.is_inside(destination) {
            return Err(WalkFault::OutsideBlock(destination));
        }
        let list = segments(destination);
        let mut crossings = Vec::with_capacity(list.len() + 1);
        crossings.push(from);
        let mut route = PacketPath { crossings, segments: Vec::with_capacity(list.len()) };
        let (mut at, _) = self.end(from.peer());
        let first = list.first().copied().unwrap_or_else(|| Segment::of(destination));
        if self.devices[at.0].segments.binary_search(&first).is_err() {
            return Err(WalkFault::WrongSwitch { device: self.devices[at.0].name.clone(), segment: first });
        }
        route.segments.push((at, first));
        for segment in list.into_iter().skip(1) {
            if self.nic_segment(route.end()).is_some() {
                return Err(WalkFault::WrongEnd(self.port_name(route.end())));
            }
            let name = || self.devices[at.0].name.clone();
            let port = self.towards(at, segment).ok_or_else(|| WalkFault::NoCable { at: name(), segment })?;
            route.crossings.push(port);
            (at, _) = self.end(port.peer());
            route.segments.push((at, segment));
        }
        match self.nic_segment(route.end()) {
            Some(_) if route.crossings.len() > 1 => Ok(route),
            Some(_) | None => Err(WalkFault::WrongEnd(self.port_name(route.end()))),
        }
    }
}

/// Returns the segments of a destination address after a 32-bit block, up to the end of the list.
fn segments(destination: Ipv6Addr) -> Vec<Segment> {
    let block = Ipv6Net::new_assert(destination, 32).trunc();
    let usids = destination.segments().into_iter().skip(2).take_while(|usid| *usid != 0);
    usids.map(|usid| Segment::from_usid(block, usid)).collect()
}
