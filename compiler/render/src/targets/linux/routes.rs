//! Encapsulating routes of a node: one for each NIC of other nodes, over its active entropy set.
//!
//! In: [`NodeRoutes`]. Out: `routes.batch`. This file has one route per pair of NICs. The path table contains the
//! same routes in tens of kilobytes; real NICs read the table instead. Invariants: identifiers of next hops are
//! functions of the destination's coordinate.

use closc_artefacts::paths;
use closc_plan::{HostRoutes, NodeDestination, NodeRoutes};
use closc_topology::{Nic, PlaneId};
use serde::Serialize;

use crate::{Artefact, RenderError, Templates};

/// Maximum number of members of a group in `ip` of iproute2 6.1. A member has eight bytes in a message of
/// 1048.
const GROUP_MAX: usize = 120;

/// Largest weight of a member of a group in the kernel's interface.
const WEIGHT_MAX: u16 = 256;

/// Renders the routes of a node to every NIC of other nodes.
pub fn host_routes(routes: &NodeRoutes, templates: &Templates) -> Result<Artefact, RenderError> {
    let destinations = routes.destinations.iter().map(|to| destination(routes, to)).collect();
    let view = View { name: routes.name.to_string(), destinations };
    let text = templates.render("linux/routes.batch.j2", &routes.name, &view)?;
    Ok(Artefact::new(paths::host(&routes.name, paths::ROUTES_BATCH), text))
}

#[derive(Debug, Serialize)]
struct View {
    name: String,
    destinations: Vec<Destination>,
}

#[derive(Debug, Serialize)]
struct Destination {
    /// Name of the NIC, for a comment.
    name: String,
    address: String,
    id: u32,
    /// Members and weights in the form of `ip`: `17,2/18`.
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

fn destination(routes: &NodeRoutes, to: &NodeDestination) -> Destination {
    let per_plane = GROUP_MAX / usize::from(routes.planes);
    let mut members = Vec::new();
    let mut group = Vec::new();
    for port in &to.ports {
        for (at, (segments, weight)) in port.lists.iter().take(per_plane).enumerate() {
            let id = identifier(to.nic, Some((port.plane, at)));
            group.push(match *weight {
                1 => id.to_string(),
                more => format!("{id},{}", more.min(WEIGHT_MAX)),
            });
            members.push(Member {
                id,
                segments: segments.to_string(),
                gateway: port.gateway.to_string(),
                port: port.interface.to_string(),
            });
        }
    }
    Destination {
        name: to.name.clone(),
        address: to.address.to_string(),
        id: identifier(to.nic, None),
        group: group.join("/"),
        source: to.source.to_string(),
        mtu: routes.mtu,
        members,
    }
}

/// Returns the identifier of a next hop, which is unique on the node and never 0. In the identifier of a group of
/// next hops, plane and member are 0.
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
