//! A design as it is written in JSON documents.

use closc_design::{Criteria, Design, Measure, Media, RACK_UNITS, ReleaseReason, StatedRelease};
use closc_platform::Release;
use schemars::JsonSchema;
use serde::Serialize;

use super::SearchInput;
use super::checks::CheckedFile;

/// A design.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Row {
    pub planes: u16,
    /// Planes by NIC: sets of switches that only nodes connect. 1 if switches connect all NICs.
    pub planes_by_nic: u32,
    /// Speed of a NIC's port in a plane.
    pub port_speed: String,
    pub routing: &'static str,
    pub os: &'static str,
    pub qos: String,
    pub tiers: Vec<TierRow>,
    pub switches: u32,
    /// Maximum number of NICs.
    pub places: u32,
    /// Maximum number of NICs after growth without moving a plugged cable.
    pub largest: u32,
    pub cables_nic: u64,
    pub cables_switch: u64,
    /// Cables by kind.
    pub cables: Vec<CableRow>,
    /// Modules by kind, without the plugs of cables.
    pub optics: Vec<OpticRow>,
    /// Cages of switches that hold modules for cables between switches.
    pub modules: u64,
    /// Bandwidth of all switches in Gb/s, used or not.
    pub capacity_gbps: u64,
    /// Bandwidth between two halves of the NICs in one direction, in Gb/s.
    pub bisection_gbps: u64,
    pub oversubscription: String,
    /// Paths between two NICs on one T0.
    pub paths_local: u64,
    /// Paths between two NICs on different T0s of one zone, with three tiers.
    pub paths_zone: Option<u64>,
    /// Paths between the two NICs that are farthest apart.
    pub paths: u64,
    /// Share of a NIC's bandwidth that is lost when a T0 fails, in percent.
    pub t0_loss_percent: f64,
    /// Share of a NIC's bandwidth that is lost when a T1 fails, in percent, if there are T1s.
    pub t1_loss_percent: Option<f64>,
    /// Share of a NIC's bandwidth between zones that is lost when a T2 fails, in percent.
    pub t2_loss_percent: Option<f64>,
    /// Share of a NIC's bandwidth that is lost when one of its cables fails, in percent.
    pub nic_cable_loss_percent: f64,
    /// Share of a NIC's bandwidth that is lost when a cable between a T0 and a T1 fails, in percent, if there
    /// are T1s.
    pub uplink_loss_percent: Option<f64>,
    /// Share of a NIC's bandwidth that is lost when a module of T0 uplinks fails with all its cables, in
    /// percent.
    pub uplink_module_loss_percent: Option<f64>,
    /// Share of a NIC's bandwidth between zones that is lost when a cable between a T1 and a T2 fails, in
    /// percent.
    pub t1_uplink_loss_percent: Option<f64>,
    /// Switches on the longest path.
    pub hops: u8,
    /// Round-trip time of the longest path with empty queues.
    pub base_rtt_ns: u64,
    /// Rack units of all switches, if all heights are published.
    pub rack_units: Option<u64>,
    /// Minimum number of racks of 42 units for these switches.
    pub racks_least: Option<u64>,
    /// Platforms without a published height.
    pub rack_units_unpublished: Vec<String>,
    pub power: PowerRow,
    /// Sum of the prices, if each item has one.
    pub cost: Option<u64>,
    /// Whether less than half of the ports of T1s or T2s are used, not counting ports reserved for growth.
    pub mostly_unused: bool,
    /// Weaknesses whose warnings the file allows.
    pub weaknesses: Vec<&'static str>,
    /// Cables whose ends have lanes of different speeds, so that standard modules of both ends do not match.
    pub unequal_lanes: Vec<String>,
    /// Why the copper cables of NICs cannot be bought: several cages at both ends.
    pub crossed_copper: Option<String>,
    /// The assumed, unpublished limit of a switch that the design exceeds.
    pub assumed: Option<String>,
    /// The release that the file sets, if the default release lacks a hwsku or has a fault that a later one fixes.
    pub release: Option<String>,
    /// Whether that release is SONiC's branch `master`.
    #[serde(skip)]
    pub needs_master: bool,
    /// Whether its parallel cables need a later release than the assumed one.
    #[serde(skip)]
    pub needs_locators: bool,
    /// Known faults of the releases that affect this design.
    pub known_faults: Vec<String>,
    /// Number of the stage that these numbers describe, with `--stages`; otherwise 1.
    pub stage: usize,
    /// Stages of growth, with `--stages`.
    pub stages: Vec<StageRow>,
    /// The fabric file.
    pub file: String,
}

