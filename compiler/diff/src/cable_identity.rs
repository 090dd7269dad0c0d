//! Identity of cables: whether the cable between two ports can stay.
//!
//! In: two fabrics, and a cable that both have at the same ports. Out: length, medium, and the cage at each
//! end; or the differences as text. Invariants: a cable stays only if all of this is equal. A cage is
//! compared with all of its ports, used or not. So a cable is not replaced if another one starts to use a
//! free port of the same cage.

use std::fmt;

use closc_fabric::Fabric;
use closc_qos::units::Speed;
use closc_topology::{Cable, Link, PortRef, Side, Switch, Tier, TierId, Topology, ZoneId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::population::{MovedCable, has_same_nodes, old_cable};
use crate::words::plural;

/// The properties of a cage that decide which plug fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cage {
    /// Ports that share the lanes.
    ports: u8,
    /// Lanes of these ports.
    lanes: u8,
    /// Speed of each lane.
    lane: Speed,
    /// Whether other ports use the rest of the cage.
    is_shared: bool,
}

/// Everything that decides whether a cable can stay.
#[derive(Debug, PartialEq, Eq)]
struct CableIdentity<'a> {
    cable: &'a Cable,
    lower: Cage,
    upper: Option<Cage>,
}

/// A cable that is replaced by another one in the same ports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ReplacedCable {
    /// Length.
    pub length: String,
    /// Medium.
    pub medium: String,
    /// The ends where the plug no longer fits, each with the ports and lanes of the cage before and after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cages: Vec<String>,
}

impl fmt::Display for Cage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cage { ports, lanes, lane, is_shared } = self;
        write!(f, "{} on ", plural((*ports).into(), "port", "ports"))?;
        write!(f, "{} of {lane}", plural((*lanes).into(), "lane", "lanes"))?;
        if *is_shared { f.write_str(" of a shared cage") } else { Ok(()) }
    }
}

impl ReplacedCable {
    /// Returns the changes of cages, each preceded by a semicolon.
    pub(crate) fn cage_text(&self) -> String {
        let mut text = String::new();
        for cage in &self.cages {
            text.push_str("; ");
            text.push_str(cage);
        }
        text
    }
}

impl Cage {
    /// Returns the cage of a port of a switch.
    fn of_port(topology: &Topology, switch: Switch, port: PortRef) -> Cage {
        let slot = topology.slot(switch, port);
        let share = slot.breakout.share;
        let lanes = share.map_or(topology.hardware(switch).0.panel.lanes, |share| share.lanes);
        let all = slot.breakout.speed.mbps() * u32::from(slot.breakout.ports);
        Cage {
            ports: slot.breakout.ports,
            lanes,
            lane: each(all, lanes, slot.breakout.speed),
            is_shared: share.is_some(),
        }
    }

    /// Returns the cage of a NIC in a zone.
    fn of_nic(topology: &Topology, zone: ZoneId) -> Cage {
        let cages = topology.nic_cages(zone).max(1);
        let (speed, lanes) = (topology.nic_speed(zone), topology.nic_lanes(zone));
        Cage {
            ports: u8::try_from(topology.adapter_ports() / u16::from(cages)).unwrap_or(u8::MAX),
            lanes: lanes.saturating_mul(topology.hosts.nics_per_adapter) / cages,
            lane: each(speed.mbps(), lanes, speed),
            is_shared: false,
        }
    }
}

/// Divides a speed among lanes.
fn each(mbps: u32, lanes: u8, whole: Speed) -> Speed {
    Speed::from_mbps(mbps / u32::from(lanes.max(1))).unwrap_or(whole)
}

impl<'a> CableIdentity<'a> {
    fn of(fabric: &'a Fabric, link: Link) -> Self {
        let topology = fabric.topology();
        let lower = match link {
            Link::Host(port) => Cage::of_nic(topology, port.nic.zone),
            Link::Fabric { lower, up } => {
                Cage::of_port(topology, lower, PortRef { side: Side::Up, index: up })
            }
        };
        let upper = fabric.upper_end(link).map(|(switch, port)| Cage::of_port(topology, switch, port));
        CableIdentity { cable: fabric.cable(link), lower, upper }
    }
}

/// Describes the cable that is replaced by another one.
pub(crate) fn replaced_cable(old: &Fabric, new: &Fabric, cable: MovedCable) -> ReplacedCable {
    let (before, after) = (CableIdentity::of(old, cable.old), CableIdentity::of(new, cable.new));
    let (lower, upper) = match cable.new {
        Link::Host(_) => ("NIC", "T0"),
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => ("T0", "T1"),
        Link::Fabric { .. } => ("T1", "T2"),
    };
    let ends = [(lower, Some(before.lower), Some(after.lower)), (upper, before.upper, after.upper)];
    let differs = |(end, before, after): (&str, Option<Cage>, Option<Cage>)| {
        let (before, after) = (before?, after?);
        (before != after).then(|| format!("{end} cage: {before} -> {after}"))
    };
    ReplacedCable {
        length: before.cable.length.to_string(),
        medium: before.cable.medium.to_string(),
        cages: ends.into_iter().filter_map(differs).collect(),
    }
}

/// Returns the existing cables that have to be replaced, because of a different length or medium, or
/// different ports or lanes of a cage.
pub(crate) fn replaced_cables(old: &Fabric, new: &Fabric) -> Vec<MovedCable> {
    let (before, after) = (old.topology(), new.topology());
    if has_same_cables(before, after) {
        return Vec::new();
    }
    let both = |link: Link| Some(MovedCable { old: old_cable(old, new, link)?, new: link });
    let is_other =
        |cable: &MovedCable| CableIdentity::of(old, cable.old) != CableIdentity::of(new, cable.new);
    new.links().filter_map(both).filter(is_other).collect()
}

/// Returns whether the cables of both fabrics are certainly equal, so that they do not have to be compared
/// one by one.
fn has_same_cables(old: &Topology, new: &Topology) -> bool {
    let nics = |topology: &Topology| {
        let hosts = &topology.hosts;
        let cages = (hosts.nic_lanes, hosts.nic_cages, hosts.nics_per_adapter);
        (topology.planes, hosts.nic_speed, cages, hosts.nic_by_zone.clone())
    };
    let same_cages = |tier: TierId| {
        let cages = |tier: &Tier| (tier.platform.panel.lanes, tier.down.breakout, tier.up.breakout);
        let (Some(before), Some(after)) = (old.tier(tier), new.tier(tier)) else { return true };
        cages(before) == cages(after) && before.by_zone == after.by_zone && before.by_plane == after.by_plane
    };
    has_same_nodes(old, new)
        && old.cables == new.cables
        && old.exceptions.cables == new.exceptions.cables
        && old.exceptions.switches == new.exceptions.switches
        && nics(old) == nics(new)
        && TierId::ALL.into_iter().all(same_cages)
}
