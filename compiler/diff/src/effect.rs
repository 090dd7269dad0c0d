//! Describes the impact and the rollout of a difference.
//!
//! In: a difference, the added and removed elements, and the pairs whose paths change. Out: parts of a
//! report. Invariants: each sentence about pairs contains their number, the number of changed paths, and
//! their distance (within a group, within a zone, or across zones).

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::figures::{format_count, number, percent};
use closc_fabric::Descent;
use closc_plan::{PathKind, Plan};
use closc_topology::{Link, Nic, PlaneId, Switch, TierId};

use crate::change::{Change, Exception, ExceptionTarget};
use crate::compare::Difference;
use crate::impact::{PairChange, Share};
use crate::migration::Migration;
use crate::mode::{Place, RolloutMode, concerns_only_files, judge, judge_all};
use crate::moves::{DrainEffect, Movers};
use crate::population::Population;
use crate::reloads::Reloads;
use crate::report::{Impact, Pairs, Rollout};
use crate::touched_artefacts::{ChangedArtefacts, Item};
use crate::words::{names, planes_text, plural};

/// Describes the impact of a difference on traffic.
pub(crate) fn impact(
    difference: &Difference,
    population: &Population,
    pairs: &[PairChange],
    old: &Plan,
    new: &Plan,
) -> Impact {
    let mut planes: BTreeSet<PlaneId> = pairs.iter().flat_map(PairChange::planes).collect();
    planes.extend(population.switches.added.iter().chain(&population.switches.removed).map(|s| s.plane));
    for change in &difference.changes {
        match change {
            Change::Exception(exception) => planes.extend(plane_of(exception)),
            Change::Setting(_)
            | Change::Count(..)
            | Change::Tier(..)
            | Change::T2(_)
            | Change::Naming(..)
            | Change::T2Added(_)
            | Change::T2Removed(_) => planes.extend(new.topology().plane_ids()),
        }
    }
    let cut = |row: &&PairChange| {
        row.old.is_some_and(|share| share.usable > 0) && row.new.is_some_and(|share| share.usable == 0)
    };
    Impact {
        planes: planes.into_iter().map(|plane| plane.0).collect(),
        cut_off: pairs.iter().filter(cut).map(|row| row.pairs).sum(),
        pairs: pairs.iter().map(|row| row_of(row, old, new)).collect(),
    }
}

fn plane_of(exception: &Exception) -> Option<PlaneId> {
    match exception {
        Exception::Absent(_, thing) | Exception::Drained(_, thing) => match thing {
            ExceptionTarget::Plane(plane) => Some(*plane),
            ExceptionTarget::Switch(switch) => Some(switch.plane),
            ExceptionTarget::Link(link) => Some(link.plane()),
            ExceptionTarget::Nic(_) => None,
        },
        Exception::Isolated(_, link) | Exception::Cable(link, _) => Some(link.plane()),
        Exception::Device(switch, _) => Some(switch.plane),
    }
}

fn row_of(row: &PairChange, old: &Plan, new: &Plan) -> Pairs {
    let gbps = |share: Option<Share>, plan: &Plan| {
        let share = share?;
        Some(share.part() * f64::from(plan.topology().hosts.nic_speed.mbps()) / 1000.0)
    };
    let name = |nic: Nic| {
        let plan = if row.new.is_some() { new } else { old };
        let (node, number) = plan.topology().node_of(nic);
        plan.topology().naming.nic(node, number)
    };
    Pairs {
        pairs: row.pairs,
        kind: keyword(row.kind).to_owned(),
        paths_old: row.old.map(|share| share.usable),
        paths_new: row.new.map(|share| share.usable),
        gbps_old: gbps(row.old, old),
        gbps_new: gbps(row.new, new),
        planes: row.planes().map(|plane| plane.0).collect(),
        example: (name(row.example.0), name(row.example.1)),
        text: sentence(row, if row.new.is_some() { new } else { old }),
    }
}

fn format_all_paths(paths: u64, noun: &str) -> String {
    if paths == 1 { format!("their only {noun}") } else { format!("all {}", format_count(paths, noun)) }
}

