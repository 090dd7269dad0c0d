//! The wiring rule: computes the other end of a cable from the coordinates of a port.
//!
//! In: a topology and one end. Out: the other end, even if exceptions remove it. Invariants: `down` is the inverse of
//! `up`. Parallel cables use consecutive ports: with k cables per neighbour, uplink `u` goes to neighbour `u / k` over
//! cable `u % k`. No index depends on a count that growth changes. Port numbers and indices are computed with fixed
//! factors only: `parallel`, the T2 ports reserved for a zone, and the number of rows.

use closc_topology::{PortRef, Side, Switch, TierId, Topology, ZoneId};

/// A port of a switch at the far end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FarPort {
    pub(crate) switch: Switch,
    pub(crate) port: PortRef,
}

/// Returns the upper end of uplink `up` of a switch; `None` at the top tier or after the last uplink.
pub(crate) fn up(topology: &Topology, lower: Switch, up: u16) -> Option<FarPort> {
    let (switch, cable) = topology.upper(lower, up)?;
    let parallel = topology.tier(lower.tier)?.parallel;
    let down = match switch.tier {
        TierId::T0 | TierId::T1 => lower.index * parallel + cable,
        TierId::T2 => {
            let t2 = topology.t2.as_ref()?;
            lower.zone.0 * t2.zone_ports + lower.index / topology.t2_rows() * parallel + cable
        }
    };
    Some(FarPort { switch, port: PortRef { side: Side::Down, index: down } })
}

/// Returns the lower end of downlink `down` of a T1 or T2. `None` for reserved ports, and for a T0, whose downlinks go
/// to NICs.
pub(crate) fn down(topology: &Topology, upper: Switch, down: u16) -> Option<FarPort> {
    let (lower, port) = match upper.tier {
        TierId::T0 => return None,
        TierId::T1 => {
            let parallel = topology.t0.parallel;
            let lower = Switch { tier: TierId::T0, index: down / parallel, ..upper };
            (lower, upper.index * parallel + down % parallel)
        }
        TierId::T2 => t1_end(topology, upper, down)?,
    };
    let tier = topology.tier(lower.tier)?;
    let exists =
        lower.index < topology.count(lower.tier) && lower.zone.0 < topology.zones && port < tier.up.count;
    exists.then_some(FarPort { switch: lower, port: PortRef { side: Side::Up, index: port } })
}

fn t1_end(topology: &Topology, upper: Switch, down: u16) -> Option<(Switch, u16)> {
    let (t2, parallel) = (topology.t2.as_ref()?, topology.t1.parallel);
    let (zone, within) = (down / t2.zone_ports, down % t2.zone_ports);
    let (rows, cable) = (topology.t2_rows(), within % parallel);
    let index = (within / parallel).checked_mul(rows)?.checked_add(upper.index % rows)?;
    let lower = Switch { plane: upper.plane, tier: TierId::T1, zone: ZoneId(zone), index };
    Some((lower, upper.index / rows * parallel + cable))
}
