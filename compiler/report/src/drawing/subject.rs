//! Subjects of a drawing: a fabric, a plane, a switch with its neighbours.
//!
//! In: a plan and a subject. Out: boxes and cables. Invariants: counts do not include absent elements. On
//! each side of a switch, a dozen neighbours are named, and two or more others share one box.

use closc_diagnostics::figures::number;
use closc_fabric::{End, PortUse};
use closc_plan::Plan;
use closc_qos::units::Speed;
use closc_topology::{Link, Nic, NicPort, PlaneId, PortRef, Side, Switch, TierId, ZoneId};

use super::{Drawing, Kind, Node};

/// Maximum number of named neighbours on one side of a switch, in addition to a box for the others. A single
/// other neighbour is named, too.
const NAMED_MAX: usize = 12;

/// Subject of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Every plane, with one box per tier.
    Fabric,
    /// A plane. With one zone, it has boxes of switches. With several, it has one box per tier and zone, and
    /// one for all T2s.
    Plane(PlaneId),
    /// A switch and its neighbours.
    Switch(Switch),
}

/// Makes the drawing of a subject.
pub(super) fn drawing(plan: &Plan, subject: Subject) -> Drawing {
    match subject {
        Subject::Fabric => fabric(plan),
        Subject::Plane(plane) => zones(plan, plane),
        Subject::Switch(switch) => self::switch(plan, switch),
    }
}

pub(super) fn kind(tier: TierId) -> Kind {
    match tier {
        TierId::T0 => Kind::T0,
        TierId::T1 => Kind::T1,
        TierId::T2 => Kind::T2,
    }
}

pub(super) fn plural(count: u64, word: &str) -> String {
    format!("{} {word}{}", number(count), if count == 1 { "" } else { "s" })
}

/// Counts the switches of a tier in a plane, or in one zone of it.
fn count(plan: &Plan, plane: PlaneId, tier: TierId, zone: Option<ZoneId>) -> u64 {
    let all = plan.fabric().tier_switches(plane, tier);
    all.filter(|switch| zone.is_none_or(|zone| switch.zone == zone)).count() as u64
}

/// Describes cables in words, with their speed if it is the same for all.
pub(super) fn cables(count: u64, speed: Option<Speed>) -> String {
    let speed = speed.map_or_else(String::new, |speed| format!(" of {speed}"));
    plural(count, "cable") + &speed
}

/// Returns the speed of the uplinks of a tier if it is the same in all zones.
pub(super) fn speed_up(
    plan: &Plan,
    plane: PlaneId,
    tier: TierId,
    zones: impl Iterator<Item = ZoneId>,
) -> Option<Speed> {
    let of = |zone| plan.topology().blocks(Switch { plane, tier, zone, index: 0 })[1].breakout.speed;
    let mut speeds = zones.map(of);
    let first = speeds.next()?;
    speeds.all(|speed| speed == first).then_some(first)
}

/// Counts the NIC cables, the uplinks of T0s and the uplinks of T1s of a plane, or of one zone of it.
pub(crate) fn cable_counts(plan: &Plan, plane: PlaneId, zone: Option<ZoneId>) -> [u64; 3] {
    let (topology, fabric) = (plan.topology(), plan.fabric());
    if is_complete(plan, plane) {
        let zones = if zone.is_some() { 1 } else { u64::from(topology.zones) };
        let of = |switches: u16, ports: u16| zones * u64::from(switches) * u64::from(ports);
        let (groups, t1s) = (topology.hosts.groups, topology.t1_count);
        let nics = of(groups, topology.hosts.per_group);
        return [nics, of(groups, topology.t0.up.count), of(t1s, topology.t1.up.count)];
    }
    let mut found = [0; 3];
    for link in fabric.host_links(plane).chain(fabric.switch_links(plane)) {
        let (at, own) = match link {
            Link::Host(port) => (0, port.nic.zone),
            Link::Fabric { lower, .. } => (1 + usize::from(lower.tier.level()), lower.zone),
        };
        found[at] += u64::from(zone.is_none_or(|zone| zone == own));
    }
    found
}

/// Returns whether no NIC, switch or cable of a plane is absent.
fn is_complete(plan: &Plan, plane: PlaneId) -> bool {
    let own = &plan.topology().exceptions;
    own.absent_nics.is_empty()
        && own.absent_switches.iter().all(|switch| switch.plane != plane)
        && own.absent_links.iter().all(|link| link.plane() != plane)
}

