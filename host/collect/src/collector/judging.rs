//! Verdicts of the collector: which begin, stay and end.
//!
//! In: evidence, the time. Out: news. Invariants: a verdict that was given ends only by evidence, or because one on a
//! larger or smaller element replaces it.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::Nic;

use super::{Collector, News};
use crate::ban::probed_links;
use crate::dated_verdict::DatedVerdict;
use crate::element::Element;
use crate::verdict::{Kind, Scene, Verdict, judge};

/// A clock that goes back by less than this was not set: reports of concurrent tasks arrive out of order.
const CLOCK_STEP_MIN_MS: u64 = 1_000;

impl Collector {
    /// Computes new verdicts, and returns which faults began and ended.
    pub fn judge(&mut self, now_ms: u64) -> Vec<News> {
        self.check_clock(now_ms);
        self.evidence.begin_contests(&self.plan, now_ms);
        let mut news: Vec<News> = self.end_recovered(now_ms).into_iter().map(News::Ended).collect();
        let scene = Scene {
            plan: &self.plan,
            evidence: &self.evidence,
            switches: &self.switches,
            now_ms,
            fresh_ms: self.options.fresh_ms,
            min_good_probes: self.options.good_probes,
        };
        let mut judged: BTreeMap<(Element, Kind), Verdict> =
            judge(&scene).into_iter().map(|verdict| ((verdict.element, verdict.kind), verdict)).collect();
        let mut ended = Vec::new();
        self.verdicts.retain(|key, held| {
            let stays = judged.contains_key(key) || held.given && held.outlasts(&scene);
            if !stays && held.given {
                ended.push(held.verdict.clone());
            }
            stays
        });
        let given: BTreeSet<Element> =
            self.verdicts.values().filter(|held| held.given).map(|held| held.verdict.element).collect();
        // A part of a named element is not named in addition, unless the part alone is to blame.
        judged.retain(|_, verdict| verdict.or.is_none_or(|or| !given.contains(&or)));
        while let Some((key, verdict)) = judged.pop_first() {
            let held = self.verdicts.entry(key).or_insert_with(|| DatedVerdict::new(&verdict, &scene));
            if held.update(&verdict, &scene, &self.options) {
                news.push(News::Broken(held.verdict.clone()));
            }
        }
        let ended: Vec<News> = ended.into_iter().map(News::Ended).collect();
        self.note_repairs(&ended, now_ms);
        let superseded = self.drop_superseded(&news);
        news.extend(ended.into_iter().chain(superseded.into_iter().map(News::Ended)));
        let lossy = self.verdicts().filter(|verdict| verdict.kind == Kind::Gray);
        let in_use = lossy.flat_map(|verdict| probed_links(&self.plan, verdict.element)).collect();
        self.evidence.forget(self.options.good_probes, &in_use);
        self.note_dead_agents(&mut news, now_ms);
        news
    }

    /// Handles a clock that was set. A step forward counts as such if it is longer than reports are valid,
    /// for example because the process did not run. Recorded times move with the clock. Verdicts that wait
    /// for more reports begin to wait again.
    pub(super) fn check_clock(&mut self, now_ms: u64) {
        let expected_ms = self.last_ms..=self.last_ms.saturating_add(self.options.fresh_ms);
        let is_set = now_ms + CLOCK_STEP_MIN_MS < *expected_ms.start() || now_ms > *expected_ms.end();
        let by_ms = now_ms.wrapping_sub(self.last_ms).cast_signed();
        self.last_ms = now_ms;
        if !is_set {
            return;
        }
        self.evidence.shift(by_ms);
        self.verdicts.retain(|_, held| held.given);
        for held in self.verdicts.values_mut() {
            for at_ms in [&mut held.first_ms, &mut held.last_ms, &mut held.verdict.since_ms] {
                *at_ms = at_ms.saturating_add_signed(by_ms);
            }
            held.verdict.reported_ms = held.verdict.reported_ms.saturating_add_signed(by_ms);
            held.verdict.unheard_ms = held.verdict.unheard_ms.map(|at_ms| at_ms.saturating_add_signed(by_ms));
        }
        for source in self.sources.iter_mut().filter(|source| source.last_seen_ms > 0) {
            source.last_seen_ms = source.last_seen_ms.saturating_add_signed(by_ms);
        }
    }

    /// Ends gray verdicts whose elements have recovered, and discards their losses.
    fn end_recovered(&mut self, now_ms: u64) -> Vec<Verdict> {
        let (evidence, mut ended) = (&self.evidence, Vec::new());
        self.verdicts.retain(|_, held| {
            let is_over = held.given && held.recovery.as_mut().is_some_and(|own| own.is_complete(evidence));
            ended.extend(is_over.then(|| held.verdict.clone()));
            !is_over
        });
        let ends: Vec<News> = ended.iter().cloned().map(News::Ended).collect();
        self.note_repairs(&ends, now_ms);
        ended
    }

    /// Removes verdicts on elements that overlap with that of a new verdict, and returns them.
    fn drop_superseded(&mut self, news: &[News]) -> Vec<Verdict> {
        let broken = news.iter().filter_map(|news| match news {
            News::Broken(verdict) => Some(verdict),
            News::Ended(_) | News::AgentDead(..) | News::AgentBack(_) => None,
        });
        let new: Vec<(Element, Kind)> = broken.map(|verdict| (verdict.element, verdict.kind)).collect();
        let (topology, mut ended) = (self.plan.topology(), Vec::new());
        self.verdicts.retain(|key, held| {
            let is_old = held.given && held.last_ms < self.last_ms && !new.contains(key);
            let is_gone = is_old && new.iter().any(|(element, _)| element.overlaps(topology, key.0));
            ended.extend(is_gone.then(|| held.verdict.clone()));
            !is_gone
        });
        ended
    }

    /// Records which agents have died or answer again.
    fn note_dead_agents(&mut self, news: &mut Vec<News>, now_ms: u64) {
        let dead = self.dead_agents(now_ms);
        let nics: BTreeSet<Nic> = dead.iter().map(|agent| agent.nic).collect();
        news.extend(self.dead.difference(&nics).map(|nic| News::AgentBack(*nic)));
        let new = dead.iter().filter(|agent| !self.dead.contains(&agent.nic));
        news.extend(new.map(|agent| News::AgentDead(agent.nic, agent.line(&self.plan, now_ms))));
        self.dead = nics;
    }

    /// Discards losses around repaired elements. A fault that became another one is not repaired.
    fn note_repairs(&mut self, news: &[News], now_ms: u64) {
        let is_sure = |(key, held): &(&(Element, Kind), &DatedVerdict)| held.given || key.1 == Kind::Dead;
        let known: Vec<Element> =
            self.verdicts.iter().filter(is_sure).map(|((element, _), _)| *element).collect();
        let until_ms = now_ms + self.options.settle_ms;
        for ended in news {
            let News::Ended(verdict) = ended else { continue };
            let topology = self.plan.topology();
            // While an element changes bytes, its losses do not count. They must not name it after the repair.
            let replaces = |held: &DatedVerdict| verdict.kind == Kind::Gray || held.given;
            let is_regrouped = matches!(verdict.kind, Kind::Gray | Kind::Corrupt)
                && self.verdicts.iter().any(|((element, _), held)| {
                    replaces(held) && element.overlaps(topology, verdict.element)
                });
            if !is_regrouped {
                self.evidence.record_repair(&self.plan, verdict.element, &known, until_ms);
            }
        }
        self.evidence.repairs.forget(now_ms);
    }
}
