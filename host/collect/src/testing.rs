//! Fabrics for tests.

use closc_plan::Plan;

/// The lab with eight planes: four groups of two NICs.
pub(crate) fn eight_planes() -> Plan {
    closc_tests::shape::plan(include_str!("../../../topologies/lab/eight-planes.yaml"))
}

/// Two planes, two zones, four groups per zone.
pub(crate) fn three_tiers() -> Plan {
    closc_tests::shape::plan(include_str!("../../../topologies/examples/three-tiers.yaml"))
}
