//! From a plant to a file: candidate files are written, compiled by the caller and compared, until one has every cable.
//!
//! In: a plant, a catalogue, and a way to compile. Out: the file, a map of names, findings. Invariants: the file that is returned
//! was compiled, and has every cable of the plant that no finding names.

mod assumed;
mod doubts;
mod drained;
mod except;
mod hardware;
mod ranges;

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_topology::naming::{Numbers as Holes, Placeholder};
use closc_topology::{Naming, TierId};
use schemars::JsonSchema;
use serde::Serialize;
use smol_str::SmolStr;

use crate::compare::{Compared, compare};
use crate::fit::{Fit, Panels, Wanted};
use crate::level::{self, complete, levels};
use crate::own;
use crate::pattern::pattern;
use crate::plant::{Fault, Level, Plant, Refused, Stuff};
use crate::position::{self, Place, Positions, Reading};
use crate::shape::{self, Numbers};
use crate::text::{Assumed, Exceptions, File, Rest, Stuffs, text};

use hardware::Hardware;

/// The most candidate files that are compiled.
const TRIES_MAX: usize = 400;

/// Maximum number of cables that the counts of a fabric give, per cable of the plant. Another 65,536 are always
/// allowed.
const REACHED_MAX: u64 = 64;

/// Statements about the existing network.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name of the fabric.
    pub name: String,
    /// Names of nodes, with `*` for any characters.
    pub nodes: Vec<String>,
    /// Hardware.
    pub wanted: Wanted,
}

/// A name in the plant, and the corresponding name in the fabric file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Renamed {
    /// The device in the plant.
    pub old_device: String,
    /// The port there; empty for the device itself.
    pub old_port: String,
    /// The device in the file.
    pub new_device: String,
    /// The port there.
    pub new_port: String,
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Imported {
    /// The fabric file.
    #[serde(skip)]
    pub text: String,
    /// Devices that have cables.
    pub devices: u64,
    /// Cables of the network.
    pub cables: u64,
    /// Cables of the network that are in the fabric.
    pub placed: u64,
    /// Links that are not cables of the fabric: to other networks, power or consoles, to neighbours without a name, of a
    /// type such as `cat6a` to a device beside the fabric, or planned beside others that are connected.
    pub left_out: u64,
    /// Cables of the fabric that the existing network lacks.
    pub absent: u64,
    /// Connections that differ from the file.
    pub findings: Vec<String>,
    /// Assumptions made where the lists are ambiguous.
    pub notes: Vec<String>,
    /// Names that are others in the file.
    #[serde(skip)]
    pub renamed: Vec<Renamed>,
}

/// Compiles a fabric file, or returns why it is refused.
pub(crate) type Compile<'a> = dyn FnMut(&str) -> Result<Plan, String> + 'a;

/// A file that was compiled.
struct Candidate {
    numbers: Numbers,
    hardware: Hardware,
    naming: Vec<(&'static str, String)>,
    rest: Rest,
    plan: Plan,
    compared: Compared,
}

impl Candidate {
    fn wrong(&self) -> usize {
        self.compared.left.len() + self.compared.occupied.len()
    }