/// A tier of a design.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TierRow {
    pub platform: String,
    pub switches: u32,
    pub cages_used: u32,
    pub cages: u32,
}

/// Cables of one kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CableRow {
    /// `nic-t0`, `t0-t1` or `t1-t2`.
    pub ends: &'static str,
    pub medium: String,
    /// The maximum length; assumed in designs without a floor plan.
    pub length: String,
    pub count: u64,
}

/// Modules of one kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct OpticRow {
    /// Medium, and number and speed of the lanes of its cage.
    pub kind: String,
    pub count: u64,
}

/// Power of switches and modules.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PowerRow {
    /// Typical power, if the figures of all items are published.
    pub typical_watts: Option<u64>,
    /// Maximum power, if the figures of all items are published.
    pub maximum_watts: Option<u64>,
    /// Switches and modules without a published typical power.
    pub typical_unpublished: Vec<String>,
    /// Switches and modules without a published maximum power.
    pub maximum_unpublished: Vec<String>,
}

/// A stage of growth.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StageRow {
    /// Requested number of NICs.
    pub nics: u32,
    /// Maximum number of NICs.
    pub places: u32,
    /// Switches of all tiers.
    pub switches: u32,
    /// Number of these switches that the stage adds.
    pub switches_added: u32,
    /// Cables between switches that it adds.
    pub cables_switch_added: u64,
    /// Plugged cables that it moves or removes.
    pub cables_moved: u64,
    /// Whether names or addresses of existing devices change.
    pub renumbers: bool,
    /// Bandwidth of all switches in Gb/s, used or not.
    pub capacity_gbps: u64,
    /// Bandwidth between two halves of the NICs in one direction, in Gb/s.
    pub bisection_gbps: u64,
    /// Typical power, if the figures of all items are published.
    pub typical_watts: Option<u64>,
    /// Sum of the prices, if each item has one.
    pub cost: Option<u64>,
    /// The fabric file.
    pub file: String,
}

/// Effects of a stage on existing cables and devices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moves {
    /// Plugged cables that it moves or removes.
    pub cables: u64,
    /// Whether names or addresses change.
    pub renumbers: bool,
}

impl Row {
    /// Describes a design with cables of some media.
    pub(super) fn new(
        design: &Design<'_>,
        measure: &Measure,
        media: &Media<'_>,
        is_priced: bool,
        passed: CheckedFile,
    ) -> Self {
        let losses = design.losses();
        let (rack_units, unknown) = rack_units(design);
        Row {
            planes: design.planes,
            planes_by_nic: design.planes_by_nic,
            port_speed: design.port_speed.to_string(),
            routing: design.routing.keyword(),
            os: design.os.keyword(),
            qos: passed.qos,
            tiers: design.tiers().map(tier).collect(),
            switches: measure.switches,
            places: design.places(),
            largest: design.largest(),
            cables_nic: design.nic_cables(),
            cables_switch: measure.cables,
            cables: cables(design, media),
            optics: optics(design, media),
            modules: measure.modules,
            capacity_gbps: measure.capacity,
            bisection_gbps: design.bisection(),
            oversubscription: design.oversubscription().to_string(),
            paths_local: design.paths_local(),
            paths_zone: design.paths_zone(),
            paths: design.paths(),
            t0_loss_percent: percent(losses.t0),
            t1_loss_percent: losses.t1.map(percent),
            t2_loss_percent: losses.t2.map(percent),
            nic_cable_loss_percent: percent(losses.nic_cable),
            uplink_loss_percent: losses.uplink.map(percent),
            uplink_module_loss_percent: losses.uplink_module.map(percent),
            t1_uplink_loss_percent: losses.t1_uplink.map(percent),
            hops: measure.hops,
            base_rtt_ns: passed.base_rtt_ns,
            rack_units,
            racks_least: rack_units.map(|units| units.div_ceil(RACK_UNITS)),
            rack_units_unpublished: unknown,
            power: power(design, media),
            cost: is_priced.then_some(measure.cost),
            mostly_unused: false,
            weaknesses: design.weaknesses().into_iter().map(closc_design::Weakness::text).collect(),
            unequal_lanes: design.unequal_lanes(),
            crossed_copper: design.crossed_copper(),
            assumed: passed.assumed,
            release: stated_release(design),
            needs_master: design.stated_release().is_some_and(|stated| stated.release == Release::Master),
            needs_locators: design.needs_later_release(),
            known_faults: passed.known_faults,
            stage: 1,
            stages: Vec::new(),
            file: passed.file,
        }
    }
}

