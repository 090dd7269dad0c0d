//! Checks of the fabric files of designs.
//!
//! In: designs. Out: a verdict on each, and the files of those that pass. Invariants: a file that passes has no
//! findings other than known faults of releases; with stages, the file of each stage passes.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_compile::front::{self, Options, Source};
use closc_design::{Design, Need, Side, Third, Tier, Verdict};

/// The warning about a known fault of a release.
pub(in crate::commands) const KNOWN_FAULT: &str = "W0203";

/// The error about a profile that has no thresholds for ports of a switch. It depends on speeds and hops, not on
/// counts.
const MARKS: &str = "E0721";

/// The error about cables that are longer than their medium reaches. It depends on lanes, not on counts.
const REACH: &str = "E0602";

/// Start of messages about a limit of T0s, which the ports of T1s have no influence on.
const OF_T0: &str = "each T0 ";

/// Maximum number of files that are checked per routing.
const TRIED: usize = 256;

/// The checks of fabric files, at most [`TRIED`] per routing.
pub(super) struct Checks<'a> {
    pub need: &'a Need,
    stages: &'a [u32],
    /// The third tier of the last stage, if the stages have separate designs.
    last: Option<&'a Third<'a>>,
    options: Options,
    /// The file of each design that passed, by its key.
    files: BTreeMap<String, Passed>,
    /// The first finding of a file that did not pass.
    pub first: Option<Finding>,
    /// Number of checks per routing.
    tried: BTreeMap<&'static str, usize>,
    /// The verdict on each design, by its key.
    verdicts: BTreeMap<String, Verdict>,
    /// Combinations of hardware and QoS profile without thresholds, or with cables that are too long.
    unfit: BTreeSet<String>,
    /// T0s that exceed a limit.
    exceeding: BTreeMap<String, Finding>,
    /// Routings with designs that were not checked.
    pub unchecked: Vec<Routing>,
}

/// A file that passed the checks.
#[derive(Debug, Clone)]
pub(super) struct Passed {
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

impl Passed {
    /// Placeholder for a design that was not checked.
    pub(super) fn absent() -> Self {
        let (assumed, known_faults, later) = (None, Vec::new(), Vec::new());
        Passed { qos: "none".to_owned(), file: String::new(), assumed, known_faults, base_rtt_ns: 0, later }
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
            exceeding: BTreeMap::new(),
            unchecked: Vec::new(),
        }
    }

    /// Writes the widths of the third tier of the last stage into every file.
    pub(super) fn with_last(self, last: Option<&'a Third<'a>>) -> Self {
        Checks { last, ..self }
    }

    /// Returns the file of a design that passed.
    pub(super) fn passed(&self, design: &Design<'_>) -> Option<&Passed> {
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
        let mut assumed = match self.exceeding.get(&t0(design)) {
            Some((code, message)) if *code == closc_design::ASSUMED => Some(message.clone()),
            Some(_) => return Ok(Verdict::Refused),
            None => None,
        };
        for qos in design.profiles() {
            for is_firm in [true, false] {
                // A limit that is exceeded with one profile is exceeded with all of them.
                let is_known = is_firm && assumed.is_some();
                if is_known || self.unfit.contains(&hardware(design, qos)) {
                    continue;
                }
                if !self.may_try(design.routing) {
                    return Ok(Verdict::Refused);
                }
                let (code, message) = match self.check(design, qos, is_firm)? {
                    Ok(passed) => {
                        self.files.insert(key.to_owned(), Passed { assumed, ..passed });
                        return Ok(if is_firm { Verdict::Firm } else { Verdict::Assumed });
                    }
                    Err(finding) => finding,
                };
                tracing::debug!("{key}: {code}: {message}");
                self.first.get_or_insert_with(|| (code, message.clone()));
                self.learn(design, qos, (code, &message));
                if code != closc_design::ASSUMED {
                    break;
                }
                assumed = Some(message);
            }
        }
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
            MARKS => drop(self.unfit.insert(hardware(design, qos))),
            REACH => self.unfit.extend(design.profiles().iter().map(|qos| hardware(design, qos))),
            _ if message.starts_with(OF_T0) => {
                self.exceeding.insert(t0(design), (code, message.to_owned()));
            }
            _ => {}
        }
    }

    /// Checks the file of a design, and that of each later stage.
    fn check(
        &self,
        design: &Design<'_>,
        qos: &str,
        is_firm: bool,
    ) -> anyhow::Result<Result<Passed, Finding>> {
        let first = match self.one(design, qos, is_firm)? {
            Ok(passed) => passed,
            Err(finding) => return Ok(Err(finding)),
        };
        let mut later = Vec::new();
        for nics in self.stages.iter().skip(1) {
            let Some(grown) = design.grown(*nics, self.need) else {
                return Ok(Err(("", format!("no ports for {nics} NICs"))));
            };
            match self.one(&grown, qos, is_firm)? {
                Ok(passed) => later.push(passed.file),
                Err(finding) => return Ok(Err(finding)),
            }
        }
        Ok(Ok(Passed { later, ..first }))
    }

    fn one(&self, design: &Design<'_>, qos: &str, is_firm: bool) -> anyhow::Result<Result<Passed, Finding>> {
        let file = closc_design::text(self.need, design, (qos, is_firm), self.last);
        let reading = front::read_text(&Source::Stdin, file.as_bytes(), &self.options)?;
        let (faults, findings): (Vec<_>, Vec<_>) =
            reading.diagnostics.iter().partition(|found| found.rule.code == KNOWN_FAULT);
        if let Some(found) = findings.first() {
            return Ok(Err((found.rule.code, found.message.clone())));
        }
        let nics = reading.plan.as_ref().map_or(0, |plan| plan.fabric().counts().nics);
        if nics != u64::from(design.places()) {
            return Ok(Err(("", format!("{nics} NICs instead of {}", design.places()))));
        }
        let known_faults = faults.iter().map(|found| found.message.clone()).collect();
        let base_rtt_ns = reading.plan.as_ref().map_or(0, |plan| plan.delay().base_rtt.0);
        let passed =
            Passed { qos: qos.to_owned(), file, assumed: None, known_faults, base_rtt_ns, later: Vec::new() };
        Ok(Ok(passed))
    }
}

/// Code and message of a finding. The code is empty if the file does not have the NICs of its design, or a stage has no
/// ports for its NICs.
pub(super) type Finding = (&'static str, String);

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
