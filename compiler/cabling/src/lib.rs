//! Physical cabling: lists for installers, and neighbour reports of devices compared with the plan.
//!
//! In: a plan, and neighbour reports of devices (LLDP, IEEE 802.1AB) in the formats of `lldpd`, SONiC, EOS
//! and P4Runtime. Out: a [`Report`] of missing, misplugged and exchanged cables. Invariants: reports are
//! processed one device at a time and not kept. A cable without a report from either of its devices
//! is not evaluated.
//!
//! ```text
//! bytes --read--> Sighting, one per port --locate--> ends of the plan --judge--> Report
//! plan --list--> point-to-point list, labels, bill, NetBox, PTM
//! plan, floor plan --floor--> racks, cable lengths
//! ```

mod cause;
pub mod floor;
mod front;
mod judge;
pub mod lanes;
pub mod list;
mod locate;
pub mod modules;
mod read;
mod report;
mod sighting;

pub use judge::Judge;
pub use locate::Device;
pub use read::{ReadError, read};
pub use report::{Cause, DevicePort, Finding, PlannedCable, Report, UnreadReport};
pub use sighting::{Neighbour, Sighting};
