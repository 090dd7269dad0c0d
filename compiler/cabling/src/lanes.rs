//! Cables of a fabric whose ends have lanes of different speeds.
//!
//! In: a plan. Out: one line per kind of cable and pair of different lanes at its ends. Invariants: the switches of a
//! tier, plane and zone are grouped by their lanes, not compared in pairs. So the work is linear in the number of
//! switches.

use std::collections::{BTreeMap, BTreeSet};

use closc_design::{CableEnds, Lanes};
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_topology::{Cable, Link, PlaneId, Side, Switch, TierId, Topology, ZoneId};

/// Lanes of the downlinks and uplinks of switches, by plane, tier and zone.
type PlaceLanes = BTreeMap<(PlaneId, TierId, ZoneId), BTreeSet<[Option<Lanes>; 2]>>;

/// Returns the notes of an order: different lanes at the ends of cables, and copper that would have to connect
/// several cages with several cages.
pub fn order_notes(plan: &Plan) -> Vec<String> {
    unequal(plan).into_iter().chain(crossed_copper(plan)).collect()
}

/// Returns a line if NIC cages and T0 cages with several ports each are connected by copper.
pub fn crossed_copper(plan: &Plan) -> Option<String> {
    let topology = plan.topology();
    let of_zone = |zone| {
        let cages = u16::from(topology.nic_cages(zone)).max(1);
        let [down, _] = topology.blocks(Switch { plane: PlaneId(0), tier: TierId::T0, zone, index: 0 });
        let (nic_ports, t0_ports) = (topology.adapter_ports() / cages, down.breakout.ports);
        closc_design::crossed_copper(&topology.cables.nic_t0.medium, nic_ports.into(), t0_ports.into())
    };
    topology.zone_ids().find_map(of_zone)
}

/// Returns a line for each kind of cable whose ends have different lanes.
pub fn unequal(plan: &Plan) -> Vec<String> {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let mut places = PlaceLanes::new();
    for switch in plan.switches() {
        places.entry((switch.plane, switch.tier, switch.zone)).or_default().insert(lanes(topology, switch));
    }
    let mut found = BTreeSet::new();
    let downlinks = |place| places.get(&place).into_iter().flatten().filter_map(|[down, _]| *down);
    let uplinks = |place| places.get(&place).into_iter().flatten().filter_map(|[_, up]| *up);
    for (plane, tier, zone) in places.keys().copied() {
        let place = (plane, tier, zone);
        let above = match tier {
            TierId::T0 => (plane, TierId::T1, zone),
            TierId::T1 => (plane, TierId::T2, ZoneId(0)),
            TierId::T2 => continue,
        };
        if tier == TierId::T0 {
            let cable = &topology.cables.nic_t0;
            let nic = nic_lanes(topology, zone);
            found.extend(downlinks(place).filter_map(|upper| line("nic-t0", cable, (nic, upper))));
        }
        let (kind, cables) = (kind(tier), &topology.cables);
        let Some(cable) = (match tier {
            TierId::T0 => Some(&cables.t0_t1),
            TierId::T1 | TierId::T2 => cables.t1_t2_by_zone.get(&zone).or(cables.t1_t2.as_ref()),
        }) else {
            continue;
        };
        for lower in uplinks(place) {
            found.extend(downlinks(above).filter_map(|upper| line(kind, cable, (lower, upper))));
        }
    }
    // Single cables can have another medium.
    let single = topology.exceptions.cables.iter();
    found.extend(single.filter_map(|(link, cable)| of_link(fabric, *link, cable)));
    found.into_iter().collect()
}

fn kind(lower: TierId) -> &'static str {
    if lower == TierId::T0 { "t0-t1" } else { "t1-t2" }
}

fn line(kind: &'static str, cable: &Cable, (lower, upper): (Lanes, Lanes)) -> Option<String> {
    let is_copper = cable.is_copper();
    CableEnds { kind, medium: &cable.medium, is_copper, lower, upper }.unequal()
}

/// Returns the lanes of the downlink and the uplink ports of a switch. An entry is `None` for a software
/// switch, or without such ports.
fn lanes(topology: &Topology, switch: Switch) -> [Option<Lanes>; 2] {
    let platform = topology.hardware(switch).0;
    let has_lanes = !platform.is_software();
    topology
        .blocks(switch)
        .map(|block| (has_lanes && block.count > 0).then(|| Lanes::of_port(platform, block.breakout)))
}

fn nic_lanes(topology: &Topology, zone: ZoneId) -> Lanes {
    let hosts = &topology.hosts;
    let count = hosts.nic_by_zone.get(&zone).map_or(hosts.nic_lanes, |nic| nic.lanes);
    Lanes::of(topology.port_speed(zone), u32::from(count) / u32::from(topology.planes).max(1))
}

fn of_link(fabric: &Fabric, link: Link, cable: &Cable) -> Option<String> {
    let topology = fabric.topology();
    let (switch, port) = fabric.upper_end(link)?;
    let [down, up] = lanes(topology, switch);
    let upper = if port.side == Side::Down { down? } else { up? };
    match link {
        Link::Host(_) => line("nic-t0", cable, (nic_lanes(topology, switch.zone), upper)),
        Link::Fabric { lower, .. } => {
            let [_, up] = lanes(topology, lower);
            line(kind(lower.tier), cable, (up?, upper))
        }
    }
}
