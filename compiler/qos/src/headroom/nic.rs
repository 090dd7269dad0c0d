//! The receive buffer of a NIC that pauses its switch.
//!
//! In: speed, cable and MTU of the NIC port, and the size of its lossless buffer. Out: XOFF and XON of the mlx5 driver.
//! Invariants: the formula is the driver's own approximation (Linux commit 0696d60853d5), in hundredths so that all
//! values are integers.

use serde::Serialize;

use super::error::HeadroomError;
use super::link::Link;
use crate::explain::{Breakdown, Unit, exact};
use crate::units::Bytes;

const DRIVER: &str = "Linux mlx5 port_buffer, commit 0696d60853d5";

/// Thresholds of the lossless receive buffer of a NIC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NicBuffer {
    /// Bytes that can arrive after the pause is sent.
    pub headroom: Bytes,
    /// Fill level at which the NIC pauses the switch.
    pub xoff_threshold: Bytes,
    /// Fill level at which the switch may resume.
    pub xon_threshold: Bytes,
    /// All steps, in order.
    pub terms: Breakdown,
}

/// Computes the thresholds of a lossless buffer of `size`. Fails if the buffer cannot hold the headroom and a packet.
pub fn nic_buffer(link: &Link, size: Bytes) -> Result<NicBuffer, HeadroomError> {
    let mut terms = Breakdown::default();
    let gbps = link.mbps() / exact(1000_u16, 1_u8);
    terms.push("speed", link.mbps(), Unit::MegabitsPerSecond, "port", "topology");
    terms.push("cable", link.meters(), Unit::Meters, "one way", "topology");
    let mtu = exact(link.mtu().0, 1_u8);
    let headroom = (exact(301_u16, 1_u8) + exact(216_u16, 100_u16) * link.meters()) * gbps
        + exact(272_u16, 100_u16) * mtu;
    let formula = "(301 + 2.16 x cable) x Gb/s + 2.72 x MTU";
    let headroom = super::ceil_bytes(terms.bytes("headroom", headroom, formula, DRIVER));
    let xoff = size.0.checked_sub(headroom.0);
    let xon = xoff.and_then(|xoff| xoff.checked_sub(link.mtu().0)).filter(|xon| *xon > 0);
    let (Some(xoff), Some(xon)) = (xoff, xon) else {
        let needed = headroom + link.mtu() + Bytes(1);
        return Err(HeadroomError::NicBufferTooSmall { size, headroom, mtu: link.mtu(), needed });
    };
    terms.bytes("XOFF threshold", exact(xoff, 1_u8), "buffer - headroom", DRIVER);
    terms.bytes("XON threshold", exact(xon, 1_u8), "XOFF threshold - MTU", DRIVER);
    Ok(NicBuffer { headroom, xoff_threshold: Bytes(xoff), xon_threshold: Bytes(xon), terms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Length, Speed};

    #[test]
    fn thresholds_follow_the_driver() {
        let link = Link::new(Speed::gbps(100), Length::from_meters(100), Bytes(1500), 4).unwrap();
        let found = nic_buffer(&link, Bytes(160_000)).unwrap();
        // (301 + 216) x 100 + 2.72 x 1500 = 55,780.
        assert_eq!(found.headroom, Bytes(55_780));
        assert_eq!(found.xoff_threshold, Bytes(104_220));
        assert_eq!(found.xon_threshold, Bytes(102_720));
    }

    #[test]
    fn a_buffer_without_room_is_refused() {
        let link = Link::new(Speed::gbps(400), Length::from_meters(5), Bytes(9216), 4).unwrap();
        assert_eq!(
            nic_buffer(&link, Bytes(100_000)).unwrap_err().to_string(),
            "a NIC buffer of 100KB cannot be lossless: headroom 149788B + MTU 9216B leave no room; at least \
             159005B are needed"
        );
    }
}
