//! Orders the rollout of a difference into waves, so that no pair of NICs loses more than a given share of its
//! bandwidth.
//!
//! In: two plans and a share. Out: [`Rollout`], with these waves:
//!
//! 1. waves in which hosts stop using cables that become isolated;
//! 2. waves that configure switches that are undrained and lose a cable;
//! 3. a wave that prepares new equipment;
//! 4. waves in which switches start to use new equipment;
//! 5. a wave in which traffic leaves elements that the smaller counts of the new plan no longer include;
//! 6. waves that drain elements and change them;
//! 7. a final wave with the remaining changes, if there are any.
//!
//! If growth in stages reloads switches, the waves that drain them precede the waves in which new equipment is used.
//!
//! Invariants: at every moment, no pair has lost more than the share. The reference is the old fabric after
//! traffic has left the elements that smaller counts remove. A pair with a path before and after the rollout
//! always has one. Elements that are removed, drained or not yet installed are never used. A difference for
//! which this is impossible is rejected with the reason.

mod additions;
mod configured_switches;
mod drain_steps;
mod drained_switches;
mod isolations;
mod limit;
mod removals;
mod step;
mod undrained_switches;
mod wave_report;

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;

use closc_diagnostics::figures::percent;
use closc_fabric::{End, Fabric, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, PlaneId, Switch};

pub use configured_switches::FileComparison;
pub use limit::Limit;
pub use step::{Seconds, Step};
pub use wave_report::named_waves;

use crate::cable_identity::replaced_cables;
use crate::change::{Change, Exception, ExceptionTarget, Toggle};
use crate::compare::Difference;
use crate::impact::impact;
use crate::migration::Migration;
use crate::mode::{Place, RolloutMode, Verdict, judge_all, keeps_entries};
use crate::population::{Population, is_replaced};
use crate::reloads::{ReloadComparison, Reloads};
use crate::verdict::is_of_pools;
use crate::words::plural;
use additions::{Additions, replaces_nics};
pub(crate) use additions::{grows_beside, mixes};
use configured_switches::ConfiguredSwitches;
use drain_steps::{find_upgrades, list_configuration, list_upgrades};
use drained_switches::drained_switches;
use isolations::Isolations;
use limit::{check_limit, largest_wave, worst};
use removals::Removals;
use undrained_switches::UndrainedSwitches;

/// A wave of devices and cables that change together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wave {
    /// The plane; `None` for waves that change all planes.
    pub plane: Option<PlaneId>,
    /// Elements without traffic while they are changed.
    pub drained: Vec<Place>,
    /// Actions, in order.
    pub steps: Vec<Step>,
    /// Approximate duration.
    pub duration: Seconds,
    /// Elements that carry no more traffic from this wave on, because they are removed.
    pub removed_places: Vec<Place>,
    /// New equipment that is used from this wave on, if switches choose paths.
    pub joined_places: Vec<Place>,
    /// New equipment that is not yet in use after the wave. Switches are configured as if it were drained.
    pub pending_places: Vec<Place>,
    /// Switches that are configured.
    pub switches: BTreeSet<Switch>,
    /// Switches of `switches` that temporarily keep obsolete configuration, because a neighbour is removed in
    /// a later wave.
    pub stale_switches: BTreeSet<Switch>,
}

/// The order of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollout {
    /// The waves, one after the other.
    pub waves: Vec<Wave>,
    /// Whether waves may list switches that do not change, because they were found by rule without comparing
    /// files.
    pub at_most: bool,
}

/// The reason why a difference cannot be rolled out within a limit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RolloutError {
    /// Hosts and switches would have to change at the same moment.
    #[error("no order keeps traffic up: {reason}")]
    AtOnce {
        /// The reason.
        reason: &'static str,
    },
    /// The segment plan changes.
    #[error("no order keeps traffic up: {0}")]
    Segments(String),
    /// Draining a single device or cable already exceeds the share.
    #[error(
        "draining `{name}` takes {} of a pair's bandwidth, but the limit is {}",
        percent(*loss),
        percent(*share)
    )]
    TooNarrow {
        /// The device or cable.
        name: String,
        /// Loss while it is drained.
        loss: f64,
        /// The share.
        share: f64,
    },
    /// A pair would have no path while an element is drained.
    #[error("draining `{name}` cuts {} off, {}", plural(*pairs, "pair of NICs", "pairs of NICs"), if *planes == 1 { "and there is no other plane" } else { "whose other planes are drained or absent" })]
    CutOff {
        /// The device or cable.
        name: String,
        /// Number of pairs.
        pairs: u64,
        /// Planes of the fabric.
        planes: u8,
    },
    /// In the new fabric, a pair permanently loses more than the share.
    #[error(
        "the new fabric itself takes {} of a pair's bandwidth, but the limit is {}",
        percent(*loss),
        percent(*share)
    )]
    Target {
        /// Loss in the new fabric.
        loss: f64,
        /// The share.
        share: f64,
    },
}

