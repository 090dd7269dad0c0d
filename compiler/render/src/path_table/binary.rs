//! The compact form, written by `closc-paths`.

use closc_paths::write::{Body, write};
use closc_paths::{Denied, Header, Kind, Reason, Scope};
use closc_plan::{Destination, PathKind, PathTable, ProbeKind};
use closc_topology::{TierId, Usid};

pub(super) fn bytes(table: &PathTable<'_>) -> Vec<u8> {
    let body = Body {
        destinations: table.destinations.iter().map(|d| destination(table, d)).collect(),
        orders: table.orders.clone(),
        denied: table.denied.iter().map(denied).collect(),
        t0_probe: probe(table, ProbeKind::T0),
        t1_probe: probe(table, ProbeKind::T1),
    };
    write(&header(table), &body)
}

fn header(table: &PathTable<'_>) -> Header {
    let topology = table.plan.topology();
    let layout = topology.srv6.layout;
    let (t2_step, t2_row) = table.plan.segments().t2_strides();
    let t2 = table.probes.iter().find(|probe| probe.kind == ProbeKind::T2);
    Header {
        planes: topology.planes,
        plane_shift: layout.zone_bits + layout.index_bits,
        uplink_bits: table.format.uplink_bits,
        plane_bits: table.format.plane_bits,
        t1_uplink_bits: table.format.t1_uplink_bits,
        pool_len: topology.addresses.hosts.prefix_len(),
        pool: u128::from(topology.addresses.hosts.network()),
        parallel0: topology.t0.parallel,
        parallel1: topology.t1.parallel.max(1),
        per_t1: table.plan.segments().per_switch(TierId::T1),
        t0_uplinks: topology.t0.up.count,
        t1_uplinks: topology.t1.up.count,
        t2_step,
        t2_row,
        zone: table.zone.0,
        group: table.group,
        zones: topology.zones,
        groups: topology.t0.count,
        nics: topology.hosts.per_group,
        active: table.sets().active_per_plane(),
        backup: table.sets().backup_per_plane(),
        min_active: topology.entropy.min_active,
        udp_port: topology.entropy.udp_port,
        mtu: topology.mtu.payload,
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
    u128::from(table.plan.segments().address(list))
}

fn denied(denied: &closc_plan::Denied) -> Denied {
    let scope = denied.scope;
    Denied {
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
