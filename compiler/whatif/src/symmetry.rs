//! Failures with equal impact, because one can be turned into the other by renaming untouched elements.
//!
//! In: touched elements (exceptions of the file, earlier failures) and losses. Out: a key. Invariants: losses
//! with equal keys have equal impact, but losses with equal impact may have different keys. Untouched
//! elements of these kinds can be exchanged:
//!
//! - planes and zones
//! - rows of a plane
//! - units of a zone
//! - groups and nodes of a unit
//! - T1s and T2s of a row
//! - parallel cables
//!
//! Such an exchange does not change any number of paths, and every node keeps its NICs. A T1 is exchanged
//! together with the T1s of the same number in other zones, because a path uses the same number at both ends.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::{Link, Nic, PlaneId, Switch, TierId, Topology, ZoneId};

use crate::element::Losses;

/// Type of a coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Axis {
    Plane,
    Zone,
    Unit,
    Group,
    Node,
    Nic,
    /// A row: T1s of each zone, and all T2s that they reach.
    Row,
    T1,
    /// A cable among the parallel ones between a T0 and a T1.
    T0Cable,
    T2,
    /// A cable among the parallel ones between a T1 and a T2.
    T1Cable,
}

/// A coordinate: its type, the coordinates that contain it, and its number.
type Place = (Axis, Scope, u16);

/// The coordinates that contain another one, outermost first.
type Scope = [u16; 4];

/// Touched elements.
#[derive(Debug, Clone, Default)]
pub(crate) struct TouchedElements(BTreeSet<Place>);

/// In a key, untouched coordinates are numbered from here, in order of appearance. Numbers of touched ones
/// are lower.
const FRESH: u32 = 1 << 16;

/// Maximum number of coordinates of a loss.
const PLACES: usize = 7;

/// A loss: a code for its kind, and its coordinates. A coordinate follows those that contain it.
struct Effect {
    code: u32,
    places: [Option<Place>; PLACES],
}

impl Effect {
    fn new<const A: usize, const B: usize>(code: u32, first: [Place; A], rest: [Place; B]) -> Self {
        let mut places = [None; PLACES];
        for (slot, place) in places.iter_mut().zip(first.into_iter().chain(rest)) {
            *slot = Some(place);
        }
        Effect { code, places }
    }
}

impl TouchedElements {
    /// Returns the elements touched by exceptions in the fabric file.
    pub(crate) fn of(topology: &Topology) -> TouchedElements {
        let mut touched = TouchedElements::default();
        touched.add(topology, &Losses::of(topology));
        // A zone with its own speeds cannot be exchanged with other zones.
        let own = topology.t0.by_zone.keys().chain(topology.t1.by_zone.keys());
        touched.0.extend(own.chain(topology.hosts.nic_by_zone.keys()).map(|zone| of_zone(*zone)));
        // Zones that share nodes cannot be exchanged one by one, so all zones count as touched.
        if topology.hosts.zones_per_node > 1 {
            touched.0.extend(topology.zone_ids().map(of_zone));
        }
        touched
    }

    /// Adds the coordinates of losses to the touched ones.
    pub(crate) fn add(&mut self, topology: &Topology, losses: &Losses) {
        for effect in effects(topology, losses) {
            self.0.extend(effect.places.into_iter().flatten());
        }
    }

    /// Returns the key of losses.
    pub(crate) fn key(&self, topology: &Topology, losses: &Losses) -> Vec<u32> {
        self.key_of(effects(topology, losses))
    }

    /// Returns the key of the loss of a switch. Switches with equal keys can be exchanged.
    pub(crate) fn key_of_switch(&self, topology: &Topology, switch: Switch) -> Vec<u32> {
        self.key_of([of_switch(topology, switch)])
    }

    fn key_of(&self, effects: impl IntoIterator<Item = Effect>) -> Vec<u32> {
        let mut fresh = FreshLabels::default();
        let mut key = Vec::new();
        for effect in effects {
            key.push(effect.code);
            for place in effect.places.into_iter().flatten() {
                let touched = self.0.contains(&place);
                key.push(if touched { u32::from(place.2) } else { fresh.label(place) });
            }
        }
        key
    }
}

/// Labels for untouched coordinates, in order of appearance.
#[derive(Default)]
struct FreshLabels {
    labels: BTreeMap<Place, u32>,
    next: BTreeMap<(Axis, Scope), u32>,
}

