//! Hardware of all tiers that fits together.
//!
//! In: an existing network, and the positions of its devices. Out: combinations, the most likely first.
//! Invariants: both ends of a cable have the same speed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_topology::TierId;
use smol_str::SmolStr;

use super::Fits;
use crate::fit::{Fit, HardwareOptions, Panels, fits_by, models, nameless};
use crate::network::{ExistingNetwork, Fault, ImportError, Level};
use crate::position::{Place, Positions};
use crate::shape;
use crate::text::TierHardware;

const TIERS: [Level; 3] = [Level::T0, Level::T1, Level::T2];

/// Maximum number of port numberings to try.
const READINGS_MAX: usize = 6;

/// Maximum number of combinations to try.
const COMBINATIONS_MAX: usize = 24;

/// Maximum number of combinations with the same port numbers, so that other numberings are tried too.
const COMBINATIONS_ALIKE: usize = 12;

/// Hardware of a fabric.
#[derive(Debug, Clone)]
pub(crate) struct Hardware {
    pub(crate) tiers: [Option<TierHardware>; 3],
    /// Single switches with other hardware.
    devices: Vec<(u32, Fit)>,
    /// Whether the lab numbers interfaces itself.
    is_numbered: bool,
}

impl Hardware {
    /// Returns the hardware of most switches in each tier.
    pub(crate) fn fits(&self) -> Fits {
        self.tiers.clone().map(|tier| tier.map(|tier| tier.base))
    }

    /// Returns the single switches with other hardware, by name, with their tiers.
    pub(crate) fn devices(
        &self,
        network: &ExistingNetwork,
        positions: &Positions,
    ) -> Vec<(String, TierId, Fit)> {
        let row = |(device, fit): &(u32, Fit)| {
            let tier = positions.switch(*device)?.tier;
            Some((network.devices.name(*device).to_string(), tier, fit.clone()))
        };
        self.devices.iter().filter_map(row).collect()
    }

    /// Returns whether ports are matched by order if their names differ.
    pub(crate) fn ports_may_differ(&self, positions: &Positions) -> bool {
        !positions.by_name || self.is_numbered || self.tiers.iter().flatten().any(|tier| !tier.base.is_named)
    }
}

