//! In which order a difference can be rolled out, so that no pair of NICs loses more than a stated share.
//!
//! In: two plans and a share. Out: [`Rollout`]: a wave that prepares, waves in which switches begin to send over what is new,
//! a wave in which traffic leaves what the smaller numbers of the new plan have no place for, waves that each drain what
//! they touch, a wave that finishes. Invariants: at every moment of it, no pair has lost more than the share of the
//! bandwidth that both plans have in common, and none that keeps a path has none; nothing is used that is gone, drained or
//! not there yet; what cannot be done so is refused with the reason.

mod configured;
mod growing;
mod leaving;
mod named;
mod step;

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;

use closc_diagnostics::figures::percent;
use closc_fabric::{End, Fabric, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, PlaneId, Switch, TierId, Topology};

pub use configured::Differs;
pub use named::named_waves;
pub use step::{Seconds, Step};

use crate::change::{Change, Exception, Thing, TierSetting, Turn};
use crate::compare::Difference;
use crate::effect::place_name;
use crate::impact::{PairChange, impact};
use crate::migration::Migration;
use crate::mode::{Place, RolloutMode, judge, touched_zones};
use crate::population::{Population, is_drained};
use crate::verdict::is_of_pools;
use configured::Configured;
use growing::Growing;
pub(crate) use growing::{grows_beside, mixes};
use leaving::Leaving;

/// Elements that may be removed for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Part of the bandwidth of any pair, between 0 and 1.
    pub share: f64,
}

impl Limit {
    /// Returns the limit of one plane.
    pub fn one_plane(topology: &Topology) -> Limit {
        Limit { share: 1.0 / f64::from(topology.planes) }
    }
}

/// Devices and cables that are touched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wave {
    /// The plane; nothing for waves that are about all planes.
    pub plane: Option<PlaneId>,
    /// Elements without traffic while they are changed.
    pub drained: Vec<Place>,
    /// Actions, in order.
    pub steps: Vec<Step>,
    /// Approximate duration.
    pub duration: Seconds,
    /// Elements without traffic from this wave on that had some before: they are removed.
    pub gone: Vec<Place>,
    /// New equipment in use from this wave on, where switches choose the path.
    pub joined: Vec<Place>,
    /// New equipment without use after the wave: until then switches are configured as if it were drained.
    pub apart: Vec<Place>,
    /// Switches that are configured.
    pub switches: BTreeSet<Switch>,
    /// Those of them that keep for now what is no longer wanted: something at their ends goes in a later wave.
    pub keeping: BTreeSet<Switch>,
}

/// The order of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollout {
    /// The waves, one after the other.
    pub waves: Vec<Wave>,
    /// Whether the switches of waves are at most those that change: they were found by rule, and not compared.
    pub at_most: bool,
}

/// Why a difference cannot be rolled out within a limit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RolloutError {
    /// Hosts and switches would have to change at the same moment.
    #[error("no order keeps traffic up: {why}")]
    AtOnce {
        /// Why.
        why: &'static str,
    },
    /// Segments get another plan.
    #[error("no order keeps traffic up: {0}")]
    Segments(String),
    /// A single device or cable already takes more than the share.
    #[error("draining `{name}` takes {} of a pair's bandwidth, and the share is {}", percent(*loss), percent(*share))]
    TooNarrow {
        /// The device or cable.
        name: String,
        /// Effect of draining it.
        loss: f64,
        /// The share.
        share: f64,
    },
    /// A pair would have no path while something is drained.
    #[error("draining `{name}` cuts {pairs} pairs of NICs off, {}", if *planes == 1 { "and there is no other plane" } else { "whose other planes are drained or absent" })]
    CutOff {
        /// The device or cable.
        name: String,
        /// Number of pairs.
        pairs: u64,
        /// Planes of the fabric.
        planes: u8,
    },
    /// The new fabric itself takes more than the share.
    #[error("the new fabric itself takes {} of a pair's bandwidth, and the share is {}", percent(*loss), percent(*share))]
    Target {
        /// Accepted values.
        loss: f64,
        /// The share.
        share: f64,
    },
}

impl Rollout {
    /// Orders a difference into waves; takes the switches that may change by rule for those that do.
    pub fn between(old: &Plan, new: &Plan, limit: Limit) -> Result<Rollout, RolloutError> {
        Rollout::between_with(old, new, limit, None)
    }

