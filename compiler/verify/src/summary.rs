//! `closc-summary/1`: the result of the proof of a part, as input for merging.
//!
//! In: a report and its fabric. Out: [`Summary`], usually of a few kilobytes. It contains counts, sums of load,
//! violations, and the [`Interface`]: the values that parts must have in common, or must not have in common.
//! Invariants: a summary grows only with switches without cables and, where switches choose the path, with T0 groups. A
//! set of values that is too large is replaced by ranges that contain it. A summary contains its own digest, and is
//! rejected if it was modified. Impossible values are rejected with their field ([`soundness`]).

mod soundness;

use std::collections::BTreeMap;

use closc_artefacts::manifest::{Counts, GroupRun, Manifest};
use closc_artefacts::{Files, Routing};
use serde::{Deserialize, Serialize};

use crate::error::VerifyError;
use crate::finding::Tally;
use crate::interface::Interface;
use crate::proof::chosen::counts::DeliveryCounts;
use crate::proof::count::PathCounts;
use crate::proof::load::LoadSums;
use crate::report::{ReadCounts, Report};

/// Version of the format.
pub(crate) const FORMAT: &str = "closc-summary/1";

/// Maximum number of violations in a summary; all are counted.
const SHOWN: usize = 32;

/// Result of the proof of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Version of the format.
    pub(crate) format: String,
    /// Version of closc that proved the part.
    pub(crate) closc: String,
    /// Name of the fabric.
    pub(crate) fabric: String,
    /// Routing mode.
    pub(crate) routing: Routing,
    /// BLAKE3 of the parsed fabric file, which does not depend on comments and the order of keys.
    pub(crate) source: String,
    /// BLAKE3 of all inputs of rendering.
    pub(crate) inputs: String,
    /// Counts of the complete fabric, from the manifest.
    pub(crate) counts: Counts,
    /// Number of switches without a cable, by plane, from the manifest. If hosts choose the path, the uSIDs of these
    /// switches contain the tier; otherwise they have no tier.
    pub(crate) uncabled: BTreeMap<u8, u64>,
    /// Planes that were proved; absent for all.
    pub(crate) planes: Option<Vec<u8>>,
    /// T0 groups whose tables were judged; absent if all were judged, or if there are no tables.
    pub(crate) groups: Option<Vec<GroupRun>>,
    /// Counts of files, devices and cables read. `switches` is the sum over all tiers plus switches without a tier,
    /// `tables` the sum over `groups`, `cables` the sum over `interface.planes`. Nodes do not belong to parts. Files
    /// and bytes are not checked.
    pub(crate) read: ReadCounts,
    /// Number of cables between NICs and T0s. The sum over all parts equals that in `counts`.
    pub(crate) host_links: u64,
    /// Numbers of T0s, T1s and T2s. The sums over all parts equal those in `counts`.
    pub(crate) tiers: [u64; 3],
    /// Proof of paths. If nothing is absent, the number of paths follows from the NICs in `counts`.
    pub(crate) paths: Option<PathCounts>,
    /// Inputs of load; the mean must be between minimum and maximum.
    pub(crate) load: Option<LoadSums>,
    /// Proof of deliveries from `interface.senders` to every other NIC. Without violations, all possible deliveries
    /// arrive.
    pub(crate) delivery: Option<DeliveryCounts>,
    /// Contents that are not judged.
    pub(crate) not_judged: BTreeMap<String, u64>,
    /// Number of applications and violations of each rule.
    pub(crate) rules: BTreeMap<String, Tally>,
    /// The first violations.
    pub(crate) violations: Vec<PartViolation>,
    /// Number of violations.
    pub(crate) broken: u64,
    /// Values that other parts must also have, or must not have.
    pub(crate) interface: Interface,
    /// BLAKE3 of all fields above, as JSON without spaces.
    pub(crate) digest: String,
}

/// Counts the switches without a cable per plane.
fn uncabled_counts(named: &BTreeMap<String, u8>) -> BTreeMap<u8, u64> {
    let mut counts = BTreeMap::new();
    for plane in named.values() {
        *counts.entry(*plane).or_default() += 1;
    }
    counts
}

/// A violation in a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartViolation {
    /// The rule.
    pub(crate) rule: String,
    /// Message of one line.
    pub(crate) message: String,
    /// File, and line if known.
    pub(crate) place: String,
}

/// Reason why a summary cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// The contents are invalid.
    #[error("it is not a summary of a proof: {0}")]
    Parse(serde_json::Error),
    /// The version of the format is unknown.
    #[error("summaries of format `{0}` are not supported")]
    Format(String),
    /// The summary was changed after it was written.
    #[error(
        "`digest` is not that of the other fields: the summary was changed or truncated after it was \
         written; verify the part again"
    )]
    Changed,
}

impl Summary {
    /// Summarises the proof of a part.
    pub(crate) fn new(
        tree: &dyn Files,
        report: &Report,
        judged: (Option<Vec<u8>>, Option<Vec<GroupRun>>),
        found: (u64, [u64; 3], Interface),
    ) -> Result<Summary, VerifyError> {
        let manifest = Manifest::read(tree)?;
        let (host_links, tiers, interface) = found;
        let broken = |violation: &crate::Violation| PartViolation {
            rule: violation.rule.code.to_owned(),
            message: violation.message.clone(),
            place: violation.place.to_string(),
        };
        let summary = Summary {
            format: FORMAT.to_owned(),
            closc: env!("CARGO_PKG_VERSION").to_owned(),
            fabric: report.fabric.clone(),
            routing: manifest.routing,
            source: manifest.source,
            inputs: manifest.inputs,
            counts: manifest.counts,
            uncabled: uncabled_counts(&manifest.uncabled),
            planes: judged.0,
            groups: judged.1.filter(|_| manifest.routing.is_source_routed()),
            read: report.read,
            host_links,
            tiers,
            paths: report.paths,
            load: report.load.as_ref().map(|load| load.sums),
            delivery: report.delivery,
            not_judged: report.not_judged.clone(),
            rules: report.rules.iter().map(|rule| (rule.code.to_owned(), rule.tally)).collect(),
            violations: report.violations.iter().take(SHOWN).map(broken).collect(),
            broken: report.broken,
            interface,
            digest: String::new(),
        };
        Ok(Summary { digest: summary.seal(), ..summary })
    }

    /// Returns the digest of all other fields.
    fn seal(&self) -> String {
        let open = Summary { digest: String::new(), ..self.clone() };
        let bytes = serde_json::to_vec(&open).expect("a summary has only string keys");
        blake3::hash(&bytes).to_string()
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a summary has only string keys");
        bytes.push(b'\n');
        bytes
    }

    /// Parses a summary.
    pub fn parse(bytes: &[u8]) -> Result<Summary, SummaryError> {
        #[derive(Deserialize)]
        struct Form {
            format: String,
        }
        let form: Form = serde_json::from_slice(bytes).map_err(SummaryError::Parse)?;
        if form.format != FORMAT {
            return Err(SummaryError::Format(form.format));
        }
        let summary: Summary = serde_json::from_slice(bytes).map_err(SummaryError::Parse)?;
        if summary.digest != summary.seal() {
            return Err(SummaryError::Changed);
        }
        Ok(summary)
    }
}
