//! The expanded fabric: devices, ports and links by coordinate.
//!
//! In: a valid [`closc_topology::Topology`]. Out: [`Fabric`], which returns the connections of ports, and
//! [`FabricGraph`], the same fabric as a petgraph graph. Invariants: both ends of a cable agree, because both are
//! computed from the same rule in `wiring`. Nothing is stored per device.

mod count;
mod fabric;
mod graph;
mod holes;
mod reach;
mod shape;
mod shared_fate;
mod usable;
mod wiring;

pub mod checks;

pub use fabric::{End, Fabric, Port, PortUse};
pub use graph::{FabricGraph, Vertex};
pub use shape::Shape;
pub use usable::{Descent, LossScope, UsablePaths};