    /// Orders a difference into waves; `differs` compares the files of a switch, as long as there are not too many.
    pub fn between_with(
        old: &Plan,
        new: &Plan,
        limit: Limit,
        differs: Option<Differs<'_>>,
    ) -> Result<Rollout, RolloutError> {
        let difference = Difference::between(old.fabric(), new.fabric());
        if difference.is_empty() {
            return Ok(Rollout { waves: Vec::new(), at_most: false });
        }
        if let Some(migration) = Migration::between(old, new) {
            return Err(RolloutError::Segments(migration.to_string()));
        }
        let population = Population::between(old.fabric(), new.fabric());
        let leaving = Leaving::of(&population, &difference, old);
        let work = Work::of(&difference, &population, &leaving, old, new)?;
        let target = worst(&impact(old.fabric(), new.fabric()));
        if target.loss > limit.share + f64::EPSILON {
            return Err(RolloutError::Target { loss: target.loss, share: limit.share });
        }
        let configured = Configured::of(&difference, old, new, differs);
        let growing = Growing::of(&population, &difference, &configured, old, new);
        let mut waves: Vec<Wave> = growing.prepare().into_iter().chain(growing.join()).collect();
        // NICs that are removed stop before anything is drained, so their paths are unused.
        let base = leaving.stopped(without(old.fabric(), &leaving.places));
        if leaving.cuts_off(old.fabric(), &base, new.fabric()) {
            return Err(RolloutError::AtOnce {
                why: "what goes carries all paths of some pairs of NICs until what comes is used",
            });
        }
        if !leaving.is_empty() {
            waves.push(leaving.wave(old));
        }
        narrow(old, &base, &work, limit)?;
        let (drained, mut kept) = work.waves(&base, &population, &configured, limit)?;
        waves.extend(drained);
        let losing = Rollout::losing(&waves, &population, old, new);
        let is_done =
            |switch: &Switch| growing.is_staged() && waves.iter().any(|wave| wave.switches.contains(switch));
        kept.extend(configured.of_new(losing.into_iter().filter(|switch| !is_done(switch))));
        let left = growing.left(&waves).difference(&kept).copied().collect();
        waves.push(finish(&population, left, kept, new));
        Ok(Rollout { waves, at_most: !configured.is_exact() })
    }

    /// The switches that stay and lose ports to what goes, and that no wave has configured since.
    fn losing(waves: &[Wave], population: &Population, old: &Plan, new: &Plan) -> BTreeSet<Switch> {
        let ends = population.cables.removed.iter().flat_map(|link| ends(old.fabric(), *link));
        let mut losing: BTreeSet<Switch> = ends.filter(|switch| new.fabric().has_switch(*switch)).collect();
        let drained = waves.iter().filter(|wave| !wave.drained.is_empty());
        drained.for_each(|wave| losing.retain(|switch| !wave.switches.contains(switch)));
        losing
    }

    /// Returns the plan by which switches are configured in each wave: the new one, in which what is not used yet is drained.
    pub fn stages(&self, new: &Plan) -> Vec<Plan> {
        let stage = |wave: &Wave| Plan::new(without(new.fabric(), &wave.apart.iter().copied().collect()));
        self.waves.iter().map(stage).collect()
    }

    /// Returns what carries no traffic at each moment of a rollout, beyond what the old plan has drained.
    pub fn moments(&self) -> Vec<BTreeSet<Place>> {
        let mut moments = Vec::new();
        let mut gone: BTreeSet<Place> = BTreeSet::new();
        for wave in &self.waves {
            moments.push(gone.iter().chain(&wave.drained).copied().collect());
            gone.extend(&wave.gone);
            moments.push(gone.clone());
        }
        moments
    }

    /// Returns the most that a pair loses of its bandwidth while each wave lasts, between 0 and 1.
    pub fn losses(&self, old: &Plan) -> Vec<f64> {
        let during = self.moments().into_iter().step_by(2);
        during.map(|places| worst(&impact(old.fabric(), &without(old.fabric(), &places))).loss).collect()
    }

    /// Returns how long all of it takes about.
    pub fn duration(&self) -> Seconds {
        Seconds(self.waves.iter().map(|wave| wave.duration.0).sum())
    }
}

