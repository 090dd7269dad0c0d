//! The inner IPv6 header that T0s of P4 fabrics require in packets of NICs.
//!
//! In: frames of agents. Out: the same frames with a second IPv6 header after the outer one, and without it again.
//! Invariants: the other fields of the outer header are kept, including changes by switches. Agents on kernel
//! switches do not send an inner header. If a NIC sends a packet to a segment list, a P4 T0 drops it unless it
//! encapsulates an IPv6 packet of that NIC.

/// Length of the Ethernet and outer headers.
const OUTER: usize = 14 + 40;
/// Length of the inner header.
pub(super) const INNER: usize = 40;
const IPV6: u8 = 41;

/// Returns a frame with an inner header.
pub(super) fn wrap(frame: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(frame.len() + INNER);
    out.extend_from_slice(&frame[..OUTER]);
    out.extend_from_slice(&frame[14..OUTER]);
    out.extend_from_slice(&frame[OUTER..]);
    out[20] = IPV6;
    lengthen(&mut out, INNER.cast_signed());
    out
}

/// Removes the inner header. Frames without one are unchanged.
pub(super) fn unwrap(frame: &mut Vec<u8>) {
    if frame.len() >= OUTER + INNER && frame[20] == IPV6 {
        frame[20] = frame[OUTER + 6];
        frame.drain(OUTER..OUTER + INNER);
        lengthen(frame, -INNER.cast_signed());
    }
}

fn lengthen(frame: &mut [u8], by: isize) {
    let length = u16::from_be_bytes([frame[18], frame[19]]);
    let length = usize::from(length).saturating_add_signed(by) as u16;
    frame[18..20].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_comes_out_as_it_was() {
        let mut frame: Vec<u8> = (0..200).collect();
        (frame[18], frame[19], frame[20]) = (0, 146, 60);
        let mut wrapped = wrap(&frame);
        assert_eq!((wrapped.len(), wrapped[19], wrapped[20], wrapped[OUTER + 6]), (240, 186, IPV6, 60));
        // Packets that a switch marked remain marked.
        wrapped[15] |= 0x30;
        frame[15] |= 0x30;
        unwrap(&mut wrapped);
        assert_eq!(wrapped, frame);
    }
}