pub(super) fn tiers(plan: &Plan) -> Vec<TierId> {
    let topology = plan.topology();
    TierId::ALL.into_iter().rev().filter(|tier| topology.tier(*tier).is_some()).collect()
}

/// Describes the cage of NICs that has their ports of a plane; empty for NICs with a single cage.
pub(super) fn nic_cage(plan: &Plan, plane: PlaneId, zone: ZoneId) -> String {
    let topology = plan.topology();
    let port = NicPort { plane, nic: Nic { zone, group: 0, downlink: 0 } };
    match topology.nic_cages(zone) {
        0 | 1 => String::new(),
        cages if topology.has_adapters() => format!("in one of {cages} cages of its adapter"),
        cages => format!("cage {} of {cages}", topology.nic_cage(port) + 1),
    }
}

/// Describes the cages of NICs if all NICs have the same number, and several; otherwise empty.
fn nic_cages(plan: &Plan) -> String {
    let topology = plan.topology();
    let mut cages: Vec<u8> = topology.zone_ids().map(|zone| topology.nic_cages(zone)).collect();
    cages.dedup();
    match cages[..] {
        [cages] if cages > 1 && !topology.has_adapters() => format!("{cages} cages and "),
        _ => String::new(),
    }
}

fn fabric(plan: &Plan) -> Drawing {
    let (topology, counts) = (plan.topology(), plan.fabric().counts());
    let tiers = tiers(plan);
    let mut drawing = Drawing {
        title: format!(
            "{}: {} in {}",
            plan.name(),
            plural(counts.nics, "NIC"),
            plural(counts.planes, "plane")
        ),
        ..Drawing::default()
    };
    let nics = drawing.node(Node {
        kind: Kind::Nic,
        text: plural(counts.nics, "NIC"),
        detail: format!(
            "in {}, each with {}a port in every plane",
            plural(counts.nodes, "node"),
            nic_cages(plan)
        ),
        row: tiers.len(),
        column: 0,
        span: usize::from(topology.planes),
        group: None,
    });
    for plane in plan.planes() {
        let column = usize::from(plane.0);
        let state = if topology.exceptions.drained_planes.contains(&plane) { ", drained" } else { "" };
        drawing.groups.push(format!("plane {plane}{state}"));
        let found = cable_counts(plan, plane, None);
        let mut above = None;
        for (row, tier) in tiers.iter().enumerate() {
            let switches = count(plan, plane, *tier, None);
            let zoned = *tier != TierId::T2 && topology.zones > 1;
            let more =
                if zoned { format!("in {}", plural(topology.zones.into(), "zone")) } else { String::new() };
            let text = plural(switches, tier.label());
            let node = drawing.node(Node {
                kind: kind(*tier),
                text,
                detail: more,
                row,
                column,
                span: 1,
                group: Some(column),
            });
            if let Some(upper) = above {
                let speed = speed_up(plan, plane, *tier, topology.zone_ids());
                drawing.edge(upper, node, cables(found[1 + usize::from(tier.level())], speed));
            }
            above = Some(node);
        }
        if let Some(t0) = above {
            let one = topology.has_one_speed().then(|| topology.port_speed(ZoneId(0)));
            drawing.edge(t0, nics, cables(found[0], one));
        }
    }
    drawing
}

/// Draws a plane with one box for each tier and zone, and one for all T2s.
fn zones(plan: &Plan, plane: PlaneId) -> Drawing {
    let topology = plan.topology();
    let tiers = tiers(plan);
    let mut drawing = Drawing { title: format!("{}, plane {plane}", plan.name()), ..Drawing::default() };
    let top = topology.t2.as_ref().map(|_| {
        drawing.node(Node {
            kind: Kind::T2,
            text: plural(count(plan, plane, TierId::T2, None), "T2"),
            detail: String::new(),
            row: 0,
            column: 0,
            span: usize::from(topology.zones),
            group: None,
        })
    });
    for zone in topology.zone_ids() {
        let column = usize::from(zone.0);
        if topology.zones > 1 {
            drawing.groups.push(format!("zone {zone}"));
        }
        let group = (topology.zones > 1).then_some(column);
        let found = cable_counts(plan, plane, Some(zone));
        let mut above = top;
        for (row, tier) in tiers.iter().enumerate().filter(|(_, tier)| **tier != TierId::T2) {
            let text = plural(count(plan, plane, *tier, Some(zone)), tier.label());
            let first = Switch { plane, tier: *tier, zone, index: 0 };
            let more = topology.hardware(first).0.id.to_string();
            let node =
                drawing.node(Node { kind: kind(*tier), text, detail: more, row, column, span: 1, group });
            if let Some(upper) = above {
                let speed = speed_up(plan, plane, *tier, std::iter::once(zone));
                drawing.edge(upper, node, cables(found[1 + usize::from(tier.level())], speed));
            }
            above = Some(node);
        }
        let nics: u64 = (0..topology.hosts.groups)
            .map(|group| plan.fabric().group_nics(zone, group).count() as u64)
            .sum();
        let row = tiers.len();
        let (text, more) = (plural(nics, "NIC"), nic_cage(plan, plane, zone));
        let node = drawing.node(Node { kind: Kind::Nic, text, detail: more, row, column, span: 1, group });
        if let Some(t0) = above {
            drawing.edge(t0, node, cables(found[0], Some(topology.port_speed(zone))));
        }
    }
    drawing
}