/// Returns the noun for counted paths. If several ways lead down from the switch where packets turn, only the ways up
/// are counted.
fn path_noun(kind: PathKind, plan: &Plan) -> &'static str {
    let counts_ways_up = match kind {
        PathKind::Local => false,
        PathKind::Zone => Descent::counts_ways_up(plan.topology(), false),
        PathKind::Far => Descent::counts_ways_up(plan.topology(), true),
    };
    if counts_ways_up { "upward path" } else { "path" }
}

fn keyword(kind: PathKind) -> &'static str {
    match kind {
        PathKind::Local => "local",
        PathKind::Zone => "zone",
        PathKind::Far => "far",
    }
}

fn sentence(row: &PairChange, plan: &Plan) -> String {
    let noun = path_noun(row.kind, plan);
    let place = match row.kind {
        PathKind::Local => "inside a T0 group",
        PathKind::Zone => "across T0 groups",
        PathKind::Far => "across zones",
    };
    let pairs = plural(row.pairs, "pair of NICs", "pairs of NICs");
    let planes: Vec<PlaneId> = row.planes().collect();
    let planes = planes_text(&planes);
    // Forms of verbs.
    let [are, s, have, they, their] = if row.pairs == 1 {
        ["is", "s", "has", "it loses", "its"]
    } else {
        ["are", "", "have", "they lose", "their"]
    };
    match (row.old, row.new) {
        (None, Some(share)) => {
            format!("{pairs} {place} {are} added, with {}", format_count(share.usable, noun))
        }
        (Some(share), None) => {
            format!("{pairs} {place} {are} removed, with {}", format_count(share.usable, noun))
        }
        (Some(old), Some(new)) if new.usable == 0 && old.usable > 0 => {
            format!("{pairs} {place} {are} cut off: {they} {}", format_all_paths(old.usable, noun))
        }
        (Some(old), Some(new)) if new.usable < old.usable && new.planned == old.planned => format!(
            "{pairs} {place} lose{s} {} of {their} {}, in {planes} ({})",
            number(old.usable - new.usable),
            format_count(old.usable, noun),
            percent((old.usable - new.usable) as f64 / old.usable as f64)
        ),
        (Some(old), Some(new)) if new.usable > old.usable && new.planned == old.planned => format!(
            "{pairs} {place} gain{s} {} in {planes}, and then {have} {} of {}",
            format_count(new.usable - old.usable, noun),
            number(new.usable),
            format_count(new.planned, &format!("planned {noun}"))
        ),
        (Some(old), Some(new)) if new.planned != old.planned => format!(
            "{pairs} {place} {have} {} of {} instead of {} of {}",
            number(new.usable),
            format_count(new.planned, noun),
            number(old.usable),
            number(old.planned)
        ),
        (Some(_), Some(new)) => {
            format!("{pairs} {place} keep{s} {}, other ones in {planes}", format_count(new.usable, noun))
        }
        (None, None) => String::new(),
    }
}

