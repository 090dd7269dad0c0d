//! Checks of the fabric files of designs.
//!
//! In: designs. Out: a verdict on each, and the files of those that pass. Invariants: a file that passes has no
//! findings other than known faults of releases; with stages, the file of each stage passes.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_compile::front::{self, Options, Source};
use closc_design::{Design, Need, Side, ThirdTier, Tier, Verdict};

/// The warning about a known fault of a release.
pub(in crate::commands) const KNOWN_FAULT: &str = "W0203";

/// The error about a profile that has no thresholds for ports of a switch. It depends on speeds and hops, not on
/// counts.
const MARKS: &str = "E0721";

/// The warning about a profile whose buffer thresholds a switch cannot have. It depends on the switch alone.
const SHARES: &str = "W0708";

/// The error about a lossless profile on a platform without priority flow control.
const NO_PAUSE: &str = "E0702";

/// The error about a profile that an operating system does not support.
const NO_QOS: &str = "E0716";

/// The error about cables that are longer than their medium reaches. It depends on lanes, not on counts.
const REACH: &str = "E0602";

/// Start of messages about a limit of T0s, which the ports of T1s have no influence on.
const OF_T0: &str = "each T0 ";

/// Part of the name of a T0, in messages about one of its ports.
const T0_NAME: &str = "p0-t0-";

/// Maximum number of files that are checked per routing.
const TRIED: usize = 512;

/// The checks of fabric files, at most [`TRIED`] per routing.
pub(super) struct Checks<'a> {
    pub need: &'a Need,
    stages: &'a [u32],
    /// The third tier of the last stage, if the stages have separate designs.
    last: Option<&'a ThirdTier<'a>>,
    options: Options,
    /// The file of each design that passed, by its key.
    files: BTreeMap<String, CheckedFile>,
    /// The first finding of a file that did not pass.
    pub first: Option<Finding>,
    /// Number of checks per routing.
    tried: BTreeMap<&'static str, usize>,
    /// The verdict on each design, by its key.
    verdicts: BTreeMap<String, Verdict>,
    /// Combinations of hardware and QoS profile without thresholds, or with cables that are too long.
    unfit: BTreeSet<String>,
    /// T0s that exceed a published limit.
    exceeding: BTreeSet<String>,
    /// Routings with designs that were not checked.
    pub unchecked: Vec<Routing>,
}

/// A file that passed the checks.
#[derive(Debug, Clone)]
pub(super) struct CheckedFile {
    pub qos: String,
    pub file: String,
    /// The assumed limit that the design exceeds.
    pub assumed: Option<String>,
    pub known_faults: Vec<String>,
    /// Round-trip time between the NICs that are farthest apart, with empty queues.
    pub base_rtt_ns: u64,
    /// The file of each stage after the first.
    pub later: Vec<String>,
}

impl CheckedFile {
    /// Placeholder for a design that was not checked.
    pub(super) fn absent() -> Self {
        let (assumed, known_faults, later) = (None, Vec::new(), Vec::new());
        CheckedFile {
            qos: "none".to_owned(),
            file: String::new(),
            assumed,
            known_faults,
            base_rtt_ns: 0,
            later,
        }
    }
}

impl<'a> Checks<'a> {
    pub(super) fn new(need: &'a Need, stages: &'a [u32], options: Options) -> Self {
        Checks {
            need,
            stages,
            last: None,
            options,
            files: BTreeMap::new(),
            first: None,
            tried: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            unfit: BTreeSet::new(),
            exceeding: BTreeSet::new(),
            unchecked: Vec::new(),
        }
    }

    /// Writes the widths of the third tier of the last stage into every file.
    pub(super) fn with_last(self, last: Option<&'a ThirdTier<'a>>) -> Self {
        Checks { last, ..self }
    }

    /// Returns the file of a design that passed.
    pub(super) fn passed(&self, design: &Design<'_>) -> Option<&CheckedFile> {
        self.files.get(&key(design))
    }

