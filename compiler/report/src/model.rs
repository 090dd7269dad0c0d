//! Data of the page, from which its script computes the names, addresses, cables, paths and routes of a fabric.
//!
//! In: a plan. Out: [`Model`], which becomes the JSON of the page. Invariants: it contains parameters,
//! one entry per kind of hardware, and exceptions as runs of numbers. Only single pins and listed management
//! addresses have an entry each. Its numbers are those of the plan. Only cable lengths in QoS settings are
//! rounded up to whole metres.

mod exceptions;
mod hardware;
mod qos;

use std::collections::BTreeMap;

use closc_artefacts::Counts;
use closc_diagnostics::printable;
use closc_plan::{EntropyFormat, Plan};
use closc_topology::{Cable, Pin, PlaneId, Racks, Role, TierId, Topology, ZoneId};
use serde::Serialize;

use exceptions::Exceptions;
use hardware::Hardware;
use qos::Quality;

/// Maximum number of single pins in a page: NICs that a T0 reaches over one fixed uplink. If there are more,
/// the page contains only their number.
const PINS_MAX: usize = 50_000;

/// The fabric as the page reads it. Lists of tiers are in the order T0, T1, T2.
#[derive(Debug, Serialize)]
pub(crate) struct Model<'a> {
    version: &'static str,
    fabric: &'a str,
    description: String,
    routing: &'static str,
    source_routed: bool,
    planes: u8,
    zones: u16,
    sites: Vec<(String, Vec<u16>)>,
    groups: u16,
    per_group: u16,
    nics_per_node: u8,
    rails: u8,
    zones_per_node: u8,
    tiers: Vec<Tier>,
    t2: Option<T2>,
    names: Names,
    racks: Option<&'a Racks>,
    pools: Pools,
    segments: Option<Segments>,
    /// Mb/s of a NIC port, by zone.
    port_mbps: Vec<u32>,
    mtu: [u16; 2],
    cables: Cables,
    ecmp: Option<Ecmp>,
    entropy: Option<Entropy>,
    counts: Counts,
    #[serde(flatten)]
    hardware: Hardware,
    exceptions: Exceptions,
    qos: Quality,
}

/// The numbers of a tier.
#[derive(Debug, Serialize)]
struct Tier {
    count: u16,
    down: [u16; 2],
    up: [u16; 2],
    parallel: u16,
    /// uSIDs that each of its switches owns.
    usids: u16,
    /// Place of each uplink on the panel; absent if uplinks are in the order of their numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Vec<u16>>,
}

#[derive(Debug, Serialize)]
struct T2 {
    rows: u16,
    zone_ports: u16,
}

/// Patterns of names.
#[derive(Debug, Serialize)]
struct Names {
    tiers: Vec<String>,
    node: String,
}

/// First addresses of pools.
#[derive(Debug, Serialize)]
struct Pools {
    hosts: String,
    links: String,
    loopbacks: String,
    management: Option<String>,
    gateway: Option<String>,
    /// Management addresses from the list file, with prefix lengths, by switch name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    listed: BTreeMap<String, String>,
    asn_base: u32,
    /// Bits of an index in IPv4 management addresses.
    index_bits: u8,
    /// Bits of zone and index together in IPv4 management addresses.
    device_bits: u8,
    /// Bits of the zone in IPv6 addresses of NICs.
    zone_bits: u8,
    ipv4: Ipv4,
}

/// Widths of coordinates in IPv4 addresses.
#[derive(Debug, Serialize)]
struct Ipv4 {
    plane: u8,
    zone: u8,
    downlink: u8,
    uplinks: [u8; 2],
    /// Bits of the zone in IPv4 prefixes of its NICs.
    zone_of_nics: u8,
}

#[derive(Debug, Serialize)]
struct Segments {
    /// The block of each plane.
    blocks: Vec<String>,
    role_bits: u8,
    plane_bits: u8,
    zone_bits: u8,
    index_bits: u8,
    /// Values of the role bits in a uSID of a T0, T1, T2 and NIC.
    codes: [u16; 4],
    /// Bits of an entropy value: T0 uplink, plane, T1 uplink.
    entropy_bits: [u8; 3],
}

/// Length in millimetres and medium, by kind.
#[derive(Debug, Serialize)]
struct Cables {
    kinds: Vec<Option<(u64, String)>>,
    t1_t2_by_zone: BTreeMap<u16, (u64, String)>,
}

#[derive(Debug, Serialize)]
struct Ecmp {
    pin_downlink: bool,
    /// Plane, zone and index of the T0, then zone, group and downlink of the NIC, then the uplink.
    pins: Vec<[u16; 7]>,
    pins_total: usize,
    queue_pairs: u16,
}

#[derive(Debug, Serialize)]
struct Entropy {
    active: u16,
    backup: u16,
    min_active: u16,
    udp_port: u16,
}

/// Returns a cable in the form of the page.
fn cable(cable: &Cable) -> (u64, String) {
    (cable.length.millimeters(), cable.medium.to_string())
}

