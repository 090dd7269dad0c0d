//! Finds hardware whose ports have given names.
//!
//! In: the ports of the switches of a tier, towards the nodes and away from them. Out: platforms of the
//! catalogue with these port names and the breakouts of their cages, the best first. Invariants: the panels
//! of the returned platforms have all of these ports.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use closc_artefacts::Routing;
use closc_platform::{Breakout, Catalogue, Os, Platform, Slot};
use closc_qos::units::Speed;
use smol_str::SmolStr;

use crate::network::{ExistingNetwork, Level};

/// Maximum number of fits kept for a tier.
const KEPT: usize = 48;

/// Maximum number of fits kept for each numbering of the ports and pair of speeds.
const ALIKE: usize = 3;

/// Hardware and routing mode stated by the user.
#[derive(Debug, Clone, Default)]
pub struct HardwareOptions {
    /// Platforms by tier, such as `t0`. An empty key means all tiers.
    pub platforms: BTreeMap<String, String>,
    /// The operating system of all switches.
    pub os: Option<Os>,
    /// Routing mode.
    pub routing: Option<Routing>,
}

impl HardwareOptions {
    pub(crate) fn platform(&self, level: Level) -> Option<&str> {
        let word = match level {
            Level::Node => return None,
            Level::T0 => "t0",
            Level::T1 => "t1",
            Level::T2 => "t2",
        };
        self.platforms.get(word).or_else(|| self.platforms.get("")).map(String::as_str)
    }
}

/// Location of the ports of one side on the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Block {
    pub(crate) breakout: Breakout,
    pub(crate) first_cage: u16,
}

/// The numbers of the ports in use, of downlinks and uplinks.
pub(crate) type Reading = Arc<[Vec<u16>; 2]>;

/// A platform whose port names fit those in use.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) platform: Arc<Platform>,
    pub(crate) os: Os,
    pub(crate) down: Block,
    pub(crate) up: Block,
    /// Whether the ports of the platform have these names. Otherwise, ports are mapped by their order.
    pub(crate) is_named: bool,
    /// The numbers of the ports in use.
    pub(crate) reading: Reading,
}

/// Counts the unused port numbers below the last used one on each side.
fn holes(reading: &[Vec<u16>; 2]) -> usize {
    let side = |numbers: &Vec<u16>| numbers.last().map_or(0, |last| usize::from(*last) + 1 - numbers.len());
    reading.iter().map(side).sum()
}

impl Fit {
    /// Returns the platform's default for one side.
    pub(crate) fn default_block(platform: &Platform, is_up: bool) -> Block {
        let first_cage = if is_up { platform.panel.cages / 2 } else { 0 };
        Block { breakout: platform.panel.default_breakout, first_cage }
    }

    /// Counts the unused ports before and between those in use. With fewer of them, the fit is more likely.
    pub(crate) fn holes(&self) -> usize {
        holes(&self.reading)
    }

    /// Returns a key that is the same for equal fits.
    pub(crate) fn key(&self) -> (SmolStr, Os, Block, Block) {
        (self.platform.id.clone(), self.os, self.down, self.up)
    }

    /// Returns the port numbers of one side, from 0, by port name.
    pub(crate) fn indices(&self, is_up: bool) -> HashMap<SmolStr, u16> {
        let block = if is_up { self.up } else { self.down };
        let parts = u16::from(block.breakout.ports);
        let cages = block.first_cage..self.platform.panel.cages;
        let slots = cages.flat_map(|cage| (0..block.breakout.ports).map(move |part| (cage, part)));
        slots
            .map(|(cage, part)| {
                let slot = Slot { cage, part, breakout: block.breakout };
                let index = (cage - block.first_cage) * parts + u16::from(part);
                (self.platform.port_name(slot), index)
            })
            .collect()
    }
}

/// Ports of a breakout by name: the cage counted from 0, then cage and part as numbered on the panel.
type Cages = HashMap<SmolStr, (u16, (u16, u8))>;

/// A platform under an operating system, with the names of its ports, computed on demand.
struct Panel {
    platform: Arc<Platform>,
    os: Os,
    splits: OnceCell<Vec<(Breakout, Cages)>>,
}

