//! TCP segments of up to 64 KiB between the kernel and the agent. They are split when read from a TUN device, and
//! joined before they are written to it.
//!
//! In: data from a TUN device with IFF_VNET_HDR, packets that arrived in order. Out: packets that fit the fabric, with
//! checksums; segments with a header that describes how the kernel may split them. Invariants: packets are joined only
//! if their checksums are correct and each continues the stream exactly. All others pass unchanged.

/// Length of the header in front of each packet of a TUN device (`struct virtio_net_hdr`).
pub(crate) const VNET_LEN: usize = 10;
/// Maximum length of a packet from the kernel.
pub(crate) const SEGMENT_MAX: usize = 65_535 + 40;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP6: u8 = 4;
const ECN: u8 = 0x80;

const IPV6: usize = 40;
const TCP: u8 = 6;
/// Offset of the checksum in a TCP header.
const TCP_CHECKSUM: usize = 16;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const CWR: u8 = 0x80;

/// Packet metadata of a TUN device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Vnet {
    flags: u8,
    gso: u8,
    header_len: u16,
    gso_size: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

impl Vnet {
    fn read(bytes: &[u8; VNET_LEN]) -> Vnet {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Vnet {
            flags: bytes[0],
            gso: bytes[1],
            header_len: word(2),
            gso_size: word(4),
            checksum_start: word(6),
            checksum_offset: word(8),
        }
    }

    fn write(self, out: &mut [u8]) {
        out[0] = self.flags;
        out[1] = self.gso;
        let words = [self.header_len, self.gso_size, self.checksum_start, self.checksum_offset];
        for (word, out) in words.into_iter().zip(out[2..VNET_LEN].chunks_exact_mut(2)) {
            out.copy_from_slice(&word.to_ne_bytes());
        }
    }
}

/// Returns the sum of 16-bit words in network order, not folded.
///
/// Words are added in native order, and the sum is swapped at the end. That gives the same result (RFC 1071 2 (B)), and
/// several words can be added at once. This was the agent's most expensive work per byte of TCP data.
fn sum(bytes: &[u8], from: u64) -> u64 {
    const LANES: usize = 8;
    let (blocks, rest) = bytes.as_chunks::<{ 4 * LANES }>();
    let mut lanes = [0; LANES];
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<4>().0) {
            *lane += u64::from(u32::from_ne_bytes(*word));
        }
    }
    let mut last = [0; 4 * LANES];
    last[..rest.len()].copy_from_slice(rest);
    for (lane, word) in lanes.iter_mut().zip(last.as_chunks::<4>().0) {
        *lane += u64::from(u32::from_ne_bytes(*word));
    }
    from + u64::from(u16::from_be(fold(lanes.iter().sum())))
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Returns the sum of the pseudo header for an upper layer of `len` bytes (RFC 8200 8.1).
fn pseudo(head: &[u8], len: usize) -> u64 {
    sum(&head[8..IPV6], len as u64 + u64::from(head[6]))
}

/// Returns the length of the TCP header; `None` if this is not a TCP packet over IPv6.
fn tcp_len(packet: &[u8]) -> Option<usize> {
    let is_tcp = packet.len() >= IPV6 + 20 && packet[0] >> 4 == 6 && packet[6] == TCP;
    let len = usize::from(packet.get(IPV6 + 12)? >> 4) * 4;
    (is_tcp && len >= 20 && packet.len() >= IPV6 + len).then_some(len)
}

fn put(packet: &mut [u8], at: usize, value: u16) {
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes([packet[IPV6 + 4], packet[IPV6 + 5], packet[IPV6 + 6], packet[IPV6 + 7]])
}

/// Splits data from a TUN device into packets. `packet` is called with the length of each packet and its writer, in
/// order.
///
/// Data without segmentation is one packet. Its checksum is completed if the kernel has not done so. Malformed data
/// yields no packets.
pub(crate) fn split(given: &[u8], mut packet: impl FnMut(usize, &mut dyn FnMut(&mut [u8]))) {
    let Some((head, whole)) = given.split_first_chunk::<VNET_LEN>() else { return };
    let vnet = Vnet::read(head);
    match (vnet.gso & !ECN, tcp_len(whole)) {
        (GSO_NONE, _) => packet(whole.len(), &mut |out| {
            out.copy_from_slice(whole);
            complete(out, vnet);
        }),
        (GSO_TCP6, Some(tcp)) if vnet.gso_size > 0 => {
            let head = IPV6 + tcp;
            let pieces = whole[head..].chunks(usize::from(vnet.gso_size));
            let last = pieces.len().saturating_sub(1);
            for (at, piece) in pieces.enumerate() {
                packet(head + piece.len(), &mut |out| {
                    segment(out, (&whole[..head], piece), (at, last), vnet.gso_size);
                });
            }
        }
        _ => {}
    }
}

