//! Runs a compiled fabric on one machine, and tests it packet by packet.
//!
//! In: a compiled tree with `linux` or `p4` artefacts, path tables and cable lists. Out: running switches and cables,
//! and reports on packets and counters. Invariants: the planner is not used. Expected results come from addresses and
//! cable lists, actual results from the data plane. `down` removes exactly the objects that `up` created.
//!
//! - [`tree`] reads the artefacts, [`model`] is the fabric according to its cable lists, and [`walk`] computes the
//!   expected path of a packet.
//! - [`traffic`] lists the packets to send; [`test`], [`probe`] and [`trace`] evaluate the results.
//! - [`backend`] forwards the packets: [`backend::linux`] with the kernel's own SRv6, [`backend::embedded`] with
//!   switches in one process, and [`backend::bmv2`] with a process per switch. [`mininet`] writes a script.
//! - [`Lab`] is the interface of the command line.

pub mod backend;
pub mod mininet;
pub mod model;
pub mod packet;
pub mod probe;
pub mod segment;
pub mod test;
pub mod trace;
pub mod traffic;
pub mod tree;
pub mod walk;

mod error;
mod feature;
pub mod job;
mod lab;
mod name;
mod options;
pub mod privilege;
mod progress;
mod routed_test;
mod sample;
mod show;
mod target;

pub use backend::site::LinkLayer;
pub use error::{LabError, TreeFault};
pub use feature::Feature;
pub use lab::{
    CutReport, DownReport, Ends, Fault, Lab, MiswireReport, Status, TreeGuard, UpReport, down, inventory,
    leave_private, list, make_private,
};
pub use name::{DeviceName, FabricName, Interface, NameFault};
pub use options::{Life, Options};
pub use progress::{Interrupt, Progress, Watch};
pub use sample::{Extent, SampleOrigin};
pub use target::Target;
