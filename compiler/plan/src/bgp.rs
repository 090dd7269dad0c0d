//! eBGP over unnumbered ports: what a switch is given with `routing: bgp-unnumbered` (RFC 7938, RFC 8950).
//!
//! In: a plan and a switch. Out: [`BgpIntent`]. Invariants: AS numbers are functions of position, one for each T0, one for
//! the T1s of a plane and zone, one for the T2s of a plane; a neighbour is known by port and AS number, so a cable in
//! the wrong plane brings no session up; no switch announces what it did not originate or receive from the tier on the other
//! side, so a path that went down never goes up again; limits are functions of hardware and of address fields, so growth
//! moves none.

use closc_artefacts::{BgpTimers, Prefix};
use closc_platform::capability::Capability;
use closc_platform::{Limit, Platform};
use closc_topology::{AddressWidths, BANDWIDTH_CABLES_MAX, Switch, TierId, Topology};

use crate::ecmp;
use crate::intent::bgp::{Accepted, BgpBandwidth, BgpDirection, BgpIntent, BgpNeighbour, BgpSide};
use crate::intent::{Peer, PortIntent, Route, Target};
use crate::plan::Plan;

/// RFC 7938 section 7 asks for fast detection; these are what FRR's `datacenter` profile and SONiC's BFD use.
/// Sessions of all switches have them.
pub(crate) const TIMERS: BgpTimers = BgpTimers {
    keepalive_s: 3,
    hold_s: 9,
    connect_s: 10,
    announce_s: 0,
    restart_s: 120,
    stale_s: 240,
    retry_min: 5,
    bfd_interval_ms: 300,
    bfd_multiplier: 3,
};

/// Bandwidth announced by one cable: the minimum of FRR. Daemons add bandwidths up in bytes a second and announce the sum
/// in 32 bits, so that more than [`BANDWIDTH_CABLES_MAX`] of them come out as few; E0907 refuses those.
const CABLE_MBPS: u16 = 1;
const _: () = assert!(
    BANDWIDTH_CABLES_MAX * CABLE_MBPS as u64 * 125_000 <= u32::MAX as u64,
    "the sum over the most cables fits 32 bits"
);

/// Prefixes that a T0 may send: its group's and its loopback, with room for what is announced while it is replaced.
const T0_PREFIXES_MAX: u32 = 8;

/// Prefixes that a T1 may send to a T2: those of every T0 of its zone that addresses can name, and its loopback.
fn zone_prefixes_max(widths: AddressWidths) -> u32 {
    2 * widths.groups_max() + 1
}

/// Returns what a switch delivers itself; the rest it receives.
pub(crate) fn routes(plan: &Plan, switch: Switch, ports: &[PortIntent]) -> Vec<Route> {
    let mut routes = match switch.tier {
        TierId::T0 => ecmp::local(plan, switch, ports),
        TierId::T1 | TierId::T2 => Vec::new(),
    };
    routes.push(Route { prefix: plan.addresses().hosts(), target: Target::Blackhole });
    routes
}

/// Returns the most paths to a prefix: as many as a group of the platform has members and the daemon uses.
fn multipath(plan: &Plan, switch: Switch) -> u16 {
    let most = plan.topology().hardware(switch).1.multipath_max().unwrap_or(u16::MAX);
    u16::try_from(ecmp::width(plan, switch)).map_or(most, |width| width.min(most))
}

/// Returns what a switch is given for BGP.
pub(crate) fn intent(plan: &Plan, switch: Switch, ports: &[PortIntent]) -> BgpIntent {
    let addresses = plan.addresses();
    let loopback = Prefix::from(addresses.loopback(switch));
    let group = (switch.tier == TierId::T0).then(|| addresses.group(switch.zone, switch.index));
    let neighbours: Vec<BgpNeighbour> =
        ports.iter().enumerate().filter_map(|(port, intent)| neighbour(plan, port, intent)).collect();
    let here = |side: &BgpSide| neighbours.iter().any(|n| n.direction == side.direction);
    BgpIntent {
        asn: addresses.asn(switch),
        router_id: addresses.router_id(switch),
        multipath: multipath(plan, switch),
        networks: group.into_iter().chain([loopback]).collect(),
        accepts: vec![
            Accepted { within: addresses.hosts(), length: addresses.group_length() },
            Accepted { within: addresses.loopbacks(), length: 128 },
        ],
        sides: [below(plan, switch), above(plan, switch)].into_iter().filter(here).collect(),
        neighbours,
        timers: TIMERS,
    }
}

