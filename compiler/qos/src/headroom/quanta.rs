//! Time that the far end needs to stop sending, by speed.
//!
//! In: a speed. Out: pause quanta of 512 bit times (IEEE 802.3 annex 31B.3.7) and the delay of an interface.
//! Invariants: for a speed without a source, the result is `None` instead of a guess.

use crate::units::Speed;

/// Bit times in a pause quantum.
pub(super) const BIT_TIMES_PER_QUANTUM: u32 = 512;

/// Returns the maximum response time to a pause in pause quanta, from IEEE 802.3 31B.3.7.
///
/// 800G has the value of 400G, as in SONiC. For other speeds, returns `None`.
pub const fn pause_quanta(speed: Speed) -> Option<u32> {
    match speed.mbps() {
        10_000 => Some(60),
        25_000 => Some(80),
        40_000 => Some(118),
        50_000 => Some(147),
        100_000 => Some(394),
        200_000 => Some(453),
        400_000 | 800_000 => Some(905),
        _ => None,
    }
}

/// Returns the pause quanta in SONiC's headroom scripts. They equal [`pause_quanta`], except for 67 at 10G and the
/// values for slow speeds (sonic-swss `buffer_headroom_mellanox.lua`).
pub(super) const fn sonic_pause_quanta(speed: Speed) -> Option<u32> {
    match speed.mbps() {
        100 => Some(1),
        1_000 => Some(2),
        10_000 => Some(67),
        _ => pause_quanta(speed),
    }
}

/// Returns the upper bound of the delay of an interface in bit times, and whether it is published for this speed.
///
/// The bound is published for 10G, 25G, 40G and 100G. For 50G and above 100G, the time of 100G is used, 1,228.8 ns.
/// This is an inference: the delay of a PHY with FEC does not grow with the speed. Other speeds have no bound.
pub const fn interface_bit_times(speed: Speed) -> Option<(u64, bool)> {
    match speed.mbps() {
        10_000 => Some((8_192, true)),
        25_000 => Some((6_144, true)),
        40_000 => Some((24_576, true)),
        100_000 => Some((122_880, true)),
        faster if faster > 100_000 => Some((122_880 * faster as u64 / 100_000, false)),
        50_000 => Some((61_440, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quanta_are_those_of_the_standard() {
        // IEEE 802.3 31B.3.7 in bit times.
        for (gbps, bit_times) in [(10, 30_720), (25, 40_960), (40, 60_416), (100, 201_728), (400, 463_360)] {
            assert_eq!(pause_quanta(Speed::gbps(gbps)).unwrap() * BIT_TIMES_PER_QUANTUM, bit_times);
        }
        assert_eq!(pause_quanta(Speed::gbps(1600)), None);
        assert_eq!(sonic_pause_quanta(Speed::gbps(10)), Some(67));
    }

    #[test]
    fn inferred_interface_delays_say_so() {
        assert_eq!(interface_bit_times(Speed::gbps(100)), Some((122_880, true)));
        assert_eq!(interface_bit_times(Speed::gbps(400)), Some((491_520, false)));
        assert_eq!(interface_bit_times(Speed::gbps(1)), None);
    }
}
