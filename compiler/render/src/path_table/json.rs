//! The form for people and tools. Indices in it count from 0 where they are fields of an entropy value (plane,
//! uplinks) and from 1 where they are names (group, downlink), as everywhere in artefacts.

use std::net::Ipv6Addr;

use closc_plan::{Denied, Destination, PathKind, PathTable, Probe, ProbeKind, Scope, TableNic, TablePlane};
use closc_topology::{Role, Usid};
use ipnet::Ipv6Net;
use serde::Serialize;

/// Version of the JSON form.
pub const FORMAT: &str = "closc-path-table/2";

pub(super) fn bytes(table: &PathTable<'_>) -> Vec<u8> {
    let mut out = serde_json::to_vec_pretty(&document(table)).expect("a path table has only string keys");
    out.push(b'\n');
    out
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    fabric: &'a str,
    zone: u16,
    group: u16,
    prefix: Ipv6Net,
    segments: Segments,
    entropy: Entropy,
    planes: Vec<Plane<'a>>,
    nics: Vec<NicEntry<'a>>,
    destinations: Vec<DestinationEntry>,
    denied: Vec<DeniedEntry<'a>>,
    probes: Vec<ProbeEntry>,
    qos: Qos<'a>,
    delay: Delay,
}

/// What congestion control needs to know of the longest path.
#[derive(Serialize)]
struct Delay {
    base_rtt_ns: u64,
    bandwidth_delay_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_ns: Option<u64>,
}

/// How a template becomes a list: each uSID is the template's plus the fields it has.
#[derive(Serialize)]
struct Segments {
    block: Ipv6Net,
    role_bits: u8,
    plane_bits: u8,
    zone_bits: u8,
    index_bits: u8,
    roles: Roles,
    parallel_t0_t1: u16,
    parallel_t1_t2: u16,
    usids_per_t1: u16,
    /// What a step of the T1 uplink adds to the uSID of the T2; absent without a T2 tier, as the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    t2_step: Option<u16>,
    /// What the T1's index adds to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    t2_row: Option<u16>,
}

#[derive(Serialize)]
struct Roles {
    t0: u16,
    t1: u16,
    nic: u16,
    t2: u16,
}

#[derive(Serialize)]
struct Entropy {
    bits: u8,
    t0_uplink_bits: u8,
    plane_bits: u8,
    t1_uplink_bits: u8,
    t0_uplinks: u16,
    t1_uplinks: u16,
    /// Where the group's sets start among the T1 uplinks; absent without a T2 tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    t1_start: Option<u16>,
    active_per_plane: u16,
    backup_per_plane: u16,
    min_active: u16,
    udp_port: u16,
    seed: u64,
}

#[derive(Serialize)]
struct Plane<'a> {
    #[serde(rename = "plane")]
    number: u8,
    nic_port: u8,
    t0: &'a str,
    t0_mac: String,
    t0_usid: String,
    /// Uplinks in the order of which each NIC's entropy sets are windows, see `docs/hosts.md`.
    uplink_order: &'a [u16],
}

#[derive(Serialize)]
struct NicEntry<'a> {
    name: &'a str,
    downlink: u16,
    address: Ipv6Addr,
}

#[derive(Serialize)]
struct DestinationEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<u16>,
    group: u16,
    kind: &'static str,
    prefix: Ipv6Net,
    template: Ipv6Addr,
}

#[derive(Serialize)]
struct DeniedEntry<'a> {
    plane: u8,
    #[serde(flatten)]
    scope: ScopeEntry,
    reason: &'static str,
    name: &'a str,
}

#[derive(Serialize)]
struct ScopeEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    source_downlink: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t0_uplinks: Option<(u16, u16)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t1_uplinks: Option<(u16, u16)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    downlink: Option<u16>,
}

#[derive(Serialize)]
struct ProbeEntry {
    kind: &'static str,
    template: Ipv6Addr,
}

#[derive(Serialize)]
struct Qos<'a> {
    profile: &'a str,
    payload_mtu: u16,
    classes: Vec<QosClass<'a>>,
    /// The marks of trimmed packets; absent where the fabric does not trim.
    #[serde(skip_serializing_if = "Option::is_none")]
    trimmed: Option<Trimmed>,
}

/// Where a packet was trimmed, by its code point: inside the fabric a path is congested, at the last hop the receiver.
#[derive(Serialize)]
struct Trimmed {
    fabric_dscp: u8,
    last_hop_dscp: u8,
}

#[derive(Serialize)]
struct QosClass<'a> {
    name: &'a str,
    dscp: Vec<u8>,
    traffic_class: u8,
    trim: bool,
}

fn document<'a>(table: &'a PathTable<'_>) -> Document<'a> {
    let topology = table.plan.topology();
    Document {
        format: FORMAT,
        fabric: &topology.name,
        zone: table.zone.0,
        group: table.group + 1,
        prefix: table.plan.addresses().group(table.zone, table.group),
        segments: segments(table),
        entropy: entropy(table),
        planes: table.planes.iter().zip(&table.orders).map(|(p, order)| plane(p, order)).collect(),
        nics: table.nics.iter().map(nic).collect(),
        destinations: table.destinations.iter().map(|d| destination(table, d)).collect(),
        denied: table.denied.iter().map(denied).collect(),
        probes: table.probes.iter().map(|p| probe(table, p)).collect(),
        qos: qos(table),
        delay: delay(table),
    }
}

