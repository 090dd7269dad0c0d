//! Options that permit a design if no design meets the requirements.
//!
//! In: requirements that no design meets. Out: options with their values. Invariants: each option was tried,
//! and is sufficient by itself.

use crate::need::{Limits, Ratio, Requirements};

/// Ratios to try, the smallest first.
const RATIOS: [u32; 4] = [2, 3, 4, 8];

/// Numbers of planes to try, the smallest first.
const PLANES: [u16; 5] = [1, 2, 4, 8, 16];

/// Returns the options that each permit a design, in command-line syntax. `permits` returns whether a design
/// meets the requirements.
pub fn advice(need: &Requirements, mut permits: impl FnMut(&Requirements) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let tiers = (1..=3).filter(|tiers| !need.tiers.contains(tiers));
    let tiers =
        tiers.into_iter().find(|tiers| permits(&Requirements { tiers: vec![*tiers], ..need.clone() }));
    found.extend(tiers.map(|tiers| format!("`--tiers {tiers}`")));
    let planes = PLANES.into_iter().filter(|planes| !need.planes.contains(planes));
    let planes =
        planes.into_iter().find(|planes| permits(&Requirements { planes: vec![*planes], ..need.clone() }));
    found.extend(planes.map(|planes| format!("`--planes {planes}`")));
    let mut with = |limits: Limits| permits(&Requirements { limits, ..need.clone() });
    let ratios = RATIOS.map(|down| Ratio { down, up: 1 }).into_iter();
    let ratios = ratios.filter(|ratio| !ratio.is_within(need.limits.oversubscription));
    let ratio = ratios.into_iter().find(|ratio| with(Limits { oversubscription: *ratio, ..need.limits }));
    found.extend(ratio.map(|ratio| format!("`closc design --oversubscription {ratio}`")));
    let is_grown = need.limits.grow_to.is_some() && with(Limits { grow_to: None, ..need.limits });
    found.extend(is_grown.then(|| "a smaller `--grow-to`, or none".to_owned()));
    let fails = need.limits.t0_loss.is_some() || need.limits.t1_loss.is_some();
    let fails = fails && with(Limits { t0_loss: None, t1_loss: None, ..need.limits });
    found.extend(fails.then(|| "a larger limit of `--fail`".to_owned()));
    found
}
