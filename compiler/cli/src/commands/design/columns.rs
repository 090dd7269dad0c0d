//! Columns of a table of designs, shared by CSV, the page and comparisons.
//!
//! In: a row. Out: cells. Invariants: an unpublished figure is an empty cell, never a zero.

use super::row::Row;

/// A column.
pub(super) struct Column {
    /// Name in CSV.
    pub name: &'static str,
    /// Displayed title.
    pub title: &'static str,
    /// Its cell.
    pub cell: fn(&Row) -> String,
}

/// All columns.
pub(super) const ALL: &[Column] = &[
    column("planes", "planes", |row| row.planes.to_string()),
    column("planes_by_nic", "planes by NIC", |row| row.planes_by_nic.to_string()),
    column("port_speed", "speed of a NIC port", |row| row.port_speed.clone()),
    column("tiers", "tiers", |row| row.tiers.len().to_string()),
    column("os", "operating system", |row| row.os.to_owned()),
    column("routing", "routing", |row| row.routing.to_owned()),
    column("qos", "QoS profile", |row| row.qos.clone()),
    column("t0", "T0s", |row| tier(row, 0)),
    column("t1", "T1s", |row| tier(row, 1)),
    column("t2", "T2s", |row| tier(row, 2)),
    column("switches", "switches", |row| row.switches.to_string()),
    column("cages_unused", "unused cages", |row| unused_ports(row).to_string()),
    column("nic_places", "NIC places", |row| row.places.to_string()),
    column("nic_places_largest", "NIC places without moving a cable", |row| row.largest.to_string()),
    column("oversubscription", "oversubscription of T0s", |row| row.oversubscription.clone()),
    column("bisection_gbps", "bisection, Gb/s", |row| row.bisection_gbps.to_string()),
    column("capacity_gbps", "capacity of switches, Gb/s", |row| row.capacity_gbps.to_string()),
    column("cables_nic", "cables to NICs", |row| row.cables_nic.to_string()),
    column("cables_switch", "cables between switches", |row| row.cables_switch.to_string()),
    column("cables_by_kind", "cables by kind and length", cables),
    column("modules", "modules between switches", |row| row.modules.to_string()),
    column("optics_by_kind", "modules by kind", optics),
    column("power_typical_watts", "typical power, W", |row| figure_cell(row.power.typical_watts)),
    column("power_maximum_watts", "maximum power, W", |row| figure_cell(row.power.maximum_watts)),
    column("power_unpublished", "without published power", unpublished_items),
    column("rack_units", "rack units of switches", |row| figure_cell(row.rack_units)),
    column("racks_least", "racks of 42 units, at least", |row| figure_cell(row.racks_least)),
    column("cost", "cost", |row| figure_cell(row.cost)),
    column("hops", "switches on the longest path", |row| row.hops.to_string()),
    column("base_rtt_ns", "empty round trip, ns", |row| row.base_rtt_ns.to_string()),
    column("paths_local", "paths between NICs of one T0", |row| row.paths_local.to_string()),
    column("paths_zone", "paths between NICs of one zone", |row| figure_cell(row.paths_zone)),
    column("paths", "paths between far NICs", |row| row.paths.to_string()),
    column("loss_nic_cable_percent", "loss with a NIC cable, %", |row| share(row.nic_cable_loss_percent)),
    column("loss_t0_percent", "loss with a T0, %", |row| share(row.t0_loss_percent)),
    column("loss_uplink_percent", "loss with a T0-T1 cable, %", |row| share_of(row.uplink_loss_percent)),
    column("loss_uplink_module_percent", "loss with a module of T0 uplinks, %", |row| {
        share_of(row.uplink_module_loss_percent)
    }),
    column("loss_t1_percent", "loss with a T1, %", |row| share_of(row.t1_loss_percent)),
    column("loss_t1_uplink_percent", "loss with a T1-T2 cable, %", |row| {
        share_of(row.t1_uplink_loss_percent)
    }),
    column("loss_t2_percent", "loss with a T2, %", |row| share_of(row.t2_loss_percent)),
];

const fn column(name: &'static str, title: &'static str, cell: fn(&Row) -> String) -> Column {
    Column { name, title, cell }
}

fn tier(row: &Row, at: usize) -> String {
    row.tiers.get(at).map_or_else(String::new, |tier| format!("{} x {}", tier.switches, tier.platform))
}

fn unused_ports(row: &Row) -> u64 {
    row.tiers.iter().map(|tier| u64::from(tier.cages - tier.cages_used) * u64::from(tier.switches)).sum()
}

fn unpublished_items(row: &Row) -> String {
    row.power.typical_unpublished.join("; ")
}

fn cables(row: &Row) -> String {
    let kinds = row.cables.iter().map(|kind| format!("{} x {} {}", kind.count, kind.medium, kind.length));
    kinds.collect::<Vec<_>>().join("; ")
}

fn optics(row: &Row) -> String {
    let kinds = row.optics.iter().map(|optic| format!("{} x {}", optic.count, optic.kind));
    kinds.collect::<Vec<_>>().join("; ")
}

fn figure_cell(figure: Option<u64>) -> String {
    figure.map_or_else(String::new, |figure| figure.to_string())
}

fn share_of(value: Option<f64>) -> String {
    value.map_or_else(String::new, share)
}

/// Formats a percentage with up to four decimals, without trailing zeros.
pub(super) fn share(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