fn neighbour(plan: &Plan, port: usize, intent: &PortIntent) -> Option<BgpNeighbour> {
    let connection = intent.connection.as_ref()?;
    let Peer::Switch(peer) = &connection.peer else { return None };
    let direction = if intent.is_down() { BgpDirection::Below } else { BgpDirection::Above };
    let asn = plan.addresses().asn(peer.switch);
    Some(BgpNeighbour { port, asn, direction, drained: connection.drained })
}

/// Below are T0s, which announce what is theirs, or T1s, which announce that and what their T0s do.
fn below(plan: &Plan, switch: Switch) -> BgpSide {
    let (longest, prefixes) = match switch.tier {
        TierId::T0 | TierId::T1 => (1, T0_PREFIXES_MAX),
        TierId::T2 => (2, zone_prefixes_max(plan.topology().addresses.widths).min(room(plan, switch))),
    };
    BgpSide {
        direction: BgpDirection::Below,
        longest_accepted: Some(longest),
        longest_announced: None,
        prefixes_max: prefixes,
        bandwidth: bandwidth(plan, switch),
    }
}

/// Above goes what was received from below: of a T0 nothing but its own, of a T1 one AS more.
fn above(plan: &Plan, switch: Switch) -> BgpSide {
    BgpSide {
        direction: BgpDirection::Above,
        longest_accepted: None,
        longest_announced: Some(switch.tier.level()),
        prefixes_max: room(plan, switch),
        bandwidth: bandwidth(plan, switch),
    }
}

/// With one cable to each neighbour and two tiers a path is there or it is withdrawn, and nothing has to be weighed.
/// Elsewhere a neighbour can lose a part of what is behind it, and switches announce how much is left if they can.
fn bandwidth(plan: &Plan, switch: Switch) -> Option<BgpBandwidth> {
    let topology = plan.topology();
    let partial = topology.t2.is_some() || topology.t0.parallel > 1;
    let announces = plan.os(switch).renders(Capability::Bandwidths);
    (partial && announces).then_some(match switch.tier {
        TierId::T0 => BgpBandwidth::Cable(CABLE_MBPS),
        TierId::T1 | TierId::T2 => BgpBandwidth::Sum,
    })
}

/// Returns the routes that the tables of a switch hold, or of the smallest other hardware of its tier, so that all of a
/// tier say the same: a neighbour that sends more is not a large fabric.
fn room(plan: &Plan, switch: Switch) -> u32 {
    let topology = plan.topology();
    let needed = routes_needed(topology);
    // More than an assumed number has a warning (W0904), and sessions must not end by it.
    let routes = |platform: &Platform| match platform.limits.assumption(Limit::Ipv6Routes) {
        Some(_) => platform.limits.ipv6_routes.max(needed),
        None => platform.limits.ipv6_routes,
    };
    let own = routes(topology.hardware(switch).0);
    let tier = topology.tier(switch.tier);
    let others = tier.into_iter().flat_map(|tier| {
        let of_planes = tier.by_plane.values().map(|(platform, _)| platform);
        let of_zones = tier.by_zone.values().map(|own| &own.platform);
        of_planes.chain(of_zones).chain([&tier.platform]).map(|platform| routes(platform))
    });
    others.fold(own, u32::min)
}

/// Returns the routes that the largest switch of a plane receives and delivers itself.
fn routes_needed(topology: &Topology) -> u32 {
    let (zones, groups) = (u32::from(topology.zones), u32::from(topology.hosts.groups));
    let t2s = topology.t2.as_ref().map_or(0, |t2| u32::from(t2.count));
    let loopbacks = zones * (groups + u32::from(topology.t1_count)) + t2s;
    zones * groups + loopbacks + u32::from(topology.hosts.per_group) + 2
}
