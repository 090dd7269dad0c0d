//! From an existing network to a file: candidate files are written, compiled by the caller and compared,
//! until one has every cable. If no candidate has every cable, the nearest one is used.
//!
//! In: the cables of an existing network, a catalogue, and a compile function. Out: the file, a map of names, findings.
//! Invariants: the returned file was compiled. Every cable of the network is in it or in a finding.

mod assumptions;
mod doubts;
mod drain_exceptions;
mod exceptions;
mod hardware;
mod port_order;
mod ranges;
mod refusals;
mod separate_zones;
mod shared_cages;

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_topology::naming::{Numbers as NameNumbers, Placeholder};
use closc_topology::{Naming, TierId};
use schemars::JsonSchema;
use serde::Serialize;
use smol_str::SmolStr;

use crate::compare::{NetworkComparison, compare};
use crate::fit::{Fit, HardwareOptions, Panels};
use crate::level::{self, levels, require_tiers};
use crate::network::{CableSpec, ExistingNetwork, Fault, ImportError, Level};
use crate::own;
use crate::pattern::pattern;
use crate::position::{self, Place, Positions, Reading};
use crate::shape::{self, Numbers};
use crate::text::{AssumptionNotes, CableSpecs, Exceptions, File, Settings, text};

use hardware::Hardware;
use refusals::Refusals;

/// Maximum number of candidate files compiled for one placement of the devices.
const TRIES_MAX: usize = 400;

/// Limit on the size of a candidate fabric: its T0s may have this many times the number of cables of the
/// network, plus 65,536.
const T0_CABLES_FACTOR: u64 = 64;

/// Settings that the user gives for an import.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name of the fabric.
    pub name: String,
    /// Names of nodes, with `*` for any characters.
    pub nodes: Vec<String>,
    /// Hardware and routing mode stated by the user.
    pub hardware: HardwareOptions,
}

/// A name in the network, and the corresponding name in the fabric file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NameMapping {
    /// The device in the network.
    pub old_device: String,
    /// The port in the network; empty for the device itself.
    pub old_port: String,
    /// The device in the file.
    pub new_device: String,
    /// The port in the file.
    pub new_port: String,
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportResult {
    /// The fabric file.
    #[serde(skip)]
    pub text: String,
    /// Number of devices with cables.
    pub devices: u64,
    /// Number of cables of the network.
    pub cables: u64,
    /// Number of these cables that are in the fabric.
    pub placed: u64,
    /// Number of skipped links that are not cables of the fabric, for example to power, consoles or other
    /// networks. Includes planned cables if other cables are already connected.
    pub left_out: u64,
    /// Number of cables of the fabric that the existing network does not have.
    pub absent: u64,
    /// Connections that differ from the file.
    pub findings: Vec<String>,
    /// Assumptions made where the lists are ambiguous.
    pub notes: Vec<String>,
    /// Names that are different in the file.
    #[serde(skip)]
    pub renamed: Vec<NameMapping>,
}

/// Compiles a fabric file, or returns why it is rejected.
pub(crate) type Compile<'a> = dyn FnMut(&str) -> Result<Plan, String> + 'a;

/// A file that was compiled.
struct Candidate {
    numbers: Numbers,
    hardware: Hardware,
    naming: Vec<(&'static str, String)>,
    settings: Settings,
    plan: Plan,
    comparison: NetworkComparison,
}

impl Candidate {
    /// Returns the number of cables of the network that are not in the plan, plus the number of planned
    /// cables whose port has another cable.
    fn misplaced_count(&self) -> usize {
        self.comparison.unplanned_cables.len() + self.comparison.occupied_cables.len()
    }

