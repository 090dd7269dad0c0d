//! Encapsulating routes of a node: one for each NIC elsewhere, over its active entropy set.
//!
//! In: a plan and a node. Out: `routes.batch`, or nothing where the fabric is too large: what is written out
//! here for every pair of NICs, the path table says in tens of kilobytes, and real NICs read that. Invariants: every
//! plane gets the same share; denied paths are replaced by backup ones of the same plane; identifiers of next
//! hops are functions of the destination's coordinate.
//!
//! A node reaches a NIC elsewhere from its own NIC of the same number, as collectives over rails do.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use closc_artefacts::paths;
use closc_plan::{HostRoutes, NicIntent, NicPortIntent, PathKind, PathTable, Plan, UplinkChoice};
use closc_topology::{Nic, Node, PlaneId};
use serde::Serialize;

use crate::{Artefact, RenderError, Templates};

/// Most members that `ip` of iproute2 6.1 takes in one group: eight bytes each in a message of 1048.
const GROUP_MAX: usize = 120;

/// Largest weight of a member of a group in the kernel's interface.
const WEIGHT_MAX: u16 = 256;

/// Renders the routes of a node to every NIC of other nodes; nothing where the fabric is too large or does not
/// route by source.
pub fn host_routes(plan: &Plan, node: Node, templates: &Templates) -> Result<Option<Artefact>, RenderError> {
    if !plan.is_source_routed() || !HostRoutes::new(plan.topology()).are_written() {
        return Ok(None);
    }
    let intent = plan.host(node);
    let view = View { name: intent.name.to_string(), destinations: destinations(plan, node, &intent.nics) };
    let text = templates.render("linux/routes.batch.j2", &intent.name, &view)?;
    Ok(Some(Artefact::new(paths::host(&intent.name, paths::ROUTES_BATCH), text)))
}

#[derive(Debug, Serialize)]
struct View {
    name: String,
    destinations: Vec<Destination>,
}

#[derive(Debug, Serialize)]
struct Destination {
    /// Name of the NIC, for people.
    name: String,
    address: String,
    id: u32,
    /// Members and weights as `ip` writes them: `17,2/18`.
    group: String,
    source: String,
    mtu: u16,
    members: Vec<Member>,
}

#[derive(Debug, Serialize)]
struct Member {
    id: u32,
    segments: String,
    gateway: String,
    port: String,
}

fn destinations(plan: &Plan, node: Node, nics: &[NicIntent]) -> Vec<Destination> {
    let tables: BTreeMap<_, _> = nics
        .iter()
        .map(|nic| ((nic.nic.zone, nic.nic.group), plan.path_table(nic.nic.zone, nic.nic.group)))
        .collect();
    plan.fabric()
        .nics()
        .filter_map(|to| {
            let (far, number) = plan.topology().node_of(to);
            let from = nics.iter().find(|nic| nic.number == number).or(nics.first())?;
            let table = tables.get(&(from.nic.zone, from.nic.group))?;
            if far == node { None } else { destination(plan, table, from, to) }
        })
        .collect()
}

fn destination(plan: &Plan, table: &PathTable<'_>, from: &NicIntent, to: Nic) -> Option<Destination> {
    let (node, number) = plan.topology().node_of(to);
    let mut members = Vec::new();
    let mut group = Vec::new();
    let per_plane = GROUP_MAX / usize::from(plan.topology().planes);
    for port in &from.ports {
        for (at, (segments, weight)) in
            lists(plan, table, from.nic, port, to, per_plane).into_iter().enumerate()
        {
            let id = identifier(to, Some((port.plane, at)));
            group.push(if weight == 1 { id.to_string() } else { format!("{id},{}", weight.min(WEIGHT_MAX)) });
            members.push(member(id, segments, port));
        }
    }
    (!members.is_empty()).then(|| Destination {
        name: plan.topology().naming.nic(node, number),
        address: plan.addresses().nic(to).to_string(),
        id: identifier(to, None),
        group: group.join("/"),
        source: from.address.to_string(),
        mtu: plan.topology().mtu.payload,
        members,
    })
}

fn member(id: u32, segments: Ipv6Addr, port: &NicPortIntent) -> Member {
    Member {
        id,
        segments: segments.to_string(),
        gateway: port.gateway.to_string(),
        port: port.interface.to_string(),
    }
}

/// The outer destination addresses over one port, each with its share of the active entropy values.
fn lists(
    plan: &Plan,
    table: &PathTable<'_>,
    from: Nic,
    port: &NicPortIntent,
    to: Nic,
    at_most: usize,
) -> Vec<(Ipv6Addr, u16)> {
    let mut out: Vec<(Ipv6Addr, u16)> = Vec::new();
    for choice in choices(table, from, port.plane, to) {
        let list = plan.segments().list(port.plane, (from.zone, from.group), to, choice);
        let address = plan.segments().address(&list);
        let full = out.len() >= at_most;
        match out.iter().position(|(known, _)| *known == address) {
            Some(at) => out[at].1 += 1,
            None if !full => out.push((address, 1)),
            None => {}
        }
    }
    out
}

/// The choices in use in a plane: as many as are active, those that are denied replaced by backup ones.
fn choices(table: &PathTable<'_>, from: Nic, plane: PlaneId, to: Nic) -> Vec<UplinkChoice> {
    let sets = table.sets();
    let Some(order) = table.orders.get(usize::from(plane.0)) else { return Vec::new() };
    let local = PathKind::between(from, to) == PathKind::Local;
    let fine = |choice: &UplinkChoice| table.denies(plane, from, to, *choice).is_none();
    let active = sets.active(order, from);
    let backup = if local { Vec::new() } else { sets.backup(order, from) };
    active.into_iter().chain(backup).filter(fine).take(usize::from(sets.active_per_plane())).collect()
}

/// A number that no other next hop of the node has, never 0; the group of next hops itself has plane and member 0.
fn identifier(to: Nic, member: Option<(PlaneId, usize)>) -> u32 {
    let fields = [
        u32::from(to.zone.0),
        u32::from(to.group) + 1,
        u32::from(to.downlink) + 1,
        member.map_or(0, |(plane, _)| u32::from(plane.0)),
        member.map_or(0, |(_, at)| at as u32 + 1),
    ];
    fields.into_iter().zip(HostRoutes::FIELDS).fold(0, |id, (value, bits)| id << bits | value)
}

#[cfg(test)]
mod tests {
    use closc_topology::ZoneId;

    use super::*;

    #[test]
    fn identifiers_fill_32_bits_and_differ() {
        assert_eq!(HostRoutes::FIELDS.iter().sum::<u32>(), 32);
        let last = Nic { zone: ZoneId(7), group: 510, downlink: 254 };
        assert_eq!(identifier(last, Some((PlaneId(15), 254))), u32::MAX);
        let first = Nic { zone: ZoneId(0), group: 0, downlink: 0 };
        assert_ne!(identifier(first, None), 0);
        assert_ne!(identifier(first, None), identifier(first, Some((PlaneId(0), 0))));
    }
}
