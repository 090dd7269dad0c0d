//! From a document to a topology: fill in, check, build.
//!
//! In: a document and the catalogue of platforms. Out: a [`Topology`] if no check reported an error, and all
//! findings. Invariants: the three steps are apart. The draft holds every number with its default, however wrong;
//! the checks look at the draft and do not change it; the topology is built only from a draft without faults.
//! Nothing is proportional to the number of devices.

mod finish;

use closc_diagnostics::{Diagnostics, Sources};
use closc_platform::Catalogue;

use crate::checks;
use crate::draft::Draft;
use crate::faults;
use crate::load::Document;
use crate::model::Topology;

/// Makes a topology from a document, and reports every fault of meaning.
///
/// `sources` holds the text the document came from.
pub fn lower(
    document: &Document,
    catalogue: &Catalogue,
    sources: &Sources,
) -> (Option<Topology>, Diagnostics) {
    let draft = Draft::new(document, catalogue, sources);
    let mut diagnostics = faults::findings();
    diagnostics.extend(document.faults.clone());
    checks::run(&draft, &mut diagnostics);
    let mut diagnostics = checks::without_consequences(diagnostics);
    diagnostics.sort();
    let diagnostics = faults::limited(diagnostics);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let topology = draft.finish().expect("a draft without faults has all its parts");
    (Some(topology), diagnostics)
}