    /// The number of misplaced or absent cables, then of misplaced ones.
    fn cost(&self) -> (usize, usize) {
        (self.compared.left.len() + self.compared.missing.len(), self.wrong())
    }
}

/// Finds the fabric of a plant.
///
/// # Errors
///
/// Returns why it is not a fabric, with places in the files.
pub fn import(
    plant: &Plant,
    options: &Options,
    catalogue: &Catalogue,
    compile: &mut Compile<'_>,
) -> Result<Imported, Refused> {
    let panels = Panels::new(catalogue);
    let Nearest { positions, stuffs, found, is_alone } = nearest(plant, options, &panels, compile)?;
    refuse_others(plant, &positions, &found)?;
    let exceptions = except::exceptions(plant, &positions, &found.plan, &found.compared, &found.hardware);
    let assumed = assumed::assumed(plant, &positions, &found.plan, options, &stuffs);
    let file = File {
        name: &options.name,
        numbers: &found.numbers,
        tiers: &found.hardware.tiers,
        rest: found.rest,
        stuffs: &stuffs,
        naming: &found.naming,
        exceptions: &exceptions,
        assumed: &assumed,
    };
    let text = text(&file);
    let refused =
        |why: String| Refused::from(Fault { place: None, text: format!("what was found is refused: {why}") });
    let plan = compile(&text).map_err(refused)?;
    let compared = compare(&plan, plant, &positions, found.hardware.ports_may_differ(&positions));
    let findings = except::findings(plant, &positions, &plan, &compared);
    let mut notes = plant.notes();
    notes.extend(doubts::doubts(plant, &positions, &plan, &found, is_alone));
    notes.push(assumed::note(&assumed, &plan, found.rest));
    Ok(Imported {
        text,
        devices: plant.device_count() as u64,
        cables: plant.cables() as u64,
        placed: (plant.cables() - compared.left.len()) as u64,
        left_out: plant.left_out,
        absent: found.compared.missing.len() as u64,
        findings,
        notes,
        renamed: except::renamed(plant, &positions, &plan, &compared),
    })
}

/// The fabric that has the most cables of the plant and the fewest absent ones.
struct Nearest {
    positions: Positions,
    stuffs: Stuffs,
    found: Candidate,
    /// Whether all equally good ways to number ports place devices in the same way.
    is_alone: bool,
}

/// Locates devices by closc's own names, else by the graph, and then finds their fabric. If there are several ways to
/// number ports, each is tried until no cable is absent or misplaced.
fn nearest(
    plant: &Plant,
    options: &Options,
    panels: &Panels,
    compile: &mut Compile<'_>,
) -> Result<Nearest, Refused> {
    let mut at = |positions: Positions| -> Result<Nearest, Refused> {
        let stuffs = stuffs(plant, &positions);
        let found = search(plant, &positions, options, panels, &stuffs, compile)?;
        Ok(Nearest { positions, stuffs, found, is_alone: true })
    };
    if options.nodes.is_empty()
        && let Some(places) = position::by_name(plant)
    {
        let levels = position::levels_of(&places);
        complete(plant, &levels)?;
        return by_name(|reading| {
            at(position::positions(plant, levels.clone(), places.clone(), true, reading))
        });
    }
    let levels = levels(plant, &options.nodes)?;
    let fits = hardware::readings(plant, &levels, panels, &options.wanted);
    let (best, refused) = by_graph(plant, &levels, &fits, &mut at);
    if let Some(best) = best {
        if options.nodes.is_empty() {
            refuse_moved(plant, &best.positions)?;
        }
        return Ok(best);
    }
    Err({
        let none =
            || Fault { place: None, text: "not a Clos: the places of its devices are unknown".to_owned() };
        let Refused(mut faults) = refused.unwrap_or_else(|| none().into());
        if let Some(first) = faults.first_mut() {
            let levels: Vec<_> = levels.iter().copied().map(Some).collect();
            first.text = format!("{}; {}", first.text, level::nearest(plant, &levels));
        }
        Refused(faults)
    })
}

/// The nearest fabric of places that cables give, and why the first one was refused.
fn by_graph(
    plant: &Plant,
    levels: &[Level],
    fits: &[Fits],
    at: &mut dyn FnMut(Positions) -> Result<Nearest, Refused>,
) -> (Option<Nearest>, Option<Refused>) {
    let mut best: Option<Nearest> = None;
    let mut refused = None;
    // Places for which no file passes the checks.
    let mut invalid: Vec<Vec<Place>> = Vec::new();
    let readings = [Reading::Exact, Reading::Majority].into_iter();
    for (reading, fits) in readings.flat_map(|reading| fits.iter().map(move |fits| (reading, fits))) {
        if best.as_ref().is_some_and(|best| best.found.cost().0 == 0) {
            break;
        }
        let places = match position::by_graph(plant, levels, fits, reading) {
            Ok(places) if reading == Reading::Majority && invalid.contains(&places) => continue,
            Ok(places) => places,
            Err(why) => {
                refused = refused.or(Some(why));
                continue;
            }
        };
        let positions = position::positions(plant, levels.to_vec(), places.clone(), false, reading);
        match (at(positions), &mut best) {
            (Err(why), _) => {
                refused = refused.or(Some(why));
                invalid.push(places);
            }
            (Ok(one), Some(best)) if one.found.cost() > best.found.cost() => {}
            (Ok(one), Some(best)) if one.found.cost() == best.found.cost() => {
                best.is_alone &=
                    reading == Reading::Majority || one.positions.places == best.positions.places;
            }
            (Ok(one), _) => best = Some(one),
        }
    }
    (best, refused)
}

/// The nearest fabric of places that names give.
fn by_name(mut of: impl FnMut(Reading) -> Result<Nearest, Refused>) -> Result<Nearest, Refused> {
    let exact = of(Reading::Exact);
    if exact.as_ref().is_ok_and(|found| found.found.cost().0 == 0) {
        return exact;
    }
    match (exact, of(Reading::Majority)) {
        (Ok(exact), Ok(most)) if most.found.cost() < exact.found.cost() => Ok(most),
        (Err(_), Ok(most)) => Ok(most),
        (exact, _) => exact,
    }
}

/// Refuses places by the graph that move devices with closc's own names, or that give a plane to other devices alone.
/// If the devices of a tier have no such names, a pattern of the fabric file names them, and places are by the graph.
fn refuse_moved(plant: &Plant, positions: &Positions) -> Result<(), Refused> {
    let Some(naming) = own::naming(&plant.devices.names()) else { return Ok(()) };
    let places: Vec<_> = plant.devices.names().map(|name| own::place(&naming, name)).collect();
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
    let [moved, name] = [moved, other].map(|device| plant.devices.name(device as u32));
    let effect = if moved == name {
        "would be a plane of its own".to_owned()
    } else {
        format!("would move `{moved}` to another place")
    };
    let at = plant.cables.iter().find(|cable| cable.ends.iter().any(|plug| plug.device == other as u32));
    let text = format!(
        "`{name}` does not have a name in closc's form, and {effect}: remove its cables from the list, rename it as a \
         switch or node of the fabric, or number all devices by their cables with `--nodes PATTERN`"
    );
    Err(Fault { place: at.map(|cable| plant.place(cable.at)), text }.into())
}

/// Tries combinations of hardware, counts and settings, the likeliest first.
fn search(
    plant: &Plant,
    positions: &Positions,
    options: &Options,
    panels: &Panels,
    stuffs: &Stuffs,
    compile: &mut Compile<'_>,
) -> Result<Candidate, Refused> {
    let hardware = hardware::candidates(plant, positions, panels, &options.wanted)?;
    let naming = naming(plant, positions);
    let namings = if naming.is_empty() { vec![naming] } else { vec![naming, Vec::new()] };
    let mut best: Option<Candidate> = None;
    let (mut why, mut tries) = (String::new(), 0);
    for (hardware, numbers) in hardware.iter().flat_map(|hardware| {
        let fits = hardware.fits();
        shape::numbers(plant, positions, &fits).into_iter().map(move |numbers| (hardware, numbers))
    }) {
        within_reach(plant, &numbers)?;
        'one: for naming in &namings {
            for rest in rests(hardware, options, numbers.planes, numbers.third.is_some()) {
                tries += 1;
                let draft = draft(plant, options, (hardware, &numbers), rest, (stuffs, naming));
                let plan = match compile(&draft) {
                    Ok(plan) => plan,
                    Err(refused) => {
                        if why.is_empty() {
                            why = refused;
                        }
                        if tries >= TRIES_MAX {
                            break 'one;
                        }
                        continue;
                    }
                };
                let compared = compare(&plan, plant, positions, hardware.ports_may_differ(positions));
                let (numbers, hardware, naming) = (numbers.clone(), hardware.clone(), naming.clone());
                let found = Candidate { numbers, hardware, naming, rest, plan, compared };
                if best.as_ref().is_none_or(|best| found.cost() < best.cost()) {
                    best = Some(found);
                }
                break 'one;
            }
        }
        if tries >= TRIES_MAX || best.as_ref().is_some_and(|best| best.wrong() == 0) {
            break;
        }
    }
    best.ok_or_else(|| {
        Fault {
            place: None,
            text: format!("no fabric of these cables passes the checks, so the file is not written: {why}"),
        }
        .into()
    })
}

