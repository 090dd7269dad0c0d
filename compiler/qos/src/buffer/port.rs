//! SONiC's headroom check for every port of a Spectrum switch.
//!
//! In: the lossless groups of one port, and the `max_headroom_size` of the platform. Out: the sum, or an error.
//! Invariants: the same decision as in sonic-swss `buffer_check_headroom_mellanox.lua` (at e6b0c5b5), so the switch
//! accepts every configuration that passes here.

use serde::Serialize;

use super::error::BufferError;
use crate::explain::{Breakdown, exact};
use crate::headroom::{Headroom, SpectrumAsic};
use crate::units::Bytes;

const SCRIPT: &str = "sonic-swss buffer_check_headroom_mellanox.lua";
const KIB: u64 = 1024;
/// Margin for bytes that the script does not count.
const SLACK: u64 = 4096;
/// Space for two mirrored packets of 10 KB, in KiB.
const MIRROR_KIB: u64 = 20;

/// Inputs of the check for one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortCheck<'a> {
    /// The ASIC.
    pub asic: SpectrumAsic,
    /// Serial lanes of the port.
    pub lanes: u8,
    /// Headroom of the lossless groups, each with the number of such groups.
    pub lossless: &'a [(Headroom, u32)],
    /// Number of lossy groups.
    pub lossy_groups: u32,
    /// Limit of the platform for a port (SONiC: `BUFFER_MAX_PARAM_TABLE|max_headroom_size`).
    pub max_headroom: Bytes,
    /// Whether ports share a headroom pool.
    pub shared_headroom: bool,
}

/// The sum for a valid port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortSum {
    /// Bytes that SONiC counts.
    pub total: Bytes,
    /// All steps, in order.
    pub terms: Breakdown,
}

/// Adds up the groups of a port like SONiC, and rejects the ports that SONiC rejects.
pub fn check_port(port: &PortCheck<'_>) -> Result<PortSum, BufferError> {
    let mut terms = Breakdown::default();
    let bytes = |bytes: u64| exact(bytes, 1_u8);
    let eight = port.lanes == 8;
    let pipeline = port.asic.pipeline_kib();
    let (lossy, mirror) = if eight { (2 * pipeline - 1, 2 * MIRROR_KIB) } else { (pipeline, MIRROR_KIB) };
    let mut total = SLACK + lossy * KIB + mirror * KIB;
    terms.bytes("slack", bytes(SLACK), "fixed", SCRIPT);
    terms.bytes("management group", bytes(lossy * KIB), format!("{lossy} x {KIB}"), SCRIPT);
    terms.bytes("egress mirror", bytes(mirror * KIB), format!("{mirror} x {KIB}"), SCRIPT);
    let groups = u64::from(port.lossy_groups);
    terms.bytes("lossy groups", bytes(groups * lossy * KIB), format!("{groups} x {lossy} x {KIB}"), SCRIPT);
    total = total.saturating_add(groups * lossy * KIB);
    let mut pooled = 0_u64;
    for (headroom, count) in port.lossless {
        let count = u64::from(*count);
        let size = headroom.size.0.saturating_mul(count);
        terms.bytes("lossless groups", bytes(size), format!("{count} x {}", headroom.size.0), SCRIPT);
        total = total.saturating_add(size);
        pooled = pooled.saturating_add(headroom.pooled.0.saturating_mul(count));
    }
    terms.bytes("port", bytes(total), "the sum of the above", SCRIPT);
    let max = port.max_headroom;
    if total >= max.0 {
        return Err(BufferError::PortHeadroom { total: Bytes(total), max, terms: Box::new(terms) });
    }
    if let Some((reserved, most)) = port.asic.port_shared_cells().filter(|_| port.shared_headroom) {
        let reserved = if eight { 2 * reserved } else { reserved };
        let cell = port.asic.cell().0;
        let max = Bytes((reserved + most) * cell);
        let formula = format!("({most} + {reserved}) x {cell}");
        terms.bytes("shared headroom a port may use", bytes(max.0), formula, SCRIPT);
        terms.bytes("shared headroom of the port", bytes(pooled), "XON + XOFF - size of each group", SCRIPT);
        if pooled > max.0 {
            return Err(BufferError::PortSharedHeadroom {
                pooled: Bytes(pooled),
                max,
                terms: Box::new(terms),
            });
        }
    }
    Ok(PortSum { total: Bytes(total), terms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headroom::{Link, Model, Request};
    use crate::profile::LosslessTraffic;
    use crate::units::{Length, Speed};

    fn headroom(meters: u32, shared: bool) -> Headroom {
        let link = Link::new(Speed::gbps(800), Length::from_meters(meters), Bytes(9100), 8).unwrap();
        let request = Request::new(link, LosslessTraffic::default(), shared).unwrap();
        Model::Spectrum(SpectrumAsic::Spectrum4).headroom(&request, None).unwrap()
    }

    fn port(lossless: &[(Headroom, u32)], max: u64, shared: bool) -> Result<PortSum, BufferError> {
        check_port(&PortCheck {
            asic: SpectrumAsic::Spectrum4,
            lanes: 8,
            lossless,
            lossy_groups: 1,
            max_headroom: Bytes(max),
            shared_headroom: shared,
        })
    }

    #[test]
    fn the_sum_is_sonics_and_the_limit_itself_is_too_much() {
        // 4096 + 37 K + 40 K + 37 K + 2 x 200,704 (800G, 40 m, 8 lanes).
        let groups = [(headroom(40, false), 2)];
        let sum = 4_096 + (37 + 40 + 37) * 1024 + 2 * 200_704;
        assert_eq!(port(&groups, sum + 1, false).unwrap().total, Bytes(sum));
        assert_eq!(
            port(&groups, sum, false).unwrap_err().to_string(),
            format!("a port needs {sum} B of headroom, but the platform grants less than {sum} B")
        );
    }

    #[test]
    fn shared_headroom_has_its_own_limit() {
        // (8192 + 2 x 20) cells of 192 B = 1,580,544 B; 2 km of 800G need 2.6 MB.
        let error = port(&[(headroom(2_000, true), 1)], 10_000_000, true).unwrap_err();
        assert!(matches!(error, BufferError::PortSharedHeadroom { max: Bytes(1_580_544), .. }), "{error}");
        assert!(port(&[(headroom(300, true), 2)], 10_000_000, true).is_ok());
    }
}
