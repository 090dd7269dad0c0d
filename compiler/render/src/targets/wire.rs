//! Requirements of ports of one speed and number of lanes, independent of the configuration.

use closc_platform::PhysicalPort;

/// Serial speed from which on Ethernet needs Reed-Solomon FEC (802.3 clause 91 for 25G lanes, clause 119 for PAM4).
const RS_LANE_MBPS: u32 = 25_000;

/// Returns whether Ethernet needs Reed-Solomon FEC on a port.
pub(super) fn needs_code(port: &PhysicalPort) -> bool {
    let lanes = u32::try_from(port.lanes.len().max(1)).unwrap_or(u32::MAX);
    port.speed.mbps() / lanes >= RS_LANE_MBPS
}
