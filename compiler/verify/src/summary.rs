//! `closc-summary/1`: what the proof of a part comes to, for whoever puts parts together.
//!
//! In: a report, and the fabric that it is of. Out: [`Summary`], a few kilobytes whatever the part has: counts, sums of load,
//! what was broken, and the [`Interface`], which is what parts have to have alike or must not share. Invariants: nothing in it
//! grows with the number of devices; where not all values of a kind are in it, runs are that hold more of them and never fewer.
//! It carries a digest of itself, and one that was changed is refused; what cannot be is refused with its field ([`sound`]).

mod sound;

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

/// Version of the form.
pub(crate) const FORMAT: &str = "closc-summary/1";

/// Violations that a summary shows; all are counted.
const SHOWN: usize = 32;

/// Result of the proof of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Form of this file.
    pub(crate) format: String,
    /// Version of the program that proved it.
    pub(crate) closc: String,
    /// Name of the fabric.
    pub(crate) fabric: String,
    /// Routing mode.
    pub(crate) routing: Routing,
    /// BLAKE3 of what the source means.
    pub(crate) source: String,
    /// BLAKE3 of everything that the trees are rendered from.
    pub(crate) inputs: String,
    /// Numbers of the whole fabric, as the manifest says.
    pub(crate) counts: Counts,
    /// Switches of the fabric without a cable, by plane, as the manifest says: they are in no tier.
    pub(crate) uncabled: BTreeMap<u8, u64>,
    /// Planes that were proved; absent where all were.
    pub(crate) planes: Option<Vec<u8>>,
    /// T0 groups whose tables were judged; absent where all were, and where there are none.
    pub(crate) groups: Option<Vec<GroupRun>>,
    /// Readings: switches are those of tiers and those without a cable, tables those of `groups`, cables those of
    /// `interface.planes`; nodes are in no part. Files and bytes follow from nothing here.
    pub(crate) read: ReadCounts,
    /// Cables between NICs and T0s among them; of all parts those of `counts`.
    pub(crate) host_links: u64,
    /// T0s, T1s and T2s; of all parts those of `counts`.
    pub(crate) tiers: [u64; 3],
    /// Proof of paths: where nothing is absent, as many as pairs of the NICs of `counts` have.
    pub(crate) paths: Option<PathCounts>,
    /// Inputs of load: the mean is between the least and the most.
    pub(crate) load: Option<LoadSums>,
    /// Proof of deliveries: those of `interface.senders` to every other NIC; where nothing is broken all that are possible
    /// arrive.
    pub(crate) delivery: Option<DeliveryCounts>,
    /// Contents that are not judged.
    pub(crate) not_judged: BTreeMap<String, u64>,
    /// Number of applications and violations of each rule.
    pub(crate) rules: BTreeMap<String, Tally>,
    /// Violations, the first.
    pub(crate) violations: Vec<Broken>,
    /// Violations that were found.
    pub(crate) broken: u64,
    /// Values that other parts must share, or must not have.
    pub(crate) interface: Interface,
    /// BLAKE3 of all of the above, as JSON without spaces.
    pub(crate) digest: String,
}

/// Counts switches by plane.
fn uncabled(named: &BTreeMap<String, u8>) -> BTreeMap<u8, u64> {
    let mut counts = BTreeMap::new();
    for plane in named.values() {
        *counts.entry(*plane).or_default() += 1;
    }
    counts
}

/// Something that is broken in a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Broken {
    /// The rule.
    pub(crate) rule: String,
    /// One line.
    pub(crate) message: String,
    /// File, and line where there is one.
    pub(crate) place: String,
}

/// Why a summary says nothing.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// It does not have its form.
    #[error("it is not a summary of a proof: {0}")]
    Parse(serde_json::Error),
    /// It is of a form that this program does not know.
    #[error("summaries of form `{0}` are not known here")]
    Format(String),
    /// It is not as it was written.
    #[error(
        "`digest` is not that of the other fields: the summary was changed or cut after it was written; verify the part again"
    )]
    Changed,
}

impl Summary {
    /// Takes what was proved of a part.
    pub(crate) fn new(
        tree: &dyn Files,
        report: &Report,
        judged: (Option<Vec<u8>>, Option<Vec<GroupRun>>),
        found: (u64, [u64; 3], Interface),
    ) -> Result<Summary, VerifyError> {
        let manifest = Manifest::read(tree)?;
        let (host_links, tiers, interface) = found;
        let broken = |violation: &crate::Violation| Broken {
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
            uncabled: uncabled(&manifest.uncabled),
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

    /// Returns the digest of everything else in it.
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