impl Rollout {
    /// Orders a difference into waves. Switches are found by rule, so the waves may include some that do not
    /// change.
    pub fn new(old: &Plan, new: &Plan, limit: Limit) -> Result<Rollout, RolloutError> {
        Rollout::with_comparison(old, new, limit, None, None)
    }

    /// Orders a difference into waves. `differs` compares the files of a switch. It is not called if there
    /// are too many switches. `reloads` returns the switches that a push reloads.
    pub fn with_comparison(
        old: &Plan,
        new: &Plan,
        limit: Limit,
        differs: Option<FileComparison<'_>>,
        reloads: Option<ReloadComparison<'_>>,
    ) -> Result<Rollout, RolloutError> {
        let difference = Difference::compare(old.fabric(), new.fabric());
        if difference.is_empty() {
            return Ok(Rollout { waves: Vec::new(), at_most: false });
        }
        if let Some(migration) = Migration::compare(old, new) {
            return Err(RolloutError::Segments(migration.to_string()));
        }
        let population = Population::compare(old.fabric(), new.fabric());
        let leaving = Removals::of(&population, &difference, old);
        let configured = ConfiguredSwitches::of(&difference, old, new, differs);
        let reloads = Reloads { old, new, population: &population, comparison: reloads };
        let work = Work::of(&difference, &reloads, &leaving, &configured)?;
        let target = worst(&impact(old.fabric(), new.fabric()));
        if target.loss > limit.share + f64::EPSILON {
            return Err(RolloutError::Target { loss: target.loss, share: limit.share });
        }
        let returning = UndrainedSwitches::of(&population, &configured, old, new);
        returning.reject_lost_cables()?;
        let mut growing = Additions::of(&population, &difference, &configured, &work.reloads);
        if !growing.is_staged() {
            growing.omit(&returning.switches());
        }
        let isolating = Isolations::of(&difference, old);
        let (hosts, in_use) = (isolating.waves(old), returning.waves().chain(growing.prepare()));
        let mut waves: Vec<Wave> = hosts.chain(in_use).collect();
        // Removed NICs are stopped before any element is drained, so their paths are unused.
        let idle = leaving.places.union(&isolating.places()).copied().collect();
        let base = leaving.remove_nics(drain_places(old.fabric(), &idle));
        if leaving.cuts_off(old.fabric(), &base, new.fabric()) {
            return Err(RolloutError::AtOnce {
                reason: "the removed elements carry all paths of some pairs of NICs until the new elements \
                     are used",
            });
        }
        narrow(old, &base, &work, limit)?;
        let (drained, mut kept) = work.waves(&base, &population, &configured, limit)?;
        let leaves = (!leaving.is_empty()).then(|| leaving.wave(old));
        waves.extend(growing.order(leaves, drained));
        let losing = Rollout::losing_switches(&waves, &population, old, new);
        let first = returning.switches();
        let is_done = |switch: &Switch| {
            first.contains(switch)
                || growing.is_staged() && waves.iter().any(|wave| wave.switches.contains(switch))
        };
        kept.extend(configured.of_new(losing.into_iter().filter(|switch| !is_done(switch))));
        let left = growing.remaining_switches(&waves).difference(&kept).copied().collect();
        let last = finish(&population, left, kept, new);
        // Each other wave verifies what it changes. Without waves, the last one tells which paths are lost.
        if last.steps != [Step::Verify] || waves.is_empty() && target.loss > 0.0 {
            waves.push(last);
        }
        Ok(Rollout { waves, at_most: !configured.is_exact() })
    }

    /// Returns the remaining switches that lose the port of a removed cable and are not configured in a wave
    /// with drains.
    fn losing_switches(waves: &[Wave], population: &Population, old: &Plan, new: &Plan) -> BTreeSet<Switch> {
        let ends = population.cables.removed.iter().flat_map(|link| ends(old.fabric(), *link));
        let mut losing: BTreeSet<Switch> = ends.filter(|switch| new.fabric().has_switch(*switch)).collect();
        let drained = waves.iter().filter(|wave| !wave.drained.is_empty());
        drained.for_each(|wave| losing.retain(|switch| !wave.switches.contains(switch)));
        losing
    }

