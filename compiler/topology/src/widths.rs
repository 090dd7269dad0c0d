//! The bits that coordinates have in addresses.
//!
//! Invariants: widths are defaults or stated in the file, never fitted to counts, so that growth renumbers nothing.

use serde::Serialize;

/// Bits of zone and T0 group in NIC addresses, and of zone and index in IPv4 management addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AddressWidths {
    /// Bits of the zone, [`AddressWidths::ZONE_MIN`] to [`AddressWidths::ZONE_MAX`].
    pub zone: u8,
    /// Bits of the index of a switch in an IPv4 management address, where the file states them.
    pub index: Option<u8>,
}

impl Default for AddressWidths {
    fn default() -> Self {
        AddressWidths { zone: AddressWidths::ZONE, index: None }
    }
}

impl AddressWidths {
    /// The default width of the zone.
    pub const ZONE: u8 = 4;
    /// The least width of the zone.
    pub(crate) const ZONE_MIN: u8 = 1;
    /// The largest width of the zone: cable addresses and MAC addresses of switches have 8 bits for it.
    pub(crate) const ZONE_MAX: u8 = 8;
    /// The largest width of an index.
    pub(crate) const INDEX_MAX: u8 = 16;
    /// The largest index of a T0 or T1 in router ids and AS numbers: 12 bits. T2s use the 8 bits of the zone too.
    pub(crate) const SPEAKERS_MAX: u32 = (1 << 12) - 1;
    /// Bits of tier (2) and plane (4) in IPv4 management addresses with fixed places.
    pub const POSITION: u8 = 6;
    /// Bits of zone and group together: a hextet.
    const PLACE: u8 = 16;
    /// Bits of zone and index together in IPv4 management addresses, where the file states no index.
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
        let widths = AddressWidths { zone: 7, index: Some(8) };
        assert_eq!((widths.zones_max(), widths.groups_max(), widths.device()), (128, 511, 15));
        assert_eq!(AddressWidths::default().groups_max(), 4_095);
        assert_eq!(AddressWidths::default().management_v4_max(), 14);
    }
}