/// A neighbour of a switch, with the ports of the switch that lead there.
struct Neighbour {
    kind: Kind,
    name: String,
    /// The cage of a NIC with several.
    detail: String,
    ports: Vec<String>,
}

fn switch(plan: &Plan, switch: Switch) -> Drawing {
    let name = plan.switch_name(switch);
    let mut drawing = Drawing { title: format!("{}, {name}", plan.name()), ..Drawing::default() };
    let [below, above] = [Side::Down, Side::Up].map(|side| neighbours(plan, switch, side));
    let columns =
        [&below, &above].map(|all| all.len().min(NAMED_MAX + 1)).into_iter().max().unwrap_or(1).max(1);
    let row = usize::from(!above.is_empty());
    let (platform, os) = plan.topology().hardware(switch);
    let more = format!("{}, {}", platform.id, os.keyword());
    let own = drawing.node(Node {
        kind: kind(switch.tier),
        text: name.to_string(),
        detail: more,
        row,
        column: 0,
        span: columns,
        group: None,
    });
    for (all, row) in [(above, 0), (below, row + 1)] {
        let more = all.len().saturating_sub(NAMED_MAX);
        let named = if more > 1 { NAMED_MAX } else { all.len() };
        for (column, one) in all.iter().take(named).enumerate() {
            let node = drawing.node(Node {
                kind: one.kind,
                text: one.name.clone(),
                detail: one.detail.clone(),
                row,
                column,
                span: 1,
                group: None,
            });
            join(&mut drawing, (own, node), row, &one.ports.join(" "));
        }
        if let Some(first) = all.get(named) {
            let text = format!("{} more", all.len() - named);
            let node = drawing.node(Node {
                kind: first.kind,
                text,
                detail: String::new(),
                row,
                column: named,
                span: 1,
                group: None,
            });
            let ports: usize = all[named..].iter().map(|one| one.ports.len()).sum();
            join(&mut drawing, (own, node), row, &plural(ports as u64, "cable"));
        }
    }
    drawing
}

/// Adds the cables between a switch and a neighbour above or below it.
fn join(drawing: &mut Drawing, (own, other): (usize, usize), row: usize, text: &str) {
    let is_above = row < drawing.nodes[own].row;
    let (upper, lower) = if is_above { (other, own) } else { (own, other) };
    drawing.edge(upper, lower, text.to_owned());
}

/// The neighbours of a switch on one side, in the order of ports.
fn neighbours(plan: &Plan, switch: Switch, side: Side) -> Vec<Neighbour> {
    let mut found: Vec<Neighbour> = Vec::new();
    for port in plan.fabric().ports(switch).filter(|port| port.at.side == side) {
        let PortUse::Link { peer: far, .. } = port.usage else { continue };
        let (kind, name, more) = match far {
            End::Switch { switch, .. } => {
                (kind(switch.tier), plan.switch_name(switch).to_string(), String::new())
            }
            End::Nic(port) => {
                let (node, number) = plan.topology().node_of(port.nic);
                let name = plan.topology().naming.nic(node, number);
                (Kind::Nic, name, nic_cage(plan, port.plane, port.nic.zone))
            }
        };
        let own = plan.port_name(switch, PortRef { side, index: port.at.index }).to_string();
        match found.last_mut() {
            Some(last) if last.name == name => last.ports.push(own),
            Some(_) | None => found.push(Neighbour { kind, name, detail: more, ports: vec![own] }),
        }
    }
    found
}