impl FreshLabels {
    fn label(&mut self, place: Place) -> u32 {
        *self.labels.entry(place).or_insert_with(|| {
            let next = self.next.entry((place.0, place.1)).or_insert(FRESH);
            *next += 1;
            *next - 1
        })
    }
}

/// Splits losses into effects, in order.
fn effects<'a>(topology: &'a Topology, losses: &'a Losses) -> impl Iterator<Item = Effect> + 'a {
    let planes = losses.planes.iter().map(|plane| Effect::new(0, [of_plane(*plane)], []));
    let switches = losses.switches.iter().map(|switch| of_switch(topology, *switch));
    let nics = losses.nics.iter().map(|nic| Effect::new(4, of_nic(topology, *nic), []));
    let links = losses.links.iter().map(|link| of_link(topology, *link));
    planes.chain(switches).chain(nics).chain(links)
}

fn of_plane(plane: PlaneId) -> Place {
    (Axis::Plane, [0; 4], u16::from(plane.0))
}

fn of_zone(zone: ZoneId) -> Place {
    (Axis::Zone, [0; 4], zone.0)
}

fn of_group(topology: &Topology, zone: ZoneId, group: u16) -> [Place; 3] {
    let unit = group / topology.rails_in_zone();
    let nodes = topology.node_zone(zone).0;
    [of_zone(zone), (Axis::Unit, [nodes, 0, 0, 0], unit), (Axis::Group, [zone.0, unit, 0, 0], group)]
}

fn of_nic(topology: &Topology, nic: Nic) -> [Place; 5] {
    let [zone, unit, group] = of_group(topology, nic.zone, nic.group);
    let (node, _) = topology.node_of(nic);
    let within = [nic.zone.0, unit.2, nic.group, node.index];
    let node = (Axis::Node, [node.zone.0, unit.2, 0, 0], node.index);
    [zone, unit, group, node, (Axis::Nic, within, nic.downlink)]
}

/// Returns a row of T1s and T2s in a plane. If every T1 reaches every T2, there is only one row.
fn of_row(plane: PlaneId, row: u16) -> [Place; 2] {
    [of_plane(plane), (Axis::Row, [u16::from(plane.0), 0, 0, 0], row)]
}

fn of_t1(topology: &Topology, plane: PlaneId, index: u16) -> [Place; 3] {
    let row = index % topology.t2_rows();
    let [plane_place, row_place] = of_row(plane, row);
    [plane_place, row_place, (Axis::T1, [u16::from(plane.0), row, 0, 0], index)]
}

/// Returns a T2 by its position within its row.
fn of_t2(plane: PlaneId, row: u16, step: u16) -> Place {
    (Axis::T2, [u16::from(plane.0), row, 0, 0], step)
}

fn of_switch(topology: &Topology, switch: Switch) -> Effect {
    let plane = switch.plane;
    match switch.tier {
        TierId::T0 => Effect::new(1, [of_plane(plane)], of_group(topology, switch.zone, switch.index)),
        TierId::T1 => Effect::new(2, of_t1(topology, plane, switch.index), [of_zone(switch.zone)]),
        TierId::T2 => {
            let rows = topology.t2_rows();
            let (row, step) = (switch.index % rows, switch.index / rows);
            Effect::new(3, of_row(plane, row), [of_t2(plane, row, step)])
        }
    }
}

fn of_link(topology: &Topology, link: Link) -> Effect {
    match link {
        Link::Host(port) => Effect::new(5, [of_plane(port.plane)], of_nic(topology, port.nic)),
        Link::Fabric { lower, up } if lower.tier == TierId::T0 => {
            let parallel = topology.t0.parallel.max(1);
            let (index, cable) = (up / parallel, up % parallel);
            let [plane, row, t1] = of_t1(topology, lower.plane, index);
            let cable = (Axis::T0Cable, [u16::from(lower.plane.0), index, 0, 0], cable);
            Effect::new(6, [plane, row, t1, cable], of_group(topology, lower.zone, lower.index))
        }
        Link::Fabric { lower, up } => {
            let parallel = topology.t1.parallel.max(1);
            let (step, cable) = (up / parallel, up % parallel);
            let row = lower.index % topology.t2_rows();
            let cable = (Axis::T1Cable, [u16::from(lower.plane.0), row, step, 0], cable);
            let rest = [of_zone(lower.zone), of_t2(lower.plane, row, step), cable];
            Effect::new(7, of_t1(topology, lower.plane, lower.index), rest)
        }
    }
}
