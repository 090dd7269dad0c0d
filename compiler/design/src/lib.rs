//! The fabrics that meet given requirements, found by searching the complete catalogue.
//!
//! In: a [`Requirements`] and the catalogue of switches. Out: a [`Front`]: designs none of which beats another by
//! [`Measure`]. Invariants: the search is complete over the shapes that [`space`] describes. Numbers in a
//! design are counts, never estimates. Prices come from the user, and each figure for power has a source.

mod advice;
mod bill;
mod breach;
mod cables;
mod design;
mod figures;
mod file;
mod front;
mod lanes;
mod measure;
mod need;
mod optics;
mod panel;
mod power;
mod prices;
mod release;
mod routing;
mod rows;
mod search_error;
mod space;
mod stages;
mod tables;
mod tiers;
mod weakness;

pub use advice::advice;
pub use breach::breaches;
pub use cables::{CableKind, Media, module_medium, optical_medium};
pub use design::{Design, Side, ThirdTier, Tier};
pub use figures::{Losses, RACK_UNITS};
pub use file::{ASSUMED, text};
pub use front::{Candidates, Front, FrontDesign, MergedFront, Order, Verdict, order};
pub use lanes::{CableEnds, Lanes, crossed_copper};
pub use measure::{Criteria, Floor, Measure, MeasureError, Objective, StageMeasure};
pub use need::{Limits, LossShare, Ratio, Requirements};
pub use optics::{is_assembly, module_watts};
pub use power::Power;
pub use prices::Prices;
pub use release::{ReleaseReason, StatedRelease};
pub use routing::{describe_routing, gains};
pub use search_error::SearchError;
pub use space::{Sieve, contradictions, divides_into_nodes, divides_into_rails, sample, space, wastes_ports};
pub use weakness::Weakness;
