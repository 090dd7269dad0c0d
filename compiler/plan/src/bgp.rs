//! eBGP over unnumbered ports: the settings of a switch with `routing: bgp-unnumbered` (RFC 7938, RFC 8950).
//!
//! In: a plan and a switch. Out: [`BgpIntent`]. Invariants: AS numbers are functions of position: one per T0, one for
//! the T1s of a plane and zone, one for the T2s of a plane. A port accepts only the AS number of its own neighbour,
//! so a session over a cable to the wrong plane stays down. Upwards, a switch announces only its own routes and those
//! from below. So a path never goes up again after it went down. Limits are functions of hardware and of address
//! fields. So growth does not change them, unless the capacity of the hardware is assumed.

use closc_artefacts::{BgpTimers, Prefix};
use closc_platform::capability::Capability;
use closc_platform::{Limit, Platform};
use closc_topology::{AddressWidths, BANDWIDTH_CABLES_MAX, Island, Switch, TierId, Topology};

use crate::ecmp;
use crate::intent::bgp::{AcceptedPrefixes, BgpBandwidth, BgpDirection, BgpIntent, BgpNeighbour, BgpSide};
use crate::intent::{Peer, PortIntent, Route, Target};
use crate::plan::Plan;

/// Timers of the sessions of all switches: those of FRR's `datacenter` profile and of SONiC's BFD. RFC 7938
/// section 7 recommends such fast detection.
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

/// Bandwidth announced for one cable: the minimum of FRR. Daemons sum bandwidths in bytes per second and announce the
/// sum in 32 bits. The sum of more than [`BANDWIDTH_CABLES_MAX`] cables would overflow; E0907 rejects such fabrics.
const CABLE_MBPS: u16 = 1;
const _: () = assert!(
    BANDWIDTH_CABLES_MAX * CABLE_MBPS as u64 * 125_000 <= u32::MAX as u64,
    "the sum over the most cables fits 32 bits"
);

/// Maximum number of prefixes from a T0: those of its group and its loopback, plus a margin for announcements while the
/// T0 is replaced.
const T0_PREFIXES_MAX: u32 = 8;

/// Returns the maximum number of prefixes that a T1 announces to a T2. The T1 announces its loopback, and two
/// prefixes for each T0 that its zone can have addresses for.
fn zone_prefixes_max(widths: AddressWidths) -> u32 {
    2 * widths.groups_max() + 1
}

/// Returns the static routes of a switch. It receives all others over BGP.
pub(crate) fn routes(plan: &Plan, switch: Switch, ports: &[PortIntent]) -> Vec<Route> {
    let mut routes = match switch.tier {
        TierId::T0 => ecmp::local(plan, switch, ports),
        TierId::T1 | TierId::T2 => Vec::new(),
    };
    routes.push(Route { prefix: plan.addresses().hosts(), target: Target::Blackhole });
    routes
}

/// Returns the maximum number of paths to a prefix: the smaller of the group size of the platform and the limit of the
/// daemon.
fn multipath(plan: &Plan, switch: Switch) -> u16 {
    let most = plan.topology().hardware(switch).1.multipath_max().unwrap_or(u16::MAX);
    u16::try_from(ecmp::width(plan, switch)).map_or(most, |width| width.min(most))
}

/// Returns the BGP settings of a switch.
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
            AcceptedPrefixes { pool: addresses.hosts(), length: addresses.group_length() },
            AcceptedPrefixes { pool: addresses.loopbacks(), length: 128 },
        ],
        sides: [downward_side(plan, switch), upward_side(plan, switch)].into_iter().filter(here).collect(),
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

/// Settings for sessions with the tier below. T0s announce only their own prefixes, with one AS in the path. T1s also
/// announce those of their T0s, with two.
fn downward_side(plan: &Plan, switch: Switch) -> BgpSide {
    let (longest, prefixes) = match switch.tier {
        TierId::T0 | TierId::T1 => (1, T0_PREFIXES_MAX),
        TierId::T2 => {
            (2, zone_prefixes_max(plan.topology().addresses.widths).min(route_capacity(plan, switch)))
        }
    };
    BgpSide {
        direction: BgpDirection::Below,
        longest_accepted: Some(longest),
        longest_announced: None,
        prefixes_max: prefixes,
        bandwidth: bandwidth(plan, switch),
    }
}

/// Settings for upward sessions. Only routes from below are announced upwards. A T0 announces its own; a T1 also
/// announces those of T0s, whose AS path is one longer.
fn upward_side(plan: &Plan, switch: Switch) -> BgpSide {
    BgpSide {
        direction: BgpDirection::Above,
        longest_accepted: None,
        longest_announced: Some(switch.tier.level()),
        prefixes_max: route_capacity(plan, switch),
        bandwidth: bandwidth(plan, switch),
    }
}

/// Returns the bandwidth that a switch announces; `None` if it announces none. With two tiers and one cable
/// to each neighbour, a path exists completely or is withdrawn, so weights are unnecessary. Otherwise a
/// neighbour can lose part of the capacity behind it, and switches announce the remaining bandwidth if they
/// can.
fn bandwidth(plan: &Plan, switch: Switch) -> Option<BgpBandwidth> {
    let topology = plan.topology();
    let partial = topology.t2.is_some() || topology.t0.parallel > 1;
    let announces = plan.os(switch).renders(Capability::Bandwidths);
    (partial && announces).then_some(match switch.tier {
        TierId::T0 => BgpBandwidth::Cable(CABLE_MBPS),
        TierId::T1 | TierId::T2 => BgpBandwidth::Sum,
    })
}

/// Returns the smallest table capacity among the hardware of a tier, so that all its switches have the same limit. A
/// switch with less capacity has its own limit. A neighbour that announces more routes is faulty.
fn route_capacity(plan: &Plan, switch: Switch) -> u32 {
    let topology = plan.topology();
    let needed = routes_needed(topology);
    // An assumed capacity gets a warning (W0904), and sessions must not be closed because of it.
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

/// Returns the number of routes that the largest switch of a plane receives and originates.
fn routes_needed(topology: &Topology) -> u32 {
    let zones = match topology.island() {
        Island::Group | Island::Zone => 1,
        Island::Fabric => u32::from(topology.zones),
    };
    let groups = u32::from(topology.hosts.groups);
    let t2s = topology.t2.as_ref().map_or(0, |t2| u32::from(t2.count));
    let loopbacks = zones * (groups + u32::from(topology.t1_count)) + t2s;
    zones * groups + loopbacks + u32::from(topology.hosts.per_group) + 2
}
