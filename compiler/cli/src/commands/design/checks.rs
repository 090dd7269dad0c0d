//! Checks of the fabric files of designs.
//!
//! In: designs. Out: a verdict on each, and the files of those that pass. Invariants: a file that passes has no
//! findings other than known faults of releases; with stages, the file of each stage passes.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_compile::front::{self, Options, Source};
use closc_design::{Design, Requirements, Side, ThirdTier, Tier, Verdict};
use closc_diagnostics::Diagnostic;

/// The warning about a known fault of a release.
pub(in crate::commands) const KNOWN_FAULT: &str = "W0203";

/// The error about a profile without valid ECN thresholds for ports of a switch. It depends on speeds and hops, not
/// on counts.
const MARKS: &str = "E0721";

/// The warning about a profile with buffer thresholds that a switch does not support. It depends only on the switch.
const SHARES: &str = "W0708";

/// The error about a lossless profile on a platform without priority flow control.
const NO_PAUSE: &str = "E0702";

/// The error about a profile that an operating system does not support.
const NO_QOS: &str = "E0716";

/// The error about cables that are longer than their medium reaches. It depends on lanes, not on counts.
const REACH: &str = "E0602";

/// Errors about tables of a switch: IPv6 routes, local SIDs, members of ECMP groups, neighbours, ECMP groups. Only
/// routes depend on the tiers above.
const ROUTES: &str = "E0902";
const TABLES: [&str; 4] = ["E0903", "E0904", "E0905", "E0906"];

/// The tier of T0s in findings.
const T0: Option<u8> = Some(0);

/// Maximum number of files that are checked per routing, in the sample and in the search.
const TRIED: usize = 512;

/// The checks of fabric files, at most [`TRIED`] per routing.
pub(super) struct Checks<'a> {
    pub need: &'a Requirements,
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
    /// Keys of designs that were not checked because of the limit.
    untried: Vec<String>,
    /// Combinations of hardware and QoS profile that have no thresholds, or whose cables are too long.
    unfit: BTreeSet<String>,
    /// T0s that exceed a published limit.
    t0s_over_limit: BTreeSet<String>,
    /// Routings with designs that were not checked.
    pub unchecked_routings: Vec<Routing>,
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
    /// Returns a placeholder for a design that was not checked.
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

impl CheckedFile {
    /// Adds the assumed limit that a later stage exceeds, and the known faults that affect it.
    fn include(&mut self, later: CheckedFile) {
        self.assumed = self.assumed.take().or(later.assumed);
        let new = later.known_faults.into_iter().filter(|fault| !self.known_faults.contains(fault));
        let new: Vec<String> = new.collect();
        self.known_faults.extend(new);
    }
}

impl<'a> Checks<'a> {
    pub(super) fn new(need: &'a Requirements, stages: &'a [u32], options: Options) -> Self {
        Checks {
            need,
            stages,
            last: None,
            options,
            files: BTreeMap::new(),
            first: None,
            tried: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            untried: Vec::new(),
            unfit: BTreeSet::new(),
            t0s_over_limit: BTreeSet::new(),
            unchecked_routings: Vec::new(),
        }
    }

    /// Sets the third tier of the last stage, so that its widths are written into every file.
    pub(super) fn with_last(self, last: Option<&'a ThirdTier<'a>>) -> Self {
        Checks { last, ..self }
    }

    /// Returns the file of a design that passed.
    pub(super) fn checked_file(&self, design: &Design<'_>) -> Option<&CheckedFile> {
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
        if self.t0s_over_limit.contains(&t0(design)) || self.t0s_over_limit.contains(&t0_and_t2s(design)) {
            return Ok(Verdict::Refused);
        }
        // The check would find `E0902`, so it runs only if its finding would be the first.
        if self.first.is_some() && design.exceeds_routes() {
            return Ok(Verdict::Refused);
        }
        let mut last = None;
        for qos in design.profiles() {
            if self.unfit.contains(&hardware(design, qos)) || self.unfit.contains(&lowest(design, qos)) {
                continue;
            }
            if !self.may_try(design.routing) {
                self.untried.push(key.to_owned());
                break;
            }
            let finding = match self.check(design, qos)? {
                Ok(passed) => {
                    let is_firm = passed.assumed.is_none() && !design.needs_later_release();
                    let verdict = if is_firm { Verdict::Firm } else { Verdict::Assumed };
                    let assumed = passed.assumed.as_deref().unwrap_or_default();
                    tracing::debug!("{key}: {verdict:?} with {qos} {assumed}");
                    self.files.insert(key.to_owned(), passed);
                    return Ok(verdict);
                }
                Err(finding) => finding,
            };
            tracing::debug!("{key}: {}: {}", finding.code, finding.message);
            self.learn(design, qos, &finding);
            last = Some(finding);
        }
        // The last profile has the lowest requirements, so its finding is the reason.
        self.first = self.first.take().or(last);
        Ok(Verdict::Refused)
    }

