//! The control plane: brings P4Runtime targets, SONiC switches and switches configured over SSH to the state of the
//! compiled tree, and keeps them there.
//!
//! In: an inventory, the compiled tree, live switches. Out: a push, a plan of one, a report of drift, or a
//! watch that runs until it is stopped. Invariants: all work is state-based: a switch is read and compared,
//! receives only the difference, and is read back. No state is kept elsewhere, so a push may be killed at any
//! point and the next one finishes the work.
//!
//! - [`Inventory`] and [`Tree`] become a [`Fleet`].
//! - [`push`] brings a fleet to its target state; [`plan`] lists what a push would send, [`push_plan`] sends it.
//! - [`CounterReader`] reads the counters of a switch without disturbing its controller.
//! - [`drift`] compares; [`watch`] keeps comparing and repairing, with metrics and a standby.

mod ask;
mod bind;
mod carrier;
mod config_digests;
mod counters;
mod dependents;
mod device;
mod device_drift;
mod device_plan;
mod difference;
mod drift;
mod event;
mod factory;
mod fault;
mod fleet;
mod folders;
mod invalid;
mod inventory;
mod links;
mod member;
mod options;
mod pair;
mod parallel;
mod plan;
mod progress;
mod push;
mod read;
mod report;
mod roles;
mod skipped_switches;
mod sonic;
mod state;
mod switch;
mod target;
mod tree;
mod unsupported_files;
mod watch;

pub use ask::{SwitchScript, ask};
pub use bind::BindError;
pub use carrier::{CarrierOptions, has_carrier};
pub use config_digests::read_config_digests;
pub use counters::{Cell, CounterReader, Counters, CountersError, Sums};
pub use device_drift::{DeviceDrift, Difference};
pub use device_plan::DevicePlan;
pub use difference::{Change, Counts, difference};
pub use drift::{DriftReport, drift};
pub use event::{Event, EventKind, Observer, silent};
pub use factory::{FactoryNote, FactoryState};
pub use fault::{DeviceError, Fault, Operation, RejectedUpdate, WriteFault};
pub use fleet::{Fleet, FleetError};
pub use invalid::InvalidState;
pub use inventory::{Artefacts, Defaults, Device, Inventory, InventoryError, Tls};
pub use member::Member;
pub use options::{PushOptions, SequenceGuard};
pub use plan::{Plan, PlanFile, PlanFileError, PlanResult, Preview, plan};
pub use push::{Gate, GateResult, PlanTargetError, SwitchConnections, open_gate, push, push_plan};
pub use report::{Outcome, PipelineStep, PushReport, PushSummary};
pub use roles::RolesError;
pub use skipped_switches::SkippedSwitches;
pub use sonic::SonicOptions;
pub use state::{ObjectDigest, State, StateDigest};
pub use target::{Cookie, Dial, Program, Target};
pub use tree::{TargetState, TargetStateSource, Tree, TreeError, parse_target_state};
pub use unsupported_files::UnsupportedFile;
pub use watch::{DeviceStatus, Role, Watch, WatchOptions, WatchStatus, watch};
