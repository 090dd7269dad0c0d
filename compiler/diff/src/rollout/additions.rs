//! Additions of the new plan. They are up and configured before any traffic uses them.
//!
//! In: added and removed elements, and both plans. Out: [`Additions`]: the wave that prepares new equipment,
//! the waves in which existing switches start to use it, and the final changes in place. Invariants: if hosts
//! choose paths, new equipment is unused until hosts get new tables. If switches choose paths, it is
//! configured as drained until every switch has ports towards it. So in every intermediate state, packets
//! reach only equipment that forwards.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::{Link, Nic, PlaneId, Switch};

use super::configured_switches::ConfiguredSwitches;
use super::step::Step;
use super::{Wave, bare_wave, drain_places, ends};
use crate::cable_identity::replaced_cables;
use crate::change::{Change, Exception, ExceptionTarget, Toggle};
use crate::compare::Difference;
use crate::mode::{Place, RolloutMode, judge};
use crate::population::{MovedCable, Population, old_nic};
use crate::touched_artefacts::TouchedArtefacts;
use crate::verdict::{GROWS, is_of_pools};

/// Additions, and the existing elements that change because of them.
pub(super) struct Additions<'a> {
    population: &'a Population,
    old: &'a Plan,
    new: &'a Plan,
    configured: &'a ConfiguredSwitches<'a>,
    /// Switches of both sides that change. If hosts choose paths and files are not compared, switches that
    /// only gain or lose cables are omitted.
    changed: BTreeSet<Switch>,
    /// New paths of existing switches, plane by plane.
    joins: BTreeMap<PlaneId, Vec<Place>>,
    /// Whether all changes are in place, so that each stage can be a complete configuration.
    in_place: bool,
    /// Switches that reload, so they change only while they are drained.
    reloads: &'a BTreeSet<Switch>,
    /// NICs that are replaced.
    nics: usize,
    /// Cables in the cages of these NICs that are replaced.
    nic_cables: usize,
}

