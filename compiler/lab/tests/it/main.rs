//! All tests of this crate in one program, so that the workspace is linked once.

mod common;
mod congestion;
mod embedded;
mod flows;
mod hostile;
mod lab;
mod losses;
mod queues;
mod routed;
mod routed_p4;
mod scenarios;
mod simulated;
mod virtual_time;
