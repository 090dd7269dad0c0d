//! CRC32C over a message and the headers before it.
//!
//! In: a frame. Out: its checksum. Invariants: it covers everything that switches do not change: source address,
//! option, UDP header, message. UDP is sent without checksum (RFC 6935), and the Ethernet checksum ends at each hop. So
//! no other check detects a byte changed inside a switch or a host. RoCE has its ICRC for this purpose (InfiniBand
//! Architecture 7.8.1). The polynomial is that of iSCSI (RFC 3720 B.4), which processors support with an instruction.

use crc_fast::{CrcAlgorithm, Digest};

/// Length of the checksum.
pub(super) const LEN: usize = 4;

/// Returns the checksum of a source address and all bytes after the IPv6 header, except the field at `place` for the
/// checksum itself.
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
