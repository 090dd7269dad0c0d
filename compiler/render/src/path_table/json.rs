//! The form for people and tools. Indices in it count from 0 where they are fields of an entropy value (plane,
//! uplinks) and from 1 where they are names (group, downlink), as everywhere in artefacts.

use std::net::Ipv6Addr;

use closc_artefacts::path_table as form;
use closc_plan::{Denied, Destination, PathKind, PathTable, Probe, ProbeKind, Scope, TableNic, TablePlane};
use closc_topology::{Role, Usid};

pub(super) fn bytes(table: &PathTable<'_>) -> Vec<u8> {
    document(table).to_bytes()
}

fn document(table: &PathTable<'_>) -> form::Document {
    let topology = table.plan.topology();
    form::Document {
        format: form::FORMAT.into(),
        fabric: topology.name.clone(),
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
        delay: Some(delay(table)),
    }
}

fn delay(table: &PathTable<'_>) -> form::Delay {
    let delay = table.plan.delay();
    form::Delay {
        base_rtt_ns: delay.base_rtt.0,
        bandwidth_delay_bytes: delay.bdp.0,
        target_ns: table.plan.target_delay().map(|target| target.0),
    }
}

fn segments(table: &PathTable<'_>) -> form::Segments {
    let topology = table.plan.topology();
    let layout = topology.srv6.layout;
    let strides = topology.t2.as_ref().map(|_| table.plan.segments().t2_strides());
    form::Segments {
        block: topology.srv6.block,
        role_bits: layout.role_bits,
        plane_bits: layout.plane_bits,
        zone_bits: layout.zone_bits,
        index_bits: layout.index_bits,
        roles: form::Roles {
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

fn entropy(table: &PathTable<'_>) -> form::Entropy {
    let topology = table.plan.topology();
    form::Entropy {
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

fn plane(plane: &TablePlane, order: &[u16]) -> form::Plane {
    form::Plane {
        number: plane.plane.0,
        nic_port: plane.plane.0,
        t0: plane.t0.clone(),
        t0_mac: plane.mac.to_string(),
        t0_usid: plane.usid.to_string(),
        uplink_order: order.to_vec(),
    }
}

fn nic(nic: &TableNic) -> form::Nic {
    form::Nic { name: nic.name.clone(), downlink: nic.nic.ordinal(), address: nic.address }
}

fn destination(table: &PathTable<'_>, destination: &Destination) -> form::Destination {
    form::Destination {
        zone: table.plan.topology().t2.as_ref().map(|_| destination.zone.0),
        group: destination.group + 1,
        kind: match destination.kind {
            PathKind::Local => "local",
            PathKind::Zone => "zone",
            PathKind::Far => "far",
        }
        .into(),
        prefix: destination.prefix,
        template: address(table, &destination.template),
    }
}

fn denied(denied: &Denied) -> form::Denied {
    let Scope { source, uplinks, t1_uplinks, zone, group, downlink } = denied.scope;
    form::Denied {
        plane: denied.plane.0,
        source_downlink: source.map(|d| d + 1),
        t0_uplinks: uplinks,
        t1_uplinks,
        zone: zone.map(|z| z.0),
        group: group.map(|g| g + 1),
        downlink: downlink.map(|d| d + 1),
        reason: denied.reason.word().into(),
        name: denied.name.as_str().into(),
    }
}

fn probe(table: &PathTable<'_>, probe: &Probe) -> form::Probe {
    let kind = match probe.kind {
        ProbeKind::T0 => "t0",
        ProbeKind::T1 => "t1",
        ProbeKind::T2 => "t2",
    };
    form::Probe { kind: kind.into(), template: address(table, &probe.template) }
}

fn qos(table: &PathTable<'_>) -> form::Qos {
    let topology = table.plan.topology();
    let classes = topology.qos.classes().map(|class| form::QosClass {
        name: class.name.as_str().into(),
        dscp: class.dscp.iter().map(|dscp| dscp.get()).collect(),
        traffic_class: class.tc.get(),
        trim: class.trim,
    });
    form::Qos {
        profile: topology.qos.name().as_str().into(),
        payload_mtu: topology.mtu.payload,
        classes: classes.collect(),
        trimmed: topology.qos.trimming().map(|trimming| form::Trimmed {
            fabric_dscp: trimming.fabric_dscp.get(),
            last_hop_dscp: trimming.last_hop_dscp.get(),
        }),
    }
}

fn address(table: &PathTable<'_>, list: &[Usid]) -> Ipv6Addr {
    table.plan.segments().address(list)
}