fn delay(table: &PathTable<'_>) -> Delay {
    let delay = table.plan.delay();
    Delay {
        base_rtt_ns: delay.base_rtt.0,
        bandwidth_delay_bytes: delay.bdp.0,
        target_ns: table.plan.target_delay().map(|target| target.0),
    }
}

fn segments(table: &PathTable<'_>) -> Segments {
    let topology = table.plan.topology();
    let layout = topology.srv6.layout;
    let strides = topology.t2.as_ref().map(|_| table.plan.segments().t2_strides());
    Segments {
        block: topology.srv6.block,
        role_bits: layout.role_bits,
        plane_bits: layout.plane_bits,
        zone_bits: layout.zone_bits,
        index_bits: layout.index_bits,
        roles: Roles {
            t0: layout.code(Role::T0),
            t1: layout.code(Role::T1),
            nic: layout.code(Role::Nic),
            t2: layout.code(Role::T2),
        },
        parallel_t0_t1: topology.t0.parallel,
        parallel_t1_t2: topology.t1.parallel,
        usids_per_t1: table.plan.segments().per_switch(closc_topology::TierId::T1),
        t2_step: strides.map(|(step, _)| step),
        t2_row: strides.map(|(_, row)| row),
    }
}

fn entropy(table: &PathTable<'_>) -> Entropy {
    let topology = table.plan.topology();
    Entropy {
        bits: table.format.width(),
        t0_uplink_bits: table.format.uplink_bits,
        plane_bits: table.format.plane_bits,
        t1_uplink_bits: table.format.t1_uplink_bits,
        t0_uplinks: topology.t0.up.count,
        t1_uplinks: topology.t1.up.count,
        t1_start: topology.t2.as_ref().map(|_| table.t1_start),
        active_per_plane: table.sets().active_per_plane(),
        backup_per_plane: table.sets().backup_per_plane(),
        min_active: topology.entropy.min_active,
        udp_port: topology.entropy.udp_port,
        seed: topology.entropy.seed,
    }
}

fn plane<'a>(plane: &'a TablePlane, order: &'a [u16]) -> Plane<'a> {
    Plane {
        number: plane.plane.0,
        nic_port: plane.plane.0,
        t0: &plane.t0,
        t0_mac: plane.mac.to_string(),
        t0_usid: plane.usid.to_string(),
        uplink_order: order,
    }
}

fn nic(nic: &TableNic) -> NicEntry<'_> {
    NicEntry { name: &nic.name, downlink: nic.nic.ordinal(), address: nic.address }
}

fn destination(table: &PathTable<'_>, destination: &Destination) -> DestinationEntry {
    DestinationEntry {
        zone: table.plan.topology().t2.as_ref().map(|_| destination.zone.0),
        group: destination.group + 1,
        kind: match destination.kind {
            PathKind::Local => "local",
            PathKind::Zone => "zone",
            PathKind::Far => "far",
        },
        prefix: destination.prefix,
        template: address(table, &destination.template),
    }
}

fn denied(denied: &Denied) -> DeniedEntry<'_> {
    let Scope { source, uplinks, t1_uplinks, zone, group, downlink } = denied.scope;
    DeniedEntry {
        plane: denied.plane.0,
        scope: ScopeEntry {
            source_downlink: source.map(|d| d + 1),
            t0_uplinks: uplinks,
            t1_uplinks,
            zone: zone.map(|z| z.0),
            group: group.map(|g| g + 1),
            downlink: downlink.map(|d| d + 1),
        },
        reason: denied.reason.word(),
        name: &denied.name,
    }
}

fn probe(table: &PathTable<'_>, probe: &Probe) -> ProbeEntry {
    let kind = match probe.kind {
        ProbeKind::T0 => "t0",
        ProbeKind::T1 => "t1",
        ProbeKind::T2 => "t2",
    };
    ProbeEntry { kind, template: address(table, &probe.template) }
}

fn qos<'a>(table: &'a PathTable<'_>) -> Qos<'a> {
    let topology = table.plan.topology();
    let classes = topology.qos.classes().map(|class| QosClass {
        name: class.name.as_str(),
        dscp: class.dscp.iter().map(|dscp| dscp.get()).collect(),
        traffic_class: class.tc.get(),
        trim: class.trim,
    });
    Qos {
        profile: topology.qos.name().as_str(),
        payload_mtu: topology.mtu.payload,
        classes: classes.collect(),
        trimmed: topology.qos.trimming().map(|trimming| Trimmed {
            fabric_dscp: trimming.fabric_dscp.get(),
            last_hop_dscp: trimming.last_hop_dscp.get(),
        }),
    }
}

fn address(table: &PathTable<'_>, list: &[Usid]) -> Ipv6Addr {
    table.plan.segments().address(list)
}
