//! The cables of the paths of T0 groups, and their state.
//!
//! In: path tables, cable lists, and cables that are down. Out: a [`State`] with a bitset of the working uplinks per
//! group and plane. Invariants: a path uses the same uplink number at both of its T0s, so two bitsets determine the
//! number of paths between two groups.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;

use super::super::endpoint::JobEndpoint;
use super::PLANES;
use crate::model::{CableId, Model, PortId};
use crate::tree::{GroupTable, Tree};

/// The properties of a NIC that determine its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    /// Its T0 group.
    pub(super) group: usize,
    /// The planes in which it has a port.
    has: u32,
    /// The planes in which its port is up.
    up: u32,
}

/// The uplinks of a group in a plane.
#[derive(Debug, Default)]
struct Uplinks {
    /// The cable from the T0 to a T1, by uplink number.
    t1: Vec<Option<CableId>>,
    /// The cable from that T1 to a T2, by uplink numbers of T0 and T1.
    t2: Vec<Option<CableId>>,
}

#[derive(Debug)]
struct Group {
    zone: usize,
    planes: Vec<Uplinks>,
}

/// The cables of paths.
#[derive(Debug)]
pub(super) struct Wires {
    groups: Vec<Group>,
    /// For each NIC, its group and the cables of its ports.
    nics: Vec<(usize, Vec<Option<CableId>>)>,
}

/// A set of numbers.
type Bits = Box<[u64]>;

fn bits(of: impl ExactSizeIterator<Item = bool>) -> Bits {
    let mut bits = vec![0; of.len().div_ceil(64)];
    for (at, is_in) in of.enumerate() {
        bits[at / 64] |= u64::from(is_in) << (at % 64);
    }
    bits.into()
}

fn common(a: &Bits, b: &Bits) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

impl Wires {
    pub(super) fn of(tree: &Tree, model: &Model, seats: &[JobEndpoint]) -> Wires {
        let mut zones: Vec<u16> = tree.tables.iter().map(|table| table.table().header().zone).collect();
        zones.sort_unstable();
        zones.dedup();
        let group = |(at, table): (usize, &GroupTable)| {
            let planes = 0..usize::from(table.planes).min(PLANES);
            let members: Vec<&JobEndpoint> = seats.iter().filter(|seat| seat.table == at).collect();
            Group {
                zone: zones.binary_search(&table.table().header().zone).unwrap_or(0),
                planes: planes.map(|plane| uplinks(table, model, &members, plane)).collect(),
            }
        };
        let nic = |seat: &JobEndpoint| {
            let cable = |port: &Option<PortId>| port.map(PortId::cable);
            (seat.table, seat.ports.iter().take(PLANES).map(cable).collect())
        };
        Wires {
            groups: tree.tables.iter().enumerate().map(group).collect(),
            nics: seats.iter().map(nic).collect(),
        }
    }

    /// Returns the state of the NICs.
    pub(super) fn ends(&self, now: &State) -> impl Iterator<Item = End> {
        self.nics.iter().zip(&now.nics).map(|((group, ports), up)| {
            let has = (0..).zip(ports).fold(0, |has, (at, port)| has | u32::from(port.is_some()) << at);
            End { group: *group, has, up: *up }
        })
    }

    /// Returns the state while some cables are down.
    pub(super) fn state(&self, dead: &BTreeSet<CableId>) -> State {
        let is_up = |cable: &Option<CableId>| cable.is_some_and(|cable| !dead.contains(&cable));
        let one = |uplinks: &Uplinks| {
            let per_t1 = uplinks.t2.len().checked_div(uplinks.t1.len()).unwrap_or(0).max(1);
            let beyond = |(at, t2)| is_up(t2) && is_up(&uplinks.t1[at / per_t1]);
            ActiveUplinks {
                t1: bits(uplinks.t1.iter().map(is_up)),
                t2: bits(uplinks.t2.iter().enumerate().map(beyond)),
            }
        };
        let n_zones = self.groups.iter().map(|group| group.zone + 1).max().unwrap_or(0);
        let mut cables = vec![vec![BTreeSet::new(); PLANES]; n_zones];
        for group in &self.groups {
            for (plane, uplinks) in group.planes.iter().enumerate() {
                let up = uplinks.t2.iter().filter(|cable| is_up(cable)).copied().flatten();
                cables[group.zone][plane].extend(up);
            }
        }
        let port = |(at, cable): (u32, &Option<CableId>)| u32::from(is_up(cable)) << at;
        State {
            groups: self.groups.iter().map(|g| (g.zone, g.planes.iter().map(one).collect())).collect(),
            zones: cables.iter().map(|planes| planes.iter().map(|up| up.len() as u32).collect()).collect(),
            nics: self.nics.iter().map(|(_, ports)| (0..).zip(ports).map(port).sum()).collect(),
            is_whole: dead.is_empty(),
        }
    }
}