impl Panel {
    /// Returns the names of the platform's ports for each breakout.
    fn splits(&self) -> &[(Breakout, Cages)] {
        self.splits.get_or_init(|| {
            let panel = &self.platform.panel;
            let split = |breakout: &Breakout| {
                let slots =
                    (0..panel.cages).flat_map(|cage| (0..breakout.ports).map(move |part| (cage, part)));
                let named = slots.map(|(cage, part)| {
                    let slot = Slot { cage, part, breakout: *breakout };
                    let number = panel.first_number.saturating_add(cage.saturating_mul(panel.number_step));
                    let subport = if breakout.ports == 1 { 0 } else { part + 1 };
                    (self.platform.port_name(slot), (cage, (number, subport)))
                });
                (*breakout, named.collect())
            };
            panel.breakouts.iter().map(split).collect()
        })
    }

    /// Returns whether all of these ports have the prefix of the platform's port names.
    fn is_near(&self, ports: &Ports) -> bool {
        let breakout = self.platform.panel.default_breakout;
        let own = self.platform.port_name(Slot { cage: 0, part: 0, breakout });
        ports.iter().all(|(port, _, _)| name_prefix(port) == name_prefix(&own))
    }
}

/// Returns the prefix of a name.
fn name_prefix(name: &str) -> &str {
    name.find(|sign: char| !sign.is_ascii_alphabetic()).map_or(name, |end| &name[..end])
}

/// The port names of all platforms of the catalogue.
pub(crate) struct Panels(Vec<Panel>);

impl Panels {
    pub(crate) fn new(catalogue: &Catalogue) -> Self {
        let under = |platform: &Arc<Platform>| {
            let panel = |os: &Os| Panel { platform: platform.under(*os), os: *os, splits: OnceCell::new() };
            platform.oses.iter().map(panel).collect::<Vec<_>>()
        };
        Panels(catalogue.iter().flat_map(under).collect())
    }

    /// Returns whether the catalogue has a platform of this name.
    fn has(&self, id: &str) -> bool {
        self.0.iter().any(|panel| panel.platform.id == id)
    }

    /// Returns the panels that the options allow for a tier. `stated` are its platforms according to a list
    /// of devices.
    fn allowed_panels(
        &self,
        level: Level,
        wanted: &HardwareOptions,
        stated: &Models,
    ) -> impl Iterator<Item = &Panel> {
        let (id, os) = (wanted.platform(level).map(SmolStr::new), wanted.os);
        self.0.iter().filter(move |panel| {
            let platform = &panel.platform;
            // Derived platforms are fitted only if they are named, because many of them have the same port
            // names.
            let is_plausible = || !platform.derived || stated.contains(&platform.id);
            id.as_ref().map_or_else(is_plausible, |id| platform.id == *id)
                && os.is_none_or(|os| panel.os == os)
        })
    }
}

/// Ports of a side by name, with speed, cage and part of the cage if known.
type Ports = BTreeSet<(SmolStr, Option<Speed>, Option<(u16, u8)>)>;

/// Ports of a side by the number of their name, with the same properties.
type NumberedPorts = BTreeSet<(u32, Option<Speed>, Option<(u16, u8)>)>;

/// Returns the downlink and uplink ports with cables on switches of a tier, for each part of the tier.
fn ports<K: Ord>(
    network: &ExistingNetwork,
    levels: &[Level],
    level: Level,
    part: impl Fn(u32) -> K,
) -> BTreeMap<K, [NumberedPorts; 2]> {
    let mut seen: BTreeMap<K, [NumberedPorts; 2]> = BTreeMap::new();
    for cable in &network.cables {
        for (own, other) in [(0, 1), (1, 0)] {
            let (own, other) = (cable.ends[own], cable.ends[other]);
            if levels[own.device as usize] == level {
                let is_up = levels[other.device as usize] > level;
                let sides = seen.entry(part(own.device)).or_default();
                let cage = own.cage.and_then(|cage| Some((cage.number, cage.part?)));
                sides[usize::from(is_up)].insert((own.port, own.speed, cage));
            }
        }
    }
    seen
}

/// Platforms that a list of devices names.
type Models = BTreeSet<SmolStr>;

