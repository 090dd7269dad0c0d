//! The switches that a change of a setting drains, plane by plane.
//!
//! In: a change, the tiers that it concerns, and the switches with moved or replaced cables. Out: switches of the old
//! plan. Invariants: a switch whose cables, hardware and files stay the same is not drained. Switches that the old plan
//! already drains are not returned.

use std::collections::BTreeSet;

use closc_topology::{Switch, TierId};

use super::configured_switches::ConfiguredSwitches;
use crate::change::{Change, TierSetting};
use crate::mode::{
    concerns_cables, concerns_only_files, concerns_releases, is_of_addresses, judge, touched_zones,
};
use crate::population::{is_drained, is_upgraded};
use crate::verdict::is_of_pools;

/// Returns the switches of `tiers` that a change drains. New wiring of the third tier drains only switches with a moved
/// cable. Another length or medium drains only switches with a replaced cable, and those whose files change. New
/// hardware of single zones drains only switches of these zones. A release drains only switches that it upgrades. A
/// change of files or of IPv4 addresses drains only switches whose files change.
pub(super) fn drained_switches(
    change: &Change,
    (tiers, reason): (&[TierId], &str),
    (moved, recabled): (&BTreeSet<Switch>, &BTreeSet<Switch>),
    configured: &ConfiguredSwitches<'_>,
) -> Vec<Switch> {
    let (old, new) = (configured.old(), configured.new_plan());
    let only_files =
        concerns_only_files(change) || is_of_addresses(reason, change, old.fabric(), new.fabric());
    let wired = matches!(change, Change::T2(_));
    let by_pools = is_of_pools(judge(change, old.fabric(), new.fabric()).reason);
    let zones = match change {
        Change::Tier(tier, TierSetting::ByZone(edit)) if !by_pools => {
            Some(touched_zones(*tier, edit, old.fabric(), new.fabric()))
        }
        _ => None,
    };
    let (cables, releases) = (concerns_cables(change), concerns_releases(change));
    let of_change = |switch: &Switch| {
        tiers.contains(&switch.tier)
            && (!wired || moved.contains(switch))
            && (!cables || recabled.contains(switch) || configured.may_change(*switch))
            && (!releases || is_upgraded(old.fabric(), new.fabric(), *switch))
            && zones.as_ref().is_none_or(|all| all.contains(&switch.zone))
            && !is_drained(&old.topology().exceptions, *switch)
            && (!only_files || configured.may_change(*switch))
    };
    old.switches().filter(of_change).collect()
}
