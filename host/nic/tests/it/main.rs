//! All tests of this crate in one program, so that the workspace is linked once.

mod black_hole;
mod busy_machine;
#[path = "../../../../compiler/lab/tests/it/common/mod.rs"]
mod common;
mod corruption;
mod corruption_naming;
mod crowd;
mod doctor;
mod faults;
mod fuzz;
mod hostile;
mod job;
mod lab;
mod manual;
#[path = "common/mod.rs"]
#[allow(clippy::duplicate_mod, reason = "the fuzz target includes it too, because it is a crate of its own")]
mod nic_common;
mod orders;
mod pair;
mod programs;
mod restart;

mod state;
mod transports;
mod two_nics;
mod unit;
mod units;
