//! Traffic engineering: places demands on the plan, and compares the result with ECMP and with the optimum.
//!
//! In: a plan and a demand matrix. Out: [`Outcome`]: the placement, as [`Pin`]s that hosts or switches apply; the
//! utilisation of every cable as placed and with ECMP (as a fluid, and flow by flow); and a lower bound for any
//! placement. Invariants: nothing is placed on absent or drained equipment; no I/O; the same input gives the same pins.
//!
//! In a source-routed fabric, hosts spread the traffic of each pair over paths by weight. If switches hash,
//! slices of NICs are pinned to paths, with ECMP as the fallback.

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
pub use report::{FORMAT, Figures, HotLink, Method, Report, Tier, UnplacedDemand};
pub use show::human;
