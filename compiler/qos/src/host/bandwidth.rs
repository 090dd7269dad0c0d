//! Converts the weights of switch queues to the shares of a NIC.
//!
//! In: a [`Profile`]. Out: a percentage for each weighted priority. Invariants: the shares sum to 100 and none is 0.
//! They approximate the weights by the largest-remainder method, lower priorities first.

use std::collections::BTreeMap;

use super::weight;
use crate::codes::{Percent, Priority};
use crate::profile::Profile;

/// Returns the share of each priority with a weighted class. A priority that also has a strict class is
/// strict, so it has no share.
pub(super) fn shares(profile: &Profile) -> BTreeMap<Priority, Percent> {
    let mut weights: BTreeMap<Priority, u32> = BTreeMap::new();
    for class in profile.classes() {
        if let Some(weight) = weight(class.scheduler) {
            *weights.entry(class.priority).or_default() += weight;
        }
    }
    for class in profile.classes().filter(|class| weight(class.scheduler).is_none()) {
        weights.remove(&class.priority);
    }
    let sum: u32 = weights.values().sum();
    // Each priority has a share of at least 1. The rest is divided by weight.
    let rest = 100 - weights.len() as u32;
    let mut parts: Vec<_> = weights
        .iter()
        .map(|(priority, weight)| (*priority, 1 + rest * weight / sum, rest * weight % sum))
        .collect();
    let given: u32 = parts.iter().map(|(_, share, _)| share).sum();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|place| (std::cmp::Reverse(parts[*place].2), *place));
    for place in order.into_iter().take((100_u32.saturating_sub(given)) as usize) {
        parts[place].1 += 1;
    }
    let percent = |share: u32| Percent::new(share as u8).expect("shares sum up to 100");
    parts.into_iter().map(|(priority, share, _)| (priority, percent(share))).collect()
}
