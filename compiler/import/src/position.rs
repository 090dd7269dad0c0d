//! The position of every device in the fabric.
//!
//! In: an existing network, and the tiers of its devices. Out: a position for each device, and the NIC number
//! for each cable of a node. Invariants: no two devices have the same position. Positions follow from names
//! in closc's own form. Otherwise they follow from the plugged ports or, if these contradict each other, from
//! the order of names.

mod by_nic;
mod graph;
mod nics;
mod one_tier;
mod parts;
mod sets;
mod vote;

use std::collections::HashMap;

use closc_topology::{Naming, Switch, TierId};

use crate::fit::Fit;
use crate::network::{ExistingNetwork, Fault, ImportError, Level};
use crate::own;

pub(crate) use crate::own::Place;
pub(crate) use nics::Nics;

/// Interpretation of contradictory cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every cable is part of the structure.
    Exact,
    /// Most cables determine the structure, and the others are plugged incorrectly.
    Majority,
}

impl Reading {
    /// Combines the counts of similar parts into one. [`Reading::Exact`] takes the largest count, and
    /// [`Reading::Majority`] the most frequent one.
    pub(crate) fn count(self, counts: impl Iterator<Item = u16>) -> Option<u16> {
        match self {
            Reading::Exact => counts.max(),
            Reading::Majority => vote::typical(counts),
        }
    }
}

/// Positions of all devices and NICs.
#[derive(Debug)]
pub(crate) struct Positions {
    /// The tier of each device.
    pub(crate) levels: Vec<Level>,
    /// The position of each device.
    pub(crate) places: Vec<Place>,
    /// Whether positions follow from names.
    pub(crate) by_name: bool,
    /// Interpretation of the cables.
    pub(crate) reading: Reading,
    pub(crate) nics: Nics,
}

impl Positions {
    /// Returns the position of a switch; `None` for a node.
    pub(crate) fn switch(&self, device: u32) -> Option<Switch> {
        match self.places[device as usize] {
            Place::Switch(switch) => Some(switch),
            Place::Node(_) => None,
        }
    }

    /// Returns the devices by position.
    pub(crate) fn devices(&self) -> HashMap<Place, u32> {
        self.places.iter().zip(0..).map(|(place, device)| (*place, device)).collect()
    }
}

/// Returns the tier of a level of switches; `None` for nodes.
pub(crate) fn tier(level: Level) -> Option<TierId> {
    match level {
        Level::Node => None,
        Level::T0 => Some(TierId::T0),
        Level::T1 => Some(TierId::T1),
        Level::T2 => Some(TierId::T2),
    }
}

pub(crate) fn level_of(tier: TierId) -> Level {
    match tier {
        TierId::T0 => Level::T0,
        TierId::T1 => Level::T1,
        TierId::T2 => Level::T2,
    }
}

/// Reads positions from names in closc's own form. Returns `None` if a device has a name in another form.
pub(crate) fn by_name(network: &ExistingNetwork) -> Option<Vec<Place>> {
    [false, true].into_iter().find_map(|zoned| {
        let naming = Naming::default_for(zoned);
        network.devices.names().map(|name| own::place(&naming, name)).collect()
    })
}

/// Returns the levels of devices at these positions.
pub(crate) fn levels_of(places: &[Place]) -> Vec<Level> {
    let level = |place: &Place| match place {
        Place::Switch(switch) => level_of(switch.tier),
        Place::Node(_) => Level::Node,
    };
    places.iter().map(level).collect()
}

/// Derives positions from the graph.
pub(crate) fn by_graph(
    network: &ExistingNetwork,
    levels: &[Level],
    fits: &[Option<Fit>; 3],
    reading: Reading,
) -> Result<Vec<Place>, ImportError> {
    let places = graph::Graph::new(network, levels, fits, reading).places()?;
    let mut taken: HashMap<Place, u32> = HashMap::new();
    for (place, device) in places.iter().zip(0..) {
        if let Some(other) = taken.insert(*place, device) {
            let (a, b) = (network.devices.name(other), network.devices.name(device));
            let text = format!("not a Clos: `{a}` and `{b}` would have the same position");
            return Err(Fault { place: None, text }.into());
        }
    }
    Ok(places)
}

/// Combines positions of devices and NICs.
pub(crate) fn positions(
    network: &ExistingNetwork,
    levels: Vec<Level>,
    places: Vec<Place>,
    by_name: bool,
    reading: Reading,
) -> Positions {
    let nics = nics::nics(network, &places, reading);
    Positions { levels, places, by_name, reading, nics }
}
