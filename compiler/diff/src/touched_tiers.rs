//! Number of changed switches by tier and plane.
//!
//! In: the artefacts that change, and the added and removed switches. Out: one row per plane and tier.
//! Invariants: the result has a row for each plane and tier of either side, or is empty if no switch changes.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::{PlaneId, Switch, TierId};

use crate::population::Population;
use crate::report::TouchedTier;
use crate::touched_artefacts::Item;

/// Counts switches by plane and tier. The list is empty if no switch is added, removed or changed.
pub(crate) fn touched_tiers(
    changed: &BTreeSet<Item>,
    population: &Population,
    old: &Plan,
    new: &Plan,
) -> Vec<TouchedTier> {
    let count = |switches: &[Switch]| {
        let mut found: BTreeMap<(PlaneId, TierId), u64> = BTreeMap::new();
        for switch in switches {
            *found.entry((switch.plane, switch.tier)).or_default() += 1;
        }
        found
    };
    let (added, removed) = (count(&population.switches.added), count(&population.switches.removed));
    let planes = old.topology().planes.max(new.topology().planes);
    let has = |tier: TierId| [old, new].iter().any(|plan| plan.topology().tier(tier).is_some());
    let places =
        (0..planes).flat_map(|plane| TierId::ALL.into_iter().map(move |tier| (PlaneId(plane), tier)));
    let row = |(plane, tier): (PlaneId, TierId)| {
        let after = || new.fabric().tier_switches(plane, tier);
        TouchedTier {
            plane: plane.0,
            tier: tier.keyword().to_owned(),
            old: old.fabric().tier_switches(plane, tier).count() as u64,
            new: after().count() as u64,
            added: added.get(&(plane, tier)).copied().unwrap_or(0),
            removed: removed.get(&(plane, tier)).copied().unwrap_or(0),
            changed: after().filter(|switch| changed.contains(&Item::Switch(*switch))).count() as u64,
        }
    };
    let rows: Vec<TouchedTier> = places.filter(|(_, tier)| has(*tier)).map(row).collect();
    let is_touched = rows.iter().any(|row| row.added + row.removed + row.changed > 0);
    if is_touched { rows } else { Vec::new() }
}
