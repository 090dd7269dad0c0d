//! Classes of equivalent NICs: those of one T0 group that reach the same kinds of planes.
//!
//! In: a network. Out: [`Classes`]. Invariants: a group with all its cables is one class, so there are about as many
//! classes as groups, for any number of NICs. Destinations can be divided further into slices of downlinks, if each
//! slice needs its own path.

use closc_topology::{Nic, Topology};

use crate::network::Network;
use crate::place::Place;

/// A class of equivalent NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class {
    /// Their group, counted over all zones.
    pub(crate) group: usize,
    /// The slice of downlinks, from 0.
    pub(crate) slice: usize,
    /// The kinds of planes that they reach, one bit each.
    pub(crate) reach: u16,
    /// Number of NICs.
    pub(crate) nics: u32,
}

/// The classes of all NICs.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    pub(crate) all: Vec<Class>,
    /// The class of each NIC, or [`NO_CLASS`].
    of: Vec<u32>,
    /// The first class of each group, and one past the last.
    first: Vec<usize>,
}

/// Marks a NIC that does not exist.
const NO_CLASS: u32 = u32::MAX;

/// The NICs of a class that are in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassMembers {
    /// The class.
    pub(crate) class: usize,
    /// Number of its NICs.
    pub(crate) nics: u32,
}

impl Classes {
    /// Finds the classes, with the downlinks of a group cut into `slices` of equal width.
    pub(crate) fn of(network: &Network, slices: usize) -> Self {
        let shape = &network.shape;
        let width = shape.per_group.div_ceil(slices);
        let mut classes = Classes {
            all: Vec::new(),
            of: vec![NO_CLASS; network.there.len()],
            first: Vec::with_capacity(shape.all_groups() + 1),
        };
        for group in 0..shape.all_groups() {
            let first = classes.all.len();
            classes.first.push(first);
            for downlink in 0..shape.per_group {
                let nic = group * shape.per_group + downlink;
                if network.there[nic] {
                    let (reach, slice) = (network.reach[nic], downlink / width);
                    let known = (first..classes.all.len())
                        .find(|at| (classes.all[*at].reach, classes.all[*at].slice) == (reach, slice));
                    let at = known.unwrap_or_else(|| {
                        classes.all.push(Class { group, slice, reach, nics: 0 });
                        classes.all.len() - 1
                    });
                    classes.all[at].nics += 1;
                    classes.of[nic] = at as u32;
                }
            }
        }
        classes.first.push(classes.all.len());
        classes
    }

    /// Returns the class of a NIC, by the NIC's number, or `None` if the NIC does not exist.
    pub(crate) fn class(&self, nic: usize) -> Option<usize> {
        (self.of[nic] != NO_CLASS).then(|| self.of[nic] as usize)
    }

    /// Returns the NICs of a class.
    pub(crate) fn members(&self, network: &Network, class: usize) -> impl Iterator<Item = usize> {
        let first = self.all[class].group * network.shape.per_group;
        (first..first + network.shape.per_group).filter(move |nic| self.of[*nic] == class as u32)
    }

    /// Divides the NICs of a place by class, in order.
    pub(crate) fn parts(&self, topology: &Topology, network: &Network, place: Place) -> Vec<ClassMembers> {
        let shape = &network.shape;
        let whole = |classes: std::ops::Range<usize>| -> Vec<ClassMembers> {
            classes.map(|class| ClassMembers { class, nics: self.all[class].nics }).collect()
        };
        match place {
            Place::All => whole(0..self.all.len()),
            Place::Zone(zone) => {
                let first = usize::from(zone.0) * shape.groups;
                whole(self.first[first]..self.first[first + shape.groups])
            }
            Place::Group(zone, group) => {
                let at = shape.group(zone, group);
                whole(self.first[at]..self.first[at + 1])
            }
            Place::Node(_) | Place::Nic(_) => {
                let mut found: Vec<usize> =
                    nics(topology, place).into_iter().filter_map(|nic| self.class(shape.nic(nic))).collect();
                found.sort_unstable();
                let mut parts: Vec<ClassMembers> = Vec::new();
                for class in found {
                    match parts.last_mut().filter(|part| part.class == class) {
                        Some(part) => part.nics += 1,
                        None => parts.push(ClassMembers { class, nics: 1 }),
                    }
                }
                parts
            }
        }
    }
}

/// Returns the NICs of a node, or the single NIC.
fn nics(topology: &Topology, place: Place) -> Vec<Nic> {
    match place {
        Place::Nic(nic) => vec![nic],
        Place::Node(node) => {
            (0..topology.hosts.nics_per_node).map(|number| topology.nic_of(node, number)).collect()
        }
        Place::All | Place::Zone(_) | Place::Group(..) => Vec::new(),
    }
}
