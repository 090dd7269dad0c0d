//! Kinds of ports: those alike in all that quality of service depends on.
//!
//! In: a view. Out: [`Kinds`]. Always: a switch has a handful of kinds, so work is done by kind and not by port.

use closc_plan::{Connection, PortIntent};
use closc_qos::profile::maps::Place;
use closc_qos::{Length, Speed};
use closc_topology::{Side, TierId};

use super::super::view::View;

/// A kind of port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// Where on a path it stands.
    pub(super) place: Place,
    /// Its speed.
    pub(super) speed: Speed,
    /// Its serial lanes.
    pub(super) lanes: u8,
    /// Largest packet.
    pub(super) mtu: u16,
    /// Length of the cable in whole metres, rounded up, as `CABLE_LENGTH` takes it.
    pub(super) meters: u32,
}

/// The kinds of a switch's ports.
#[derive(Debug)]
pub(super) struct Kinds {
    /// The kinds, in the order of their first port, each with the number of its ports.
    pub(super) kinds: Vec<(Kind, u32)>,
    /// For each port with a cable, in order: place in [`View::ports`] and in `kinds`.
    pub(super) ports: Vec<(usize, usize)>,
}

impl Kinds {
    /// Sorts the ports with a cable into kinds.
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut kinds: Vec<(Kind, u32)> = Vec::new();
        let mut ports = Vec::with_capacity(view.ports.len());
        for (place, port) in view.ports.iter().enumerate() {
            let Some(connection) = &port.port.connection else { continue };
            let kind = Kind::of(view.intent.switch.tier, port.port, connection);
            let at = kinds.iter().position(|(known, _)| *known == kind).unwrap_or(kinds.len());
            if at == kinds.len() {
                kinds.push((kind, 0));
            }
            kinds[at].1 += 1;
            ports.push((place, at));
        }
        Kinds { kinds, ports }
    }

    /// Returns how many ports have a cable.
    pub(super) fn links(&self) -> u32 {
        self.kinds.iter().map(|(_, ports)| ports).sum()
    }

    /// Returns how many of them have that many lanes.
    pub(super) fn links_with_lanes(&self, lanes: u8) -> u32 {
        self.kinds.iter().filter(|(kind, _)| kind.lanes == lanes).map(|(_, ports)| ports).sum()
    }
}

impl Kind {
    fn of(tier: TierId, port: &PortIntent, connection: &Connection) -> Self {
        let place = match (tier, port.at.side) {
            (TierId::T0, Side::Down) => Place::LastHop,
            (TierId::T0, Side::Up) => Place::Edge,
            (TierId::T1 | TierId::T2, _) => Place::Fabric,
        };
        Kind {
            place,
            speed: port.physical.speed,
            lanes: u8::try_from(port.physical.lanes.len()).unwrap_or(u8::MAX),
            mtu: port.mtu,
            meters: u32::try_from(connection.cable.length.meters_ceil()).unwrap_or(u32::MAX),
        }
    }

    /// Returns the length of the cable.
    pub(super) fn cable(&self) -> Length {
        Length::from_meters(self.meters)
    }

    /// Returns the word for the place, for names of tables.
    pub(super) fn word(&self) -> &'static str {
        word(self.place)
    }
}

/// Returns the word for a place.
pub(super) fn word(place: Place) -> &'static str {
    match place {
        Place::LastHop => "last-hop",
        Place::Edge => "edge",
        Place::Fabric => "fabric",
    }
}
