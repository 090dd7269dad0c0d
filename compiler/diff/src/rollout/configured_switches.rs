//! The switches that a wave configures: exactly those whose files it changes, if they can be compared.
//!
//! In: switches that may change by rule, and a function that compares their files in two plans. Out: the
//! switches that change. Invariants: if few switches may change, each is compared. If many may change, all of
//! them are returned, and [`ConfiguredSwitches::is_exact`] returns false.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::Switch;

use crate::compare::Difference;
use crate::touched_artefacts::{LOOKED_AT_MAX, TouchedArtefacts};

/// Returns whether the files of a switch that both plans have differ.
pub type FileComparison<'a> = &'a dyn Fn(&Plan, &Plan, Switch) -> bool;

/// The switches that a rollout configures.
pub(super) struct ConfiguredSwitches<'a> {
    old: &'a Plan,
    new: &'a Plan,
    differs: Option<FileComparison<'a>>,
    /// Switches of both plans whose files may differ.
    candidates: BTreeSet<Switch>,
    /// Cached results of comparing the old plan with the new one.
    known: RefCell<BTreeMap<Switch, bool>>,
}

impl<'a> ConfiguredSwitches<'a> {
    /// Prepares the switches of a difference. `differs` is used only if there are not too many.
    pub(super) fn of(
        difference: &Difference,
        old: &'a Plan,
        new: &'a Plan,
        differs: Option<FileComparison<'a>>,
    ) -> ConfiguredSwitches<'a> {
        let touched = TouchedArtefacts::apply_rules(difference, old, new);
        let both = new.switches().filter(|switch| old.fabric().has_switch(*switch));
        let candidates: BTreeSet<Switch> = both.filter(|switch| touched.switch(*switch)).collect();
        let differs = differs.filter(|_| candidates.len() <= LOOKED_AT_MAX);
        ConfiguredSwitches { old, new, differs, candidates, known: RefCell::default() }
    }

    /// Returns the plan from which the rollout starts.
    pub(super) fn old(&self) -> &'a Plan {
        self.old
    }

    /// Returns the plan that the rollout ends with.
    pub(super) fn new_plan(&self) -> &'a Plan {
        self.new
    }

    /// Returns the switches of both plans whose files may change, as far as is known.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Switch> {
        self.candidates.iter().copied().filter(|switch| self.changes(*switch))
    }

    /// Returns whether the files of a switch of both plans may change, as far as is known.
    pub(super) fn may_change(&self, switch: Switch) -> bool {
        self.candidates.contains(&switch) && self.changes(switch)
    }

    /// Returns whether every returned switch was compared.
    pub(super) fn is_exact(&self) -> bool {
        self.differs.is_some()
    }

    /// Returns those of `some` that exist in the new plan and are either new or changed.
    pub(super) fn of_new(&self, some: impl IntoIterator<Item = Switch>) -> BTreeSet<Switch> {
        let stays = some.into_iter().filter(|switch| self.new.fabric().has_switch(*switch));
        stays.filter(|switch| self.changes(*switch)).collect()
    }

    /// Returns the switches that change between two intermediate plans, selected from `some` and the
    /// candidates of the difference.
    pub(super) fn stage_switches(
        &self,
        before: &Plan,
        after: &Plan,
        some: BTreeSet<Switch>,
    ) -> BTreeSet<Switch> {
        let Some(differs) = self.differs else { return some };
        let mut all = some;
        all.extend(self.candidates.iter().filter(|switch| before.fabric().has_switch(**switch)));
        all.retain(|switch| !before.fabric().has_switch(*switch) || differs(before, after, *switch));
        all
    }

    /// Returns every switch of both plans that changes, or `None` if they are not compared.
    pub(super) fn changed_switches(&self) -> Option<BTreeSet<Switch>> {
        self.differs.map(|_| self.of_new(self.candidates.iter().copied()))
    }

    fn changes(&self, switch: Switch) -> bool {
        let Some(differs) = self.differs else { return true };
        if !self.old.fabric().has_switch(switch) {
            return true;
        }
        let mut known = self.known.borrow_mut();
        *known
            .entry(switch)
            .or_insert_with(|| self.candidates.contains(&switch) && differs(self.old, self.new, switch))
    }
}