/// The text of a candidate file.
fn draft(
    plant: &Plant,
    options: &Options,
    (hardware, numbers): (&Hardware, &Numbers),
    rest: Rest,
    (stuffs, naming): (&Stuffs, &[(&'static str, String)]),
) -> String {
    let exceptions = Exceptions { devices: hardware.devices(plant), ..Exceptions::default() };
    text(&File {
        name: &options.name,
        numbers,
        tiers: &hardware.tiers,
        rest,
        stuffs,
        naming,
        exceptions: &exceptions,
        assumed: &Assumed::default(),
    })
}

/// Refuses counts that give far more cables than the plant has.
fn within_reach(plant: &Plant, numbers: &Numbers) -> Result<(), Refused> {
    let (reached, there) = (numbers.reached(), plant.cables() as u64);
    if reached <= there.saturating_mul(REACHED_MAX).saturating_add(1 << 16) {
        return Ok(());
    }
    let text = format!(
        "not a Clos: names and ports reach {reached} cables, and {there} are there: is one of them far from the others?"
    );
    Err(Fault { place: None, text }.into())
}

/// Settings invisible in cables, the usual first.
fn rests(hardware: &Hardware, options: &Options, planes: u16, zoned: bool) -> Vec<Rest> {
    let routings: Vec<Routing> = match options.wanted.routing {
        Some(routing) => vec![routing],
        None => vec![Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered],
    };
    let has_buffer = hardware.tiers.iter().flatten().any(|tier| tier.base.platform.buffer.is_some());
    let qos: &[&str] = if has_buffer { &["lossy-trim", "lossless", "none"] } else { &["none"] };
    let widths: &[&str] = match (zoned, planes > 8) {
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
    let mut rests = Vec::new();
    for routing in routings {
        for srv6 in widths {
            rests.extend(qos.iter().map(|qos| Rest { routing, srv6, qos }));
        }
    }
    rests
}

/// Lengths and media that most cables of a kind have.
fn stuffs(plant: &Plant, positions: &Positions) -> Stuffs {
    let mut counts: BTreeMap<(&'static str, Option<u16>), BTreeMap<u32, u64>> = BTreeMap::new();
    for cable in &plant.cables {
        let [a, b] = cable.ends.map(|plug| plug.device);
        let lower = if positions.levels[a as usize] < positions.levels[b as usize] { a } else { b };
        let (kind, zone) = match positions.places[lower as usize] {
            Place::Node(_) => ("nic-t0", None),
            Place::Switch(switch) if switch.tier == TierId::T0 => ("t0-t1", None),
            Place::Switch(switch) => ("t1-t2", Some(switch.zone.0)),
        };
        *counts.entry((kind, None)).or_default().entry(cable.stuff).or_default() += 1;
        if zone.is_some() {
            *counts.entry((kind, zone)).or_default().entry(cable.stuff).or_default() += 1;
        }
    }
    let mut found = Stuffs::default();
    for ((kind, zone), counts) in counts {
        let most = counts.into_iter().max_by_key(|(stuff, count)| (*count, std::cmp::Reverse(*stuff)));
        let Some((most, _)) = most else { continue };
        let most: &Stuff = &plant.stuffs[most as usize];
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

/// The patterns of the names in the plant, if they are not closc's own.
fn naming(plant: &Plant, positions: &Positions) -> Vec<(&'static str, String)> {
    if positions.by_name {
        return Vec::new();
    }
    let zoned = positions.levels.contains(&Level::T2);
    let usual = Naming::default_for(zoned);
    let kinds: [(&'static str, Level, &[Placeholder]); 4] = [
        ("t0", Level::T0, Naming::ZONED),
        ("t1", Level::T1, Naming::ZONED),
        ("t2", Level::T2, Naming::SHARED),
        ("node", Level::Node, Naming::NODE),
    ];
    let mut found = Vec::new();
    for (key, level, allowed) in kinds {
        let names: Vec<(SmolStr, Holes)> = (0..)
            .zip(&positions.places)
            .filter(|(device, _)| positions.levels[*device as usize] == level)
            .map(|(device, place)| (plant.devices.name(device).clone(), holes(*place)))
            .collect();
        let own = match position::tier(level) {
            Some(tier) => usual.tier_pattern(tier).to_string(),
            None => usual.node_pattern().to_string(),
        };
        found.extend(pattern(&names, allowed).map(|p| p.to_string()).filter(|p| *p != own).map(|p| (key, p)));
    }
    found
}

fn holes(place: Place) -> Holes {
    match place {
        Place::Switch(switch) => Holes::default()
            .with(Placeholder::Plane, u16::from(switch.plane.0))
            .with(Placeholder::Zone, switch.zone.0)
            .with(Placeholder::Index, switch.index),
        Place::Node(node) => Holes::default()
            .with(Placeholder::Zone, node.zone.0)
            .with(Placeholder::Unit, node.unit)
            .with(Placeholder::Node, node.index),
    }
}

/// Refuses a plant that shares too few cables with the nearest fabric.
fn refuse_others(plant: &Plant, positions: &Positions, found: &Candidate) -> Result<(), Refused> {
    let (all, left, missing) = (plant.cables(), found.compared.left.len(), found.compared.missing.len());
    let too_many_left = left * 3 > all;
    let too_many_missing = !positions.by_name && missing > 2 * (all - left);
    if !too_many_left && !too_many_missing {
        return Ok(());
    }
    let mut faults = vec![Fault {
        place: None,
        text: format!(
            "not a Clos: of {all} cables {left} are where the nearest Clos has none, and {missing} of its cables are not there; \
             if platforms share names of ports, set theirs by `--platform t0=NAME` (and `t1`, `t2`)"
        ),
    }];
    let switches = positions.places.iter().filter_map(|place| match place {
        Place::Switch(switch) => Some(switch.zone),
        Place::Node(_) => None,
    });
    let zones = switches.collect::<BTreeSet<_>>().len();
    if zones > 1 && !positions.levels.contains(&Level::T2) {
        let text = format!(
            "names are of {zones} zones, and no T2 connects them: planes by NIC are not recognised, a list of one zone is"
        );
        faults.push(Fault { place: None, text });
    }
    for number in found.compared.left.iter().take(10) {
        let cable = &plant.cables[*number as usize];
        let [a, b] = cable.ends.map(|plug| plant.devices.name(plug.device));
        faults.push(Fault {
            place: Some(plant.place(cable.at)),
            text: format!("`{a}` to `{b}` does not match a cable of it"),
        });
    }
    Err(Refused(faults))
}

/// The fit of each tier.
pub(crate) type Fits = [Option<Fit>; 3];
