//! Kinds of ports: ports that are equal in everything that their QoS settings depend on.
//!
//! In: the intent of a switch. Out: its kinds and the kind of each port. Invariants: a switch has few kinds, so
//! settings are computed per kind, not per port.

use closc_platform::{Panel, PhysicalPort};
use closc_qos::Place;
use closc_qos::units::{Bytes, Length, Speed};
use closc_topology::{Side, TierId};

use crate::intent::{Connection, DeviceIntent, PortIntent};

/// A kind of port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortKind {
    /// Its place on the path.
    pub place: Place,
    /// Its speed.
    pub speed: Speed,
    /// Its serial lanes.
    pub lanes: u8,
    /// MTU.
    pub mtu: Bytes,
    /// Length of the cable in whole metres, rounded up, as configured on switches.
    pub cable: Length,
    /// Number of ports of this kind.
    pub ports: u32,
}

/// Returns the kinds of a switch, and the kind of each port with a cable by port index.
pub(super) fn kinds(intent: &DeviceIntent<'_>) -> (Vec<PortKind>, Vec<Option<usize>>) {
    let mut kinds: Vec<PortKind> = Vec::new();
    let mut ports = Vec::with_capacity(intent.ports.len());
    for port in &intent.ports {
        let kind = port.connection.as_ref().map(|connection| kind(intent.switch.tier, port, connection));
        ports.push(kind.map(|kind| {
            let known = kinds.iter().position(|known| PortKind { ports: 0, ..*known } == kind);
            let at = known.unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            kinds[at].ports += 1;
            at
        }));
    }
    (kinds, ports)
}

/// A full panel: every cage is split as finely as the most finely split cage in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FullPanel {
    /// Its ports.
    pub(super) ports: u32,
    /// Serial lanes of each.
    pub(super) lanes: u8,
}

impl FullPanel {
    /// Splits every cage into ports with as few lanes as the narrowest of `ports`. Ports without a cable also count,
    /// so plugging in a cable does not change the result.
    pub(super) fn of(panel: &Panel, ports: &[PortIntent]) -> Self {
        let lanes = ports.iter().map(|port| lanes(&port.physical)).min().unwrap_or(1).max(1);
        let split = (panel.lanes / lanes).max(1);
        FullPanel { ports: u32::from(panel.cages) * u32::from(split), lanes }
    }
}

fn lanes(port: &PhysicalPort) -> u8 {
    u8::try_from(port.lanes.len()).unwrap_or(u8::MAX)
}

fn kind(tier: TierId, port: &PortIntent, connection: &Connection) -> PortKind {
    let place = match (tier, port.at.side) {
        (TierId::T0, Side::Down) => Place::LastHop,
        (TierId::T0, Side::Up) => Place::Edge,
        (TierId::T1 | TierId::T2, _) => Place::Fabric,
    };
    PortKind {
        place,
        speed: port.physical.speed,
        lanes: lanes(&port.physical),
        mtu: Bytes(u64::from(port.mtu)),
        cable: Length::from_millimeters(connection.cable.length.meters_ceil().saturating_mul(1_000)),
        ports: 0,
    }
}
