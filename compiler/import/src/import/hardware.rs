//! Hardware of all tiers that fits together.
//!
//! In: a plant, and where its devices are. Out: combinations, the likeliest first. Invariants: both ends of a cable have one speed.

use std::collections::BTreeMap;

use super::Fits;
use crate::fit::{Fit, Panels, Wanted, fits_by, nameless};
use crate::plant::{Fault, Level, Plant, Refused};
use crate::position::{Place, Positions};
use crate::text::TierHardware;

const TIERS: [Level; 3] = [Level::T0, Level::T1, Level::T2];

/// The most combinations that are tried.
const COMBINATIONS_MAX: usize = 24;

/// Hardware of a fabric.
#[derive(Debug, Clone)]
pub(crate) struct Hardware {
    pub(crate) tiers: [Option<TierHardware>; 3],
    /// Single switches of other hardware.
    devices: Vec<(u32, Fit)>,
}

impl Hardware {
    /// What most switches of each tier are.
    pub(crate) fn fits(&self) -> Fits {
        self.tiers.clone().map(|tier| tier.map(|tier| tier.base))
    }

    /// Single switches, by name.
    pub(crate) fn devices(&self, plant: &Plant) -> Vec<(String, Fit)> {
        self.devices
            .iter()
            .map(|(device, fit)| (plant.devices.name(*device).to_string(), fit.clone()))
            .collect()
    }

    /// Whether ports are matched by order where their names differ.
    pub(crate) fn ports_may_differ(&self, positions: &Positions) -> bool {
        !positions.by_name || self.tiers.iter().flatten().any(|tier| !tier.base.is_named)
    }
}

/// The likeliest hardware of each tier as a whole.
pub(crate) fn whole(plant: &Plant, levels: &[Level], panels: &Panels, wanted: &Wanted) -> Fits {
    TIERS.map(|level| {
        let found = fits_by(plant, levels, level, |_| (), panels, wanted);
        found.into_iter().next().and_then(|((), fits)| fits.into_iter().next())
    })
}

/// What a tier may be made of.
type Choice = (TierHardware, Vec<(u32, Fit)>);

/// Finds the combinations.
pub(crate) fn candidates(
    plant: &Plant,
    positions: &Positions,
    panels: &Panels,
    wanted: &Wanted,
) -> Result<Vec<Hardware>, Refused> {
    let mut choices: Vec<Vec<Option<Choice>>> = Vec::new();
    for level in TIERS {
        if !positions.levels.contains(&level) {
            choices.push(vec![None]);
            continue;
        }
        let found = of_tier(plant, positions, level, panels, wanted);
        if found.is_empty() {
            let text = format!("no platform will do for {}: see `closc platforms`", level.label());
            return Err(Fault { place: None, text }.into());
        }
        choices.push(found.into_iter().map(Some).collect());
    }
    let mut combinations: Vec<(usize, Hardware)> = Vec::new();
    for (rank0, t0) in choices[0].iter().enumerate() {
        for (rank1, t1) in choices[1].iter().enumerate().filter(|(_, t1)| meet(t0.as_ref(), t1.as_ref())) {
            for (rank2, t2) in choices[2].iter().enumerate().filter(|(_, t2)| meet(t1.as_ref(), t2.as_ref()))
            {
                let chosen = [t0, t1, t2].map(Clone::clone);
                let devices = chosen.iter().flatten().flat_map(|(_, devices)| devices.clone()).collect();
                let tiers = chosen.map(|choice| choice.map(|(tier, _)| tier));
                combinations.push((rank0 + rank1 + rank2, Hardware { tiers, devices }));
            }
        }
    }
    combinations.sort_by_key(|(rank, _)| *rank);
    combinations.truncate(COMBINATIONS_MAX);
    if combinations.is_empty() {
        let text =
            "no platforms whose ports have these names have one speed at both ends of a cable".to_owned();
        return Err(Fault { place: None, text }.into());
    }
    Ok(combinations.into_iter().map(|(_, hardware)| hardware).collect())
}

/// Whether cables between two tiers have one speed at both ends, in each zone.
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

/// What a tier may be: one platform, one for each plane, or each zone, or single switches of another.
fn of_tier(
    plant: &Plant,
    positions: &Positions,
    level: Level,
    panels: &Panels,
    wanted: &Wanted,
) -> Vec<Choice> {
    let plain = |base| TierHardware { base, by_plane: BTreeMap::new(), by_zone: BTreeMap::new() };
    let levels = &positions.levels;
    let whole = fits_by(plant, levels, level, |_| (), panels, wanted);
    let whole: Vec<Fit> = whole.into_iter().flat_map(|((), fits)| fits).collect();
    if !whole.is_empty() {
        return whole.into_iter().map(|fit| (plain(fit), Vec::new())).collect();
    }
    for by_plane in [true, false] {
        let part = |device: u32| match positions.places[device as usize] {
            Place::Switch(switch) if by_plane => u16::from(switch.plane.0),
            Place::Switch(switch) => switch.zone.0,
            Place::Node(_) => 0,
        };
        let parts = fits_by(plant, levels, level, part, panels, wanted);
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
    if let Some((base, others)) = common(&fits_by(plant, levels, level, |device| device, panels, wanted)) {
        return vec![(plain(base), others.into_iter().collect())];
    }
    nameless(panels, level, wanted).into_iter().map(|fit| (plain(fit), Vec::new())).collect()
}

/// The hardware that fits most parts, and that of the others; nothing where a part has none.
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
