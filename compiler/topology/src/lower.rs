//! From a document to a topology: fill in, check, build.
//!
//! In: a document and the catalogue of platforms. Out: a [`Topology`] if no check reported an error, and all
//! findings. Invariants: the three steps are apart. The draft holds every number with its default, however wrong;
//! the checks look at the draft and do not change it; the topology is built only from a draft without faults.
//! Nothing is proportional to the number of devices.

mod cables;
mod domains;
mod draft;
mod exceptions;
mod finish;
mod hardware;
mod layout;
mod names;
mod pins;
mod ranges;
mod tier;
mod tuning;

use closc_diagnostics::{Diagnostics, Sources};
use closc_platform::Catalogue;

pub(crate) use cables::DraftCable;
pub(crate) use draft::Draft;
pub use exceptions::Target;
pub(crate) use exceptions::{Entry, Listed, named};
pub(crate) use hardware::{Hardware, by_plane};
pub(crate) use layout::{Demand, DraftLayout};
pub(crate) use names::{NameFault, find_link};
pub(crate) use pins::PinFault;
pub(crate) use tier::{DraftBlock, DraftTier};

use crate::checks;
use crate::document::Document;
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
    let mut diagnostics = checks::findings();
    diagnostics.extend(document.faults.clone());
    checks::run(&draft, &mut diagnostics);
    let mut diagnostics = checks::without_consequences(diagnostics);
    diagnostics.sort();
    let diagnostics = checks::limited(diagnostics);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let topology = draft.finish().expect("a draft without faults has all its parts");
    (Some(topology), diagnostics)
}