/// Completes a checksum that the kernel left to the device.
fn complete(packet: &mut [u8], vnet: Vnet) {
    let (start, at) = (usize::from(vnet.checksum_start), usize::from(vnet.checksum_offset));
    if vnet.flags & NEEDS_CHECKSUM == 0 || start + at + 2 > packet.len() {
        return;
    }
    // The field already contains the sum of the pseudo header.
    let checksum = !fold(sum(&packet[start..], 0));
    put(packet, start + at, if checksum == 0 { 0xffff } else { checksum });
}

/// Writes one packet of a segment.
fn segment(out: &mut [u8], (head, piece): (&[u8], &[u8]), (at, last): (usize, usize), size: u16) {
    out[..head.len()].copy_from_slice(head);
    out[head.len()..].copy_from_slice(piece);
    let upper = out.len() - IPV6;
    put(out, 4, upper as u16);
    let next = number(head).wrapping_add(at as u32 * u32::from(size));
    out[IPV6 + 4..IPV6 + 8].copy_from_slice(&next.to_be_bytes());
    // CWR belongs to the first packet only, FIN and PSH to the last.
    let flags = &mut out[IPV6 + 13];
    *flags &= if at > 0 { !CWR } else { 0xff };
    *flags &= if at < last { !(FIN | PSH) } else { 0xff };
    put(out, IPV6 + TCP_CHECKSUM, 0);
    let checksum = !fold(sum(&out[IPV6..], pseudo(out, upper)));
    put(out, IPV6 + TCP_CHECKSUM, checksum);
}

/// Joins consecutive packets of one stream.
#[derive(Debug)]
pub(crate) struct Joiner {
    /// The header for the kernel, and the segment so far.
    bytes: Vec<u8>,
    /// Lengths of the headers and of the first piece. The joiner is empty if `bytes` is empty.
    head: usize,
    size: usize,
    pieces: usize,
    /// Whether the segment must not grow further.
    closed: bool,
}

impl Default for Joiner {
    fn default() -> Self {
        let bytes = Vec::with_capacity(VNET_LEN + SEGMENT_MAX);
        Joiner { bytes, head: 0, size: 0, pieces: 0, closed: false }
    }
}

impl Joiner {
    /// Adds a packet for the node. If it does not continue the pending segment, that segment goes to `out` first.
    pub(crate) fn push(&mut self, packet: &[u8], mut out: impl FnMut(&[u8])) {
        if self.continues(packet) {
            let piece = &packet[self.head..];
            self.closed |= piece.len() < self.size || packet[IPV6 + 13] & PSH != 0;
            self.bytes[VNET_LEN + IPV6 + 13] |= packet[IPV6 + 13] & PSH;
            self.bytes.extend_from_slice(piece);
            self.pieces += 1;
            return;
        }
        self.flush(&mut out);
        self.bytes.resize(VNET_LEN, 0);
        self.bytes.extend_from_slice(packet);
        match tcp_len(packet).filter(|tcp| is_mergeable(packet, *tcp)) {
            Some(tcp) => {
                (self.head, self.size, self.pieces) = (IPV6 + tcp, packet.len() - IPV6 - tcp, 1);
                self.closed = packet[IPV6 + 13] & PSH != 0;
            }
            None => self.flush(&mut out),
        }
    }

