//! A job on switches of the kernel, with any routing.
//!
//! In: a lab that is up, a scenario, orders. Out: a report. Invariants: if hosts choose paths, agents send the
//! packets; otherwise, sockets of the nodes send them.

use super::orders::Orders;
use super::report::Report;
use super::run::JobError;
use super::scenario::Scenario;
use super::{flows, run as sprayed};
use crate::Lab;
use crate::progress::Watch;

/// Runs a job.
pub fn run(
    lab: &mut Lab,
    scenario: &Scenario,
    orders: &Orders,
    watch: &Watch<'_>,
) -> Result<Report, JobError> {
    if lab.tree().is_source_routed() {
        return sprayed::run(lab, scenario, orders, watch);
    }
    flows::run(lab, scenario, orders, watch)
}