impl<'a> Additions<'a> {
    pub(super) fn of(
        population: &'a Population,
        difference: &Difference,
        configured: &'a ConfiguredSwitches<'a>,
        reloads: &'a BTreeSet<Switch>,
    ) -> Additions<'a> {
        let (old, new) = (configured.old(), configured.new_plan());
        let hosts_choose = new.is_source_routed();
        let changed = configured.changed_switches().unwrap_or_else(|| by_rule(difference, old, new));
        let in_place = difference.changes.iter().all(|change| is_in_place(change, population, old, new))
            && !mixes(difference, population, old, new);
        let replaced = replaces_nics(difference, old, new);
        let is_host = |cable: &MovedCable| matches!(cable.old, Link::Host(_));
        let nic_cables = if replaced {
            replaced_cables(old.fabric(), new.fabric()).iter().filter(|cable| is_host(cable)).count()
        } else {
            0
        };
        let is_old = |nic: &Nic| old_nic(old.fabric(), new.fabric(), *nic).is_some();
        let nics = if replaced { new.fabric().nics().filter(is_old).count() } else { 0 };
        let joins = if hosts_choose { BTreeMap::new() } else { joins(population, old, new) };
        Additions { population, old, new, configured, changed, joins, in_place, reloads, nics, nic_cables }
    }

    /// Omits switches that get their final configuration in an earlier wave.
    pub(super) fn omit(&mut self, done: &BTreeSet<Switch>) {
        self.changed.retain(|switch| !done.contains(switch));
    }

    /// Returns the wave that mounts, plugs and configures new equipment. It does not drain anything. Only
    /// NICs that are replaced are down, node by node.
    pub(super) fn prepare(&self) -> Option<Wave> {
        let population = self.population;
        let (switches, cables) = (population.switches.added.len(), population.cables.added.len());
        if switches + cables + self.nics == 0 {
            return None;
        }
        let mut configured: BTreeSet<Switch> = population.switches.added.iter().copied().collect();
        configured.extend(population.cables.added.iter().flat_map(|link| ends(self.new.fabric(), *link)));
        if !self.new.is_source_routed() {
            configured.extend(&self.changed);
        }
        let apart = self.pending_places(None);
        let mut configured = if self.in_place && !self.new.is_source_routed() {
            self.configured.stage_switches(self.old, &self.stage(&apart), configured)
        } else {
            self.configured.of_new(configured)
        };
        configured.retain(|switch| !self.reloads.contains(switch));
        let mut steps: Vec<Step> =
            (switches + cables > 0).then_some(Step::Install { switches, cables }).into_iter().collect();
        let replaces = Step::ReplaceNics { nics: self.nics, cables: self.nic_cables };
        steps.extend((self.nics > 0).then_some(replaces));
        steps.extend(Step::Add { switches: configured.len() }.if_any());
        steps.push(Step::Verify);
        Some(Wave { switches: configured, pending_places: apart, ..bare_wave(None, steps) })
    }

    /// Returns the waves in which switches start to use new equipment.
    pub(super) fn join(&self) -> Vec<Wave> {
        let routing = self.new.topology().routing;
        let waves = self.joins.iter().map(|(plane, places)| {
            let steps = vec![Step::Join { plane: *plane, places: places.len(), routing }, Step::Verify];
            let mut switches = self.undrain_changes(*plane, places);
            switches.retain(|switch| self.in_place || !self.reloads.contains(switch));
            Wave {
                joined_places: places.clone(),
                switches,
                pending_places: self.pending_places(Some(*plane)),
                ..bare_wave(Some(*plane), steps)
            }
        });
        waves.collect()
    }

    /// Orders the waves after the first one. In stages, drained switches get their new ports before any switch uses the
    /// new equipment.
    pub(super) fn order(&self, leaves: Option<Wave>, drained: Vec<Wave>) -> Vec<Wave> {
        if !self.is_staged() || drained.is_empty() {
            return self.join().into_iter().chain(leaves).chain(drained).collect();
        }
        let apart = self.pending_places(None);
        let stage = |wave: Wave| Wave { pending_places: apart.clone(), ..wave };
        leaves.into_iter().chain(drained).map(stage).chain(self.join()).collect()
    }

    /// Returns whether switches get a complete configuration in each wave, ending with the new one.
    pub(super) fn is_staged(&self) -> bool {
        self.in_place && !self.joins.is_empty()
    }

    /// Returns the new elements that are unused after the wave of a plane; `None` means before the first such
    /// wave.
    fn pending_places(&self, plane: Option<PlaneId>) -> Vec<Place> {
        let later =
            self.joins.iter().filter(|(own, _)| self.in_place && plane.is_none_or(|done| **own > done));
        later.flat_map(|(_, places)| places.iter().copied()).collect()
    }

    /// Returns the switches whose configuration changes when these places are undrained.
    fn undrain_changes(&self, plane: PlaneId, places: &[Place]) -> BTreeSet<Switch> {
        let before = self.stage(places);
        let thing = |place: &Place| match place {
            Place::Switch(switch) => ExceptionTarget::Switch(*switch),
            Place::Link(link) => ExceptionTarget::Link(*link),
        };
        let undrained =
            places.iter().map(|place| Change::Exception(Exception::Drained(Toggle::Off, thing(place))));
        let difference = Difference { changes: undrained.collect(), ..Difference::default() };
        let touched = TouchedArtefacts::apply_rules(&difference, &before, self.new);
        let touched = self.new.switches().filter(|switch| touched.switch(*switch)).collect();
        if !self.in_place {
            return self.configured.of_new(self.configured.stage_switches(&before, self.new, touched));
        }
        let later = self.pending_places(Some(plane));
        let before = self.stage(&[later.as_slice(), places].concat());
        self.configured.stage_switches(&before, &self.stage(&later), touched)
    }

    /// Returns the new plan with additional places drained.
    fn stage(&self, apart: &[Place]) -> Plan {
        Plan::new(drain_places(self.new.fabric(), &apart.iter().copied().collect()))
    }

    /// Returns the switches that change in place in the last wave, because no other wave configures them.
    pub(super) fn remaining_switches(&self, waves: &[Wave]) -> BTreeSet<Switch> {
        let configured: BTreeSet<Switch> =
            waves.iter().flat_map(|wave| wave.switches.iter().copied()).collect();
        self.changed.difference(&configured).copied().collect()
    }
}