    /// Returns whether a packet is the next piece of the pending segment.
    fn continues(&self, packet: &[u8]) -> bool {
        let Some(before) = self.bytes.get(VNET_LEN..).filter(|_| self.pieces > 0 && !self.closed) else {
            return false;
        };
        let Some(tcp) = tcp_len(packet).filter(|tcp| IPV6 + tcp == self.head && is_mergeable(packet, *tcp))
        else {
            return false;
        };
        let piece = packet.len() - self.head;
        let fits = piece <= self.size && before.len() + piece <= SEGMENT_MAX - IPV6;
        let next = number(before).wrapping_add((before.len() - self.head) as u32);
        // All fields except length, sequence number, PSH and checksum must be equal: traffic class and flow label,
        // addresses, ports, acknowledgement number, window, options.
        let same = before[..4] == packet[..4]
            && before[6..IPV6 + 4] == packet[6..IPV6 + 4]
            && before[IPV6 + 8..IPV6 + 13] == packet[IPV6 + 8..IPV6 + 13]
            && before[IPV6 + 14..IPV6 + 16] == packet[IPV6 + 14..IPV6 + 16]
            && before[IPV6 + 18..IPV6 + 20 + (tcp - 20)] == packet[IPV6 + 18..IPV6 + 20 + (tcp - 20)];
        fits && same && number(packet) == next
    }

    /// Passes on the pending segment.
    pub(crate) fn flush(&mut self, mut out: impl FnMut(&[u8])) {
        if self.bytes.len() > VNET_LEN {
            if self.pieces > 1 {
                self.finish();
            }
            out(&self.bytes);
        }
        self.bytes.clear();
        self.pieces = 0;
    }

    /// Updates the headers for the joined segment. The kernel completes the checksum if it splits the segment again.
    fn finish(&mut self) {
        let upper = self.bytes.len() - VNET_LEN - IPV6;
        let packet = &mut self.bytes[VNET_LEN..];
        put(packet, 4, upper as u16);
        let partial = fold(pseudo(packet, upper));
        put(packet, IPV6 + TCP_CHECKSUM, partial);
        let vnet = Vnet {
            flags: NEEDS_CHECKSUM,
            gso: GSO_TCP6,
            header_len: self.head as u16,
            gso_size: self.size as u16,
            checksum_start: IPV6 as u16,
            checksum_offset: TCP_CHECKSUM as u16,
        };
        vnet.write(&mut self.bytes);
    }
}