/// Finds the cables of a group's uplinks in a plane by following self-probes to T1 or T2. They use the same cables as
/// the group's paths.
fn uplinks(table: &GroupTable, model: &Model, members: &[&JobEndpoint], plane: usize) -> Uplinks {
    let port = |seat: &&&JobEndpoint| seat.ports.get(plane).copied().flatten();
    let Some((seat, from)) = members.iter().find_map(|seat| Some((seat, port(&seat)?))) else {
        return Uplinks::default();
    };
    let Some(nic) = table.nics.iter().find(|nic| nic.address == seat.address) else {
        return Uplinks::default();
    };
    let (paths, plane) = (table.table(), plane as u8);
    let header = *paths.header();
    let cable = |probe: [u8; 16], nth: usize| {
        let path = model.walk(from, Ipv6Addr::from(probe)).ok()?;
        path.crossings.get(nth).map(|port| port.cable())
    };
    let t1 = (0..header.t0_uplinks).map(|uplink| cable(paths.t1_probe(plane, uplink, nic.downlink), 1));
    let beyond = |uplink: u16| (0..header.t1_uplinks).map(move |t1_uplink| (uplink, t1_uplink));
    let t2 = (0..header.t0_uplinks).flat_map(beyond).map(|(uplink, t1_uplink)| {
        paths.t2_probe(plane, uplink, t1_uplink, nic.downlink).and_then(|probe| cable(probe, 2))
    });
    Uplinks { t1: t1.collect(), t2: t2.collect() }
}

/// The uplinks of a group in a plane that are up.
#[derive(Debug)]
struct ActiveUplinks {
    t1: Bits,
    t2: Bits,
}

/// State of the fabric while cables are down.
#[derive(Debug)]
pub(super) struct State {
    /// For each group, its zone and the uplinks that are up in each plane.
    groups: Vec<(usize, Vec<ActiveUplinks>)>,
    /// Cables between T1s and T2s, by zone and plane.
    zones: Vec<Vec<u32>>,
    /// For each NIC, the ports that are up, as bits.
    nics: Vec<u32>,
    /// Whether all cables are up.
    is_whole: bool,
}

impl State {
    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn zones(&self) -> usize {
        self.zones.len()
    }

    pub(super) fn zone(&self, group: usize) -> usize {
        self.groups[group].0
    }

    /// Returns the planes in which both ports are up and a path connects them, as bits.
    pub(super) fn connected_planes(&self, from: End, to: End) -> u32 {
        let ports = |end: End| if self.is_whole { end.has } else { end.up };
        let both = ports(from) & ports(to);
        super::planes(both).filter(|plane| self.paths(from, to, *plane) > 0).fold(0, |on, at| on | 1 << at)
    }

    /// Returns the number of paths between the T0s of two NICs in a plane.
    pub(super) fn paths(&self, from: End, to: End, plane: usize) -> u32 {
        if from.group == to.group {
            return 1;
        }
        let ((here, a), (there, b)) = (&self.groups[from.group], &self.groups[to.group]);
        match (a.get(plane), b.get(plane)) {
            (Some(a), Some(b)) if here == there => common(&a.t1, &b.t1),
            (Some(a), Some(b)) => common(&a.t2, &b.t2),
            _ => 0,
        }
    }

    /// Returns the number of uplinks of a T0 that are up.
    pub(super) fn uplinks(&self, group: usize, plane: usize) -> u32 {
        let up = self.groups[group].1.get(plane);
        up.map_or(0, |up| up.t1.iter().map(|word| word.count_ones()).sum())
    }

    /// Returns the number of cables between T1s and T2s of a zone that are up.
    pub(super) fn zone_uplinks(&self, zone: usize, plane: usize) -> u32 {
        self.zones[zone].get(plane).copied().unwrap_or(0)
    }
}