    /// Checks the files of a design, one for each QoS profile, and keeps the first that passes.
    pub(super) fn pass(&mut self, design: &Design<'_>) -> anyhow::Result<Verdict> {
        let key = key(design);
        if let Some(verdict) = self.verdicts.get(&key) {
            return Ok(*verdict);
        }
        let verdict = self.verdict(design, &key)?;
        self.verdicts.insert(key, verdict);
        Ok(verdict)
    }

    fn verdict(&mut self, design: &Design<'_>, key: &str) -> anyhow::Result<Verdict> {
        if self.exceeding.contains(&t0(design)) {
            return Ok(Verdict::Refused);
        }
        let mut last = None;
        for qos in design.profiles() {
            if self.unfit.contains(&hardware(design, qos)) || self.unfit.contains(&lowest(design, qos)) {
                continue;
            }
            if !self.may_try(design.routing) {
                break;
            }
            let (code, message) = match self.check(design, qos)? {
                Ok(passed) => {
                    let verdict = if passed.assumed.is_none() { Verdict::Firm } else { Verdict::Assumed };
                    self.files.insert(key.to_owned(), passed);
                    return Ok(verdict);
                }
                Err(finding) => finding,
            };
            tracing::debug!("{key}: {code}: {message}");
            self.learn(design, qos, (code, &message));
            last = Some((code, message));
        }
        // The last profile asks for the least, so its finding is the reason.
        self.first = self.first.take().or(last);
        Ok(Verdict::Refused)
    }

    /// Counts a check, and tells whether the limit permits it.
    fn may_try(&mut self, routing: Routing) -> bool {
        let tried = self.tried.entry(routing.word()).or_default();
        *tried += 1;
        let is_over = *tried > TRIED;
        if is_over && !self.unchecked.contains(&routing) {
            self.unchecked.push(routing);
        }
        !is_over
    }

    /// Records a finding that other designs with the same hardware, or with the same T0s, also have.
    fn learn(&mut self, design: &Design<'_>, qos: &str, (code, message): (&'static str, &str)) {
        match code {
            MARKS if message.contains(T0_NAME) => drop(self.unfit.insert(lowest(design, qos))),
            MARKS | SHARES | NO_PAUSE | NO_QOS => drop(self.unfit.insert(hardware(design, qos))),
            REACH => self.unfit.extend(design.profiles().iter().map(|qos| hardware(design, qos))),
            _ if message.starts_with(OF_T0) => drop(self.exceeding.insert(t0(design))),
            _ => {}
        }
    }

    /// Checks the file of a design, and that of each later stage. If one of them exceeds an assumed limit, all of them
    /// allow the warning about it.
    fn check(&self, design: &Design<'_>, qos: &str) -> anyhow::Result<Result<CheckedFile, Finding>> {
        let mut passed = match self.one(design, qos)? {
            Ok(passed) => passed,
            Err(finding) => return Ok(Err(finding)),
        };
        let mut stages = Vec::new();
        for nics in self.stages.iter().skip(1) {
            let Some(grown) = design.grown(*nics, self.need) else {
                return Ok(Err(("", format!("no ports for {nics} NICs"))));
            };
            match self.one(&grown, qos)? {
                Ok(later) => passed.assumed = passed.assumed.or(later.assumed),
                Err(finding) => return Ok(Err(finding)),
            }
            stages.push(grown);
        }
        let is_firm = passed.assumed.is_none();
        if !is_firm {
            passed.file = self.text(design, (qos, is_firm));
        }
        passed.later = stages.iter().map(|grown| self.text(grown, (qos, is_firm))).collect();
        Ok(Ok(passed))
    }

    fn text(&self, design: &Design<'_>, (qos, is_firm): (&str, bool)) -> String {
        closc_design::text(self.need, design, (qos, is_firm), self.last)
    }

    fn one(&self, design: &Design<'_>, qos: &str) -> anyhow::Result<Result<CheckedFile, Finding>> {
        let file = self.text(design, (qos, true));
        let reading = front::read_text(&Source::Stdin, file.as_bytes(), &self.options)?;
        let (mut known_faults, mut assumed) = (Vec::new(), None);
        for found in &reading.diagnostics {
            match found.rule.code {
                KNOWN_FAULT => known_faults.push(found.message.clone()),
                closc_design::ASSUMED => assumed = assumed.or_else(|| Some(found.message.clone())),
                code => return Ok(Err((code, found.message.clone()))),
            }
        }
        let nics = reading.plan.as_ref().map_or(0, |plan| plan.fabric().counts().nics);
        if nics != u64::from(design.places()) {
            return Ok(Err(("", format!("{nics} NICs instead of {}", design.places()))));
        }
        let base_rtt_ns = reading.plan.as_ref().map_or(0, |plan| plan.delay().base_rtt.0);
        let passed =
            CheckedFile { qos: qos.to_owned(), file, assumed, known_faults, base_rtt_ns, later: Vec::new() };
        Ok(Ok(passed))
    }
}

