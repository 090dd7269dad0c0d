//! CRC32C of a message and of what precedes it.
//!
//! In: a frame. Out: its sum. Invariants: everything that no switch changes is covered: source address, option, UDP header,
//! message. UDP is sent without checksum (RFC 6935), and the checksum of Ethernet ends at each hop, so nothing else finds a
//! byte that a switch or a host changed. RoCE has its ICRC for that (InfiniBand Architecture 7.8.1). The polynomial is that of
//! iSCSI (RFC 3720 B.4), which processors have an instruction for.

use crc_fast::{CrcAlgorithm, Digest};

/// Bytes of a sum.
pub(super) const LEN: usize = 4;

/// Returns the sum of a source address and of all bytes behind the IPv6 header, but for those at `place`, where the sum is.
pub(super) fn of(source: &[u8], body: &[u8], place: usize) -> Option<u32> {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(source);
    digest.update(body.get(..place)?);
    digest.update(body.get(place + LEN..)?);
    Some(digest.finalize() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_iscsi() {
        // RFC 3720 B.4: 32 bytes of zeros, and of ones.
        assert_eq!(of(&[0; 16], &[0; 20], 16), Some(0x8a91_36aa));
        assert_eq!(of(&[0xff; 16], &[0xff; 20], 3), Some(0x62a8_ab43));
        assert_eq!(of(&[0; 16], &[0; 3], 0), None);
    }
}