/// Rollout requirements of the changes. Each reason is included once.
#[derive(Default)]
struct Modes {
    drains: Vec<(BTreeSet<Place>, &'static str)>,
    planes: Vec<(BTreeSet<TierId>, &'static str)>,
    at_once: Vec<&'static str>,
    leaves: Option<&'static str>,
    nodes: Option<&'static str>,
}

impl Modes {
    /// Judges each change that the migration does not cover. `tiers` are those with a switch whose files may
    /// change.
    fn of(
        difference: &Difference,
        tiers: &BTreeSet<TierId>,
        migration: Option<&Migration>,
        (old, new): (&Plan, &Plan),
    ) -> Modes {
        let Modes { mut drains, mut planes, mut at_once, mut leaves, mut nodes } = Modes::default();
        let covered = |change: &&Change| migration.is_some() && Migration::covers(change);
        let changes = difference.changes.iter().filter(|change| !covered(change));
        let judged = changes
            .flat_map(|change| judge_all(change, old.fabric(), new.fabric()).map(move |own| (change, own)));
        for (change, verdict) in judged {
            match verdict.mode {
                RolloutMode::Hitless => {}
                RolloutMode::Leaves => leaves = Some(verdict.reason),
                RolloutMode::NodeByNode => nodes = Some(verdict.reason),
                RolloutMode::Drained(places) => {
                    match drains.iter_mut().find(|(_, why)| *why == verdict.reason) {
                        Some((known, _)) => known.extend(places),
                        None => drains.push((places.into_iter().collect(), verdict.reason)),
                    }
                }
                RolloutMode::PlaneByPlane(mut own) => {
                    if concerns_only_files(change) {
                        own.retain(|tier| tiers.contains(tier));
                    }
                    match planes.iter_mut().find(|(_, why)| *why == verdict.reason) {
                        Some((known, _)) => known.extend(own),
                        None if own.is_empty() => {}
                        None => planes.push((own.into_iter().collect(), verdict.reason)),
                    }
                }
                RolloutMode::AtOnce if at_once.contains(&verdict.reason) => {}
                RolloutMode::AtOnce => at_once.push(verdict.reason),
            }
        }
        Modes { drains, planes, at_once, leaves, nodes }
    }
}

impl Rollout {
    /// Marks the rollout as not hitless if switches reload.
    fn with_reloads(mut self, reloads: &BTreeMap<Switch, String>) -> Rollout {
        let tiers: BTreeSet<TierId> = reloads.keys().map(|switch| switch.tier).collect();
        let reasons: BTreeSet<&String> = reloads.values().collect();
        let Some(why) = reasons.first() else { return self };
        let tiers: Vec<&str> = tiers.into_iter().map(crate::words::tier).collect();
        let count = plural(reloads.len() as u64, "switch reloads", "switches reload");
        self.hitless = false;
        self.steps.retain(|step| !step.starts_with("hitless: "));
        self.steps
            .insert(0, format!("not hitless, drain plane by plane ({}): {count}: {why}", tiers.join(", ")));
        self
    }

    /// Marks the rollout as not hitless if pairs of NICs have no path in the new fabric: no order of steps
    /// can avoid that.
    pub(crate) fn cutting_off(mut self, pairs: u64) -> Rollout {
        if pairs > 0 {
            self.hitless = false;
            self.steps.retain(|step| !step.starts_with("hitless: "));
            let pairs = plural(pairs, "pair of NICs has", "pairs of NICs have");
            self.steps.insert(0, format!("not hitless: {pairs} no path in the new fabric"));
        }
        self
    }
}

/// Other changes in the same step as growth, if switches choose paths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mixes {
    /// Whether the new file also drains an element.
    pub(crate) drains: bool,
    /// Whether an element is removed, or drained in order to be changed.
    pub(crate) others: bool,
}

/// Describes how a difference can be rolled out, given the artefacts that it changes.
pub(crate) fn rollout(
    difference: &Difference,
    changed: &ChangedArtefacts,
    migration: Option<&Migration>,
    mixes: Mixes,
    reloads: &Reloads<'_>,
) -> Rollout {
    let (old, new) = (reloads.old, reloads.new);
    if let Some(movers) = Movers::of(difference, &changed.kinds, old, new) {
        let reloads = reloading_switches(changed, &BTreeSet::new(), reloads);
        return drains_only(&movers, difference, old).with_reloads(&reloads);
    }
    let tiers = changed.tiers();
    let Modes { drains, planes, at_once, leaves, nodes } =
        Modes::of(difference, &tiers, migration, (old, new));
    let planned = planes.iter().flat_map(|(tiers, _)| tiers.iter().copied()).collect();
    let stops = migration.is_some() || !at_once.is_empty();
    let reloads = if stops { BTreeMap::new() } else { reloading_switches(changed, &planned, reloads) };
    let keeps = drains.is_empty() && planes.is_empty() && leaves.is_none() && nodes.is_none();
    let hitless = keeps && !mixes.drains && at_once.is_empty() && migration.is_none();
    let stops = migration.map(ToString::to_string).into_iter().chain(at_once.into_iter().map(str::to_owned));
    let mut steps: Vec<String> =
        stops.map(|why| format!("not hitless, the whole fabric stops: {why}")).collect();
    for (tiers, why) in planes {
        let tiers: Vec<&str> = tiers
            .into_iter()
            .filter(|tier| old.topology().tier(*tier).is_some())
            .map(|tier| crate::words::tier(tier))
            .collect();
        steps.push(format!("not hitless, drain plane by plane ({}): {why}", tiers.join(", ")));
    }
    if mixes.drains {
        steps.push(
            "not hitless: drained elements are used where no other path is left, and new elements would \
             temporarily be drained with them: drain first, and grow in a second change"
                .to_owned(),
        );
    }
    if mixes.others {
        steps.push(
            "not hitless: new paths come together with changes that need a drain, and in the meantime no configuration shows \
             which switches already use the new paths: split them into two changes, unless one follows from the other"
                .to_owned(),
        );
    }
    if let Some(why) = nodes {
        steps.push(format!("not hitless, node by node: {why}; existing switches do not change for this"));
    }
    if let Some(why) = leaves {
        steps.push(format!("not hitless, drain removed elements: {why}"));
    }
    for (places, why) in drains {
        let shown = names(places.iter().map(|place| place_name(*place, old)), 3);
        steps.push(format!("not hitless, drain {shown} first: {why}"));
    }
    if hitless && !difference.is_empty() {
        steps.push(format!("hitless: {}", reasons(difference, old, new).join("; ")));
    }
    Rollout { hitless, steps }.with_reloads(&reloads)
}

/// Returns the switches that reload, except those in tiers that are drained for another reason.
fn reloading_switches(
    changed: &ChangedArtefacts,
    planned: &BTreeSet<TierId>,
    reloads: &Reloads<'_>,
) -> BTreeMap<Switch, String> {
    let switches = changed.items.iter().filter_map(|item| match item {
        Item::Switch(switch) => Some(*switch),
        Item::Node(_) | Item::Table(..) | Item::List(_) => None,
    });
    reloads.find(switches.filter(|switch| !planned.contains(&switch.tier)))
}

/// Returns the reasons why changes are harmless, each once.
fn reasons(difference: &Difference, old: &Plan, new: &Plan) -> Vec<&'static str> {
    let all = difference.changes.iter().map(|change| judge(change, old.fabric(), new.fabric()).reason);
    let all: BTreeSet<&str> = all.collect();
    if all.is_empty() {
        return vec!["the changed settings affect only absent elements"];
    }
    all.into_iter().collect()
}

