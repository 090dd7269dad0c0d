//! Offsets and versions of the file format, which `FORMAT.md` describes.
//!
//! Numbers are little-endian; addresses are in network order, as they appear in a packet.

pub(crate) const MAGIC: [u8; 4] = *b"CLPT";
/// Tables of two tiers.
pub(crate) const TWO_TIERS: u16 = 1;
/// Tables of three tiers: they also contain the first T1 uplink of entropy sets, and the uSID of the first
/// T2.
pub(crate) const THREE_TIERS: u16 = 2;
/// Tables of two or three tiers that also contain the position of the plane, and the number of rows that T1s
/// share.
pub(crate) const WITH_BLOCKS: u16 = 3;
/// Tables in which the zone has more or fewer than 4 bits of a NIC address.
pub(crate) const WITH_WIDTHS: u16 = 4;
pub(crate) const HEADER: usize = 128;

pub(crate) const AT_VERSION: usize = 4;
pub(crate) const AT_HEADER_LEN: usize = 6;
pub(crate) const AT_TOTAL: usize = 8;
pub(crate) const AT_CRC: usize = 12;
/// The checksum covers all bytes from this offset on.
pub(crate) const CHECKED_FROM: usize = 16;
pub(crate) const AT_PLANES: usize = 16;
pub(crate) const AT_PLANE_SHIFT: usize = 17;
pub(crate) const AT_UPLINK_BITS: usize = 18;
pub(crate) const AT_PLANE_BITS: usize = 19;
pub(crate) const AT_T1_UPLINK_BITS: usize = 20;
pub(crate) const AT_POOL_LEN: usize = 21;
pub(crate) const AT_PARALLEL0: usize = 22;
pub(crate) const AT_PARALLEL1: usize = 24;
pub(crate) const AT_PER_T1: usize = 26;
pub(crate) const AT_T0_UPLINKS: usize = 28;
pub(crate) const AT_T1_UPLINKS: usize = 30;
pub(crate) const AT_T2_STEP: usize = 32;
pub(crate) const AT_T2_ROW: usize = 34;
pub(crate) const AT_ZONE: usize = 36;
pub(crate) const AT_GROUP: usize = 38;
pub(crate) const AT_ZONES: usize = 40;
pub(crate) const AT_GROUPS: usize = 42;
pub(crate) const AT_NICS: usize = 44;
pub(crate) const AT_ACTIVE: usize = 46;
pub(crate) const AT_BACKUP: usize = 48;
pub(crate) const AT_MIN_ACTIVE: usize = 50;
pub(crate) const AT_UDP_PORT: usize = 52;
pub(crate) const AT_MTU: usize = 54;
pub(crate) const AT_POOL: usize = 56;
pub(crate) const AT_DESTINATIONS: usize = 72;
pub(crate) const AT_ORDERS: usize = 76;
pub(crate) const AT_DENIED: usize = 80;
pub(crate) const AT_DENIED_COUNT: usize = 84;
pub(crate) const AT_T0_PROBE: usize = 88;
pub(crate) const AT_T1_PROBE: usize = 104;
pub(crate) const AT_T1_START: usize = 120;
pub(crate) const AT_T2_USID: usize = 122;
pub(crate) const AT_PLANE_IN: usize = 124;
pub(crate) const AT_ZONE_BITS: usize = 125;
pub(crate) const AT_T2_ROWS: usize = 126;

/// The plane is in every uSID.
pub(crate) const IN_USIDS: u8 = 0;
/// The plane is in the block.
pub(crate) const IN_BLOCK: u8 = 1;

pub(crate) const DESTINATION: usize = 24;
pub(crate) const DENIED: usize = 20;
/// Maximum size of the fabric's name in bytes; the length field has one byte.
#[cfg(any(feature = "write", test))]
pub(crate) const NAME_MAX: usize = 255;

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    match bytes.get(at..at + 2) {
        Some(&[a, b]) => u16::from_le_bytes([a, b]),
        Some(_) | None => 0,
    }
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

pub(crate) fn address_at(bytes: &[u8], at: usize) -> u128 {
    bytes.get(at..at + 16).and_then(|b| <[u8; 16]>::try_from(b).ok()).map_or(0, u128::from_be_bytes)
}
