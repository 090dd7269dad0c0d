//! Traffic engineering: demands placed over the plan, against ECMP and against the optimum.
//!
//! In: a plan and a demand matrix. Out: [`Outcome`]: the placement, as [`Pin`]s that hosts or switches apply, and the
//! utilisation of every cable as placed, with ECMP (as a fluid, and flow by flow), and the bound that no placement can
//! be below. Invariants: nothing is placed on what is absent or drained; no I/O; the same input gives the same pins.
//!
//! In a source-routed fabric hosts spread each pair over paths by weights; where switches hash, slices of NICs are
//! pinned to paths and ECMP stays below as the fall-back.

mod bound;
mod class;
mod commodity;
mod ecmp;
mod engineer;
mod entry;
mod fair;
mod host;
mod load;
mod network;
mod pin;
mod place;
mod placement;
mod report;
mod route;
mod show;
mod split;
mod spray;

pub mod demand;

pub use commodity::{COMMODITIES_MAX, Reason};
pub use demand::{Demand, Fault, FaultKind, Matrix};
pub use engineer::{Error, Options, Outcome, engineer};
pub use entry::{FORMAT as PINS_FORMAT, Hop, Path, Pin, PinLine, PinPlane, Via};
pub use load::Stage;
pub use place::{Place, UnknownName, fail};
pub use report::{FORMAT, Figures, HotLink, Method, Report, Tier, Unplaced};
pub use show::human;
