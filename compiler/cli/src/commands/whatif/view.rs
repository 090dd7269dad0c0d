//! What `closc whatif` answers, in the form of its JSON. The text for people is drawn from the same values.

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_topology::Topology;
use closc_whatif::{
    Change, Class, Design, Distribution, Element, Elements, Figure, Kind, Moment, Outcome, kind_word, ratio,
};
use serde::Serialize;

/// Names that are listed before the rest is only counted.
const NAMES_MAX: usize = 64;

/// Minimum, quantiles and mean over all pairs.
#[derive(Serialize)]
pub struct Spread {
    pub minimum: f64,
    pub thousandth: f64,
    pub hundredth: f64,
    pub tenth: f64,
    pub median: f64,
    pub mean: f64,
    pub planned: f64,
}

impl Spread {
    fn of(found: &Distribution, planned: f64, unit: f64) -> Self {
        let at = |thousandths| found.quantile(thousandths) as f64 * unit;
        Spread {
            minimum: found.minimum() as f64 * unit,
            thousandth: at(1),
            hundredth: at(10),
            tenth: at(100),
            median: at(500),
            mean: found.mean() * unit,
            planned,
        }
    }
}

/// Pairs that are equally far apart.
#[derive(Serialize)]
pub struct Apart {
    pub kind: &'static str,
    pub pairs: u64,
    pub paths: Spread,
    /// Paths and the pairs that have so many.
    pub histogram: Vec<(u64, u64)>,
}

/// A pair of the worst.
#[derive(Serialize)]
pub struct Worst {
    pub from: String,
    pub to: String,
    pub paths: u64,
    pub paths_before: u64,
    pub paths_planned: u64,
    pub gbps: f64,
    /// Pairs between the same groups that are as badly off.
    pub pairs: u64,
}

/// What is left.
#[derive(Serialize)]
pub struct Left {
    pub pairs: u64,
    pub pairs_touched: u64,
    pub pairs_cut_off: u64,
    pub pairs_newly_cut_off: u64,
    pub nics: u64,
    pub nics_cut_off: usize,
    pub nics_cut_off_names: Vec<String>,
    pub nodes_cut_off: u64,
    /// Bandwidth while all pairs send, in Gb/s.
    pub gbps_loaded: Spread,
    /// Bandwidth of a pair that sends alone, in Gb/s.
    pub gbps_alone: Spread,
    /// Shares of the planned bandwidth, from and below, with the pairs between.
    pub shares: Vec<(f64, f64, u64)>,
    pub apart: Vec<Apart>,
    pub worst: Vec<Worst>,
}

fn gbps(topology: &Topology) -> f64 {
    f64::from(topology.hosts.nic_speed.mbps()) / 1000.0
}

impl Left {
    fn of(elements: Elements<'_>, outcome: &Outcome) -> Left {
        let full = gbps(elements.fabric.topology());
        let mut alone: BTreeMap<u64, u64> = BTreeMap::new();
        for (mbps, pairs) in outcome.apart.iter().flat_map(|apart| apart.alone_mbps.counts()) {
            *alone.entry(*mbps).or_default() += pairs;
        }
        let nic = |nic| elements.name(Element::Nic(nic));
        Left {
            pairs: outcome.pairs(),
            pairs_touched: outcome.touched,
            pairs_cut_off: outcome.cut_off,
            pairs_newly_cut_off: outcome.newly_cut_off,
            nics: outcome.nics,
            nics_cut_off: outcome.nics_cut_off.len(),
            nics_cut_off_names: outcome.nics_cut_off.iter().take(NAMES_MAX).map(|n| nic(*n)).collect(),
            nodes_cut_off: outcome.nodes_cut_off,
            gbps_loaded: Spread::of(&outcome.share, full, full / outcome.whole as f64),
            gbps_alone: Spread::of(&alone.into_iter().collect(), full, 1e-3),
            shares: shares(outcome),
            apart: outcome
                .apart
                .iter()
                .map(|apart| Apart {
                    kind: kind_word(apart.kind),
                    pairs: apart.paths.pairs(),
                    paths: Spread::of(&apart.paths, apart.planned as f64, 1.0),
                    histogram: apart.paths.counts().to_vec(),
                })
                .collect(),
            worst: outcome
                .worst
                .iter()
                .map(|worst| Worst {
                    from: nic(worst.example.0),
                    to: nic(worst.example.1),
                    paths: worst.paths,
                    paths_before: worst.before,
                    paths_planned: worst.planned,
                    gbps: outcome.part(worst.share) * full,
                    pairs: worst.pairs,
                })
                .collect(),
        }
    }
}

