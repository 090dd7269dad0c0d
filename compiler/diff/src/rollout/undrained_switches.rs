//! Switches that are undrained and lose a cable. They are configured before their neighbours use them again.
//!
//! In: the exceptions of both plans and the removed cables. Out: [`UndrainedSwitches`], and its waves, upper
//! tiers first. Invariants: during such a wave, the tiers below still avoid its switches, so they can change
//! in any order. Such waves are not needed if hosts choose paths, because hosts get new tables after all
//! switches have changed.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_topology::{Link, Switch, TierId};

use super::configured_switches::ConfiguredSwitches;
use super::step::Step;
use super::{RolloutError, Wave, bare_wave, ends};
use crate::population::{Population, is_drained};

/// Switches above T0 that are undrained, or have an undrained cable, and whose previous routes use a removed cable.
pub(super) struct UndrainedSwitches {
    tiers: BTreeMap<TierId, BTreeSet<Switch>>,
    /// Whether one of them carries traffic and also loses a cable that carries traffic. Its new configuration does not
    /// have the port, so it must not come before the cable is drained.
    loses_cable_in_use: bool,
}

impl UndrainedSwitches {
    pub(super) fn of(
        population: &Population,
        configured: &ConfiguredSwitches<'_>,
        old: &Plan,
        new: &Plan,
    ) -> UndrainedSwitches {
        let mut tiers: BTreeMap<TierId, BTreeSet<Switch>> = BTreeMap::new();
        if old.is_source_routed() {
            return UndrainedSwitches { tiers, loses_cable_in_use: false };
        }
        let fabric = old.fabric();
        let removed = population.cables.removed.iter().filter(|link| fabric.is_drained(**link));
        let losing: BTreeSet<Switch> = removed.flat_map(|link| ends(fabric, *link)).collect();
        let used_again = undrained_switches(fabric, new.fabric(), &losing);
        for switch in configured.of_new(used_again.into_iter().filter(|switch| switch.tier != TierId::T0)) {
            tiers.entry(switch.tier).or_default().insert(switch);
        }
        let in_use = population.cables.removed.iter().filter(|link| !fabric.is_drained(**link));
        let losing: BTreeSet<Switch> = in_use.flat_map(|link| ends(fabric, *link)).collect();
        let is_in_use = |switch: &Switch| !is_drained(&fabric.topology().exceptions, *switch);
        let mut switches = tiers.values().flatten();
        let loses_cable_in_use = switches.any(|switch| is_in_use(switch) && losing.contains(switch));
        UndrainedSwitches { tiers, loses_cable_in_use }
    }

    /// Rejects a rollout in which one of these switches would lose a cable before that cable is drained.
    pub(super) fn reject_lost_cables(&self) -> Result<(), RolloutError> {
        if !self.loses_cable_in_use {
            return Ok(());
        }
        Err(RolloutError::AtOnce {
            reason: "a switch with an undrained cable also loses a cable in use: remove that cable in a separate \
                 change",
        })
    }

    /// Returns the waves that configure these switches before the tiers below use them again.
    pub(super) fn waves(&self) -> impl Iterator<Item = Wave> {
        self.tiers.values().rev().map(|switches| {
            let steps = vec![Step::Change { switches: switches.len() }, Step::Verify];
            Wave { switches: switches.clone(), ..bare_wave(None, steps) }
        })
    }

    /// Returns all these switches.
    pub(super) fn switches(&self) -> BTreeSet<Switch> {
        self.tiers.values().flatten().copied().collect()
    }
}

/// Returns those of `some` that are undrained, or whose cables are undrained.
fn undrained_switches(old: &Fabric, new: &Fabric, some: &BTreeSet<Switch>) -> BTreeSet<Switch> {
    let (before, after) = (&old.topology().exceptions, &new.topology().exceptions);
    let ended = |link: &&Link| !after.drained_links.contains(link) && new.has_link(**link);
    let links = before.drained_links.iter().filter(ended);
    let of_links: BTreeSet<Switch> = links.flat_map(|link| ends(old, *link)).collect();
    let ends_here = |switch: &&Switch| {
        of_links.contains(switch) || (is_drained(before, **switch) && !is_drained(after, **switch))
    };
    some.iter().filter(ends_here).copied().collect()
}
