//! The inner IPv6 header that T0s of P4 fabrics ask of NICs.
//!
//! In: frames of agents. Out: the same with a header between the outer one and what it carries, and back. Invariants: what
//! switches read and write, the outer header, is as the agent wrote it and as it came. An agent on the kernel's switches
//! leaves the header out; a P4 T0 takes a segment list from a NIC only if another IPv6 packet of that NIC is inside.

/// Ethernet and the outer header.
const OUTER: usize = 14 + 40;
/// The inner one.
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

/// Takes the inner header out again; whatever has none stays as it is.
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
        // Packets marked by a switch stay marked.
        wrapped[15] |= 0x30;
        frame[15] |= 0x30;
        unwrap(&mut wrapped);
        assert_eq!(wrapped, frame);
    }
}