/// Returns the platforms of the catalogue that a list of devices names, for each part of a level.
pub(crate) fn models<K: Ord>(
    network: &ExistingNetwork,
    levels: &[Level],
    level: Level,
    part: impl Fn(u32) -> K,
    panels: &Panels,
) -> BTreeMap<K, Models> {
    let mut found: BTreeMap<K, Models> = BTreeMap::new();
    if network.models.is_empty() {
        return found;
    }
    let mut known: HashMap<&SmolStr, bool> = HashMap::new();
    for (device, _) in (0..).zip(levels).filter(|(_, own)| **own == level) {
        let Some(model) = network.models.get(network.devices.name(device)) else { continue };
        if *known.entry(model).or_insert_with(|| panels.has(model)) {
            found.entry(part(device)).or_default().insert(model.clone());
        }
    }
    found
}

/// Finds the possible platforms of the switches of a tier, part by part. Parts with the same ports are looked up
/// once.
pub(crate) fn fits_by<K: Ord + Copy>(
    network: &ExistingNetwork,
    levels: &[Level],
    level: Level,
    part: impl Fn(u32) -> K,
    panels: &Panels,
    wanted: &HardwareOptions,
) -> Vec<(K, Vec<Fit>)> {
    let mut known: BTreeMap<([NumberedPorts; 2], Models), Vec<Fit>> = BTreeMap::new();
    let mut found = Vec::new();
    let mut models = models(network, levels, level, &part, panels);
    for (key, seen) in ports(network, levels, level, &part) {
        // An explicit choice takes precedence over a list of devices.
        let stated = models.remove(&key).filter(|_| wanted.platform(level).is_none()).unwrap_or_default();
        let seen = (seen, stated);
        if let Some(fits) = known.get(&seen) {
            found.push((key, fits.clone()));
            continue;
        }
        let (sides, stated) = &seen;
        let [down, up] = sides.each_ref().map(|side| -> Ports {
            side.iter()
                .map(|(port, speed, cage)| (network.ports.name(*port).clone(), *speed, *cage))
                .collect()
        });
        let near = panels
            .allowed_panels(level, wanted, stated)
            .filter(|panel| panel.is_near(&down) && panel.is_near(&up));
        let mut fits: Vec<_> = near.flat_map(|panel| fit(panel, &down, &up)).collect();
        if fits.iter().any(|(_, fit)| stated.contains(&fit.platform.id)) {
            fits.retain(|(_, fit)| stated.contains(&fit.platform.id));
        }
        let fits = likeliest(fits);
        known.insert(seen, fits.clone());
        found.push((key, fits));
    }
    found
}

/// Keeps the fits of lowest cost. Only a few are kept for each numbering of the ports, because fits with the
/// same numbering place devices in the same way.
fn likeliest(mut fits: Vec<(Cost, Fit)>) -> Vec<Fit> {
    fits.sort_by_key(|(cost, _)| *cost);
    let mut alike: BTreeMap<(Reading, [Speed; 2]), usize> = BTreeMap::new();
    fits.retain(|(_, fit)| {
        let speeds = [fit.down.breakout.speed, fit.up.breakout.speed];
        let count = alike.entry((Arc::clone(&fit.reading), speeds)).or_default();
        *count += 1;
        *count <= ALIKE
    });
    fits.truncate(KEPT);
    fits.into_iter().map(|(_, fit)| fit).collect()
}

/// Evidence against a fit: whether it is a P4 switch, then the numbers of unused ports before or between those in
/// use, of unusual breakouts, and of ports that the platform has.
type Cost = (bool, usize, u32, u32);

/// Returns cage and part of each port with a breakout; `None` if a port does not exist with that breakout.
fn cages(names: &Cages, ports: &Ports, breakout: Breakout) -> Option<BTreeSet<(u16, u8)>> {
    let cage = |(name, speed, seen): &(SmolStr, Option<Speed>, Option<(u16, u8)>)| {
        let (cage, own) = *names.get(name)?;
        let is_it = speed.is_none_or(|speed| speed == breakout.speed) && seen.is_none_or(|seen| seen == own);
        is_it.then_some((cage, own.1.saturating_sub(1)))
    };
    ports.iter().map(cage).collect()
}