impl Wave {
    /// Returns the steps that undo the wave, at whichever step it stopped: hosts stay away until the old state is back
    /// and checked.
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
struct Work {
    places: BTreeMap<PlaneId, Vec<Place>>,
    /// Places that do not come back.
    gone: BTreeSet<Place>,
    /// Switches that technicians replace, and cables that they pull.
    by_hand: BTreeSet<Place>,
}

impl Work {
    fn of(
        difference: &Difference,
        population: &Population,
        leaving: &Leaving,
        old: &Plan,
        new: &Plan,
    ) -> Result<Work, RolloutError> {
        let mut places: BTreeMap<PlaneId, BTreeSet<Place>> = BTreeMap::new();
        let mut work = Work { places: BTreeMap::new(), gone: BTreeSet::new(), by_hand: BTreeSet::new() };
        let moved: BTreeSet<Switch> =
            population.moved.iter().flat_map(|link| ends(old.fabric(), *link)).collect();
        for change in &difference.changes {
            let verdict = judge(change, old.fabric(), new.fabric());
            match verdict.mode {
                // A removed element is in no place of work: traffic leaves it before.
                RolloutMode::Hitless | RolloutMode::Leaves | RolloutMode::NodeByNode => {}
                RolloutMode::Drained(some) => {
                    let goes = matches!(
                        change,
                        Change::Exception(Exception::Absent(Turn::On, Thing::Switch(_) | Thing::Link(_)))
                    );
                    // It is taken out at the end.
                    let of_work = if goes { &mut work.gone } else { &mut work.by_hand };
                    of_work.extend(&some);
                    for place in some {
                        places.entry(place.plane()).or_default().insert(place);
                    }
                }
                RolloutMode::PlaneByPlane(tiers) => {
                    let some = drained(change, &tiers, &moved, (old, new));
                    let stays = |switch: &Switch| !leaving.places.contains(&Place::Switch(*switch));
                    for switch in some.into_iter().filter(stays) {
                        places.entry(switch.plane).or_default().insert(Place::Switch(switch));
                    }
                }
                RolloutMode::AtOnce => return Err(RolloutError::AtOnce { why: verdict.why }),
            }
        }
        // A cable that moves to another port is unplugged: it is drained, by itself or with a switch at its end.
        for link in population.moved.iter().filter(|link| !old.fabric().is_drained(**link)) {
            let place = Place::Link(*link);
            work.by_hand.insert(place);
            let ends = ends(old.fabric(), *link);
            let with_switch =
                |places: &BTreeSet<Place>| ends.iter().any(|end| places.contains(&Place::Switch(*end)));
            let of_plane = places.entry(place.plane()).or_default();
            if !with_switch(of_plane) {
                of_plane.insert(place);
            }
        }
        work.places = places.into_iter().map(|(plane, all)| (plane, sorted(all))).collect();
        Ok(work)
    }

    /// The cables of a plane that are unplugged.
    fn moved(&self, plane: PlaneId) -> BTreeSet<Link> {
        let links = self.by_hand.iter().filter_map(|place| match place {
            Place::Link(link) => Some(*link),
            Place::Switch(_) => None,
        });
        links.filter(|link| link.plane() == plane).collect()
    }

