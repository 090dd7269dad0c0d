//! The control plane: brings P4Runtime targets and SONiC switches to what the compiled tree says, and keeps them there.
//!
//! In: an inventory, the compiled tree, live switches. Out: a push, a plan of one, a report of drift, or a watch that
//! never ends. Always state-based: a switch is read, compared and sent the difference only, then read back. Nothing
//! is remembered elsewhere, so a push may die anywhere and the next one finishes the work.
//!
//! - [`Inventory`] and [`Tree`] become a [`Fleet`].
//! - [`push`] brings a fleet to where it should be; [`plan`] says what that would send, [`push_plan`] sends it.
//! - [`CounterReader`] reads what a switch counts, and disturbs nobody.
//! - [`drift`] compares; [`watch`] keeps comparing and repairing, with metrics and a standby.

mod bind;
mod carrier;
mod configured;
mod counters;
mod dependents;
mod device;
mod device_drift;
mod device_plan;
mod difference;
mod drift;
mod event;
mod fault;
mod fleet;
mod folders;
mod invalid;
mod inventory;
mod left_alone;
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
mod sonic;
mod state;
mod switch;
mod target;
mod tree;
mod uncarried;
mod watch;

pub use bind::BindError;
pub use carrier::{CarrierOptions, has_carrier};
pub use configured::configured;
pub use counters::{Cell, CounterReader, Counters, CountersError, Sums};
pub use device_drift::{DeviceDrift, Difference};
pub use device_plan::DevicePlan;
pub use difference::{Change, Counts, difference};
pub use drift::{DriftReport, drift};
pub use event::{Event, EventKind, Observer, silent};
pub use fault::{DeviceError, Fault, Operation, Refused, WriteFault};
pub use fleet::{Fleet, FleetError};
pub use invalid::InvalidState;
pub use inventory::{Artefacts, Defaults, Device, Inventory, InventoryError, Tls};
pub use left_alone::LeftAlone;
pub use member::Member;
pub use options::{PushOptions, SequenceGuard};
pub use plan::{Plan, PlanFile, PlanFileError, PlanResult, Preview, plan};
pub use push::{Gate, GateResult, PlanTargetError, Reached, open_gate, push, push_plan};
pub use report::{Outcome, PipelineStep, PushReport, Pushed};
pub use roles::RolesError;
pub use sonic::SonicOptions;
pub use state::{ObjectDigest, State, StateDigest};
pub use target::{Cookie, Dial, Program, Target};
pub use tree::{Desired, Tree, TreeError, Wanted, desired};
pub use uncarried::Uncarried;
pub use watch::{DeviceStatus, Role, Watch, WatchOptions, WatchStatus, watch};
