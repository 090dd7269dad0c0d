//! Switches that apply their change only by a reload, which interrupts all of their ports.
//!
//! In: switches that may change, and a function that returns the method of a push for each of them. Out: the switches
//! that reload, with the reason. Invariants: a push and a rollout use the same method, because both ask the same
//! function. Of many switches, the first and the last of each class are asked, and a class has no exceptions inside.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::Switch;

use crate::population::{Population, is_drained};
use crate::switch_classes::SwitchClasses;
use crate::touched_artefacts::LOOKED_AT_MAX;

/// Returns those of the given switches that a change between two plans reloads, each with the reason.
pub type ReloadComparison<'a> = &'a dyn Fn(&Plan, &Plan, &[Switch]) -> BTreeMap<Switch, String>;

/// The two plans of a change, and the function that returns reloads.
pub(crate) struct Reloads<'a> {
    pub(crate) old: &'a Plan,
    pub(crate) new: &'a Plan,
    pub(crate) population: &'a Population,
    pub(crate) comparison: Option<ReloadComparison<'a>>,
}

impl Reloads<'_> {
    /// Returns those of `some` that reload while they carry traffic.
    pub(crate) fn find(&self, some: impl IntoIterator<Item = Switch>) -> BTreeMap<Switch, String> {
        let Some(comparison) = self.comparison else { return BTreeMap::new() };
        let (old, new) = (self.old.fabric(), self.new.fabric());
        let carries = |switch: &Switch| {
            let stays = old.has_switch(*switch) && new.has_switch(*switch);
            stays && !is_drained(&old.topology().exceptions, *switch)
        };
        let switches: Vec<Switch> = some.into_iter().filter(carries).collect();
        if switches.len() <= LOOKED_AT_MAX {
            return comparison(self.old, self.new, &switches);
        }
        let classes = SwitchClasses::new(self.old, self.new, self.population).split(&switches);
        let ends = classes.iter().flat_map(|class| class.first().into_iter().chain(class.last()).copied());
        let ends: BTreeSet<Switch> = ends.collect();
        let known = comparison(self.old, self.new, &ends.into_iter().collect::<Vec<Switch>>());
        let of_class = |class: Vec<Switch>| {
            let why = class.iter().find_map(|switch| known.get(switch)).cloned();
            why.into_iter().flat_map(move |why| class.clone().into_iter().map(move |one| (one, why.clone())))
        };
        classes.into_iter().flat_map(of_class).collect()
    }
}