/// Cuts the range of shares into at most ten equal parts and counts the pairs in each.
fn shares(outcome: &Outcome) -> Vec<(f64, f64, u64)> {
    const PARTS: u64 = 10;
    let (least, most) = (outcome.share.minimum(), outcome.share.maximum());
    let width = (most - least + 1).div_ceil(PARTS).max(1);
    let mut parts: BTreeMap<u64, u64> = BTreeMap::new();
    for (share, pairs) in outcome.share.counts() {
        *parts.entry((share - least) / width).or_default() += pairs;
    }
    let bound = |at: u64| outcome.part((least + at * width).min(outcome.whole));
    parts.into_iter().map(|(at, pairs)| (bound(at), bound(at + 1), pairs)).collect()
}

/// What fails.
#[derive(Serialize)]
pub struct Failed {
    pub count: usize,
    pub kinds: Vec<(Kind, usize)>,
    /// Names, where they are few enough to be read.
    pub names: Vec<String>,
}

impl Failed {
    pub fn of(elements: Elements<'_>, failed: &[Element]) -> Failed {
        let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
        for element in failed {
            *kinds.entry(element.kind()).or_default() += 1;
        }
        let names = failed.iter().take(NAMES_MAX).map(|element| elements.name(*element)).collect();
        Failed { count: failed.len(), kinds: kinds.into_iter().collect(), names }
    }
}

/// The answer to one failure.
#[derive(Serialize)]
pub struct Answer {
    pub fabric: String,
    pub failed: Failed,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    pub left: Left,
}

impl Answer {
    pub fn of(elements: Elements<'_>, failed: &[Element], seed: Option<u64>, outcome: &Outcome) -> Answer {
        Answer {
            fabric: elements.fabric.topology().name.to_string(),
            failed: Failed::of(elements, failed),
            seed,
            left: Left::of(elements, outcome),
        }
    }
}

/// What failures of one class cost.
#[derive(Serialize)]
pub struct Cost {
    pub kinds: Vec<Kind>,
    pub failures: u128,
    pub example: Vec<String>,
    pub pairs_touched: u64,
    /// What the worst pair loses, as a part of its bandwidth while all send.
    pub loss_max: f64,
    /// What it loses in the plane that loses most, as a part of the plane.
    pub plane_loss_max: f64,
    /// What pairs lose on average.
    pub loss_mean: f64,
    /// The least bandwidth of a pair that sends alone, in Gb/s.
    pub gbps_alone_min: f64,
    pub pairs_cut_off: u64,
    pub nics_cut_off: usize,
    pub nodes_cut_off: u64,
}

impl Cost {
    fn of(elements: Elements<'_>, class: &Class) -> Cost {
        let outcome = &class.outcome;
        Cost {
            kinds: class.kinds.clone(),
            failures: class.count,
            example: class.example.iter().map(|element| elements.name(*element)).collect(),
            pairs_touched: outcome.touched,
            loss_max: outcome.part(outcome.loss_max),
            plane_loss_max: outcome.part_of_plane(outcome.plane_loss_max),
            loss_mean: outcome.loss_mean(),
            gbps_alone_min: outcome.alone_min_mbps as f64 * 1e-3,
            pairs_cut_off: outcome.newly_cut_off,
            nics_cut_off: outcome.nics_cut_off.len(),
            nodes_cut_off: outcome.nodes_cut_off,
        }
    }
}