    /// Returns the sort key of candidates; the lowest is the best. It is the number of unplanned and absent
    /// cables, then [`Self::misplaced_count`].
    fn cost(&self) -> (usize, usize) {
        (self.comparison.unplanned_cables.len() + self.comparison.missing.len(), self.misplaced_count())
    }
}

/// Finds the fabric of an existing network.
///
/// # Errors
///
/// Returns why the network is not a fabric, with file and line.
pub fn import(
    network: &ExistingNetwork,
    options: &Options,
    catalogue: &Catalogue,
    compile: &mut Compile<'_>,
) -> Result<ImportResult, ImportError> {
    let panels = Panels::new(catalogue);
    let NearestFabric { positions, specs, candidate: found, is_unique } =
        nearest(network, options, &panels, compile)?;
    refuse_others(network, &positions, &found)?;
    let exceptions =
        exceptions::exceptions(network, &positions, &found.plan, &found.comparison, &found.hardware);
    let assumed = assumptions::find_assumptions(network, &positions, &found.plan, options, &specs);
    let file = File {
        name: &options.name,
        numbers: &found.numbers,
        tiers: &found.hardware.tiers,
        settings: &found.settings,
        specs: &specs,
        naming: &found.naming,
        exceptions: &exceptions,
        assumed: &assumed,
    };
    let text = text(&file);
    let refused = |why: String| {
        let help = if why.contains("error[E0606]") {
            "; help: if these ports have cages of their own, set `--platform`, or add the columns `a_cage` and `b_cage`"
        } else {
            ""
        };
        let text = format!("the imported file does not pass the checks{help}: {why}");
        ImportError::from(Fault { place: None, text })
    };
    let plan = compile(&text).map_err(refused)?;
    let compared = compare(&plan, network, &positions, found.hardware.ports_may_differ(&positions));
    let findings = exceptions::findings(network, &positions, &plan, &compared);
    let mut notes = network.notes();
    notes.extend(doubts::doubts(network, &positions, &plan, &found, is_unique));
    notes.push(assumptions::note(&assumed, &plan, &found.settings));
    Ok(ImportResult {
        text,
        devices: network.device_count() as u64,
        cables: network.cable_count() as u64,
        placed: (network.cable_count() - compared.unplanned_cables.len()) as u64,
        left_out: network.skipped_links,
        absent: found.comparison.missing.len() as u64,
        findings,
        notes,
        renamed: exceptions::name_mappings(network, &positions, &plan, &compared),
    })
}

/// The fabric with the fewest unplanned and absent cables.
struct NearestFabric {
    positions: Positions,
    specs: CableSpecs,
    candidate: Candidate,
    /// Whether the positions of devices are unique, because every equally good numbering of the ports results
    /// in the same ones.
    is_unique: bool,
}

/// Positions devices by names in closc's own form, or else by the graph, and then finds their fabric. If
/// ports can be numbered in several ways, each is tried until no cable is absent or misplaced.
fn nearest(
    network: &ExistingNetwork,
    options: &Options,
    panels: &Panels,
    compile: &mut Compile<'_>,
) -> Result<NearestFabric, ImportError> {
    let mut at = |positions: Positions| -> Result<NearestFabric, ImportError> {
        let specs = cable_specs(network, &positions);
        let found = search(network, &positions, options, panels, &specs, compile)?;
        Ok(NearestFabric { positions, specs, candidate: found, is_unique: true })
    };
    if options.nodes.is_empty()
        && let Some(places) = position::by_name(network)
    {
        let levels = position::levels_of(&places);
        require_tiers(network, &levels)?;
        return by_name(|reading| {
            at(position::positions(network, levels.clone(), places.clone(), true, reading))
        });
    }
    let levels = levels(network, &options.nodes)?;
    let fits = hardware::readings(network, &levels, panels, &options.hardware);
    let (best, refused) = by_graph(network, &levels, &fits, &mut at);
    if let Some(best) = best {
        if options.nodes.is_empty() {
            refuse_moved(network, &best.positions)?;
        }
        return Ok(best);
    }
    Err({
        let none =
            || Fault { place: None, text: "not a Clos: the positions of its devices are unknown".to_owned() };
        let ImportError(mut faults) = refused.unwrap_or_else(|| none().into());
        if let Some(first) = faults.first_mut() {
            let levels: Vec<_> = levels.iter().copied().map(Some).collect();
            first.text = format!("{}; {}", first.text, level::devices_by_tier(network, &levels));
        }
        ImportError(faults)
    })
}

/// Finds the nearest fabric from placements by cables. Also returns the first error.
fn by_graph(
    network: &ExistingNetwork,
    levels: &[Level],
    fits: &[Fits],
    at: &mut dyn FnMut(Positions) -> Result<NearestFabric, ImportError>,
) -> (Option<NearestFabric>, Option<ImportError>) {
    let mut best: Option<NearestFabric> = None;
    let mut refused = None;
    // Positions for which no file passes the checks.
    let mut invalid: Vec<Vec<Place>> = Vec::new();
    let readings = [Reading::Exact, Reading::Majority].into_iter();
    for (reading, fits) in readings.flat_map(|reading| fits.iter().map(move |fits| (reading, fits))) {
        if best.as_ref().is_some_and(|best| best.candidate.cost().0 == 0) {
            break;
        }
        let places = match position::by_graph(network, levels, fits, reading) {
            Ok(places) if reading == Reading::Majority && invalid.contains(&places) => continue,
            Ok(places) => places,
            Err(why) => {
                refused = refused.or(Some(why));
                continue;
            }
        };
        let positions = position::positions(network, levels.to_vec(), places.clone(), false, reading);
        match (at(positions), &mut best) {
            (Err(why), _) => {
                refused = refused.or(Some(why));
                invalid.push(places);
            }
            (Ok(one), Some(best)) if one.candidate.cost() > best.candidate.cost() => {}
            (Ok(one), Some(best)) if one.candidate.cost() == best.candidate.cost() => {
                best.is_unique &=
                    reading == Reading::Majority || one.positions.places == best.positions.places;
            }
            (Ok(one), _) => best = Some(one),
        }
    }
    (best, refused)
}

/// Finds the nearest fabric from the placement by names.
fn by_name(
    mut of: impl FnMut(Reading) -> Result<NearestFabric, ImportError>,
) -> Result<NearestFabric, ImportError> {
    let exact = of(Reading::Exact);
    if exact.as_ref().is_ok_and(|found| found.candidate.cost().0 == 0) {
        return exact;
    }
    match (exact, of(Reading::Majority)) {
        (Ok(exact), Ok(most)) if most.candidate.cost() < exact.candidate.cost() => Ok(most),
        (Err(_), Ok(most)) => Ok(most),
        (exact, _) => exact,
    }
}

/// Rejects a placement by cables that contradicts names in closc's own form. Such a placement moves a device with one
/// of these names, or has a plane without them. If a tier does not have any of these names, the placement is accepted,
/// and the file gets a naming pattern.
fn refuse_moved(network: &ExistingNetwork, positions: &Positions) -> Result<(), ImportError> {
    let Some(naming) = own::naming(&network.devices.names()) else { return Ok(()) };
    let places: Vec<_> = network.devices.names().map(|name| own::place(&naming, name)).collect();
    let levels = position::levels_of(&places.iter().copied().flatten().collect::<Vec<_>>());
    let is_zone = |place: &Place| matches!(place, Place::Switch(switch) if switch.zone.0 > 0);
    let is_one_zone = !levels.contains(&Level::T2) && places.iter().flatten().any(is_zone);
    if is_one_zone || positions.levels.iter().any(|level| !levels.contains(level)) {
        return Ok(());
    }
    let plane = |place: &Place| match place {
        Place::Switch(switch) => Some(switch.plane),
        Place::Node(_) => None,
    };
    let planes: BTreeSet<_> = places.iter().flatten().filter_map(plane).collect();
    let is_moved = |(own, found): &(&Option<Place>, &Place)| match own {
        Some(own) => own != *found,
        None => plane(found).is_some_and(|plane| !planes.contains(&plane)),
    };
    let moved = places.iter().zip(&positions.places).position(|pair| is_moved(&pair));
    let other = places.iter().position(Option::is_none);
    let (Some(moved), Some(other)) = (moved, other) else { return Ok(()) };
    let [moved, name] = [moved, other].map(|device| network.devices.name(device as u32));
    let effect = if moved == name {
        "would be a separate plane".to_owned()
    } else {
        format!("would move `{moved}` to another position")
    };
    let at = network.cables.iter().find(|cable| cable.ends.iter().any(|plug| plug.device == other as u32));
    let text = format!(
        "`{name}` does not have the name of a device of the fabric, and {effect}; help: remove its cables \
         from the list, rename it, or number all devices by their cables with `--nodes PATTERN`"
    );
    Err(Fault { place: at.map(|cable| network.place(cable.at)), text }.into())
}

/// Tries combinations of hardware, counts and settings, the most likely first.
fn search(
    network: &ExistingNetwork,
    positions: &Positions,
    options: &Options,
    panels: &Panels,
    specs: &CableSpecs,
    compile: &mut Compile<'_>,
) -> Result<Candidate, ImportError> {
    if let Some(fault) = shared_cages::fault(network, positions) {
        return Err(fault.into());
    }
    let hardware = hardware::candidates(network, positions, panels, &options.hardware)?;
    let naming = naming(network, positions);
    let namings = if naming.is_empty() { vec![naming] } else { vec![naming, Vec::new()] };
    let mut best: Option<Candidate> = None;
    let mut refusals = Refusals::default();
    let mut tries = 0;
    for (hardware, numbers) in hardware.iter().flat_map(|hardware| {
        let fits = hardware.fits();
        shape::numbers(network, positions, &fits).into_iter().map(move |numbers| (hardware, numbers))
    }) {
        check_cable_count(network, &numbers)?;
        'one: for naming in &namings {
            for settings in settings_to_try(hardware, options, &numbers) {
                tries += 1;
                let draft =
                    draft(network, positions, options, (hardware, &numbers), &settings, (specs, naming));
                let plan = match compile(&draft) {
                    Ok(plan) => plan,
                    Err(refused) => {
                        refusals.add(&refused);
                        if tries >= TRIES_MAX {
                            break 'one;
                        }
                        continue;
                    }
                };
                let compared = compare(&plan, network, positions, hardware.ports_may_differ(positions));
                let (numbers, hardware, naming) = (numbers.clone(), hardware.clone(), naming.clone());
                let found = Candidate { numbers, hardware, naming, settings, plan, comparison: compared };
                let found = with_order(network, positions, options, found, specs, compile);
                if best.as_ref().is_none_or(|best| found.cost() < best.cost()) {
                    best = Some(found);
                }
                break 'one;
            }
        }
        if tries >= TRIES_MAX || best.as_ref().is_some_and(|best| best.misplaced_count() == 0) {
            break;
        }
    }
    best.ok_or_else(|| refusal(positions, &refusals.text()))
}