    /// Orders what has to be drained into waves, each as large as the limit allows; and the switches that keep something for
    /// now.
    fn waves(
        &self,
        base: &Fabric,
        population: &Population,
        configured: &Configured<'_>,
        limit: Limit,
    ) -> Result<(Vec<Wave>, BTreeSet<Switch>), RolloutError> {
        let old = configured.old();
        let (mut waves, mut gone, mut kept) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut size = 1;
        for (plane, places) in &self.places {
            let mut left = places.as_slice();
            let mut plugged = self.moved(*plane);
            // All of a plane often fit together.
            if fits(old, base, &gone, left, limit).is_ok() {
                size = left.len();
            }
            while !left.is_empty() {
                let now = fitting(left.len(), size, |count| fits(old, base, &gone, &left[..count], limit))?;
                let (now, later) = left.split_at(now);
                // The rest at the end of a plane has no meaning for the next.
                size = if later.is_empty() { size } else { now.len() };
                let lost: Vec<Place> = now.iter().filter(|p| self.gone.contains(p)).copied().collect();
                gone.extend(&lost);
                let beside = beside(old.fabric(), self.gone.difference(&gone));
                let cables = pull(old.fabric(), now, &mut plugged);
                let next = wave(*plane, (now, cables), lost, &beside, self, population, configured);
                kept.extend(&next.keeping);
                waves.push(next);
                left = later;
            }
        }
        Ok((waves, kept))
    }
}

/// The switches of tiers that a change drains: other wiring of the third tier is about the cables that it moves, and other hardware
/// of single zones about their switches.
fn drained(
    change: &Change,
    tiers: &[TierId],
    moved: &BTreeSet<Switch>,
    (old, new): (&Plan, &Plan),
) -> Vec<Switch> {
    let wired = matches!(change, Change::T2(_));
    let by_pools = is_of_pools(judge(change, old.fabric(), new.fabric()).why);
    let zones = match change {
        Change::Tier(tier, TierSetting::ByZone(edit)) if !by_pools => {
            Some(touched_zones(*tier, edit, old.fabric(), new.fabric()))
        }
        _ => None,
    };
    let of_change = |switch: &Switch| {
        tiers.contains(&switch.tier)
            && (!wired || moved.contains(switch))
            && zones.as_ref().is_none_or(|all| all.contains(&switch.zone))
            && !is_drained(&old.topology().exceptions, *switch)
    };
    old.switches().filter(of_change).collect()
}

/// Upper tiers first: they take least from a pair, and what is below needs them back.
fn sorted(all: BTreeSet<Place>) -> Vec<Place> {
    let mut all: Vec<Place> = all.into_iter().collect();
    let level = |place: &Place| match place {
        Place::Switch(Switch { tier, .. }) => 3 - tier.level(),
        Place::Link(_) => 0,
    };
    all.sort_by_key(|place| (level(place), *place));
    all
}

/// Loss of the most affected pair in a state.
struct Worst {
    loss: f64,
    cut_off: u64,
}

fn worst(rows: &[PairChange]) -> Worst {
    let loss = rows.iter().filter_map(PairChange::loss).fold(0.0, f64::max);
    let cut = rows.iter().filter(|row| {
        row.old.is_some_and(|share| share.usable > 0) && row.new.is_some_and(|share| share.usable == 0)
    });
    Worst { loss, cut_off: cut.map(|row| row.pairs).sum() }
}

/// Returns the old fabric with more places drained.
pub fn without(old: &Fabric, places: &BTreeSet<Place>) -> Fabric {
    let mut topology = old.topology().clone();
    for place in places {
        match place {
            Place::Switch(switch) => drop(topology.exceptions.drained_switches.insert(*switch)),
            Place::Link(link) => drop(topology.exceptions.drained_links.insert(*link)),
        }
    }
    Fabric::new(Arc::new(topology))
}

/// Refuses at once what a wave would come to late: a place that takes more than the share by itself. The first of each tier
/// stands for those behind it, which are looked at when their turn comes.
fn narrow(old: &Plan, base: &Fabric, work: &Work, limit: Limit) -> Result<(), RolloutError> {
    for places in work.places.values() {
        let mut tier = None;
        for place in places {
            let own = match place {
                Place::Switch(switch) => Some(switch.tier),
                Place::Link(_) => None,
            };
            if own.is_some() && own != tier {
                fits(old, base, &BTreeSet::new(), slice::from_ref(place), limit)?;
                tier = own;
            }
        }
    }
    Ok(())
}

/// Tells why places cannot be drained together, the first of them being the one that is named.
fn fits(
    old: &Plan,
    base: &Fabric,
    gone: &BTreeSet<Place>,
    places: &[Place],
    limit: Limit,
) -> Result<(), RolloutError> {
    let all = gone.iter().chain(places).copied().collect();
    let found = worst(&impact(base, &without(base, &all)));
    let name = || places.first().map(|place| place_name(*place, old)).unwrap_or_default();
    match found.cut_off {
        0 if found.loss <= limit.share + f64::EPSILON => Ok(()),
        0 => Err(RolloutError::TooNarrow { name: name(), loss: found.loss, share: limit.share }),
        pairs => Err(RolloutError::CutOff { name: name(), pairs, planes: old.topology().planes }),
    }
}

/// Returns how many of so many places can be drained together from the front: the more, the more they take. Waves are mostly of one
/// size, so it looks around the `last` one first.
fn fitting<E>(count: usize, last: usize, take: impl Fn(usize) -> Result<(), E>) -> Result<usize, E> {
    let (mut good, mut bad) = (0, count + 1);
    // Bytes around the last size, and then twice as far on each look.
    let (mut probe, mut step) = (last.clamp(1, count), 1);
    while probe < bad {
        if take(probe).is_err() {
            bad = probe;
        } else {
            good = probe;
            probe = if good == count { bad } else { (probe + step).min(count) };
            step *= 2;
        }
    }
    if good == 0 {
        take(1)?;
        good = 1;
    }
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        if take(middle).is_ok() { good = middle } else { bad = middle }
    }
    Ok(good)
}

/// The last wave, with what is left to change in place, and what switches have kept until now.
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
    Wave { switches: left.into_iter().chain(kept).collect(), ..done(None, steps) }
}