/// The answer to every failure of some kinds.
#[derive(Serialize)]
pub struct Each {
    pub fabric: String,
    pub given: Failed,
    pub together: usize,
    /// Whether no kind was asked for.
    pub overview: bool,
    pub pairs: u64,
    pub classes: Vec<Cost>,
}

impl Each {
    pub fn of(
        elements: Elements<'_>,
        given: &[Element],
        together: usize,
        overview: bool,
        classes: &[Class],
    ) -> Each {
        Each {
            fabric: elements.fabric.topology().name.to_string(),
            given: Failed::of(elements, given),
            together,
            overview,
            pairs: classes.first().map_or(0, |class| class.outcome.pairs()),
            classes: classes.iter().map(|class| Cost::of(elements, class)).collect(),
        }
    }
}

/// One draw of random failures.
#[derive(Serialize)]
pub struct Trial {
    pub seed: u64,
    pub failed: usize,
    pub gbps_loaded_min: f64,
    pub gbps_loaded_median: f64,
    pub gbps_loaded_mean: f64,
    pub gbps_alone_min: f64,
    pub pairs_cut_off: u64,
    pub pairs_newly_cut_off: u64,
    pub nics_cut_off: usize,
}

impl Trial {
    pub fn of(elements: Elements<'_>, seed: u64, failed: usize, outcome: &Outcome) -> Trial {
        let full = gbps(elements.fabric.topology());
        Trial {
            seed,
            failed,
            gbps_loaded_min: outcome.part(outcome.share.minimum()) * full,
            gbps_loaded_median: outcome.part(outcome.share.median()) * full,
            gbps_loaded_mean: outcome.share.mean() / outcome.whole as f64 * full,
            gbps_alone_min: outcome.alone_min_mbps as f64 * 1e-3,
            pairs_cut_off: outcome.cut_off,
            pairs_newly_cut_off: outcome.newly_cut_off,
            nics_cut_off: outcome.nics_cut_off.len(),
        }
    }
}

/// Several draws.
#[derive(Serialize)]
pub struct Trials {
    pub fabric: String,
    pub gbps_planned: f64,
    pub pairs_newly_cut_off_max: u64,
    pub draws: Vec<Trial>,
}

impl Trials {
    pub fn of(elements: Elements<'_>, trials: Vec<Trial>) -> Trials {
        let topology = elements.fabric.topology();
        let cut_off = trials.iter().map(|trial| trial.pairs_newly_cut_off).max();
        Trials {
            fabric: topology.name.to_string(),
            gbps_planned: gbps(topology),
            pairs_newly_cut_off_max: cut_off.unwrap_or(0),
            draws: trials,
        }
    }
}

/// What is left from one moment to the next.
#[derive(Serialize)]
pub struct Step {
    pub time: String,
    pub seconds: f64,
    pub changes: Vec<(Change, String)>,
    pub down: usize,
    /// Paths of the pairs that are farthest apart.
    pub paths_min: u64,
    pub paths_median: u64,
    pub gbps_loaded_min: f64,
    pub gbps_loaded_median: f64,
    pub gbps_loaded_mean: f64,
    pub gbps_alone_min: f64,
    pub pairs_cut_off: u64,
    pub nics_cut_off: usize,
}

/// A trace.
#[derive(Serialize)]
pub struct Trace {
    pub fabric: String,
    pub given: Failed,
    pub gbps_planned: f64,
    pub paths_planned: u64,
    /// From the first moment to the last.
    pub seconds: f64,
    /// The mean over pairs and time.
    pub gbps_loaded_mean: f64,
    /// The least of all moments.
    pub gbps_loaded_min: f64,
    /// How long some pair was without a path.
    pub seconds_cut_off: f64,
    pub moments: Vec<Step>,
}