/// Returns the rack units of all switches, or the platforms without a published height.
fn rack_units(design: &Design<'_>) -> (Option<u64>, Vec<String>) {
    match design.rack_units() {
        Ok(units) => (Some(units), Vec::new()),
        Err(unknown) => (None, unknown.iter().map(ToString::to_string).collect()),
    }
}

/// Describes the release that the file states.
fn stated_release(design: &Design<'_>) -> Option<String> {
    let StatedRelease { release, reason } = design.stated_release()?;
    let reason = match reason {
        ReleaseReason::Hwsku(hwsku) => format!("with hwsku `{hwsku}`"),
        ReleaseReason::Fault(_) => reason.to_string(),
    };
    Some(format!("`{}` {release}, the first release {reason}", design.os.keyword()))
}

/// Describes the stages of a design that grows without moving plugged cables.
pub(super) fn stages(
    (design, passed): (&Design<'_>, &CheckedFile),
    asked: &SearchInput<'_>,
) -> Vec<StageRow> {
    let sizes = asked.stages.iter().enumerate();
    let grown = sizes
        .map_while(|(at, nics)| if at == 0 { Some(design.clone()) } else { design.grow(*nics, asked.need) });
    let grown: Vec<Design<'_>> = grown.collect();
    let files = std::iter::once(&passed.file).chain(&passed.later);
    let none = Moves::default();
    let along: Vec<(&Design<'_>, &str, Moves)> =
        grown.iter().zip(files).map(|(design, file)| (design, file.as_str(), none)).collect();
    stages_of(asked, &along)
}

/// Describes stages by their designs, files and effects.
pub(super) fn stages_of(asked: &SearchInput<'_>, along: &[(&Design<'_>, &str, Moves)]) -> Vec<StageRow> {
    let switches = |design: &Design<'_>| design.tiers().map(|tier| tier.switches).sum::<u32>();
    let (mut before, mut rows) = ((0, 0), Vec::new());
    for (nics, (design, file, moves)) in asked.stages.iter().zip(along) {
        let now = (switches(design), design.cables());
        let media = design.media();
        let prices = asked.criteria.prices;
        // Designs of a front have all prices, but earlier stages with other tiers may lack one.
        let measure = |compared| design.measure_stage(compared, &media).ok();
        let priced = prices.and_then(|_| measure(Criteria { power: false, growth: None, prices }));
        rows.push(StageRow {
            nics: *nics,
            places: design.places(),
            switches: now.0,
            switches_added: now.0.saturating_sub(before.0),
            cables_switch_added: now.1.saturating_sub(before.1),
            cables_moved: moves.cables,
            renumbers: moves.renumbers,
            capacity_gbps: design.capacity(),
            bisection_gbps: design.bisection(),
            typical_watts: design.power(&media).typical(),
            cost: priced.map(|measure| measure.cost),
            file: (*file).to_owned(),
        });
        before = now;
    }
    rows
}

fn tier(tier: &closc_design::Tier<'_>) -> TierRow {
    let (cages_used, cages) = tier.cages();
    TierRow { platform: tier.platform.id.to_string(), switches: tier.switches, cages_used, cages }
}

fn cables(design: &Design<'_>, media: &Media<'_>) -> Vec<CableRow> {
    let rows = design.cables_by_kind(media).map(|(ends, kind, count)| CableRow {
        ends,
        medium: kind.medium.to_owned(),
        length: kind.length.to_string(),
        count,
    });
    rows.collect()
}

fn optics(design: &Design<'_>, media: &Media<'_>) -> Vec<OpticRow> {
    let power = design.power(media);
    power.modules().map(|(module, count)| OpticRow { kind: module.to_string(), count }).collect()
}

fn power(design: &Design<'_>, media: &Media<'_>) -> PowerRow {
    let power = design.power(media);
    let [typical_unpublished, maximum_unpublished] = power.unpublished_kinds();
    PowerRow {
        typical_watts: power.typical(),
        maximum_watts: power.maximum(),
        typical_unpublished,
        maximum_unpublished,
    }
}

/// Converts millionths to percent.
fn percent(millionths: u32) -> f64 {
    f64::from(millionths) / 10_000.0
}