/// Counts the cables that are pulled while some places are drained, and takes them out of those that are still plugged.
fn pull(fabric: &Fabric, places: &[Place], plugged: &mut BTreeSet<Link>) -> usize {
    let before = plugged.len();
    for place in places {
        match place {
            Place::Link(link) => drop(plugged.remove(link)),
            Place::Switch(_) if plugged.is_empty() => {}
            Place::Switch(switch) => fabric.ports(*switch).for_each(|port| {
                if let PortUse::Link { link, .. } = port.used {
                    plugged.remove(&link);
                }
            }),
        }
    }
    before - plugged.len()
}

/// The switches at the ends of cables that go with some places.
fn beside<'p>(fabric: &Fabric, places: impl Iterator<Item = &'p Place>) -> BTreeSet<Switch> {
    let mut found = BTreeSet::new();
    for place in places {
        match place {
            Place::Link(link) => found.extend(ends(fabric, *link)),
            Place::Switch(switch) => found.extend(fabric.ports(*switch).filter_map(|port| match port.used {
                PortUse::Link { far: End::Switch { switch, .. }, .. } => Some(switch),
                PortUse::Link { .. } | PortUse::Absent { .. } | PortUse::Spare => None,
            })),
        }
    }
    found
}

/// The switches at the ends of a cable.
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
    changes: &Configured<'_>,
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
    let switches = configured.len();
    let replaced = |place: &&Place| matches!(place, Place::Switch(_)) && work.by_hand.contains(place);
    let devices = places.iter().filter(replaced).count();
    let (leave, back) = turns(old, plane);
    let mut steps = vec![leave(places.len()), Step::WaitIdle];
    if devices + cables > 0 {
        steps.push(Step::Replace { switches: devices, cables });
    }
    // Where the fabric only shrinks there is nothing to add, and where it only grows nothing to remove.
    let (grows, shrinks) = (population.grows(), population.shrinks());
    steps.extend((grows || !shrinks).then_some(Step::Add { switches }).and_then(Step::if_any));
    steps.extend(Step::Change { switches }.if_any());
    // Elements used by neighbours until they go in a later wave stay configured until then.
    let goes = |switch: &Switch| gone.contains(&Place::Switch(*switch));
    let keeping: BTreeSet<Switch> =
        configured.intersection(beside).filter(|switch| !goes(switch)).copied().collect();
    let removing = (shrinks || !grows) && keeping.len() < switches;
    steps.extend(removing.then_some(Step::Remove { switches: switches - keeping.len() }));
    steps.push(Step::Verify);
    if gone.len() < places.len() {
        steps.push(back(places.len() - gone.len()));
    }
    Wave { drained: places.to_vec(), gone, switches: configured, keeping, ..done(Some(plane), steps) }
}

/// Loss and recovery of traffic for many places at once: hosts choose paths, or switches do.
fn turns(old: &Plan, plane: PlaneId) -> (impl Fn(usize) -> Step + use<>, impl Fn(usize) -> Step + use<>) {
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

fn done(plane: Option<PlaneId>, steps: Vec<Step>) -> Wave {
    let duration = Seconds(steps.iter().map(|step| step.duration().0).sum());
    Wave {
        plane,
        drained: Vec::new(),
        steps,
        duration,
        gone: Vec::new(),
        joined: Vec::new(),
        apart: Vec::new(),
        switches: BTreeSet::new(),
        keeping: BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Number that fits among so many, and the number of looks.
    fn found(count: usize, last: usize, most: usize) -> (Result<usize, ()>, usize) {
        let looks = Cell::new(0);
        let take = |size: usize| {
            looks.set(looks.get() + 1);
            assert!((1..=count).contains(&size), "{size} of {count}");
            if size <= most { Ok(()) } else { Err(()) }
        };
        (fitting(count, last, take), looks.get())
    }

    #[test]
    fn the_most_that_fits_is_found_from_any_size() {
        for count in 1..40 {
            for (last, most) in (1..45).flat_map(|last| (0..45).map(move |most| (last, most))) {
                let wanted = if most == 0 { Err(()) } else { Ok(most.min(count)) };
                assert_eq!(found(count, last, most).0, wanted, "{most} of {count} after {last}");
            }
        }
    }

    #[test]
    fn a_wave_of_the_size_before_takes_two_looks() {
        assert_eq!(found(100_000, 20, 20), (Ok(20), 2));
        assert_eq!(found(20, 20, 20), (Ok(20), 1), "all that is left");
        assert_eq!(found(7, 20, 20), (Ok(7), 1), "less than that is left");
        let (size, looks) = found(100_000, 1, 70_000);
        assert!(size == Ok(70_000) && looks <= 36, "{looks}");
    }
}