    /// Returns the plan from which each wave configures switches: the new plan, but with equipment that is
    /// not yet in use drained.
    pub fn stages(&self, new: &Plan) -> Vec<Plan> {
        let stage = |wave: &Wave| {
            Plan::new(drain_places(new.fabric(), &wave.pending_places.iter().copied().collect()))
        };
        self.waves.iter().map(stage).collect()
    }

    /// Returns the elements without traffic, with two sets per wave: during it and after it. Elements drained in the
    /// old plan are not repeated.
    pub fn moments(&self) -> Vec<BTreeSet<Place>> {
        let mut moments = Vec::new();
        let mut gone: BTreeSet<Place> = BTreeSet::new();
        for wave in &self.waves {
            moments.push(gone.iter().chain(&wave.drained).copied().collect());
            gone.extend(&wave.removed_places);
            moments.push(gone.clone());
        }
        moments
    }

    /// Returns the largest loss of any pair during each wave, as a fraction of its bandwidth.
    pub fn losses(&self, old: &Plan) -> Vec<f64> {
        let during = self.moments().into_iter().step_by(2);
        during.map(|places| worst(&impact(old.fabric(), &drain_places(old.fabric(), &places))).loss).collect()
    }

    /// Returns the approximate duration of the rollout.
    pub fn duration(&self) -> Seconds {
        Seconds(self.waves.iter().map(|wave| wave.duration.0).sum())
    }
}

impl Wave {
    /// Returns the steps that undo the wave. They are valid at whichever step the wave stopped. Traffic
    /// returns only once the old state is restored and checked.
    pub fn rollback(&self) -> Vec<Step> {
        let mut back: Vec<Step> = self.steps.iter().rev().filter_map(|step| step.undone()).collect();
        let at = back
            .iter()
            .position(|step| matches!(step, Step::AllowPaths { .. } | Step::Return { .. }))
            .unwrap_or(back.len());
        back.insert(at, Step::Verify);
        back
    }
}

/// Elements to drain, plane by plane.
#[derive(Default)]
struct Work {
    places: BTreeMap<PlaneId, Vec<Place>>,
    /// Elements that are removed permanently.
    removed_places: BTreeSet<Place>,
    /// Switches that technicians replace, and cables that they pull.
    by_hand: BTreeSet<Place>,
    /// Switches that are drained only because they reload.
    reloads: BTreeSet<Switch>,
    /// All switches that reload while they are drained. Replaced switches are not included.
    slow: BTreeSet<Switch>,
    /// Whether switches keep all of their entries, and only values in them change.
    keeps_entries: bool,
}

impl Work {
    fn of(
        difference: &Difference,
        reloads: &Reloads<'_>,
        leaving: &Removals,
        configured: &ConfiguredSwitches<'_>,
    ) -> Result<Work, RolloutError> {
        let (old, new, population) = (reloads.old, reloads.new, reloads.population);
        let mut places: BTreeMap<PlaneId, BTreeSet<Place>> = BTreeMap::new();
        let keeps_entries = difference.changes.iter().all(keeps_entries);
        let mut work = Work { keeps_entries, ..Work::default() };
        let recabled = work.add_replaced_cables(old, new, replaces_nics(difference, old, new));
        let moved: BTreeSet<Switch> =
            population.moved.iter().flat_map(|cable| ends(old.fabric(), cable.old)).collect();
        for (change, verdict) in judge_changes(difference, old, new) {
            match verdict.mode {
                // Removed elements do not need a drain here, because traffic leaves them in an earlier wave.
                RolloutMode::Hitless | RolloutMode::Leaves | RolloutMode::NodeByNode => {}
                // Hosts stop using isolated cables in an earlier wave, too.
                RolloutMode::Drained(_) if is_isolation(change) => {}
                RolloutMode::Drained(some) => {
                    let goes = matches!(
                        change,
                        Change::Exception(Exception::Absent(
                            Toggle::On,
                            ExceptionTarget::Switch(_) | ExceptionTarget::Link(_)
                        ))
                    );
                    // The element is removed in the last wave.
                    let of_work = if goes { &mut work.removed_places } else { &mut work.by_hand };
                    of_work.extend(&some);
                    for place in some {
                        places.entry(place.plane()).or_default().insert(place);
                    }
                }
                // The comparison below finds exactly the switches that reload.
                RolloutMode::PlaneByPlane(_)
                    if is_of_pools(verdict.reason) && reloads.comparison.is_some() => {}
                RolloutMode::PlaneByPlane(tiers) => {
                    let why = (tiers.as_slice(), verdict.reason);
                    let some = drained_switches(change, why, (&moved, &recabled), configured);
                    let stays = |switch: &Switch| !leaving.places.contains(&Place::Switch(*switch));
                    for switch in some.into_iter().filter(stays) {
                        places.entry(switch.plane).or_default().insert(Place::Switch(switch));
                        work.reloads.extend(is_of_pools(verdict.reason).then_some(switch));
                    }
                }
                RolloutMode::AtOnce => return Err(RolloutError::AtOnce { reason: verdict.reason }),
            }
        }
        let reloading: BTreeSet<Switch> = reloads.find(configured.candidates()).into_keys().collect();
        for switch in unplanned_switches(&reloading, &places, leaving) {
            places.entry(switch.plane).or_default().insert(Place::Switch(switch));
            work.reloads.insert(switch);
        }
        work.slow = reloading.union(&work.reloads).copied().collect();
        work.slow.retain(|switch| !is_replaced(old.fabric(), new.fabric(), *switch));
        work.drain_moved_cables(&mut places, old.fabric(), population);
        work.places = places.into_iter().map(|(plane, all)| (plane, sort_places(all))).collect();
        Ok(work)
    }