impl Trace {
    pub fn of(elements: Elements<'_>, given: &[Element], moments: &[Moment]) -> Trace {
        let topology = elements.fabric.topology();
        let full = gbps(topology);
        let steps: Vec<Step> = moments.iter().map(|moment| step(elements, moment, full)).collect();
        let lasting = |at: usize| moments.get(at + 1).map_or(0.0, |next| next.seconds - moments[at].seconds);
        let seconds: f64 = (0..moments.len()).map(lasting).sum();
        let mean: f64 = steps.iter().enumerate().map(|(at, step)| step.gbps_loaded_mean * lasting(at)).sum();
        let cut_off = steps.iter().enumerate().filter(|(_, step)| step.pairs_cut_off > 0);
        Trace {
            fabric: topology.name.to_string(),
            given: Failed::of(elements, given),
            gbps_planned: full,
            paths_planned: moments
                .first()
                .and_then(|moment| moment.outcome.apart.last())
                .map_or(0, |apart| apart.planned),
            seconds,
            gbps_loaded_mean: if seconds > 0.0 {
                mean / seconds
            } else {
                steps.last().map_or(full, |step| step.gbps_loaded_mean)
            },
            gbps_loaded_min: steps.iter().map(|step| step.gbps_loaded_min).fold(full, f64::min),
            seconds_cut_off: cut_off.map(|(at, _)| lasting(at)).sum(),
            moments: steps,
        }
    }
}

fn step(elements: Elements<'_>, moment: &Moment, full: f64) -> Step {
    let outcome = &moment.outcome;
    let farthest = outcome.apart.last();
    Step {
        time: moment.time.clone(),
        seconds: moment.seconds,
        changes: moment.changes.iter().map(|(turn, element)| (*turn, elements.name(*element))).collect(),
        down: moment.down,
        paths_min: farthest.map_or(0, |apart| apart.paths.minimum()),
        paths_median: farthest.map_or(0, |apart| apart.paths.median()),
        gbps_loaded_min: outcome.part(outcome.share.minimum()) * full,
        gbps_loaded_median: outcome.part(outcome.share.median()) * full,
        gbps_loaded_mean: outcome.share.mean() / outcome.whole as f64 * full,
        gbps_alone_min: outcome.alone_min_mbps as f64 * 1e-3,
        pairs_cut_off: outcome.newly_cut_off,
        nics_cut_off: outcome.nics_cut_off.len(),
    }
}

/// A figure of both designs.
#[derive(Serialize)]
pub struct Row {
    pub what: &'static str,
    pub ours: u64,
    pub theirs: u64,
    /// Ours divided by theirs, at equal numbers of NICs where the figure grows with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<(u64, u64)>,
    pub per_nic: bool,
}

/// What one failure of a kind costs in both designs.
#[derive(Serialize)]
pub struct Blast {
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theirs: Option<Cost>,
}

/// One design compared with another.
#[derive(Serialize)]
pub struct Against {
    pub ours: String,
    pub theirs: String,
    pub figures: Vec<Row>,
    pub failures: Vec<Blast>,
}

impl Against {
    pub fn of(ours: (&Plan, &Design), theirs: (&Plan, &Design)) -> Against {
        let row = |(a, b): (&Figure, &Figure)| Row {
            what: a.what,
            ours: a.value,
            theirs: b.value,
            ratio: ratio(*a, ours.1.nics, *b, theirs.1.nics),
            per_nic: a.per_nic,
        };
        let cost = |(plan, design): (&Plan, &Design), kind: Kind| {
            let found = design.failures.iter().find(|(other, _)| *other == kind)?;
            Some(Cost::of(Elements::of(plan.fabric()), &found.1))
        };
        let failures = Kind::ALL.into_iter().filter_map(|kind| {
            let (ours, theirs) = (cost(ours, kind), cost(theirs, kind));
            (ours.is_some() || theirs.is_some()).then_some(Blast { kind, ours, theirs })
        });
        Against {
            ours: ours.0.topology().name.to_string(),
            theirs: theirs.0.topology().name.to_string(),
            figures: ours.1.figures.iter().zip(&theirs.1.figures).map(row).collect(),
            failures: failures.collect(),
        }
    }
}
