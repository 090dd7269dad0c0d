//! The compact form, written by `closc-paths`.

use std::num::NonZeroU16;

use closc_paths::write::{Body, write};
use closc_paths::{Header, Kind, PlaneAt, Reason, Scope, TableDenial};
use closc_plan::{Destination, PathKind, PathTable, ProbeKind};
use closc_topology::{SegmentPlan, Usid};

pub(super) fn bytes(table: &PathTable<'_>) -> Vec<u8> {
    let body = Body {
        destinations: table.destinations.iter().map(|d| destination(table, d)).collect(),
        orders: table.orders.clone(),
        denied: table.denied.iter().map(table_denial).collect(),
        fabric: table.fabric.to_owned(),
        t0_probe: probe(table, ProbeKind::T0),
        t1_probe: probe(table, ProbeKind::T1),
    };
    write(&header(table), &body)
}

fn header(table: &PathTable<'_>) -> Header {
    let (size, segments) = (table.size, table.segments);
    let t2 = table.probes.iter().find(|probe| probe.kind == ProbeKind::T2);
    Header {
        planes: size.planes,
        plane: match segments.plan {
            SegmentPlan::PlaneInUsid => {
                PlaneAt::Usids { shift: segments.layout.zone_bits + segments.layout.index_bits }
            }
            SegmentPlan::PlaneInBlock => PlaneAt::Block,
        },
        uplink_bits: table.format.uplink_bits,
        plane_bits: table.format.plane_bits,
        t1_uplink_bits: table.format.t1_uplink_bits,
        pool_len: size.pool.prefix_len(),
        pool: u128::from(size.pool.network()),
        zone_bits: size.zone_bits,
        parallel0: segments.parallel_t0_t1,
        parallel1: segments.parallel_t1_t2.max(1),
        per_t1: segments.per_t1,
        t0_uplinks: size.t0_uplinks,
        t1_uplinks: size.t1_uplinks,
        t2_step: segments.t2_step,
        t2_row: segments.t2_row,
        t2_rows: segments.t2_rows.map_or(0, NonZeroU16::get),
        zone: table.zone.0,
        group: table.group,
        zones: size.zones,
        groups: size.groups,
        nics: size.nics,
        active: table.sets.active_per_plane(),
        backup: table.sets.backup_per_plane(),
        min_active: table.min_active,
        udp_port: table.udp_port,
        mtu: table.payload_mtu,
        t1_start: table.t1_start,
        t2_usid: t2.and_then(|probe| probe.template.get(2)).map_or(0, |usid| usid.0),
    }
}

fn destination(table: &PathTable<'_>, destination: &Destination) -> (Option<Kind>, u128) {
    let kind = match destination.kind {
        PathKind::Local => Kind::Local,
        PathKind::Zone => Kind::Zone,
        PathKind::Far => Kind::Far,
    };
    (Some(kind), address(table, &destination.template))
}

fn probe(table: &PathTable<'_>, kind: ProbeKind) -> u128 {
    table.probes.iter().find(|p| p.kind == kind).map_or(0, |p| address(table, &p.template))
}

fn address(table: &PathTable<'_>, list: &[Usid]) -> u128 {
    u128::from(table.segments.address(list))
}

fn table_denial(denied: &closc_plan::DeniedPaths) -> TableDenial {
    let scope = denied.scope;
    TableDenial {
        plane: denied.plane.0,
        reason: match denied.reason {
            closc_plan::Reason::Absent => Reason::Absent,
            closc_plan::Reason::Drained => Reason::Drained,
        },
        scope: Scope {
            source: scope.source,
            uplinks: scope.uplinks,
            t1_uplinks: scope.t1_uplinks,
            zone: scope.zone.map(|z| z.0),
            group: scope.group,
            downlink: scope.downlink,
        },
    }
}
