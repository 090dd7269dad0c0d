//! The minimum number of cables between T0s and T1s that growth moves, and a port order that reaches this
//! minimum.
//!
//! In: two fabrics. Out: [`MinimalMoves`]. Invariants: the bound holds for every assignment of ports. Without
//! exceptions and with the same cages, the proposed order reaches it.
//!
//! The bound: a cable that stays plugged at both ends joins the same T0 and the same T1 in both fabrics. If
//! the old fabric has `a` cables between this T0 and T1, and the new one has `b`, at most the smaller number
//! can stay. So at least `a - b` cables are moved or removed, and the sum over all pairs is a bound for the
//! fabric.
//!
//! The order: the new fabric has the old one as the first entries of its port order. Then each cable whose
//! number is below both `a` and `b` keeps its ports at the T0 and the T1. So for each pair, the smaller
//! number of cables stays.

use std::collections::BTreeMap;

use closc_diagnostics::figures::number;
use closc_fabric::Fabric;
use closc_topology::{Link, PortStage, Switch, TierId, Topology, field};
use schemars::JsonSchema;
use serde::Serialize;

use crate::population::{MovedCable, Population};
use crate::words::plural;

/// Moves of T0-T1 cables during growth, and the port order with the fewest moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MinimalMoves {
    /// Cables of the old fabric.
    pub plugged: u64,
    /// Minimum number of cables moved or removed with any port order.
    pub bound: u64,
    /// Cables that are moved with the new file as it is.
    pub as_written: u64,
    /// Cables that are removed with the new file as it is.
    pub as_written_removed: u64,
    /// Cables that the work order moves.
    pub moved: u64,
    /// Cables that the work order removes.
    pub removed: u64,
    /// Settings to write into the new file; empty if it needs none.
    pub settings: Vec<SettingValue>,
}

/// A setting of a fabric file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SettingValue {
    /// Path of the setting.
    pub path: String,
    /// Value in the notation of fabric files.
    pub value: String,
}

impl MinimalMoves {
    /// Compares two fabrics. Also returns the new topology, with the ports in the order of the old one if
    /// fewer cables then move or are removed.
    pub fn compare(old: &Fabric, new: &Fabric) -> (MinimalMoves, Topology) {
        let (plugged, bound) = lower_bound(old, new);
        let as_written = CableWork::count(old, new);
        let topology = new.topology();
        let found = |work: CableWork, settings| MinimalMoves {
            plugged,
            bound,
            as_written: as_written.moved,
            as_written_removed: as_written.removed,
            moved: work.moved,
            removed: work.removed,
            settings,
        };
        let unchanged = || (found(as_written, Vec::new()), topology.clone());
        if as_written.sum() <= bound {
            return unchanged();
        }
        let ordered = topology.with_port_order(old.topology().port_stages());
        let work = CableWork::count(old, &Fabric::new(ordered.clone().into()));
        if work.sum() >= as_written.sum() {
            return unchanged();
        }
        let settings = settings(topology, &ordered);
        (found(work, settings), ordered)
    }

    /// Writes the bound and the settings for people. `file` is the new file.
    pub fn summary(&self, file: &str) -> String {
        if self.plugged == 0 {
            return "the old fabric has no t0-t1 cables, so no port order moves any\n".to_owned();
        }
        let cables = plural(self.plugged, "plugged t0-t1 cable", "plugged t0-t1 cables");
        let removes = match self.as_written_removed {
            0 => String::new(),
            count => format!(" and removes {}", number(count)),
        };
        let written = if self.as_written + self.as_written_removed == 0 {
            format!("`{file}` moves none of {cables}\n")
        } else {
            format!(
                "`{file}` moves {} of {cables}{}; any port order {} at least {}\n",
                number(self.as_written),
                removes,
                if self.as_written_removed + self.removed == 0 { "moves" } else { "moves or removes" },
                number(self.bound),
            )
        };
        if self.settings.is_empty() {
            return written;
        }
        let lines = self.settings.iter().map(|SettingValue { path, value }| format!("  {path}: {value}\n"));
        let removed = match self.removed {
            0 => String::new(),
            count => format!(", and {} are removed", number(count)),
        };
        format!(
            "{written}with these settings, {} move{removed}:\n{}",
            number(self.moved),
            lines.collect::<String>()
        )
    }
}

/// Returns the settings that wire a fabric for a later stage of its growth. A cable that the later stage also
/// has is already in the ports of that stage.
pub fn settings_for_growth(first: &Topology, later: &Topology) -> Vec<SettingValue> {
    settings(first, &first.with_port_order(later.port_stages()))
}

/// Returns the settings in which the second topology differs from the first.
fn settings(written: &Topology, ordered: &Topology) -> Vec<SettingValue> {
    let order = format!(
        "[{}]",
        ordered.t0.port_order.iter().map(PortStage::to_string).collect::<Vec<_>>().join(", ")
    );
    let mut found = vec![SettingValue { path: field!("tiers.t0.port_order").to_string(), value: order }];
    let spare = [
        (field!("tiers.t0.up.spare"), written.t0.up.spare, ordered.t0.up.spare),
        (field!("tiers.t1.down.spare"), written.t1.down.spare, ordered.t1.down.spare),
    ];
    let more = spare.into_iter().filter(|(_, before, after)| before != after);
    found.extend(
        more.map(|(path, _, after)| SettingValue { path: path.to_string(), value: after.to_string() }),
    );
    found
}

/// T0-T1 cables that are moved, and those that are removed.
#[derive(Debug, Clone, Copy)]
struct CableWork {
    moved: u64,
    removed: u64,
}

impl CableWork {
    /// Counts T0-T1 cables that are moved or removed.
    fn count(old: &Fabric, new: &Fabric) -> CableWork {
        let population = Population::compare(old, new);
        let moved = population.moved.iter().filter(|MovedCable { old, .. }| is_above_t0(old)).count();
        let removed = population.cables.removed.iter().filter(|link| is_above_t0(link)).count();
        CableWork { moved: moved as u64, removed: removed as u64 }
    }

    fn sum(self) -> u64 {
        self.moved + self.removed
    }
}

/// Returns the cables between T0s and T1s of the old fabric, and how many of them every port order has to
/// move or remove.
fn lower_bound(old: &Fabric, new: &Fabric) -> (u64, u64) {
    let (before, after) = (pairs(old), pairs(new));
    let kept = |pair| after.get(pair).copied().unwrap_or(0);
    let bound = before.iter().map(|(pair, cables)| cables.saturating_sub(kept(pair))).sum();
    (before.values().sum(), bound)
}

/// Counts the cables between each pair of T0 and T1.
fn pairs(fabric: &Fabric) -> BTreeMap<(Switch, Switch), u64> {
    let mut found = BTreeMap::new();
    for link in fabric.links().filter(is_above_t0) {
        let Link::Fabric { lower, .. } = link else { continue };
        if let Some((upper, _)) = fabric.upper_end(link) {
            *found.entry((lower, upper)).or_insert(0) += 1;
        }
    }
    found
}

fn is_above_t0(link: &Link) -> bool {
    matches!(link, Link::Fabric { lower, .. } if lower.tier == TierId::T0)
}
