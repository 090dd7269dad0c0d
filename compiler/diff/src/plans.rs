//! Compares two plans.
//!
//! In: two plans. Out: a [`Report`] with its lines, impact, rollout and artefacts. Invariants: each part is computed by
//! its own module, from the same difference.

use closc_plan::Plan;

use crate::compare::Difference;
use crate::impact::impact;
use crate::migration::Migration;
use crate::population::Population;
use crate::reloads::{ReloadComparison, Reloads};
use crate::report::{FORMAT, Options, Report, Side};
use crate::rollout::{grows_beside, mixes};
use crate::touched_artefacts::{Item, TouchedArtefacts, artefacts};
use crate::touched_tiers::touched_tiers;
use crate::{effect, summary};

impl Report {
    /// Compares two plans. Artefacts are counted by rule, so the count may include some that do not change.
    pub fn of_plans(old: (&Plan, Side), new: (&Plan, Side), options: Options) -> Report {
        Report::of_plans_with(old, new, options, None, None)
    }

    /// Compares two plans. `differs` renders an artefact of both sides and returns whether they differ. `reloads`
    /// returns the switches that a push reloads.
    pub fn of_plans_with(
        old: (&Plan, Side),
        new: (&Plan, Side),
        options: Options,
        differs: Option<&dyn Fn(Item) -> bool>,
        reloads: Option<ReloadComparison<'_>>,
    ) -> Report {
        let (before, after) = (old.0, new.0);
        let difference = Difference::compare(before.fabric(), after.fabric());
        let population = Population::compare(before.fabric(), after.fabric());
        let touched = TouchedArtefacts::of(&difference, before, after);
        let pairs = impact(before.fabric(), after.fabric());
        let changed = artefacts(&touched, before, after, differs);
        let migration = Migration::compare(before, after);
        let mixes = effect::Mixes {
            drains: mixes(&difference, &population, before, after),
            others: grows_beside(&difference, &population, before, after),
        };
        let impact = effect::impact(&difference, &population, &pairs, before, after);
        let reloads = Reloads { old: before, new: after, population: &population, comparison: reloads };
        let rollout = effect::rollout(&difference, &changed, migration.as_ref(), mixes, &reloads);
        Report {
            format: FORMAT.to_owned(),
            changes: summary::lines(&difference, &population, before, after, options),
            rollout: Some(rollout.cutting_off(impact.cut_off)),
            impact,
            touched: touched_tiers(&changed.items, &population, before, after),
            artefacts: changed.kinds,
            waves: Vec::new(),
            no_waves: None,
            texts: Vec::new(),
            old: old.1,
            new: new.1,
        }
    }
}