/// Returns whether NICs are replaced, node by node.
pub(super) fn replaces_nics(difference: &Difference, old: &Plan, new: &Plan) -> bool {
    let mode = |change: &Change| judge(change, old.fabric(), new.fabric()).mode;
    difference.changes.iter().any(|change| mode(change) == RolloutMode::NodeByNode)
}

/// Returns whether a change adds elements and changes nothing else in use. A switch that divides its buffer among more
/// ports reloads, and its new configuration is complete in each stage.
fn is_in_place(change: &Change, population: &Population, old: &Plan, new: &Plan) -> bool {
    let verdict = judge(change, old.fabric(), new.fabric());
    verdict.mode == RolloutMode::Hitless || is_of_pools(verdict.reason) && !population.shrinks()
}

/// Returns the switches that both sides have and that may change, according to the rule of each field and
/// exception.
fn by_rule(difference: &Difference, old: &Plan, new: &Plan) -> BTreeSet<Switch> {
    let hosts_choose = new.is_source_routed();
    // If hosts choose paths, growth affects only new switches and those at the other ends of new cables.
    let here = |change: &&Change| {
        let verdict = judge(change, old.fabric(), new.fabric());
        !hosts_choose || (verdict.reason != GROWS && verdict.mode != RolloutMode::Leaves)
    };
    let changes: Vec<Change> = difference.changes.iter().filter(here).cloned().collect();
    if changes.is_empty() {
        return BTreeSet::new();
    }
    let own = Difference {
        changes,
        implied_exceptions: difference.implied_exceptions.clone(),
        ..Difference::default()
    };
    let touched = TouchedArtefacts::apply_rules(&own, old, new);
    let both = new.switches().filter(|switch| old.fabric().has_switch(*switch));
    both.filter(|switch| touched.switch(*switch)).collect()
}

/// Returns whether a difference both drains an element and adds paths for existing switches. Drained elements
/// are still used as a last resort. New elements count as drained during their stages, but must not be used
/// at all. No configuration can express both.
pub(crate) fn mixes(difference: &Difference, population: &Population, old: &Plan, new: &Plan) -> bool {
    let drains = |change: &Change| matches!(change, Change::Exception(Exception::Drained(Toggle::On, _)));
    let from_old =
        |link: &Link| matches!(link, Link::Fabric { lower, .. } if old.fabric().has_switch(*lower));
    !new.is_source_routed()
        && difference.changes.iter().any(drains)
        && population.cables.added.iter().any(from_old)
}

/// Returns whether a difference drains, removes or replaces elements in addition to growth that needs stages.
/// No configuration can express which elements are in use during such a rollout.
pub(crate) fn grows_beside(difference: &Difference, population: &Population, old: &Plan, new: &Plan) -> bool {
    let other = |change: &Change| {
        let mode = judge(change, old.fabric(), new.fabric()).mode;
        mode != RolloutMode::NodeByNode && !is_in_place(change, population, old, new)
    };
    !new.is_source_routed() && difference.changes.iter().any(other) && !joins(population, old, new).is_empty()
}

/// Returns the new paths of existing switches: new switches above them, and new cables from them to existing
/// switches.
fn joins(population: &Population, old: &Plan, new: &Plan) -> BTreeMap<PlaneId, Vec<Place>> {
    let mut found: BTreeMap<PlaneId, BTreeSet<Place>> = BTreeMap::new();
    for link in &population.cables.added {
        let Link::Fabric { lower, .. } = link else { continue };
        let Some((upper, _)) = new.fabric().upper_end(*link) else { continue };
        if !old.fabric().has_switch(*lower) || new.fabric().is_drained(*link) {
            continue;
        }
        let is_new = !old.fabric().has_switch(upper);
        let place = if is_new { Place::Switch(upper) } else { Place::Link(*link) };
        found.entry(place.plane()).or_default().insert(place);
    }
    found.into_iter().map(|(plane, places)| (plane, super::sort_places(places))).collect()
}
