//! The fabrics that meet a need, found by a search of the whole catalogue.
//!
//! In: a [`Need`] and the catalogue of switches. Out: a [`Front`]: designs of which none beats another in every
//! [`Measure`]. Invariants: the search is complete over the shapes that [`space`] describes; a number in a design is a count
//! and never an estimate; no price and no power is made up.

mod bill;
mod design;
mod file;
mod front;
mod measure;
mod need;
mod outside;
mod panel;
mod prices;
mod space;

pub use design::{Design, Tier};
pub use file::{ASSUMED, text};
pub use front::{Candidates, Found, Front, Verdict, merged, order};
pub use measure::{Measure, Objective};
pub use need::{Limits, Need, Ratio};
pub use outside::Outside;
pub use prices::Prices;
pub use space::space;