    /// Adds the cables that are replaced by others in the same ports: they are unplugged while a switch at one end is
    /// drained. Cables of replaced NICs are replaced with them instead. Returns the switches at their ends.
    fn add_replaced_cables(&mut self, old: &Plan, new: &Plan, replaces_nics: bool) -> BTreeSet<Switch> {
        let (old, new) = (old.fabric(), new.fabric());
        let is_at_switch = |link: &Link| !replaces_nics || matches!(link, Link::Fabric { .. });
        let replaced = replaced_cables(old, new).into_iter().map(|cable| cable.old).filter(is_at_switch);
        let in_use: Vec<Link> = replaced.filter(|link| !old.is_drained(*link)).collect();
        self.by_hand.extend(in_use.iter().copied().map(Place::Link));
        in_use.into_iter().flat_map(|link| ends(old, link)).collect()
    }

    /// Adds the cables that move. They are unplugged, so each is drained by itself or with a switch at one end.
    fn drain_moved_cables(
        &mut self,
        places: &mut BTreeMap<PlaneId, BTreeSet<Place>>,
        old: &Fabric,
        population: &Population,
    ) {
        let moved = population.moved.iter().map(|cable| cable.old);
        for link in moved.filter(|link| !old.is_drained(*link)) {
            let place = Place::Link(link);
            self.by_hand.insert(place);
            let ends = ends(old, link);
            let with_switch =
                |places: &BTreeSet<Place>| ends.iter().any(|end| places.contains(&Place::Switch(*end)));
            let of_plane = places.entry(place.plane()).or_default();
            if !with_switch(of_plane) {
                of_plane.insert(place);
            }
        }
    }

    /// Returns the cables of a plane that are to be unplugged.
    fn unplugged_cables(&self, plane: PlaneId) -> BTreeSet<Link> {
        let links = self.by_hand.iter().filter_map(|place| match place {
            Place::Link(link) => Some(*link),
            Place::Switch(_) => None,
        });
        links.filter(|link| link.plane() == plane).collect()
    }

    /// Orders the drains into waves, each as large as the limit allows. Also returns the switches that keep obsolete
    /// configuration until the last wave.
    fn waves(
        &self,
        base: &Fabric,
        population: &Population,
        configured: &ConfiguredSwitches<'_>,
        limit: Limit,
    ) -> Result<(Vec<Wave>, BTreeSet<Switch>), RolloutError> {
        let old = configured.old();
        let (mut waves, mut gone, mut kept) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut size = 1;
        for (plane, places) in &self.places {
            let mut left = places.as_slice();
            let mut plugged = self.unplugged_cables(*plane);
            // Often, all places of a plane can be drained together.
            if check_limit(old, base, &gone, left, limit).is_ok() {
                size = left.len();
            }
            while !left.is_empty() {
                let now = largest_wave(left.len(), size, |count| {
                    check_limit(old, base, &gone, &left[..count], limit)
                })?;
                let (now, later) = left.split_at(now);
                // The last wave of a plane is smaller, so its size does not predict the wave size of the next
                // plane.
                size = if later.is_empty() { size } else { now.len() };
                let lost: Vec<Place> =
                    now.iter().filter(|p| self.removed_places.contains(p)).copied().collect();
                gone.extend(&lost);
                let beside = adjacent_switches(old.fabric(), self.removed_places.difference(&gone));
                let cables = pull(old.fabric(), now, &mut plugged);
                let next = wave(*plane, (now, cables), lost, &beside, self, population, configured);
                kept.extend(&next.stale_switches);
                waves.push(next);
                left = later;
            }
        }
        Ok((waves, kept))
    }
}

