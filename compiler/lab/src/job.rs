//! A job on a lab. Agents on its NICs exchange messages while a scenario breaks and repairs the fabric.
//!
//! ```text
//! scenario (YAML) --parse--> Scenario --bind(model)--> Timeline: faults over time, expected capacity
//! pattern, NICs ---------------------> Work: the next message, and its dependencies
//! Work ---orders---> agents ---answers---> Record: messages, samples, losses, changes of state
//! Timeline, Record --> Statistics --expect--> Verdict --> Report --> text, Markdown, JSON, SVG
//! ```
//!
//! `virtual_time` runs the same job on embedded switches with a simulated clock. `flows` is for fabrics whose switches
//! choose the path; it uses queue pairs on sockets of the nodes. [`live`] is a job in virtual time without a
//! scenario: its caller advances the clock, and breaks and repairs the fabric.
//!
//! In: a lab that is up, or a tree; a pattern, a scenario. Out: a report. Invariants: only `agents`, `ask`, `course`,
//! `flows`, `kernel` and `run` use the network or the clock. The other modules can be tested without these. When a
//! job ends, even with an error, all processes are stopped and all faults are repaired.

mod agents;
mod ask;
mod charge;
mod course;
mod endpoint;
mod flows;
mod kernel;
mod orders;
mod pattern;
mod plot;
mod queue_pair;
mod record;
mod report;
mod run;
mod scenario;
mod show;
mod spread;
mod statistics;
mod timeline;
mod verdict;
mod virtual_time;

pub use closc_nic::choose::Transport;
pub use endpoint::{JobEndpoint, seats};
pub use flows::fits as fits_flows;
pub use kernel::run;
pub use orders::Orders;
pub use pattern::{Pattern, Work};
pub use plot::svg;
pub use report::{Report, SwitchCounters};
pub use run::{JobError, fits as fits_kernel};
pub use scenario::{Action, BYTES_MAX, Scenario, ScenarioFault};
pub use show::{human, markdown};
pub use spread::{RemainingCapacity, Spread};
pub use timeline::Timeline;
pub use virtual_time::{LiveJob, TrafficTotals, fits as fits_virtual_time, live, simulate};