/// Returns whether a TCP packet may be part of a segment. It must have data, no special flags and a correct checksum,
/// and be complete.
fn is_mergeable(packet: &[u8], tcp: usize) -> bool {
    let upper = packet.len() - IPV6;
    let said = usize::from(u16::from_be_bytes([packet[4], packet[5]]));
    let plain = packet[IPV6 + 13] & !PSH == ACK && upper > tcp && said == upper;
    plain && fold(sum(&packet[IPV6..], pseudo(packet, upper))) == 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a segment of a stream in the form that the kernel passes.
    fn kernel_segment(len: usize, size: u16, flags: u8) -> Vec<u8> {
        let mut bytes = vec![0; VNET_LEN + IPV6 + 32];
        let packet = &mut bytes[VNET_LEN..];
        packet[0] = 0x60;
        put(packet, 4, (32 + len) as u16);
        (packet[6], packet[7]) = (TCP, 64);
        packet[8..24].fill(0x11);
        packet[24..40].fill(0x22);
        packet[IPV6..IPV6 + 12].copy_from_slice(&[1, 2, 3, 4, 0xff, 0xff, 0xff, 0, 9, 9, 9, 9]);
        (packet[IPV6 + 12], packet[IPV6 + 13]) = (8 << 4, flags);
        packet[IPV6 + 20..IPV6 + 32].fill(1);
        bytes.extend((0..len).map(|n| (n * 7) as u8));
        let vnet = Vnet {
            flags: NEEDS_CHECKSUM,
            gso: GSO_TCP6,
            header_len: 72,
            gso_size: size,
            checksum_start: 40,
            checksum_offset: 16,
        };
        vnet.write(&mut bytes);
        bytes
    }

    fn pieces(given: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        split(given, |len, write| {
            let mut packet = vec![0; len];
            write(&mut packet);
            out.push(packet);
        });
        out
    }

    fn join_packets(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let (mut joiner, mut out) = (Joiner::default(), Vec::new());
        for packet in packets {
            joiner.push(packet, |bytes| out.push(bytes.to_vec()));
        }
        joiner.flush(|bytes| out.push(bytes.to_vec()));
        out
    }

    /// The sum as in RFC 1071 4.1: word by word in network order.
    #[test]
    fn the_sum_is_that_of_the_standard() {
        let bytes: Vec<u8> = (0..4_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for len in (0..70).chain([1_400, 3_999, 4_000]) {
            let slow = bytes[..len].chunks(2).fold(0xfedc_u64, |sum, word| {
                sum + u64::from(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]))
            });
            assert_eq!(fold(sum(&bytes[..len], 0xfedc)), fold(slow), "{len} bytes");
        }
        // RFC 1071 3: the words 0001 f203 f4f5 f6f7 add up to ddf2.
        assert_eq!(fold(sum(&[0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7], 0)), 0xddf2);
    }

    #[test]
    fn a_segment_is_split_and_joined_again() {
        let segment = kernel_segment(10_000, 1400, ACK | PSH);
        let packets = pieces(&segment);
        assert_eq!(packets.len(), 8);
        for (at, packet) in packets.iter().enumerate() {
            assert!(is_mergeable(packet, 32), "packet {at} has its length and checksum");
            assert_eq!(packet[IPV6 + 13] & PSH != 0, at == 7, "only the last one pushes");
        }
        assert_eq!(number(&packets[1]), 0xffff_ff00u32.wrapping_add(1400), "numbers come round");
        let again = join_packets(&packets);
        assert_eq!(again.len(), 1);
        assert_eq!(Vnet::read(again[0].first_chunk().unwrap()), Vnet::read(segment.first_chunk().unwrap()));
        let body = |bytes: &[u8]| bytes[VNET_LEN + IPV6 + 32..].to_vec();
        assert_eq!(body(&again[0]), body(&segment));
        assert_eq!(pieces(&again[0]), packets, "the kernel would split it into the same packets");
    }

    #[test]
    fn what_does_not_continue_is_not_joined() {
        let packets = pieces(&kernel_segment(5_000, 1000, ACK));
        let mut swapped = packets.clone();
        swapped.swap(1, 2);
        assert_eq!(join_packets(&swapped).len(), 4, "0, 2, 1, then 3 and 4");
        let mut wrong = packets.clone();
        wrong[2][100] ^= 1;
        assert_eq!(join_packets(&wrong).len(), 3, "a wrong checksum is the receiver's to see");
        assert!(join_packets(&wrong).iter().any(|bytes| bytes[VNET_LEN..] == wrong[2]));
        let mut other = packets.clone();
        other[3][IPV6 + 8] ^= 1;
        put(&mut other[3], IPV6 + TCP_CHECKSUM, 0);
        let sum = !fold(sum(&other[3][IPV6..], pseudo(&other[3], other[3].len() - IPV6)));
        put(&mut other[3], IPV6 + TCP_CHECKSUM, sum);
        assert_eq!(join_packets(&other).len(), 3, "another acknowledgement");
        let fin = pieces(&kernel_segment(2_000, 1000, ACK | FIN));
        assert_eq!(join_packets(&fin).len(), 2);
    }

    #[test]
    fn a_segment_is_no_longer_than_the_kernel_takes() {
        let mut packets = Vec::new();
        for n in 0..3u32 {
            for mut packet in pieces(&kernel_segment(60_000, 1000, ACK)) {
                let next = number(&packet).wrapping_add(n * 60_000);
                packet[IPV6 + 4..IPV6 + 8].copy_from_slice(&next.to_be_bytes());
                put(&mut packet, IPV6 + TCP_CHECKSUM, 0);
                let checksum = !fold(sum(&packet[IPV6..], pseudo(&packet, packet.len() - IPV6)));
                put(&mut packet, IPV6 + TCP_CHECKSUM, checksum);
                packets.push(packet);
            }
        }
        let out = join_packets(&packets);
        assert_eq!(out.iter().map(|bytes| bytes.len() - VNET_LEN - IPV6 - 32).sum::<usize>(), 180_000);
        assert!(out.len() == 3 && out.iter().all(|bytes| bytes.len() - VNET_LEN - IPV6 <= 65_535));
    }

    #[test]
    fn a_checksum_that_was_left_is_completed() {
        let mut bytes = kernel_segment(100, 1400, ACK | PSH);
        let want = pieces(&bytes);
        let partial = fold(pseudo(&bytes[VNET_LEN..], 132));
        put(&mut bytes[VNET_LEN..], IPV6 + TCP_CHECKSUM, partial);
        bytes[1] = GSO_NONE;
        assert_eq!(pieces(&bytes), want);
        bytes[0] = 0;
        assert_ne!(pieces(&bytes), want, "left as it is");
    }

    #[test]
    fn what_is_malformed_makes_nothing() {
        assert!(pieces(&[0; 9]).is_empty());
        let mut bytes = kernel_segment(3_000, 0, ACK);
        assert!(pieces(&bytes).is_empty());
        bytes[1] = 77;
        assert!(pieces(&bytes).is_empty());
        assert_eq!(join_packets(&[vec![0x60; 3], Vec::new()]).len(), 1, "what is empty is nothing");
        let mut far = kernel_segment(10, 1400, ACK);
        (far[1], far[6], far[7]) = (GSO_NONE, 0xff, 0xff);
        assert_eq!(pieces(&far).len(), 1);
    }

    /// The checksum of TCP over IPv6 as in RFC 8200 8.1 and RFC 1071, with an explicit pseudo header. Every carry is
    /// folded immediately.
    fn independent(packet: &[u8]) -> u16 {
        let upper = &packet[IPV6..];
        let mut bytes = packet[8..IPV6].to_vec();
        bytes.extend_from_slice(&u32::try_from(upper.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(&[0, 0, 0, packet[6]]);
        bytes.extend_from_slice(&upper[..TCP_CHECKSUM]);
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(&upper[TCP_CHECKSUM + 2..]);
        if bytes.len() % 2 == 1 {
            bytes.push(0);
        }
        let mut sum = 0_u16;
        for two in bytes.chunks(2) {
            let (next, carry) = sum.overflowing_add(u16::from_be_bytes([two[0], two[1]]));
            sum = next + u16::from(carry);
        }
        !sum
    }

    proptest::proptest! {
        #[test]
        fn splitting_and_joining_are_inverse(
            body in proptest::collection::vec(proptest::prelude::any::<u8>(), 1..20_000),
            size in 500_u16..9_000,
            addresses in proptest::prelude::any::<[u8; 32]>(),
            ports in proptest::prelude::any::<[u8; 12]>(),
            ends in proptest::prelude::any::<bool>(),
        ) {
            let mut segment = kernel_segment(body.len(), size, if ends { ACK | PSH } else { ACK });
            let packet = &mut segment[VNET_LEN..];
            packet[8..IPV6].copy_from_slice(&addresses);
            packet[IPV6..IPV6 + 12].copy_from_slice(&ports);
            packet[IPV6 + 32..].copy_from_slice(&body);
            let packets = pieces(&segment);
            proptest::prop_assert_eq!(packets.len(), body.len().div_ceil(usize::from(size)));
            for packet in &packets {
                let said = u16::from_be_bytes([packet[IPV6 + 16], packet[IPV6 + 17]]);
                // Zero has two valid encodings.
                proptest::prop_assert!(said == independent(packet) || said ^ independent(packet) == 0xffff);
                proptest::prop_assert_eq!(packet.len() - IPV6, usize::from(u16::from_be_bytes([packet[4], packet[5]])));
            }
            let again = join_packets(&packets);
            proptest::prop_assert_eq!(again.len(), 1);
            let text = &again[0][VNET_LEN + IPV6 + 32..];
            proptest::prop_assert_eq!(text, &body[..]);
            let vnet = Vnet::read(again[0].first_chunk().unwrap());
            if packets.len() > 1 {
                proptest::prop_assert_eq!(vnet, Vnet::read(segment.first_chunk().unwrap()));
            } else {
                proptest::prop_assert_eq!(vnet, Vnet::default());
            }
            proptest::prop_assert_eq!(pieces(&again[0]), packets);
        }

        /// Joins packets with various flags and lengths. The kernel must receive the same packets, each once
        /// and in order.
        #[test]
        fn what_is_joined_is_what_came(
            steps in proptest::collection::vec((0_usize..4, 1_usize..3_000), 1..30),
        ) {
            let mut sent: Vec<Vec<u8>> = Vec::new();
            for (kind, len) in steps {
                let flags = [ACK, ACK | PSH, ACK | FIN, ACK | CWR][kind];
                sent.extend(pieces(&kernel_segment(len, 1_000, flags)));
            }
            let out: Vec<Vec<u8>> = join_packets(&sent).iter().flat_map(|bytes| pieces(bytes)).collect();
            proptest::prop_assert_eq!(out, sent);
        }
    }
}
