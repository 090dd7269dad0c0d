//! Verdicts over time: when a verdict is given, and when it ends.
//!
//! In: the verdict that the evidence supports now, if any. Out: whether it is given, kept or ended. Invariants: a verdict
//! is given only after new reports of all relevant agents. It ends only by evidence that the element works, never by
//! the lack of reports.

use closc_topology::Link;

use crate::chance::{ESTIMATE_LOSSES, evidence_of_recovery, rate_ratio};
use crate::evidence::Evidence;
use crate::options::Options;
use crate::verdict::{Kind, Scene, Verdict};

/// Evidence for the end of gray loss: e to this power is a million.
///
/// The test begins again after a loss. So of a million losses of a faulty element, at most one is followed by a false
/// all-clear. A cable that loses 1 % of 20 probes a second has 17,000 losses a day. The probability of a false all-clear
/// is thus at most 1.7 % per day.
const RECOVERY: f64 = 13.82;

/// Maximum number of probes from which the loss rate of a faulty element is estimated, as in a tally.
const REMEMBERED: u64 = 1 << 14;

/// Time for which an undecided verdict waits, in units of the time for which a report is valid. After one unit, an agent
/// that does not report no longer counts. After another one, an agent that answers again has sent two reports. The
/// first of them is not evidence.
const UNDECIDED_FRESH_TIMES: u64 = 2;

/// A verdict, and the time at which it was first reached.
#[derive(Debug, Clone)]
pub(crate) struct DatedVerdict {
    pub(crate) first_ms: u64,
    /// When the evidence last supported it.
    pub(crate) last_ms: u64,
    /// Time after which losses were last added, if it is gray.
    lost_from_ms: u64,
    /// Whether it was given; otherwise it waits for more reports.
    pub(crate) given: bool,
    pub(crate) verdict: Verdict,
    /// The test for its end, if it is gray and agents probe the element.
    pub(crate) recovery: Option<Recovery>,
}

impl DatedVerdict {
    pub(crate) fn new(verdict: &Verdict, scene: &Scene<'_>) -> Self {
        let now_ms = scene.now_ms;
        let is_gray = verdict.kind == Kind::Gray && scene.has_probes(verdict.element);
        let links = || scene.probed_links(verdict.element);
        let recovery = is_gray.then(|| Recovery::new(links(), scene.evidence));
        let since_ms = if verdict.since_ms == 0 { now_ms } else { verdict.since_ms };
        DatedVerdict {
            first_ms: now_ms,
            last_ms: now_ms,
            lost_from_ms: now_ms,
            given: false,
            verdict: Verdict { since_ms, ..verdict.clone() },
            recovery,
        }
    }

    /// Records that the evidence supports the verdict. Returns whether the verdict is given for the first
    /// time.
    pub(crate) fn update(&mut self, verdict: &Verdict, scene: &Scene<'_>, options: &Options) -> bool {
        let or = if self.given && verdict.is_open { self.verdict.or } else { verdict.or };
        if verdict.lost > self.verdict.lost {
            self.lost_from_ms = self.lost_from_ms.max(verdict.lost_from_ms);
        }
        self.verdict = Verdict { since_ms: self.verdict.since_ms, or, ..verdict.clone() };
        self.last_ms = scene.now_ms;
        // A burst of losses that is over is not a fault. A switch that restarts causes one.
        // Reports of several agents may show the same burst.
        let lasted_ms = self.lost_from_ms.saturating_sub(self.first_ms);
        // Wait for a new report of every agent, because it may support another explanation.
        let settled_ms = self.verdict.reported_ms.saturating_sub(self.first_ms);
        let waited_ms = scene.now_ms.saturating_sub(self.first_ms);
        let undecided_ms = if self.verdict.is_open { UNDECIDED_FRESH_TIMES * options.fresh_ms } else { 0 };
        if self.given
            || settled_ms < options.settle_ms
            || self.recovery.is_some() && lasted_ms < options.settle_ms
            || waited_ms < options.settle_ms.saturating_add(undecided_ms)
        {
            return false;
        }
        self.given = true;
        if let Some(recovery) = &mut self.recovery {
            recovery.begin((self.verdict.lost, self.verdict.sent), scene.evidence);
        }
        true
    }

    /// Returns whether a given verdict stays although the evidence no longer supports it. Missing reports do not mean
    /// recovery.
    pub(crate) fn outlasts(&mut self, scene: &Scene<'_>) -> bool {
        let Verdict { element, kind, .. } = self.verdict;
        let is_reported = scene.has_reports_on(element, kind);
        if is_reported {
            self.verdict.unheard_ms = None;
        } else {
            self.verdict.unheard_ms.get_or_insert(scene.now_ms);
        }
        match kind {
            Kind::Gray => self.recovery.is_some() || !is_reported,
            Kind::Dead | Kind::Swapped(_) if scene.has_probes(element) => {
                !scene.is_alive_after(element, self.last_ms)
            }
            Kind::Dead | Kind::Swapped(_) | Kind::Corrupt | Kind::ShortOnly => !is_reported,
        }
    }
}

/// Probes of an element since the last loss that belongs to its gray fault.
#[derive(Debug, Clone)]
pub(crate) struct Recovery {
    links: Vec<Link>,
    /// Probes sent and lost when the fault was suspected.
    suspected: (u64, u64),
    /// Probes lost and sent while it was faulty.
    faulty: (u64, u64),
    /// Probes sent and lost when the test began.
    base: (u64, u64),
}

impl Recovery {
    fn new(links: Vec<Link>, evidence: &Evidence) -> Self {
        let now = evidence.direct_totals(&links);
        Recovery { links, suspected: now, faulty: (0, 0), base: now }
    }

    /// Begins the test, after a loss. Takes all probes lost and sent that support the verdict.
    ///
    /// Some of these probes may be from before the fault, so they lower the measured loss rate. The test then
    /// takes longer, but remains as reliable. Once there are enough losses since the fault was suspected,
    /// earlier probes are excluded if a good path explains them better than the rate since then does.
    fn begin(&mut self, all: (u64, u64), evidence: &Evidence) {
        let now = evidence.direct_totals(&self.links);
        let (sent, lost) = (now.0.saturating_sub(self.suspected.0), now.1.saturating_sub(self.suspected.1));
        let (early_lost, early_sent) = (all.0.saturating_sub(lost), all.1.saturating_sub(sent));
        let share = lost as f64 / sent.max(1) as f64;
        let is_diluted = lost >= ESTIMATE_LOSSES && rate_ratio(early_lost, early_sent, share) < 0.0;
        self.faulty = if is_diluted { (lost, sent) } else { all };
        self.base = now;
        if sent > REMEMBERED {
            self.suspected = (self.suspected.0.midpoint(now.0), self.suspected.1.midpoint(now.1));
        }
    }

    /// Returns whether later probes show that the element has recovered. If they indicate the opposite, the
    /// test restarts.
    pub(crate) fn is_complete(&mut self, evidence: &Evidence) -> bool {
        let now = evidence.direct_totals(&self.links);
        let (sent, lost) = (now.0.saturating_sub(self.base.0), now.1.saturating_sub(self.base.1));
        let sure = evidence_of_recovery(self.faulty.0, self.faulty.1, lost, sent);
        if sure <= 0.0 && lost > 0 {
            self.begin((self.faulty.0 + lost, self.faulty.1 + sent), evidence);
        }
        sure >= RECOVERY
    }
}
