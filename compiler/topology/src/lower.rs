//! From a document to a topology: fill in, check, build.
//!
//! In: a document and the catalogue of platforms. Out: all findings, and a [`Topology`] if no check reported
//! an error. If only settings are at fault, the result is an outline ([`LoweringResult::Outline`]).
//! Invariants: the three steps are separate. The draft holds every number with its default, even if it is
//! wrong. The checks look at the draft and do not change it. The topology is built only from a draft without
//! faults. Nothing is proportional to the number of devices.

mod finish;

use closc_diagnostics::{Diagnostics, Sources};
use closc_platform::Catalogue;
use closc_qos::profile::Preset;

use crate::checks;
use crate::draft::Draft;
use crate::faults;
use crate::load::Document;
use crate::model::Topology;

/// Result for a document.
pub enum LoweringResult {
    /// The fabric that it describes.
    Whole(Topology),
    /// A fabric with the same devices and cables. Settings are at fault, and some are replaced by defaults. Only checks
    /// of devices and cables may read it, to report their faults in the same run.
    Outline(Topology),
    /// Nothing: the counts that determine the devices are at fault.
    Nothing,
}

/// Builds a topology from a document, and reports every semantic fault.
///
/// `sources` contains the text of the document.
pub fn lower(
    document: &Document,
    catalogue: &Catalogue,
    sources: &Sources,
) -> (Option<Topology>, Diagnostics) {
    let (lowered, diagnostics) = lower_or_outline(document, catalogue, sources);
    match lowered {
        LoweringResult::Whole(topology) => (Some(topology), diagnostics),
        LoweringResult::Outline(_) | LoweringResult::Nothing => (None, diagnostics),
    }
}

/// Like [`lower`], but returns an outline if only settings are at fault.
pub fn lower_or_outline(
    document: &Document,
    catalogue: &Catalogue,
    sources: &Sources,
) -> (LoweringResult, Diagnostics) {
    let catalogue = catalogue.with_releases(&document.releases());
    let draft = Draft::new(document, &catalogue, sources);
    let mut diagnostics = Diagnostics::new();
    diagnostics.extend(document.faults.clone());
    checks::run(&draft, &mut diagnostics);
    let mut diagnostics = checks::remove_consequences(diagnostics);
    diagnostics.sort();
    let diagnostics = faults::limit_findings(diagnostics);
    if !diagnostics.has_errors() {
        let profile = draft.qos.clone().ok();
        let topology = profile.and_then(|profile| draft.finish(profile));
        if topology.is_none() && checks::names_rejected(&draft) {
            return (LoweringResult::Nothing, diagnostics);
        }
        return (
            LoweringResult::Whole(topology.expect("a draft without faults has all its parts")),
            diagnostics,
        );
    }
    let outline =
        checks::has_only_setting_errors(&diagnostics).then(|| draft.finish(Preset::None.profile())).flatten();
    (outline.map_or(LoweringResult::Nothing, LoweringResult::Outline), diagnostics)
}