    /// Starts to count checks anew, after the sample before a search.
    pub(super) fn reset_limit(&mut self) {
        self.tried.clear();
        self.unchecked_routings.clear();
        for key in std::mem::take(&mut self.untried) {
            self.verdicts.remove(&key);
        }
    }

    /// Counts a check, and returns whether the limit permits it.
    fn may_try(&mut self, routing: Routing) -> bool {
        let tried = self.tried.entry(routing.keyword()).or_default();
        *tried += 1;
        let is_over = *tried > TRIED;
        if is_over && !self.unchecked_routings.contains(&routing) {
            self.unchecked_routings.push(routing);
        }
        !is_over
    }

    /// Records a finding that other designs with the same hardware, or with the same T0s, also have.
    fn learn(&mut self, design: &Design<'_>, qos: &str, finding: &Finding) {
        let is_of_t0 = finding.tier == T0;
        match finding.code {
            MARKS if is_of_t0 => drop(self.unfit.insert(lowest(design, qos))),
            MARKS | SHARES | NO_PAUSE | NO_QOS => drop(self.unfit.insert(hardware(design, qos))),
            REACH => self.unfit.extend(design.profiles().iter().map(|qos| hardware(design, qos))),
            ROUTES if is_of_t0 => drop(self.t0s_over_limit.insert(t0_and_t2s(design))),
            code if is_of_t0 && TABLES.contains(&code) => drop(self.t0s_over_limit.insert(t0(design))),
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
            let Some(grown) = design.grow(*nics, self.need) else {
                return Ok(Err(Finding::of_counts(format!("no ports for {nics} NICs"))));
            };
            match self.one(&grown, qos)? {
                Ok(later) => passed.include(later),
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
                _ => return Ok(Err(Finding::of(found))),
            }
        }
        let nics = reading.plan.as_ref().map_or(0, |plan| plan.fabric().counts().nics);
        if nics != u64::from(design.places()) {
            return Ok(Err(Finding::of_counts(format!("{nics} NICs instead of {}", design.places()))));
        }
        let base_rtt_ns = reading.plan.as_ref().map_or(0, |plan| plan.delay().base_rtt.0);
        let passed =
            CheckedFile { qos: qos.to_owned(), file, assumed, known_faults, base_rtt_ns, later: Vec::new() };
        Ok(Ok(passed))
    }
}

/// A finding that rejects a design.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// Its code; empty if the file does not have the NICs of its design, or a stage has no ports for its NICs.
    pub code: &'static str,
    pub message: String,
    /// The tier of the switches that it is about, if it is about one tier.
    tier: Option<u8>,
}

impl Finding {
    fn of(found: &Diagnostic) -> Self {
        Finding { code: found.rule.code, message: found.message.clone(), tier: found.tier }
    }

    fn of_counts(message: String) -> Self {
        Finding { code: "", message, tier: None }
    }
}

/// Returns a key of the hardware of T0s with its OS, planes, breakouts and tiers above, and of a profile.
fn lowest(design: &Design<'_>, qos: &str) -> String {
    let Design { planes, t0: Tier { platform, down, up, .. }, .. } = design;
    let up = up.map(|up| up.breakout.to_string()).unwrap_or_default();
    let (os, tiers) = (design.os.keyword(), design.tiers().count());
    format!("{os} {qos} planes={planes} tiers={tiers} {}/{}/{up}", platform.id, down.breakout)
}

/// Returns a key of the hardware with its OS, planes and breakouts, and of a profile.
fn hardware(design: &Design<'_>, qos: &str) -> String {
    let tier = |tier: &Tier<'_>| {
        let up = tier.up.map(|up| up.breakout.to_string()).unwrap_or_default();
        format!("{}/{}/{up}", tier.platform.id, tier.down.breakout)
    };
    let tiers: Vec<String> = design.tiers().map(tier).collect();
    format!("{} {qos} planes={} {}", design.os.keyword(), design.planes, tiers.join("+"))
}

/// Returns a key of the T0s of a design, with their number, ports and parallel cables.
fn t0(design: &Design<'_>) -> String {
    let ports = |side: Side| format!("{}x{}", side.count, side.breakout);
    let (down, up) = (ports(design.t0.down), design.t0.up.map(ports).unwrap_or_default());
    let (routing, os, zones) = (design.routing.keyword(), design.os.keyword(), design.zones());
    let Design { planes, groups, parallel, t0, .. } = design;
    format!(
        "{routing} {os} planes={planes} {}/{down}/{up} zones={zones} groups={groups} parallel={parallel}",
        t0.platform.id
    )
}

/// Returns a key of the T0s of a design and the number of T2s. With BGP, a T0 receives the loopback of every switch;
/// the number of T1s follows from the T0s.
fn t0_and_t2s(design: &Design<'_>) -> String {
    let t2s = design.third.as_ref().map_or(0, |third| third.tier.switches);
    format!("{} t2s={t2s}", t0(design))
}

