//! The bits that coordinates have in addresses.
//!
//! Invariants: widths are defaults or stated in the file, never fitted to counts, so that growth renumbers nothing. The
//! exceptions are planes and ports in IPv4 addresses: where the file states no width, [`Ipv4Widths`](crate::Ipv4Widths)
//! computes it from the number of planes and from the hardware.

use serde::Serialize;

/// Bits of zone and T0 group in NIC addresses, of zone and index in IPv4 management addresses, and of planes and ports
/// in the other IPv4 addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AddressWidths {
    /// Bits of the zone, [`AddressWidths::ZONE_MIN`] to [`AddressWidths::ZONE_MAX`].
    pub zone: u8,
    /// Bits of the index of a switch in an IPv4 management address, if the file states them.
    pub index: Option<u8>,
    /// Bits of the plane in IPv4 addresses, if the file states them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// Bits of a T0 downlink in IPv4 addresses, if the file states them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t0_downlink: Option<u8>,
    /// Bits of a T0 uplink in IPv4 addresses, if the file states them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t0_uplink: Option<u8>,
    /// Bits of a T1 uplink in IPv4 addresses, if the file states them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t1_uplink: Option<u8>,
}

impl Default for AddressWidths {
    fn default() -> Self {
        AddressWidths {
            zone: AddressWidths::ZONE,
            index: None,
            plane: None,
            t0_downlink: None,
            t0_uplink: None,
            t1_uplink: None,
        }
    }
}

impl AddressWidths {
    /// The default width of the zone.
    pub const ZONE: u8 = 4;
    /// The smallest width of the zone.
    pub(crate) const ZONE_MIN: u8 = 1;
    /// The largest width of the zone: cable addresses and MAC addresses of switches have 8 bits for it.
    pub(crate) const ZONE_MAX: u8 = 8;
    /// The largest width of an index.
    pub(crate) const INDEX_MAX: u8 = 16;
    /// The largest width of the plane in an IPv4 address: 16 planes.
    pub(crate) const PLANE_MAX: u8 = 4;
    /// The largest width of a port in an IPv4 address.
    pub(crate) const PORT_MAX: u8 = 12;
    /// The largest index of a T0 or T1 in router ids and AS numbers, which have 12 bits for it. T2s also use the 8
    /// bits of the zone.
    pub(crate) const SPEAKERS_MAX: u32 = (1 << 12) - 1;
    /// Bits of tier (2) and plane (4) in IPv4 management addresses with fixed bit positions.
    pub const POSITION: u8 = 6;
    /// Bits of zone and group together: a hextet.
    const PLACE: u8 = 16;
    /// Bits of zone and index together in IPv4 management addresses, unless the file states the width of the index.
    const DEVICE: u8 = 12;

    /// Returns whether the file states no widths, or the default ones.
    // Serde passes a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) fn is_default(&self) -> bool {
        *self == AddressWidths::default()
    }

    /// Returns the bits of the T0 group in NIC addresses.
    pub fn group(self) -> u8 {
        AddressWidths::PLACE - self.zone
    }

    /// Returns the maximum number of zones in NIC addresses.
    pub(crate) fn zones_max(self) -> u32 {
        1 << self.zone
    }

    /// Returns the maximum number of T0 groups of a zone, which count from 1.
    pub fn groups_max(self) -> u32 {
        (1 << self.group()) - 1
    }

    /// Returns these widths with the zone width that has room for the counts and is closest to the default; `None` if
    /// no zone width has room for both.
    pub fn with_room_for(self, zones: u64, groups: u64) -> Option<AddressWidths> {
        let all =
            (AddressWidths::ZONE_MIN..=AddressWidths::ZONE_MAX).map(|zone| AddressWidths { zone, ..self });
        let fits = |own: &AddressWidths| zones <= own.zones_max().into() && groups <= own.groups_max().into();
        all.filter(fits).min_by_key(|own| own.zone.abs_diff(AddressWidths::ZONE))
    }

    /// Returns the bits of zone and index together in IPv4 management addresses.
    pub fn device(self) -> u8 {
        self.index.map_or(AddressWidths::DEVICE, |index| self.zone + index)
    }

    /// Returns the length of the longest IPv4 management pool: 2 bits of tier, 4 of plane, then zone and index.
    pub fn management_v4_max(self) -> u8 {
        32 - AddressWidths::POSITION - self.device()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_and_group_share_a_hextet() {
        let widths = AddressWidths { zone: 7, index: Some(8), ..AddressWidths::default() };
        assert_eq!((widths.zones_max(), widths.groups_max(), widths.device()), (128, 511, 15));
        assert_eq!(AddressWidths::default().groups_max(), 4_095);
        assert_eq!(AddressWidths::default().management_v4_max(), 14);
    }

    #[test]
    fn the_zone_width_with_room_is_the_one_closest_to_the_default() {
        let zone = |zones, groups| AddressWidths::default().with_room_for(zones, groups).map(|own| own.zone);
        assert_eq!(
            [zone(1, 1), zone(16, 4_095), zone(24, 2), zone(256, 255)],
            [Some(4), Some(4), Some(5), Some(8)]
        );
        assert_eq!([zone(2, 32_767), zone(257, 1), zone(17, 2_048)], [Some(1), None, None]);
    }
}