/// Returns why no file describes the network: either its structure, or the errors of a candidate.
fn refusal(positions: &Positions, errors: &str) -> ImportError {
    if let Some(fault) = separate_zones::fault(positions) {
        return fault.into();
    }
    let help = if positions.by_name {
        "; closc counts devices by the numbers in their names; help: rename devices with wrong numbers, or \
         number all devices by their cables with `--nodes PATTERN`"
    } else {
        ""
    };
    let text =
        format!("no fabric of these cables passes the checks, so the file is not written{help}: {errors}");
    Fault { place: None, text }.into()
}

/// Returns the candidate with the port order of the network, if it then fits better.
fn with_order(
    network: &ExistingNetwork,
    positions: &Positions,
    options: &Options,
    found: Candidate,
    specs: &CableSpecs,
    compile: &mut Compile<'_>,
) -> Candidate {
    if found.misplaced_count() == 0 {
        return found;
    }
    let Some(order) = port_order::order(network, positions, &found.hardware, &found.numbers) else {
        return found;
    };
    let numbers = Numbers { order: Some(order), ..found.numbers.clone() };
    let own = (&found.hardware, &numbers);
    let draft = draft(network, positions, options, own, &found.settings, (specs, &found.naming));
    let Ok(plan) = compile(&draft) else { return found };
    let compared = compare(&plan, network, positions, found.hardware.ports_may_differ(positions));
    let (hardware, naming) = (found.hardware.clone(), found.naming.clone());
    let ordered =
        Candidate { numbers, hardware, naming, settings: found.settings.clone(), plan, comparison: compared };
    if ordered.cost() < found.cost() { ordered } else { found }
}