/// Returns the switches that reload and that no other change drains.
fn unplanned_switches(
    reloading: &BTreeSet<Switch>,
    places: &BTreeMap<PlaneId, BTreeSet<Place>>,
    leaving: &Removals,
) -> BTreeSet<Switch> {
    let is_planned = |switch: &Switch| {
        let place = Place::Switch(*switch);
        leaving.places.contains(&place)
            || places.get(&switch.plane).is_some_and(|of_plane| of_plane.contains(&place))
    };
    reloading.iter().copied().filter(|switch| !is_planned(switch)).collect()
}

/// Returns each change with each verdict on it.
fn judge_changes<'a>(
    difference: &'a Difference,
    old: &Plan,
    new: &Plan,
) -> impl Iterator<Item = (&'a Change, Verdict)> {
    difference.changes.iter().flat_map(move |change| {
        judge_all(change, old.fabric(), new.fabric()).map(move |verdict| (change, verdict))
    })
}

/// Returns whether a change is the isolation of a cable.
fn is_isolation(change: &Change) -> bool {
    matches!(change, Change::Exception(Exception::Isolated(..)))
}

/// Sorts cables first, then upper tiers before lower ones, because draining an upper switch takes less
/// bandwidth from a pair.
fn sort_places(all: BTreeSet<Place>) -> Vec<Place> {
    let mut all: Vec<Place> = all.into_iter().collect();
    let level = |place: &Place| match place {
        Place::Switch(Switch { tier, .. }) => 3 - tier.level(),
        Place::Link(_) => 0,
    };
    all.sort_by_key(|place| (level(place), *place));
    all
}

/// Returns the old fabric with additional places drained.
pub fn drain_places(old: &Fabric, places: &BTreeSet<Place>) -> Fabric {
    let mut topology = old.topology().clone();
    for place in places {
        match place {
            Place::Switch(switch) => drop(topology.exceptions.drained_switches.insert(*switch)),
            Place::Link(link) => drop(topology.exceptions.drained_links.insert(*link)),
        }
    }
    Fabric::new(Arc::new(topology))
}

/// Rejects early a switch whose drain by itself exceeds the share. Only the first switch of each tier of a
/// plane is checked here; the others are checked when their wave is built.
fn narrow(old: &Plan, base: &Fabric, work: &Work, limit: Limit) -> Result<(), RolloutError> {
    for places in work.places.values() {
        let mut tier = None;
        for place in places {
            let own = match place {
                Place::Switch(switch) => Some(switch.tier),
                Place::Link(_) => None,
            };
            if own.is_some() && own != tier {
                check_limit(old, base, &BTreeSet::new(), slice::from_ref(place), limit)?;
                tier = own;
            }
        }
    }
    Ok(())
}

/// Returns the last wave. It makes the remaining changes in place, and removes obsolete configuration that
/// switches have kept until then.
fn finish(population: &Population, left: BTreeSet<Switch>, kept: BTreeSet<Switch>, new: &Plan) -> Wave {
    let mut steps = Vec::new();
    if !left.is_empty() {
        steps.push(Step::Change { switches: left.len() });
    }
    if new.is_source_routed() {
        steps.push(Step::ReplaceTables { tables: new.groups().count() });
    }
    if !kept.is_empty() {
        steps.push(Step::Remove { switches: kept.len() });
    }
    steps.push(Step::Verify);
    let cables = population.cables.removed.len();
    if !population.switches.removed.is_empty() || cables > 0 {
        steps.push(Step::TakeOut { switches: population.switches.removed.len(), cables });
    }
    Wave { switches: left.into_iter().chain(kept).collect(), ..bare_wave(None, steps) }
}

