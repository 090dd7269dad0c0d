//! Waves with device names, for reports.
//!
//! In: a rollout and its two plans. Out: a [`report::Wave`] for each of its waves. Invariants: removed
//! elements are named as in the old plan, and added ones as in the new plan.

use std::collections::BTreeSet;

use closc_diagnostics::figures::percent;
use closc_plan::Plan;
use closc_topology::TierId;

use super::{Rollout, Step, Wave, drain_places, worst};
use crate::effect::place_name;
use crate::impact::impact;
use crate::mode::Place;
use crate::report::{self, WaveStep};
use crate::words;

/// Converts the waves of a rollout to those of a report, with device names.
pub fn named_waves(rollout: &Rollout, old: &Plan, new: &Plan) -> Vec<report::Wave> {
    let step = |step: &Step| WaveStep {
        action: step.keyword().to_owned(),
        text: if rollout.at_most { step.at_most() } else { step.to_string() },
        seconds: step.duration().0,
    };
    let places = |all: &[Place]| all.iter().map(|place| place_name(*place, old)).collect();
    let taken = worst(&impact(old.fabric(), new.fabric())).loss;
    let taken_before = loss_before_last(rollout, old);
    let count = rollout.waves.len();
    let waves = rollout.waves.iter().enumerate().map(|(at, wave)| report::Wave {
        plane: wave.plane.map(|plane| plane.0),
        text: if at + 1 == count && taken > taken_before + f64::EPSILON {
            let loss =
                format!("from here on, pairs of NICs lose up to {} of their bandwidth", percent(taken));
            match wave.plane {
                None if !replaces_nics(wave) => loss,
                None | Some(_) => format!("{}; {loss}", traffic_impact(wave, old, new)),
            }
        } else {
            traffic_impact(wave, old, new)
        },
        drained: places(&wave.drained),
        gone: places(&wave.removed_places),
        apart: wave.pending_places.iter().map(|place| place_name(*place, new)).collect(),
        switches: wave
            .switches
            .iter()
            .map(|switch| new.topology().naming.switch(*switch).to_string())
            .collect(),
        at_most: rollout.at_most && !wave.switches.is_empty(),
        steps: wave.steps.iter().map(step).collect(),
        back: wave.rollback().iter().map(step).collect(),
        seconds: wave.duration.0,
    });
    waves.collect()
}

fn replaces_nics(wave: &Wave) -> bool {
    wave.steps.iter().any(|step| matches!(step, Step::ReplaceNics { .. }))
}

/// Describes the effect of a wave on traffic.
fn traffic_impact(wave: &Wave, old: &Plan, new: &Plan) -> String {
    match wave.plane {
        None if replaces_nics(wave) => {
            "nodes lose their paths one after the other, while their NICs are replaced".to_owned()
        }
        None if !wave.pending_places.is_empty() => {
            format!(
                "no traffic impact: compiled with {} in `exceptions.drained`",
                place_names(&wave.pending_places, new)
            )
        }
        None if wave.removed_places.is_empty() => "no traffic impact".to_owned(),
        None => format!("removes {}", place_names(&wave.removed_places, old)),
        Some(plane) if wave.drained.is_empty() => {
            format!("plane {plane}, now over {} too", place_names(&wave.joined_places, new))
        }
        Some(plane) => format!("plane {plane}, without {}", place_names(&wave.drained, old)),
    }
}

/// Returns the largest loss of any pair between the last two waves, as a fraction of its bandwidth.
fn loss_before_last(rollout: &Rollout, old: &Plan) -> f64 {
    let gone: BTreeSet<Place> = match rollout.waves.split_last() {
        Some((_, before)) => before.iter().flat_map(|wave| wave.removed_places.iter().copied()).collect(),
        None => BTreeSet::new(),
    };
    worst(&impact(old.fabric(), &drain_places(old.fabric(), &gone))).loss
}

fn place_names(places: &[Place], old: &Plan) -> String {
    let mut counts: Vec<String> = Vec::new();
    for tier in TierId::ALL.into_iter().rev() {
        let of_tier = |place: &&Place| matches!(place, Place::Switch(switch) if switch.tier == tier);
        let names: Vec<&Place> = places.iter().filter(of_tier).collect();
        match names.as_slice() {
            [] => {}
            [one] => counts.push(format!("`{}`", place_name(**one, old))),
            [first, .., last] => counts.push(format!(
                "{} {}s (`{}` to `{}`)",
                names.len(),
                words::tier(tier),
                place_name(**first, old),
                place_name(**last, old)
            )),
        }
    }
    let links: Vec<String> =
        places.iter().filter(|p| matches!(p, Place::Link(_))).map(|p| place_name(*p, old)).collect();
    if !links.is_empty() {
        counts.push(words::names(links.into_iter(), 3));
    }
    counts.join(", ")
}