/// Code and message of a finding. The code is empty if the file does not have the NICs of its design, or a stage has no
/// ports for its NICs.
pub(super) type Finding = (&'static str, String);

/// Returns a key of the hardware of T0s with its OS, planes, breakouts and tiers above, and of a profile.
fn lowest(design: &Design<'_>, qos: &str) -> String {
    let Design { planes, t0: Tier { platform, down, up, .. }, .. } = design;
    let up = up.map(|up| up.breakout.to_string()).unwrap_or_default();
    let (os, tiers) = (design.os.word(), design.tiers().count());
    format!("{os} {qos} planes={planes} tiers={tiers} {}/{}/{up}", platform.id, down.breakout)
}

/// Returns a key of the hardware with its OS, planes and breakouts, and of a profile.
fn hardware(design: &Design<'_>, qos: &str) -> String {
    let tier = |tier: &Tier<'_>| {
        let up = tier.up.map(|up| up.breakout.to_string()).unwrap_or_default();
        format!("{}/{}/{up}", tier.platform.id, tier.down.breakout)
    };
    let tiers: Vec<String> = design.tiers().map(tier).collect();
    format!("{} {qos} planes={} {}", design.os.word(), design.planes, tiers.join("+"))
}

/// Returns a key of the T0s of a design, with their number and ports.
fn t0(design: &Design<'_>) -> String {
    let ports = |side: Side| format!("{}x{}", side.count, side.breakout);
    let (down, up) = (ports(design.t0.down), design.t0.up.map(ports).unwrap_or_default());
    let (routing, os, zones) = (design.routing.word(), design.os.word(), design.zones());
    let Design { planes, groups, t0, .. } = design;
    format!("{routing} {os} planes={planes} {}/{down}/{up} zones={zones} groups={groups}", t0.platform.id)
}

/// Returns a unique key of a design.
fn key(design: &Design<'_>) -> String {
    let ports = |side: Side| format!("{}x{}", side.count, side.breakout);
    let tier = |tier: &Tier<'_>| {
        let (down, up) = (ports(tier.down), tier.up.map(ports).unwrap_or_default());
        format!("{}x{}/{down}/{up}", tier.switches, tier.platform.id)
    };
    let tiers: Vec<String> = design.tiers().map(tier).collect();
    let (routing, os) = (design.routing.word(), design.os.word());
    let Design { planes, planes_by_nic, groups, per_group, parallel, .. } = design;
    let rows = design.third.as_ref().map_or(1, |third| third.rows);
    format!(
        "{} {} {} planes={planes} by_nic={planes_by_nic} groups={groups} per_group={per_group} parallel={parallel} rows={rows}",
        routing,
        os,
        tiers.join("+")
    )
}