/// Removes from `plugged` the cables that are pulled while places are drained; returns their number.
fn pull(fabric: &Fabric, places: &[Place], plugged: &mut BTreeSet<Link>) -> usize {
    let before = plugged.len();
    for place in places {
        match place {
            Place::Link(link) => drop(plugged.remove(link)),
            Place::Switch(_) if plugged.is_empty() => {}
            Place::Switch(switch) => fabric.ports(*switch).for_each(|port| {
                if let PortUse::Link { link, .. } = port.usage {
                    plugged.remove(&link);
                }
            }),
        }
    }
    before - plugged.len()
}

/// Returns the switches at the ends of the given cables, and the neighbours of the given switches.
fn adjacent_switches<'p>(fabric: &Fabric, places: impl Iterator<Item = &'p Place>) -> BTreeSet<Switch> {
    let mut found = BTreeSet::new();
    for place in places {
        match place {
            Place::Link(link) => found.extend(ends(fabric, *link)),
            Place::Switch(switch) => {
                found.extend(fabric.ports(*switch).filter_map(|port| match port.usage {
                    PortUse::Link { peer: End::Switch { switch, .. }, .. } => Some(switch),
                    PortUse::Link { .. } | PortUse::Absent { .. } | PortUse::Spare => None,
                }));
            }
        }
    }
    found
}

/// Returns the switches at the ends of a cable.
fn ends(fabric: &Fabric, link: Link) -> Vec<Switch> {
    let lower = match link {
        Link::Fabric { lower, .. } => Some(lower),
        Link::Host(_) => None,
    };
    fabric.upper_end(link).map(|(switch, _)| switch).into_iter().chain(lower).collect()
}

fn wave(
    plane: PlaneId,
    (places, cables): (&[Place], usize),
    gone: Vec<Place>,
    beside: &BTreeSet<Switch>,
    work: &Work,
    population: &Population,
    changes: &ConfiguredSwitches<'_>,
) -> Wave {
    let old = changes.old();
    let mut configured = BTreeSet::new();
    for place in places {
        match place {
            Place::Switch(switch) => drop(configured.insert(*switch)),
            Place::Link(link) => configured.extend(ends(old.fabric(), *link)),
        }
    }
    let configured = changes.of_new(configured);
    let replaced = |place: &&Place| matches!(place, Place::Switch(_)) && work.by_hand.contains(place);
    let devices = places.iter().filter(replaced).count();
    // Ports towards elements that are removed in a later wave stay configured until then.
    let goes = |switch: &Switch| gone.contains(&Place::Switch(*switch));
    let keeping: BTreeSet<Switch> =
        configured.intersection(beside).filter(|switch| !goes(switch)).copied().collect();
    let (leave, back) = traffic_steps(old, plane);
    let mut steps = vec![leave(places.len()), Step::WaitIdle];
    if devices + cables > 0 {
        steps.push(Step::Replace { switches: devices, cables });
    }
    let upgraded = find_upgrades(places, old, changes.new_plan());
    steps.extend(list_upgrades(&upgraded));
    let rest: BTreeSet<Switch> =
        configured.iter().filter(|switch| !upgraded.contains_key(switch)).copied().collect();
    steps.extend(list_configuration(&rest, &keeping, work, population));
    steps.push(Step::Verify);
    if gone.len() < places.len() {
        steps.push(back(places.len() - gone.len()));
    }
    Wave {
        drained: places.to_vec(),
        removed_places: gone,
        switches: configured,
        stale_switches: keeping,
        ..bare_wave(Some(plane), steps)
    }
}

/// Returns the steps by which traffic leaves places and returns to them, depending on whether hosts or
/// switches choose paths.
fn traffic_steps(
    old: &Plan,
    plane: PlaneId,
) -> (impl Fn(usize) -> Step + use<>, impl Fn(usize) -> Step + use<>) {
    let (tables, routing) = (old.groups().count(), old.topology().routing);
    let hosts = old.is_source_routed();
    let leave = move |places| {
        if hosts { Step::DenyPaths { plane, places, tables } } else { Step::Drain { plane, places, routing } }
    };
    let back = move |places| {
        if hosts {
            Step::AllowPaths { plane, places, tables }
        } else {
            Step::Return { plane, places, routing }
        }
    };
    (leave, back)
}

fn bare_wave(plane: Option<PlaneId>, steps: Vec<Step>) -> Wave {
    let duration = Seconds(steps.iter().map(|step| step.duration().0).sum());
    Wave {
        plane,
        drained: Vec::new(),
        steps,
        duration,
        removed_places: Vec::new(),
        joined_places: Vec::new(),
        pending_places: Vec::new(),
        switches: BTreeSet::new(),
        stale_switches: BTreeSet::new(),
    }
}