/// Returns the text of a candidate file.
fn draft(
    network: &ExistingNetwork,
    positions: &Positions,
    options: &Options,
    (hardware, numbers): (&Hardware, &Numbers),
    settings: &Settings,
    (specs, naming): (&CableSpecs, &[(&'static str, String)]),
) -> String {
    let exceptions = Exceptions { devices: hardware.devices(network, positions), ..Exceptions::default() };
    text(&File {
        name: &options.name,
        numbers,
        tiers: &hardware.tiers,
        settings,
        specs,
        naming,
        exceptions: &exceptions,
        assumed: &AssumptionNotes::default(),
    })
}

/// Rejects counts that result in far more cables than the network has.
fn check_cable_count(network: &ExistingNetwork, numbers: &Numbers) -> Result<(), ImportError> {
    let (reached, there) = (numbers.t0_cables(), network.cable_count() as u64);
    if reached <= there.saturating_mul(T0_CABLES_FACTOR).saturating_add(1 << 16) {
        return Ok(());
    }
    let text = format!(
        "not a Clos: names and ports imply {reached} cables, but the lists have {there}; help: check for a \
         device or port whose number is too high"
    );
    Err(Fault { place: None, text }.into())
}

/// Returns combinations of the settings that cables do not show, the usual ones first.
fn settings_to_try(hardware: &Hardware, options: &Options, numbers: &Numbers) -> Vec<Settings> {
    let routings: Vec<Routing> = match options.hardware.routing {
        Some(routing) => vec![routing],
        None => vec![Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered],
    };
    let has_buffer = hardware.tiers.iter().flatten().any(|tier| tier.base.platform.buffer.is_some());
    let qos: &[&str] = if has_buffer { &["lossy-trim", "lossless", "none"] } else { &["none"] };
    let widths = segment_widths(numbers);
    let mut found = Vec::new();
    for routing in routings {
        // Without segments, their widths have no effect.
        let widths = if routing.is_source_routed() { widths.as_slice() } else { &[SmolStr::new_static("")] };
        for srv6 in widths {
            found.extend(qos.iter().map(|qos| Settings { routing, srv6: srv6.clone(), qos }));
        }
    }
    found
}

/// Maximum number of zones for which the usual widths of segments are tried.
const USUAL_ZONES_MAX: u16 = 16;

/// Returns widths of segments with room for the planes and zones.
fn segment_widths(numbers: &Numbers) -> Vec<SmolStr> {
    let is_zoned = numbers.third.is_some();
    if is_zoned && numbers.zones > USUAL_ZONES_MAX {
        let bits = |count: u16| 16 - count.saturating_sub(1).leading_zeros();
        let (plane, zone) = (bits(numbers.planes), bits(numbers.zones));
        let index = |used: u32| 14_u32.saturating_sub(used);
        let widths = |plane: u32| {
            format!("widths: {{ role: 2, plane: {plane}, zone: {zone}, index: {} }}", index(plane + zone))
        };
        return vec![widths(plane).into(), format!("plan: plane-in-block, {}", widths(0)).into()];
    }
    let all: &[&str] = match (is_zoned, numbers.planes > 8) {
        (false, false) => &["", "plan: plane-in-block"],
        (false, true) => &["widths: { role: 2, plane: 4, zone: 0, index: 10 }", "plan: plane-in-block"],
        (true, false) => &[
            "",
            "widths: { role: 3, plane: 3, zone: 3, index: 7 }",
            "widths: { role: 2, plane: 3, zone: 4, index: 7 }",
            "plan: plane-in-block",
        ],
        (true, true) => &["widths: { role: 2, plane: 4, zone: 3, index: 7 }", "plan: plane-in-block"],
    };
    all.iter().map(|widths| SmolStr::new_static(widths)).collect()
}

/// Returns the length and medium of most cables of each kind.
fn cable_specs(network: &ExistingNetwork, positions: &Positions) -> CableSpecs {
    let mut counts: BTreeMap<(&'static str, Option<u16>), BTreeMap<u32, u64>> = BTreeMap::new();
    for cable in &network.cables {
        let [a, b] = cable.ends.map(|plug| plug.device);
        let lower = if positions.levels[a as usize] < positions.levels[b as usize] { a } else { b };
        let (kind, zone) = match positions.places[lower as usize] {
            Place::Node(_) => ("nic-t0", None),
            Place::Switch(switch) if switch.tier == TierId::T0 => ("t0-t1", None),
            Place::Switch(switch) => ("t1-t2", Some(switch.zone.0)),
        };
        *counts.entry((kind, None)).or_default().entry(cable.spec).or_default() += 1;
        if zone.is_some() {
            *counts.entry((kind, zone)).or_default().entry(cable.spec).or_default() += 1;
        }
    }
    let mut found = CableSpecs::default();
    for ((kind, zone), counts) in counts {
        let most = counts.into_iter().max_by_key(|(spec, count)| (*count, std::cmp::Reverse(*spec)));
        let Some((most, _)) = most else { continue };
        let most: &CableSpec = &network.specs[most as usize];
        match zone {
            None => {
                found.kinds.insert(kind, most.clone());
            }
            Some(zone) if found.kinds.get(kind) != Some(most) => {
                found.by_zone.insert(zone, most.clone());
            }
            Some(_) => {}
        }
    }
    found
}

/// Returns the patterns of the names in the network, if they do not have closc's own form.
fn naming(network: &ExistingNetwork, positions: &Positions) -> Vec<(&'static str, String)> {
    if positions.by_name {
        return Vec::new();
    }
    let zoned = positions.levels.contains(&Level::T2) || positions.nics.zones > 1;
    let usual = Naming::default_for(zoned);
    let kinds: [(&'static str, Level, &[Placeholder]); 4] = [
        ("t0", Level::T0, Naming::ZONED),
        ("t1", Level::T1, Naming::ZONED),
        ("t2", Level::T2, Naming::SHARED),
        ("node", Level::Node, Naming::NODE),
    ];
    let mut found = Vec::new();
    for (key, level, allowed) in kinds {
        let names: Vec<(SmolStr, NameNumbers)> = (0..)
            .zip(&positions.places)
            .filter(|(device, _)| positions.levels[*device as usize] == level)
            .map(|(device, place)| (network.devices.name(device).clone(), name_numbers(*place)))
            .collect();
        let own = match position::tier(level) {
            Some(tier) => usual.tier_pattern(tier).to_string(),
            None => usual.node_pattern().to_string(),
        };
        found.extend(pattern(&names, allowed).map(|p| p.to_string()).filter(|p| *p != own).map(|p| (key, p)));
    }
    found
}

/// Returns the numbers in the name of a device.
fn name_numbers(place: Place) -> NameNumbers {
    match place {
        Place::Switch(switch) => NameNumbers::default()
            .with(Placeholder::Plane, u16::from(switch.plane.0))
            .with(Placeholder::Zone, switch.zone.0)
            .with(Placeholder::Index, switch.index),
        Place::Node(node) => NameNumbers::default()
            .with(Placeholder::Zone, node.zone.0)
            .with(Placeholder::Unit, node.unit)
            .with(Placeholder::Node, node.index),
    }
}

/// Rejects an existing network that has too few cables in common with the nearest fabric.
fn refuse_others(
    network: &ExistingNetwork,
    positions: &Positions,
    found: &Candidate,
) -> Result<(), ImportError> {
    let (all, left, missing) =
        (network.cable_count(), found.comparison.unplanned_cables.len(), found.comparison.missing.len());
    let too_many_left = left * 3 > all;
    let too_many_missing = !positions.by_name && missing > 2 * (all - left);
    if !too_many_left && !too_many_missing {
        return Ok(());
    }
    let mut faults = vec![Fault {
        place: None,
        text: format!(
            "not a Clos: {left} of {all} cables are not in the nearest Clos, which has {missing} other \
             cables; help: if platforms share port names, set them with `--platform t0=NAME`"
        ),
    }];
    faults.extend(separate_zones::fault(positions));
    for number in found.comparison.unplanned_cables.iter().take(10) {
        let cable = &network.cables[*number as usize];
        let [a, b] = cable.ends.map(|plug| network.devices.name(plug.device));
        faults.push(Fault {
            place: Some(network.place(cable.at)),
            text: format!("`{a}` to `{b}` does not match a cable of the nearest Clos"),
        });
    }
    Err(ImportError(faults))
}

pub(crate) type Fits = [Option<Fit>; 3];