/// Returns the possible first cages of both sides, given the cages in use. A side begins at its default or at
/// the first cage in use. The defaults are cage 0 for downlinks and the middle of the panel for uplinks.
fn starts(down: &BTreeSet<(u16, u8)>, up: &BTreeSet<(u16, u8)>, middle: u16) -> Vec<(u16, u16)> {
    let ends = |cages: &BTreeSet<(u16, u8)>| Some((cages.first()?.0, cages.last()?.0));
    let downs = |first: u16| [0, first];
    // The default for uplinks is possible if the middle of the panel is between the last downlink cage and
    // the first uplink cage.
    let ups = |first: u16, last: u16| [if first >= middle && last < middle { middle } else { first }, first];
    let (downs, ups) = match (ends(down), ends(up)) {
        (Some((low, last)), Some((first, _))) if last < first => (downs(low), ups(first, last)),
        (Some((first, _)), Some((low, last))) if last < first => ([first; 2], ups(low, 0)),
        (Some((low, _)), None) => (downs(low), [middle; 2]),
        (None, Some((first, _))) => ([0; 2], ups(first, 0)),
        (Some(_), Some(_)) | (None, None) => return Vec::new(),
    };
    let pairs = downs.into_iter().flat_map(|down| ups.map(|up| (down, up)));
    let found: BTreeSet<(u16, u16)> = pairs.collect();
    found.into_iter().collect()
}

/// Returns the possible layouts of the ports on a platform, each with its cost.
fn fit(of: &Panel, down: &Ports, up: &Ports) -> Vec<(Cost, Fit)> {
    let (platform, os) = (&of.platform, of.os);
    let panel = &platform.panel;
    let middle = panel.cages / 2;
    let side = |ports: &Ports| -> Vec<(Breakout, BTreeSet<(u16, u8)>)> {
        let split =
            |(breakout, names): &(Breakout, Cages)| Some((*breakout, cages(names, ports, *breakout)?));
        let mut found: Vec<_> = of.splits().iter().filter_map(split).collect();
        if ports.is_empty() {
            found.retain(|(breakout, _)| *breakout == panel.default_breakout);
        }
        found
    };
    let mut fits = Vec::new();
    for (down_split, down_cages) in side(down) {
        for (up_split, up_cages) in side(up) {
            let odd = u32::from(down_split != panel.default_breakout)
                + u32::from(up_split != panel.default_breakout);
            let ports = u32::from(platform.ports_max(down_split));
            let numbers = |first: u16, split: Breakout, cages: &BTreeSet<(u16, u8)>| -> Vec<u16> {
                let number =
                    |(cage, part): &(u16, u8)| (cage - first) * u16::from(split.ports) + u16::from(*part);
                cages.iter().map(number).collect()
            };
            for (down_first, up_first) in starts(&down_cages, &up_cages, middle) {
                let reading =
                    [numbers(down_first, down_split, &down_cages), numbers(up_first, up_split, &up_cages)];
                let cost = (os.is_programmed(), holes(&reading), odd, ports);
                let fit = Fit {
                    platform: Arc::clone(platform),
                    os,
                    down: Block { breakout: down_split, first_cage: down_first },
                    up: Block { breakout: up_split, first_cage: up_first },
                    is_named: true,
                    reading: Arc::new(reading),
                };
                fits.push((cost, fit));
            }
        }
    }
    fits
}

/// Returns hardware for port names that no platform has: the requested platform, or else the software
/// platform with the most cages.
pub(crate) fn nameless(panels: &Panels, level: Level, wanted: &HardwareOptions) -> Option<Fit> {
    let is_named = wanted.platform(level).is_some();
    let none = Models::new();
    let any =
        panels.allowed_panels(level, wanted, &none).filter(|panel| is_named || panel.platform.is_software());
    let most = any.max_by_key(|panel| (panel.platform.panel.cages, !panel.os.is_programmed()))?;
    let platform = Arc::clone(&most.platform);
    let (down, up) = (Fit::default_block(&platform, false), Fit::default_block(&platform, true));
    Some(Fit { platform, os: most.os, down, up, is_named: false, reading: Arc::default() })
}
