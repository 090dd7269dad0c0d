//! The table itself: a row for each target.
//!
//! In: a target. Out: what closc renders for it. Invariants: a cell says what is in the artefacts, not what the
//! software could do.

use super::Support::{Not, Part, Whole};
use super::{Column, Row, Support};

const NO_QUEUEING: Support = Not("closc writes no queueing discipline");
const NO_SERVICES: Support = Not("left to the distribution; closc writes routing only");

const SONIC: Row = Row {
    classes: Whole,
    weights: Whole,
    thresholds: Whole,
    pauses: Whole,
    watchdog: Whole,
    marking: Whole,
    trimming: Whole,
    segments: Whole,
    several_locators: Part("SONiC 202511 may program one of several locators (sonic-buildimage 24938)"),
    static_weights: Not("the next hops of `STATIC_ROUTE` are a set"),
    pins: Whole,
    queue_pair_hash: Not("neither CONFIG_DB nor orchagent has a hash field for it"),
    bgp: Whole,
    bfd: Whole,
    counters: Whole,
    loopback: Whole,
    management: Whole,
    services: Whole,
};

const FRR: Row = Row {
    classes: NO_QUEUEING,
    weights: NO_QUEUEING,
    thresholds: NO_QUEUEING,
    pauses: NO_QUEUEING,
    watchdog: NO_QUEUEING,
    marking: NO_QUEUEING,
    trimming: NO_QUEUEING,
    segments: Whole,
    several_locators: Whole,
    static_weights: Not("static routes of FRR have no weight"),
    pins: Whole,
    queue_pair_hash: Not("the kernel hashes no UDP payload"),
    bgp: Whole,
    bfd: Whole,
    counters: NO_QUEUEING,
    loopback: Whole,
    management: NO_SERVICES,
    services: NO_SERVICES,
};

const LINUX: Row = Row {
    classes: NO_QUEUEING,
    weights: NO_QUEUEING,
    thresholds: NO_QUEUEING,
    pauses: NO_QUEUEING,
    watchdog: NO_QUEUEING,
    marking: NO_QUEUEING,
    trimming: NO_QUEUEING,
    segments: Whole,
    several_locators: Whole,
    static_weights: Whole,
    pins: Whole,
    queue_pair_hash: Not("the kernel hashes no UDP payload"),
    bgp: Not("a kernel without a routing daemon speaks no BGP"),
    bfd: Not("a kernel without a routing daemon speaks no BFD"),
    counters: NO_QUEUEING,
    loopback: Whole,
    management: NO_SERVICES,
    services: NO_SERVICES,
};

const P4_FABRIC: Row = Row {
    classes: Whole,
    weights: Not("queues of v1model are served by priority alone; weighted classes share one"),
    thresholds: Not("v1model has no shared buffer to divide"),
    pauses: Not("v1model has no flow control"),
    watchdog: Not("v1model has no flow control"),
    marking: Whole,
    trimming: Whole,
    segments: Whole,
    several_locators: Whole,
    static_weights: Whole,
    pins: Whole,
    queue_pair_hash: Whole,
    bgp: Not("a pipeline without a routing daemon speaks no BGP"),
    bfd: Not("a pipeline without a routing daemon speaks no BFD"),
    counters: Whole,
    loopback: Not("a pipeline forwards packets and has no address of its own"),
    management: Not("a P4Runtime server has the address of the system below it"),
    services: Not("a P4Runtime server has the services of the system below it"),
};

/// Returns the row of a target.
pub(super) fn row(column: Column) -> &'static Row {
    match column {
        Column::Sonic => &SONIC,
        Column::Frr => &FRR,
        Column::Linux => &LINUX,
        Column::P4Fabric => &P4_FABRIC,
    }
}