/// Describes the rollout of a difference that contains only drains, including the devices that route around
/// the drained elements.
fn drains_only(movers: &Movers, difference: &Difference, old: &Plan) -> Rollout {
    let moved: Vec<DrainEffect> =
        difference.changes.iter().filter_map(|change| movers.judge(change, old)).collect();
    let hitless = moved.iter().all(|moved| moved.hitless);
    let reasons = |hitless: bool| {
        let all: BTreeSet<&str> = moved
            .iter()
            .filter(|moved| moved.hitless == hitless)
            .map(|moved| moved.reason.as_str())
            .collect();
        all.into_iter().collect::<Vec<_>>()
    };
    let mut steps: Vec<String> =
        reasons(false).into_iter().map(|why| format!("not hitless: {why}")).collect();
    let fine = reasons(true).join("; ");
    match (fine.is_empty(), hitless) {
        (true, _) => {}
        (false, true) => steps.push(format!("hitless: {fine}")),
        (false, false) => steps.push(format!("the others are hitless: {fine}")),
    }
    Rollout { hitless, steps }
}

/// Returns the name of a switch or cable.
pub(crate) fn place_name(place: Place, plan: &Plan) -> String {
    match place {
        Place::Switch(switch) => plan.topology().naming.switch(switch).to_string(),
        Place::Link(link) => link_name(link, plan),
    }
}

/// Returns the name of a cable, or its coordinates if it is outside the plan.
pub(crate) fn link_name(link: Link, plan: &Plan) -> String {
    plan.topology().link_name(link).unwrap_or_else(|| format!("{link:?}"))
}