impl<'a> Model<'a> {
    /// Extracts the data of the page from a plan.
    pub(crate) fn of(plan: &'a Plan) -> Self {
        let topology = plan.topology();
        let ecmp = topology.routing.has_static_groups();
        Model {
            version: env!("CARGO_PKG_VERSION"),
            fabric: &topology.name,
            description: printable::lines(&topology.description),
            routing: topology.routing.keyword(),
            source_routed: plan.is_source_routed(),
            planes: topology.planes,
            zones: topology.zones,
            sites: topology
                .sites
                .iter()
                .map(|site| (printable::line(&site.name), numbers(&site.zones)))
                .collect(),
            groups: topology.hosts.groups,
            per_group: topology.hosts.per_group,
            nics_per_node: topology.hosts.nics_per_node,
            rails: topology.hosts.rails,
            zones_per_node: topology.hosts.zones_per_node,
            tiers: tiers(plan),
            t2: topology.t2.as_ref().map(|t2| T2 { rows: topology.t2_rows(), zone_ports: t2.zone_ports }),
            names: names(topology),
            racks: topology.racks.as_ref(),
            pools: pools(plan),
            segments: plan.is_source_routed().then(|| segments(topology)),
            port_mbps: topology.zone_ids().map(|zone| topology.port_speed(zone).mbps()).collect(),
            mtu: [topology.mtu.link, topology.mtu.payload],
            cables: cables(topology),
            ecmp: ecmp.then(|| self::ecmp(topology)),
            entropy: plan.is_source_routed().then(|| entropy(topology)),
            counts: plan.fabric().counts(),
            hardware: Hardware::of(topology),
            exceptions: Exceptions::of(topology),
            qos: Quality::of(plan),
        }
    }
}

fn numbers(zones: &[ZoneId]) -> Vec<u16> {
    zones.iter().map(|zone| zone.0).collect()
}

/// The tiers that a fabric has, from the NICs up.
pub(crate) fn tiers_of(topology: &Topology) -> impl Iterator<Item = TierId> + '_ {
    TierId::ALL.into_iter().filter(|tier| topology.tier(*tier).is_some())
}

fn tiers(plan: &Plan) -> Vec<Tier> {
    let (topology, segments) = (plan.topology(), plan.segments());
    let tier = |id: TierId| {
        let tier = topology.tier(id)?;
        Some(Tier {
            count: topology.count(id),
            down: [tier.down.count, tier.down.spare],
            up: [tier.up.count, tier.up.spare],
            parallel: tier.parallel,
            usids: segments.per_switch(id),
            places: topology.uplink_places().filter(|_| id == TierId::T0).map(<[u16]>::to_vec),
        })
    };
    TierId::ALL.into_iter().filter_map(tier).collect()
}

fn names(topology: &Topology) -> Names {
    Names {
        tiers: tiers_of(topology).map(|tier| topology.naming.tier_pattern(tier).to_string()).collect(),
        node: topology.naming.node_pattern().to_string(),
    }
}

fn pools(plan: &Plan) -> Pools {
    let (topology, addresses) = (plan.topology(), plan.addresses());
    let own = &topology.addresses;
    Pools {
        hosts: own.hosts.trunc().to_string(),
        links: own.links.trunc().to_string(),
        loopbacks: own.loopbacks.trunc().to_string(),
        management: own.management.map(|pool| pool.trunc().to_string()),
        gateway: addresses.pool_gateway().map(|gateway| gateway.to_string()),
        listed: own
            .management_list
            .iter()
            .map(|(switch, port)| (plan.switch_name(*switch).to_string(), port.address.to_string()))
            .collect(),
        asn_base: own.asn_base,
        index_bits: own.widths.index.unwrap_or(topology.srv6.layout.index_bits),
        device_bits: own.widths.device(),
        zone_bits: own.widths.zone,
        ipv4: ipv4(topology),
    }
}

fn ipv4(topology: &Topology) -> Ipv4 {
    let own = topology.ipv4_widths();
    let left = 128 - topology.addresses.hosts.prefix_len();
    Ipv4 {
        plane: own.plane,
        zone: own.zone,
        downlink: own.downlink,
        uplinks: own.uplinks,
        zone_of_nics: own.zone_of_nics(left),
    }
}

fn segments(topology: &Topology) -> Segments {
    let layout = topology.srv6.layout;
    let format = EntropyFormat::of(topology);
    let block = |plane: PlaneId| topology.srv6.block(plane).network().to_string();
    Segments {
        blocks: topology.plane_ids().map(block).collect(),
        role_bits: layout.role_bits,
        plane_bits: layout.plane_bits,
        zone_bits: layout.zone_bits,
        index_bits: layout.index_bits,
        codes: [Role::T0, Role::T1, Role::T2, Role::Nic].map(|role| layout.code(role)),
        entropy_bits: [format.uplink_bits, format.plane_bits, format.t1_uplink_bits],
    }
}

fn cables(topology: &Topology) -> Cables {
    let own = &topology.cables;
    Cables {
        kinds: vec![Some(cable(&own.nic_t0)), Some(cable(&own.t0_t1)), own.t1_t2.as_ref().map(cable)],
        t1_t2_by_zone: own.t1_t2_by_zone.iter().map(|(zone, own)| (zone.0, cable(own))).collect(),
    }
}

fn ecmp(topology: &Topology) -> Ecmp {
    let all = topology.ecmp.pins.iter().flat_map(|(t0, pins)| pins.iter().map(move |pin| (t0, pin)));
    let total = all.clone().count();
    let pins = all.map(|(t0, (nic, up))| {
        [u16::from(t0.plane.0), t0.zone.0, t0.index, nic.zone.0, nic.group, nic.downlink, *up]
    });
    Ecmp {
        pin_downlink: topology.ecmp.pin == Pin::Downlink,
        pins: if total > PINS_MAX { Vec::new() } else { pins.collect() },
        pins_total: total,
        queue_pairs: topology.ecmp.qps_per_connection,
    }
}

fn entropy(topology: &Topology) -> Entropy {
    let own = topology.entropy;
    Entropy { active: own.active, backup: own.backup, min_active: own.min_active, udp_port: own.udp_port }
}
