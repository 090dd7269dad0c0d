//! Chooses the entropy value of each packet of one NIC, and stops using bad paths at once.
//!
//! In: a compact path table, results from acknowledgements, probes and ports, denials, and the time. Out: the entropy
//! value of the next packet to a destination, and events. Invariants: no I/O, no clock, no allocation after
//! [`Engine::new`]. A denied value is never picked. All planes in use get the same number of packets.
//!
//! ```text
//! Engine -- one NIC: its ports, its denials, a pool of destinations
//!   PathSet -- one destination: which planes are in use, whose turn it is
//!     FirstTurns -- where turns begin: spread evenly over planes, over many destinations
//!     Rotation -- one plane: which values are in use, which sit out, whose turn it is
//!     Value -- one path: its state
//! ```

mod denial;
mod engine;
mod event;
#[cfg(feature = "c")]
mod ffi;
mod first_turn;
mod path_id;
mod path_set;
mod recent_counters;
mod rotation;
mod settings;
mod value;

pub use denial::{Denial, DenialId, Reason};
pub use engine::{DenyFault, Engine, OpenFault, Pick, ReloadFault};
pub use event::{Cause, Event};
pub use path_id::PathId;
pub use settings::{Capacity, Settings, VALUES_PER_PLANE_MAX};
pub use value::{State, ValueView};
