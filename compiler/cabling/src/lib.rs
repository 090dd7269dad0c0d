//! Cables as people touch them: what devices see of each other, compared with the plan.
//!
//! In: a plan, and what devices report of their neighbours (LLDP, IEEE 802.1AB), in the forms of `lldpd` and SONiC. Out: a
//! [`Report`]: which cables are missing, plugged into the wrong port, or exchanged. Invariants: a device is compared and
//! dropped; what no device reports is not judged, and counted as such.
//!
//! ```text
//! bytes --read--> Sighting, one a port --locate--> ends of the plan --judge--> Report
//! plan --list--> point-to-point list, labels, bill, NetBox, PTM
//! plan, floor plan --floor--> racks, cable lengths
//! ```

mod cause;
pub mod floor;
mod front;
mod judge;
pub mod list;
mod locate;
pub mod modules;
mod read;
mod report;
mod sighting;

pub use judge::Judge;
pub use locate::Device;
pub use read::{ReadError, read};
pub use report::{CableAt, Cause, Finding, PortAt, Report};
pub use sighting::{Neighbour, Sighting};
