//! A lab: brings a compiled fabric up on one machine and walks it packet by packet.
//!
//! In: a compiled tree: `linux` or `p4` artefacts, path tables and cable lists, nothing else. Out: switches and cables
//! between them, reports of what packets and counters did. Invariants: the planner is not used. Expected results come
//! from addresses and cable lists, actual results from the data plane. `down` removes everything that `up` made, and
//! nothing else.
//!
//! - [`tree`] reads the artefacts, [`model`] is the fabric as its cable lists have it, [`walk`] says where a packet
//!   ought to go;
//! - [`traffic`], [`test`], [`probe`] and [`trace`] say what to send and judge what comes of it;
//! - [`backend`] carries the packets; [`backend::linux`] is the kernel's own SRv6, [`backend::embedded`] are embedded
//!   switches in one process, [`backend::bmv2`] a process for each switch; [`mininet`] writes a script;
//! - [`Lab`] is what the command line calls.

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
mod routed;
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
pub use sample::{Drawn, Extent};
pub use target::Target;
