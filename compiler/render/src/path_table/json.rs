//! The form for users and tools. Indices that are fields of an entropy value (plane, uplinks) count from 0, and those
//! that are names (group, downlink) from 1, as in all artefacts.

use closc_artefacts::path_table as form;
use closc_plan::{
    DeniedPaths, Destination, PathKind, PathTable, Probe, ProbeKind, Scope, TableNic, TablePlane,
    TableSegments,
};
use closc_qos::profile::Profile;
use closc_topology::{Role, SegmentPlan};

pub(super) fn bytes(table: &PathTable<'_>) -> Vec<u8> {
    document(table).to_bytes()
}

fn document(table: &PathTable<'_>) -> form::Document {
    let segments = segments(table);
    form::Document {
        format: segments.format().into(),
        fabric: table.fabric.into(),
        zone: table.zone.0,
        group: table.group + 1,
        prefix: table.prefix,
        segments,
        entropy: entropy(table),
        planes: table.planes.iter().zip(&table.orders).map(|(p, order)| plane(p, order)).collect(),
        nics: table.nics.iter().map(nic).collect(),
        destinations: table.destinations.iter().map(|d| destination(table, d)).collect(),
        denied: table.denied.iter().map(denied_element).collect(),
        probes: table.probes.iter().map(|p| probe(table, p)).collect(),
        qos: qos(table),
        delay: Some(delay(table)),
    }
}

fn delay(table: &PathTable<'_>) -> form::Delay {
    let delay = &table.delay;
    form::Delay {
        base_rtt_ns: delay.base_rtt.0,
        bandwidth_delay_bytes: delay.bdp.0,
        target_ns: table.target_delay.map(|target| target.0),
    }
}

fn segments(table: &PathTable<'_>) -> form::Segments {
    let TableSegments {
        plan,
        block,
        layout,
        parallel_t0_t1,
        parallel_t1_t2,
        per_t1,
        t2_step,
        t2_row,
        t2_rows,
    } = table.segments;
    form::Segments {
        plan: match plan {
            SegmentPlan::PlaneInUsid => None,
            SegmentPlan::PlaneInBlock => Some(form::InBlock::PlaneInBlock),
        },
        block,
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
        parallel_t0_t1,
        parallel_t1_t2,
        usids_per_t1: per_t1,
        t2_step: table.size.has_t2.then_some(t2_step),
        t2_row: table.size.has_t2.then_some(t2_row),
        t2_rows,
    }
}

fn entropy(table: &PathTable<'_>) -> form::Entropy {
    form::Entropy {
        bits: table.format.width(),
        t0_uplink_bits: table.format.uplink_bits,
        plane_bits: table.format.plane_bits,
        t1_uplink_bits: table.format.t1_uplink_bits,
        t0_uplinks: table.size.t0_uplinks,
        t1_uplinks: table.size.t1_uplinks,
        t1_start: table.size.has_t2.then_some(table.t1_start),
        active_per_plane: table.sets.active_per_plane(),
        backup_per_plane: table.sets.backup_per_plane(),
        min_active: table.min_active,
        udp_port: table.udp_port,
        seed: table.seed,
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
        zone: table.size.has_t2.then_some(destination.zone.0),
        group: destination.group + 1,
        kind: match destination.kind {
            PathKind::Local => "local",
            PathKind::Zone => "zone",
            PathKind::Far => "far",
        }
        .into(),
        prefix: destination.prefix,
        template: table.segments.address(&destination.template),
    }
}

fn denied_element(denied: &DeniedPaths) -> form::DeniedElement {
    let Scope { source, uplinks, t1_uplinks, zone, group, downlink } = denied.scope;
    form::DeniedElement {
        plane: denied.plane.0,
        source_downlink: source.map(|d| d + 1),
        t0_uplinks: uplinks,
        t1_uplinks,
        zone: zone.map(|z| z.0),
        group: group.map(|g| g + 1),
        downlink: downlink.map(|d| d + 1),
        reason: denied.reason.keyword().into(),
        name: denied.name.as_str().into(),
    }
}

fn probe(table: &PathTable<'_>, probe: &Probe) -> form::Probe {
    let kind = match probe.kind {
        ProbeKind::T0 => "t0",
        ProbeKind::T1 => "t1",
        ProbeKind::T2 => "t2",
    };
    form::Probe { kind: kind.into(), template: table.segments.address(&probe.template) }
}

fn qos(table: &PathTable<'_>) -> form::Qos {
    qos_of(table.qos, table.payload_mtu)
}

/// Returns the packet markings of hosts.
pub(crate) fn qos_of(profile: &Profile, payload_mtu: u16) -> form::Qos {
    let classes = profile.classes().map(|class| form::QosClass {
        name: class.name.as_str().into(),
        dscp: class.dscp.iter().map(|dscp| dscp.get()).collect(),
        traffic_class: class.tc.get(),
        trim: class.trim,
    });
    form::Qos {
        profile: profile.name().as_str().into(),
        payload_mtu,
        classes: classes.collect(),
        trimmed: profile.trimming().map(|trimming| form::TrimmedDscp {
            fabric_dscp: trimming.fabric_dscp.get(),
            last_hop_dscp: trimming.last_hop_dscp.get(),
        }),
    }
}
