//! Steps that change switches while they are drained.
//!
//! In: the drained elements, and the switches whose files change. Out: [`Step`]s, upgrades first. Invariants: upgraded
//! switches get all of their configuration with the new release, so no other step counts them.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::Switch;

use super::Work;
use super::step::Step;
use crate::mode::Place;
use crate::population::{Population, Upgrade, find_upgrade};

/// Returns the switches of `places` that are upgraded to another release.
pub(super) fn find_upgrades(places: &[Place], old: &Plan, new: &Plan) -> BTreeMap<Switch, Upgrade> {
    let upgrade = |place: &Place| match place {
        Place::Switch(switch) => Some((*switch, find_upgrade(old.fabric(), new.fabric(), *switch)?)),
        Place::Link(_) => None,
    };
    places.iter().filter_map(upgrade).collect()
}

/// Returns one step for each upgrade.
pub(super) fn list_upgrades(upgraded: &BTreeMap<Switch, Upgrade>) -> impl Iterator<Item = Step> {
    let mut counts: BTreeMap<Upgrade, usize> = BTreeMap::new();
    for upgrade in upgraded.values() {
        *counts.entry(*upgrade).or_default() += 1;
    }
    counts.into_iter().map(|((os, old, new), switches)| Step::Upgrade { os, old, new, switches })
}

/// Returns the steps that configure drained switches. `keeping` are those that keep obsolete configuration.
pub(super) fn list_configuration(
    switches: &BTreeSet<Switch>,
    keeping: &BTreeSet<Switch>,
    work: &Work,
    population: &Population,
) -> impl Iterator<Item = Step> {
    // A fabric that only shrinks has nothing to add, and one that only grows has nothing to remove.
    let (grows, shrinks) = (population.grows(), population.shrinks());
    let adds = !work.keeps_entries && (grows || !shrinks);
    let removes = !work.keeps_entries && (shrinks || !grows);
    let reloading = switches.intersection(&work.slow).count();
    let in_place = switches.len() - reloading;
    let steps = [
        adds.then_some(Step::Add { switches: in_place }),
        Some(Step::Change { switches: in_place }),
        Some(Step::Reload { switches: reloading }),
        removes.then_some(Step::Remove { switches: switches.difference(keeping).count() }),
    ];
    steps.into_iter().flatten().filter_map(Step::if_any)
}
