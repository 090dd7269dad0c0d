//! Requirements of ports by their speed, their lanes and their cable, independent of the configuration.

use closc_plan::PortIntent;

/// Lane speed from which Ethernet needs Reed-Solomon FEC (802.3 clause 91 for 25G lanes, clause 119 for PAM4).
const RS_LANE_MBPS: u32 = 25_000;

/// Returns whether Ethernet needs Reed-Solomon FEC on a port.
pub(super) fn needs_code(port: &PortIntent) -> bool {
    let is_uncoded = port.connection.as_ref().is_some_and(|connection| connection.cable.is_uncoded());
    is_coded(port.physical.speed.mbps(), port.physical.lanes.len(), is_uncoded)
}

/// Returns whether a port has FEC. `is_uncoded` is true for 100GBASE-LR4 and -ER4, which do not use FEC at 4 x 25G.
fn is_coded(mbps: u32, lanes: usize, is_uncoded: bool) -> bool {
    let lanes = u32::try_from(lanes.max(1)).unwrap_or(u32::MAX);
    let is_clause_88 = is_uncoded && (mbps, lanes) == (4 * RS_LANE_MBPS, 4);
    mbps / lanes >= RS_LANE_MBPS && !is_clause_88
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_lanes_are_corrected() {
        for (gbps, lanes) in [(100, 1), (100, 4), (400, 4), (800, 8), (25, 1)] {
            assert!(is_coded(gbps * 1_000, lanes, false), "{gbps}G over {lanes} lanes");
        }
        for (gbps, lanes) in [(10, 1), (40, 4)] {
            assert!(!is_coded(gbps * 1_000, lanes, false), "{gbps}G over {lanes} lanes");
        }
    }

    /// 100GBASE-LR4 and -ER4 have no FEC. 100GBASE-LR1 and the long media of PAM4 lanes have it.
    #[test]
    fn clause_88_has_no_correction() {
        for (gbps, lanes, has) in [(100, 4, false), (100, 1, true), (100, 2, true), (400, 8, true)] {
            assert_eq!(is_coded(gbps * 1_000, lanes, true), has, "{gbps}G over {lanes} lanes");
        }
    }
}