/// Returns a unique key of a design.
fn key(design: &Design<'_>) -> String {
    let ports = |side: Side| format!("{}x{}", side.count, side.breakout);
    let tier = |tier: &Tier<'_>| {
        let (down, up) = (ports(tier.down), tier.up.map(ports).unwrap_or_default());
        format!("{}x{}/{down}/{up}", tier.switches, tier.platform.id)
    };
    let tiers: Vec<String> = design.tiers().map(tier).collect();
    let (routing, os) = (design.routing.keyword(), design.os.keyword());
    let Design { planes, planes_by_nic, groups, per_group, parallel, .. } = design;
    let (rows, t2_parallel) = design.third.as_ref().map_or((1, 1), |third| (third.rows, third.parallel));
    format!(
        "{} {} {} planes={planes} by_nic={planes_by_nic} groups={groups} per_group={per_group} parallel={parallel} rows={rows} t2_parallel={t2_parallel}",
        routing,
        os,
        tiers.join("+")
    )
}

#[cfg(test)]
mod tests {
    use closc_design::{Limits, Media, Ratio};
    use closc_platform::{Catalogue, Os};
    use closc_qos::units::Speed;

    use super::*;

    /// Returns a need in one plane with BGP.
    fn need(nics: u32, tiers: &[u8], platform: &str) -> Requirements {
        Requirements {
            name: "fabric".to_owned(),
            nics,
            speed: Speed::gbps(400),
            nics_per_node: 8,
            rails: 1,
            planes: vec![1],
            planes_by_nic: vec![1],
            tiers: tiers.to_vec(),
            routings: vec![Routing::BgpUnnumbered],
            operating_systems: vec![Os::Sonic],
            platforms: vec![platform.to_owned()],
            vendors: Vec::new(),
            middle_stages: Vec::new(),
            nic_cable: Media::DEFAULT.nic_t0.length,
            limits: Limits { oversubscription: Ratio::EVEN, t0_loss: None, t1_loss: None, grow_to: None },
        }
    }

    /// The search knows before a check whether a design depends on an assumption. Otherwise it would check files of
    /// designs that others beat.
    #[test]
    fn assumptions_are_known_before_a_check() {
        let catalogue = Catalogue::builtin();
        let (mut firm, mut routes, mut other) = (0, 0, 0);
        let routings = [Routing::BgpUnnumbered, Routing::EcmpStatic, Routing::Srv6Static];
        let platforms = ["th5-128x400g", "th6-512x200g", "spectrum4-sn5600"];
        let pairs = routings.into_iter().flat_map(|routing| platforms.map(|platform| (routing, platform)));
        for (routing, platform) in pairs {
            for (nics, planes) in [(8192, 1), (131_072, 2), (262_144, 4)] {
                let of = need(nics, &[2, 3], platform);
                let need = Requirements { planes: vec![planes], routings: vec![routing], ..of };
                let mut checks = Checks::new(&need, &[], Options::default());
                let designs = sample(&need, &catalogue, 2);
                for design in designs.iter().step_by(designs.len().div_ceil(8).max(1)) {
                    let verdict = checks.pass(design).expect("a file is read");
                    let assumed = checks.checked_file(design).and_then(|passed| passed.assumed.as_deref());
                    let is_known = design.is_conditional() == (verdict == Verdict::Assumed);
                    assert!(is_known || verdict == Verdict::Refused, "{}: {assumed:?}", key(design));
                    match assumed {
                        Some(limit) if limit.contains("routes") => routes += 1,
                        Some(_) => other += 1,
                        None => firm += usize::from(verdict == Verdict::Firm),
                    }
                }
            }
        }
        assert!(firm > 0 && routes > 0 && other > 0, "{firm} {routes} {other}");
    }

    fn sample<'c>(need: &Requirements, catalogue: &'c Catalogue, most: usize) -> Vec<Design<'c>> {
        let mut designs = Vec::new();
        // Some needs have no design.
        let _found = closc_design::sample(need, catalogue, most, &mut |design| designs.push(design));
        designs
    }

    /// The tier of a finding decides which designs it excludes, regardless of its message.
    #[test]
    fn findings_of_t0s_exclude_designs_by_their_tier() {
        let need = need(512, &[2], "th5-128x400g");
        let catalogue = Catalogue::builtin();
        let mut designs = Vec::new();
        closc_design::space(&need, &catalogue, &mut |design| designs.push(design))
            .expect("there are designs");
        let design = &designs[0];
        let mut checks = Checks::new(&need, &[], Options::default());
        let finding = |code, tier| Finding { code, message: "any words".to_owned(), tier };
        for (code, tier) in [("E0905", Some(1)), ("E0905", None), ("E0701", T0)] {
            checks.learn(design, "lossless", &finding(code, tier));
            assert!(checks.t0s_over_limit.is_empty() && checks.unfit.is_empty(), "{code} {tier:?}");
        }
        checks.learn(design, "lossless", &finding("E0905", T0));
        assert!(checks.t0s_over_limit.contains(&t0(design)));
        checks.learn(design, "lossless", &finding(MARKS, Some(1)));
        assert!(checks.unfit.contains(&hardware(design, "lossless")));
        checks.learn(design, "lossless", &finding(MARKS, T0));
        assert!(checks.unfit.contains(&lowest(design, "lossless")));
    }
}
