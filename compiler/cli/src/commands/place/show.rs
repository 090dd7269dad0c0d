//! A placement as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Context as _;
use closc_cabling::floor::{Cabinet, Floor, FloorRack, Placement};
use closc_diagnostics::figures::number;
use closc_topology::Topology;
use schemars::JsonSchema;
use serde::Serialize;

use super::edit::Cables;

/// A placement.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PlacedFabric {
    /// Number of racks in the floor plan.
    racks_in_plan: usize,
    /// Cables by kind.
    cables: Vec<PlacedCable>,
    /// Racks with devices, in the order of their names.
    racks: Vec<PlacedRack>,
}

/// The cables of a kind.
#[derive(Serialize, JsonSchema)]
struct PlacedCable {
    kind: &'static str,
    /// Ordered length of the longest cable.
    length: String,
    medium: String,
    /// Previous medium in the file, if its reach is too short.
    replaces: Option<String>,
}

/// A rack with devices.
#[derive(Serialize, JsonSchema)]
struct PlacedRack {
    /// Its name in the fabric file.
    name: String,
    /// Its rack in the floor plan.
    rack: String,
    row: String,
    /// `nodes`, `t0`, `t1` or `t2`.
    kind: &'static str,
    devices: u32,
    units: u32,
    /// Power, if that of all devices is known.
    watts: Option<u64>,
}

impl PlacedFabric {
    pub(super) fn new(floor: &Floor, placement: &Placement, cables: &Cables, before: &Topology) -> Self {
        let old = Cables::of(before);
        let cables = cables.kinds.iter().zip(old.kinds).map(|(kind, old)| PlacedCable {
            kind: kind.key,
            length: kind.length.to_string(),
            medium: kind.medium.clone(),
            replaces: (kind.medium != old.medium).then_some(old.medium),
        });
        let rack = |cabinet: &Cabinet| PlacedRack {
            name: cabinet.name.to_string(),
            rack: floor.racks[cabinet.at].name.clone(),
            row: floor.racks[cabinet.at].row.clone(),
            kind: cabinet.kind,
            devices: cabinet.devices,
            units: cabinet.units,
            watts: cabinet.watts,
        };
        PlacedFabric {
            racks_in_plan: floor.racks.len(),
            cables: cables.collect(),
            racks: placement.cabinets.iter().map(rack).collect(),
        }
    }

    /// Returns a summary as text.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{} of {} racks are used\n",
            number(self.racks.len() as u64),
            number(self.racks_in_plan as u64)
        );
        let mut kinds: BTreeMap<&str, (u64, u64, Option<u64>)> = BTreeMap::new();
        for rack in &self.racks {
            let sum = kinds.entry(rack.kind).or_insert((0, 0, Some(0)));
            *sum = (sum.0 + 1, sum.1 + u64::from(rack.devices), sum.2.zip(rack.watts).map(|(a, b)| a.max(b)));
        }
        for (kind, (racks, devices, watts)) in kinds {
            let watts = watts.map_or_else(
                || "power unknown".to_owned(),
                |watts| format!("at most {} W in a rack", number(watts)),
            );
            let (racks, devices) = (number(racks), number(devices));
            let many = if racks == "1" { "rack" } else { "racks" };
            let _ = writeln!(text, "  {kind:<6} {devices:>7} in {racks:>6} {many}, {watts}");
        }
        for cable in &self.cables {
            let replaces = cable.replaces.as_ref();
            let replaces = replaces.map(|old| format!(" (`{old}` does not reach)")).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {} cables: at most {} of `{}`{replaces}",
                cable.kind, cable.length, cable.medium
            );
        }
        text
    }
}

/// Returns the floor plan with the devices of each rack.
pub(super) fn csv(floor: &Floor, placement: &Placement) -> anyhow::Result<String> {
    let by_rack: BTreeMap<usize, &Cabinet> =
        placement.cabinets.iter().map(|cabinet| (cabinet.at, cabinet)).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "rack",
        "row",
        "x",
        "y",
        "units",
        "watts",
        "device_rack",
        "kind",
        "devices",
        "used_units",
        "used_watts",
        "drop",
        "crossings",
    ])?;
    let meters = |millimeters: i64| (millimeters as f64 / 1000.0).to_string();
    let drop = meters(floor.trays.drop.cast_signed());
    let crossings: Vec<String> = floor.trays.crossings.iter().map(|at| meters(*at)).collect();
    let crossings = crossings.join(" ");
    let some = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    for (at, rack) in floor.racks.iter().enumerate() {
        let (rack, cabinet): (&FloorRack, _) = (rack, by_rack.get(&at));
        writer.write_record([
            rack.name.clone(),
            rack.row.clone(),
            meters(rack.x),
            meters(rack.y),
            rack.units.to_string(),
            some(rack.watts.map(u64::from)),
            cabinet.map_or_else(String::new, |cabinet| cabinet.name.to_string()),
            cabinet.map_or("", |cabinet| cabinet.kind).to_owned(),
            cabinet.map_or_else(String::new, |cabinet| cabinet.devices.to_string()),
            cabinet.map_or_else(String::new, |cabinet| cabinet.units.to_string()),
            some(cabinet.and_then(|cabinet| cabinet.watts)),
            drop.clone(),
            crossings.clone(),
        ])?;
    }
    let bytes = writer.into_inner().context("the table is not complete")?;
    String::from_utf8(bytes).context("the table is not text")
}
