//! Checks of the fabric files of designs.
//!
//! In: designs. Out: a verdict on each, and the files of those that pass. Invariants: a file that passes has no
//! findings other than known faults of releases; with stages, the file of each stage passes.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_compile::front::{self, Options, Source};
use closc_design::{Design, Need, Side, Third, Tier, Verdict};

/// The warning about a known fault of a release.
pub(super) const KNOWN_FAULT: &str = "W0203";

/// The error about a profile that has no thresholds for ports of a switch. It depends on speeds and hops, not on
/// counts.
const MARKS: &str = "E0721";

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
    /// Combinations of hardware and QoS profile for which the profile has no thresholds.
    unmarkable: BTreeSet<String>,
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
        let (files, tried, unmarkable) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let (last, first, unchecked) = (None, None, Vec::new());
        Checks { need, stages, last, options, files, first, tried, unmarkable, unchecked }
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
        let mut assumed = None;
        for qos in design.profiles() {
            let hardware = hardware(design, qos);
            for is_firm in [true, false] {
                // A limit that is exceeded with one profile is exceeded with all of them.
                let is_known = is_firm && assumed.is_some();
                if is_known || self.unmarkable.contains(&hardware) {
                    continue;
                }
                let tried = self.tried.entry(design.routing.word()).or_default();
                *tried += 1;
                if *tried > TRIED {
                    if !self.unchecked.contains(&design.routing) {
                        self.unchecked.push(design.routing);
                    }
                    return Ok(Verdict::Refused);
                }
                match self.check(design, qos, is_firm)? {
                    Ok(passed) => {
                        self.files.insert(key(design), Passed { assumed, ..passed });
                        return Ok(if is_firm { Verdict::Firm } else { Verdict::Assumed });
                    }
                    Err((code, message)) => {
                        tracing::debug!("{}: {code}: {message}", key(design));
                        self.first.get_or_insert_with(|| (code, message.clone()));
                        if code != closc_design::ASSUMED {
                            if code == MARKS {
                                self.unmarkable.insert(hardware);
                            }
                            break;
                        }
                        assumed = Some(message);
                    }
                }
            }
        }
        Ok(Verdict::Refused)
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