/// Returns combinations with one platform per tier, one for each numbering of the ports. Those with matching
/// speeds are first, then those without P4 switches. The rest is ordered by the number of unused ports before
/// or between used ones.
pub(crate) fn readings(
    network: &ExistingNetwork,
    levels: &[Level],
    panels: &Panels,
    wanted: &HardwareOptions,
) -> Vec<Fits> {
    let found = TIERS.map(|level| -> Vec<Option<Fit>> {
        let found = fits_by(network, levels, level, |_| (), panels, wanted);
        let fits: Vec<_> = found.into_iter().flat_map(|((), fits)| fits).map(Some).collect();
        if fits.is_empty() { vec![None] } else { fits }
    });
    let meet = |lower: &Option<Fit>, upper: &Option<Fit>| match (lower, upper) {
        (Some(lower), Some(upper)) => lower.up.breakout.speed == upper.down.breakout.speed,
        _ => true,
    };
    let holes = |fit: &Option<Fit>| fit.as_ref().map_or(0, Fit::holes);
    let programmed = |fit: &Option<Fit>| fit.as_ref().is_some_and(|fit| fit.os.is_programmed());
    let mut ranked = Vec::new();
    for (rank0, t0) in found[0].iter().enumerate() {
        for (rank1, t1) in found[1].iter().enumerate() {
            for (rank2, t2) in found[2].iter().enumerate() {
                let all = [t0, t1, t2];
                let is_apart = !meet(t0, t1) || !meet(t1, t2);
                let is_programmed = all.iter().any(|fit| programmed(fit));
                let holes: usize = all.iter().map(|fit| holes(fit)).sum();
                ranked.push(((is_apart, is_programmed, holes, rank0 + rank1 + rank2), all));
            }
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut known = BTreeSet::new();
    let is_new = |fits: &[&Option<Fit>; 3]| {
        known.insert(fits.map(|fit| fit.as_ref().map(|fit| Arc::clone(&fit.reading))))
    };
    let distinct = ranked.into_iter().map(|(_, fits)| fits).filter(is_new).take(READINGS_MAX);
    distinct.map(|fits| fits.map(Clone::clone)).collect()
}

/// Hardware of a tier, and of single switches with other hardware.
type Choice = (TierHardware, Vec<(u32, Fit)>);

/// Evidence against a combination: cables in ports that are meant for another device, gaps between ports, and
/// less likely hardware.
type CombinationPenalty = (usize, usize, usize);

/// Returns the possible combinations.
pub(crate) fn candidates(
    network: &ExistingNetwork,
    positions: &Positions,
    panels: &Panels,
    wanted: &HardwareOptions,
) -> Result<Vec<Hardware>, ImportError> {
    let mut choices: Vec<Vec<Option<Choice>>> = Vec::new();
    for level in TIERS {
        if !positions.levels.contains(&level) {
            choices.push(vec![None]);
            continue;
        }
        let found = of_tier(network, positions, level, panels, wanted);
        if found.is_empty() {
            return Err(Fault { place: None, text: no_platform(network, positions, level, wanted) }.into());
        }
        choices.push(found.into_iter().map(Some).collect());
    }
    let elsewhere = seats(network, positions);
    let against = |level: usize, rank: usize, choice: &Option<Choice>| -> CombinationPenalty {
        let Some((tier, _)) = choice else { return (0, 0, rank) };
        let others = elsewhere[level].iter().map(|seats| seats.count_conflicts(&tier.base)).sum();
        (others, tier.base.holes(), rank)
    };
    let ranked: Vec<Vec<(CombinationPenalty, &Option<Choice>)>> = choices
        .iter()
        .enumerate()
        .map(|(level, choices)| {
            choices.iter().enumerate().map(|(rank, choice)| (against(level, rank, choice), choice)).collect()
        })
        .collect();
    let mut combinations = Vec::new();
    for (first, t0) in &ranked[0] {
        for (second, t1) in ranked[1].iter().filter(|(_, t1)| meet(t0.as_ref(), t1.as_ref())) {
            for (third, t2) in ranked[2].iter().filter(|(_, t2)| meet(t1.as_ref(), t2.as_ref())) {
                let sum = [first, second, third]
                    .into_iter()
                    .fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
                combinations.push((sum, [*t0, *t1, *t2]));
            }
        }
    }
    keep_likeliest(&mut combinations);
    if combinations.is_empty() {
        let text = nameless_tier(network, positions, &choices, wanted).map_or_else(
            || no_common_speed(&choices),
            |level| no_platform(network, positions, level, wanted),
        );
        return Err(Fault { place: None, text }.into());
    }
    let hardware = |(_, chosen): (CombinationPenalty, [&Option<Choice>; 3])| {
        let chosen = chosen.map(Clone::clone);
        let devices = chosen.iter().flatten().flat_map(|(_, devices)| devices.clone()).collect();
        let tiers = chosen.map(|choice| choice.map(|(tier, _)| tier));
        Hardware { tiers, devices, is_numbered: network.is_numbered }
    };
    Ok(combinations.into_iter().map(hardware).collect())
}

/// Returns the lowest tier that has no stated platform, and whose port names no platform has, although the list
/// contains speeds of its ports. The speeds of such a tier follow from guessed platforms, so they are not a reason to
/// reject the network.
fn nameless_tier(
    network: &ExistingNetwork,
    positions: &Positions,
    choices: &[Vec<Option<Choice>>],
    wanted: &HardwareOptions,
) -> Option<Level> {
    let is_nameless = |choices: &Vec<Option<Choice>>| {
        let mut tiers = choices.iter().flatten().peekable();
        tiers.peek().is_some() && tiers.all(|(tier, _)| !tier.base.is_named)
    };
    let has_speeds = |level: Level| {
        let mut plugs = network.cables.iter().flat_map(|cable| cable.ends);
        let is_guessed = wanted.platform(level).is_none();
        is_guessed
            && plugs.any(|plug| plug.speed.is_some() && positions.levels[plug.device as usize] == level)
    };
    let all = TIERS.into_iter().zip(choices);
    all.filter(|(level, choices)| is_nameless(choices) && has_speeds(*level)).map(|(level, _)| level).next()
}

/// Describes a tier without fitting hardware: one of its ports, and the options that exclude other hardware.
fn no_platform(
    network: &ExistingNetwork,
    positions: &Positions,
    level: Level,
    wanted: &HardwareOptions,
) -> String {
    let ends = network.cables.iter().flat_map(|cable| cable.ends);
    let plug = ends.into_iter().find(|plug| positions.levels[plug.device as usize] == level);
    let port = plug.map_or_else(String::new, |plug| {
        let [device, port] = [network.devices.name(plug.device), network.ports.name(plug.port)];
        format!(" such as `{port}` of `{device}`")
    });
    let os = wanted.os.map(|os| format!("`--os {}`", os.keyword()));
    let platform = wanted.platform(level).map(|name| format!("`--platform {name}`"));
    let options: Vec<String> = os.into_iter().chain(platform).collect();
    let (with, help) = match options.as_slice() {
        [] => (String::new(), "rename the ports, or set `--platform`".to_owned()),
        some => {
            let options = some.join(" and ");
            (
                format!(" and fits {options}"),
                format!("omit {options}, or give the ports the names of that system"),
            )
        }
    };
    format!("no platform has the ports of {}{port}{with}; help: {help}", level.label())
}

/// Describes tiers whose platforms always have different speeds at the two ends of a cable.
fn no_common_speed(choices: &[Vec<Option<Choice>>]) -> String {
    let of = |level: usize, is_up: bool| -> BTreeSet<String> {
        let fits = choices[level].iter().flatten().map(|(tier, _)| &tier.base);
        let block = |fit: &Fit| if is_up { fit.up } else { fit.down };
        fits.map(|fit| format!("{} as `{}`", block(fit).breakout.speed, fit.platform.id)).collect()
    };
    let shown = |all: &BTreeSet<String>| {
        let more = if all.len() > 3 { ", ..." } else { "" };
        all.iter().take(3).cloned().collect::<Vec<_>>().join(", ") + more
    };
    for (lower, (name, above)) in [("T0", "T1"), ("T1", "T2")].into_iter().enumerate() {
        let (up, down) = (of(lower, true), of(lower + 1, false));
        let speeds = |all: &BTreeSet<String>| -> BTreeSet<String> {
            all.iter().filter_map(|text| text.split(' ').next().map(str::to_owned)).collect()
        };
        if !up.is_empty() && !down.is_empty() && speeds(&up).is_disjoint(&speeds(&down)) {
            return format!(
                "the ends of a cable between {name} and {above} have different speeds: uplinks of a {name} have {}, and \
                 downlinks of a {above} have {}; help: set `--platform {}=NAME` and `--platform {}=NAME` to platforms with one speed",
                shown(&up),
                shown(&down),
                name.to_lowercase(),
                above.to_lowercase()
            );
        }
    }
    "the platforms with these port names have different speeds at the ends of a cable".to_owned()
}

/// Sorts the combinations, and keeps the most likely ones, with at most [`COMBINATIONS_ALIKE`] for each
/// numbering of the ports.
fn keep_likeliest(combinations: &mut Vec<(CombinationPenalty, [&Option<Choice>; 3])>) {
    combinations.sort_by_key(|(against, _)| *against);
    let mut alike: BTreeMap<_, usize> = BTreeMap::new();
    combinations.retain(|(_, all)| {
        let readings = all.map(|choice| choice.as_ref().map(|(tier, _)| Arc::clone(&tier.base.reading)));
        let count = alike.entry(readings).or_default();
        *count += 1;
        *count <= COMBINATIONS_ALIKE
    });
    combinations.truncate(COMBINATIONS_MAX);
}

/// Returns the devices that are plugged into the ports of each tier.
fn seats(network: &ExistingNetwork, positions: &Positions) -> [Vec<PortOccupants>; 3] {
    let parallel = shape::parallel(network, positions, TierId::T0);
    [
        vec![
            PortOccupants::of_nics(network, positions),
            PortOccupants::of(network, positions, Level::T0, parallel),
        ],
        vec![PortOccupants::of(network, positions, Level::T1, parallel)],
        Vec::new(),
    ]
}

/// The index of the device in each port, over all switches of a tier.
struct PortOccupants {
    is_up: bool,
    parallel: u16,
    occupants: Vec<(SmolStr, u16)>,
}

impl PortOccupants {
    fn new(
        network: &ExistingNetwork,
        is_up: bool,
        parallel: u16,
        taken: BTreeSet<(u32, u16)>,
    ) -> PortOccupants {
        let taken =
            taken.into_iter().map(|(port, index)| (network.ports.name(port).clone(), index)).collect();
        PortOccupants { is_up, parallel, occupants: taken }
    }

    /// Returns the NICs at the downlinks of T0s.
    fn of_nics(network: &ExistingNetwork, positions: &Positions) -> PortOccupants {
        let rails = positions.nics.rails.max(1);
        let share = (positions.nics.per_node / rails).max(1);
        let mut taken = BTreeSet::new();
        for (cable, at) in network.cables.iter().zip(0_u32..) {
            for (own, far) in [(0, 1), (1, 0)] {
                let (own, far) = (cable.ends[own], cable.ends[far]);
                let is_t0 = positions.levels[own.device as usize] == Level::T0;
                if let (true, Place::Node(node), Some(nic)) =
                    (is_t0, positions.places[far.device as usize], positions.nics.numbers.get(&at))
                {
                    taken.insert((own.port, node.index.saturating_mul(share).saturating_add(nic / rails)));
                }
            }
        }
        PortOccupants::new(network, false, 1, taken)
    }

    /// Returns the T1s at the uplinks of T0s, or the T0s at the downlinks of T1s.
    fn of(network: &ExistingNetwork, positions: &Positions, level: Level, parallel: u16) -> PortOccupants {
        let other = if level == Level::T0 { Level::T1 } else { Level::T0 };
        let mut taken = BTreeSet::new();
        for cable in &network.cables {
            for (own, far) in [(0, 1), (1, 0)] {
                let (own, far) = (cable.ends[own], cable.ends[far]);
                let is_meant = positions.levels[own.device as usize] == level
                    && positions.levels[far.device as usize] == other;
                if let Some(far) = positions.switch(far.device).filter(|_| is_meant) {
                    taken.insert((own.port, far.index));
                }
            }
        }
        PortOccupants::new(network, level == Level::T0, parallel.max(1), taken)
    }

    /// Counts the devices that a fit would place in another device's port.
    fn count_conflicts(&self, fit: &Fit) -> usize {
        if !fit.is_named {
            return 0;
        }
        let numbers = fit.indices(self.is_up);
        let is_other = |(port, index): &&(SmolStr, u16)| {
            numbers.get(port).is_none_or(|number| number / self.parallel != *index)
        };
        self.occupants.iter().filter(is_other).count()
    }
}

/// Returns whether cables between two tiers have the same speed at both ends, in every zone.
fn meet(lower: Option<&Choice>, upper: Option<&Choice>) -> bool {
    let (Some((lower, _)), Some((upper, _))) = (lower, upper) else { return true };
    let zones = lower.by_zone.keys().chain(upper.by_zone.keys()).map(|zone| Some(*zone)).chain([None]);
    zones.into_iter().all(|zone| {
        let of = |tier: &TierHardware| {
            zone.and_then(|zone| tier.by_zone.get(&zone).cloned()).unwrap_or_else(|| tier.base.clone())
        };
        of(lower).up.breakout.speed == of(upper).down.breakout.speed
    })
}

/// Returns the possible hardware of a tier: one platform for all switches, one per plane or zone, or other
/// platforms for single switches.
fn of_tier(
    network: &ExistingNetwork,
    positions: &Positions,
    level: Level,
    panels: &Panels,
    wanted: &HardwareOptions,
) -> Vec<Choice> {
    let plain = |base| TierHardware { base, by_plane: BTreeMap::new(), by_zone: BTreeMap::new() };
    let levels = &positions.levels;
    let whole = fits_by(network, levels, level, |_| (), panels, wanted);
    let whole: Vec<Fit> = whole.into_iter().flat_map(|((), fits)| fits).collect();
    let stated = models(network, levels, level, |_| (), panels).remove(&()).unwrap_or_default();
    if !whole.is_empty() && stated.len() < 2 {
        return whole.into_iter().map(|fit| (plain(fit), Vec::new())).collect();
    }
    for by_plane in [true, false] {
        let part = |device: u32| match positions.places[device as usize] {
            Place::Switch(switch) if by_plane => u16::from(switch.plane.0),
            Place::Switch(switch) => switch.zone.0,
            Place::Node(_) => 0,
        };
        let parts = fits_by(network, levels, level, part, panels, wanted);
        if parts.len() < 2 {
            continue;
        }
        if let Some((base, others)) = common(&parts) {
            let mut tier = plain(base);
            if by_plane {
                tier.by_plane = others;
            } else {
                tier.by_zone = others;
            }
            return vec![(tier, Vec::new())];
        }
    }
    if let Some((base, others)) = common(&fits_by(network, levels, level, |device| device, panels, wanted)) {
        return vec![(plain(base), others.into_iter().collect())];
    }
    nameless(panels, level, wanted).into_iter().map(|fit| (plain(fit), Vec::new())).collect()
}

/// Returns the hardware that fits most parts, and the hardware of the others; `None` if no hardware fits one
/// of the parts.
fn common<K: Ord + Copy>(parts: &[(K, Vec<Fit>)]) -> Option<(Fit, BTreeMap<K, Fit>)> {
    let mut counts = BTreeMap::new();
    for (_, fits) in parts {
        for (rank, fit) in fits.iter().enumerate() {
            let (count, ranks, _) = counts.entry(fit.key()).or_insert((0_usize, 0_usize, fit));
            (*count, *ranks) = (*count + 1, *ranks + rank);
        }
    }
    let best = counts.into_values().max_by_key(|(count, ranks, _)| (*count, std::cmp::Reverse(*ranks)));
    let base = best.map(|(_, _, fit)| fit.clone())?;
    let mut others = BTreeMap::new();
    for (key, fits) in parts {
        if !fits.iter().any(|fit| fit.key() == base.key()) {
            others.insert(*key, fits.first()?.clone());
        }
    }
    Some((base, others))
}
