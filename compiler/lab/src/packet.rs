//! The packets of a lab: UDP over IPv6 in IPv6, with an identifying number.
//!
//! In: inner addresses and a number. Out: the bytes of the inner packet, and the reverse. Invariants: the UDP
//! checksum is correct, so the receiving kernel delivers the packet. Every byte depends only on the arguments.

use std::net::Ipv6Addr;

use crate::model::PortId;

/// The inner packet's next header (RFC 768 over RFC 8200).
const UDP: u8 = 17;

/// IPv6 in IPv6 (RFC 2473).
const IPV6: u8 = 41;

/// Hop limit of inner packets, which switches must not change, and of outer ones. A path has at most five switches.
const HOP_LIMIT: u8 = 64;

const HEADERS: usize = 40 + 8;

/// First bytes of every payload.
const MAGIC: [u8; 8] = *b"closclab";

/// A byte or word that all encapsulated packets of labs have, with its offset from the outer header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A byte.
    Byte(u32, u8),
    /// Four bytes.
    Word(u32, [u8; 4]),
}

/// Bytes and words that identify encapsulated packets of labs.
pub(crate) const SIGNS: [Sign; 4] = [
    Sign::Byte(6, IPV6),
    Sign::Byte(40 + 6, UDP),
    Sign::Word(40 + HEADERS as u32, [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3]]),
    Sign::Word(40 + HEADERS as u32 + 4, [MAGIC[4], MAGIC[5], MAGIC[6], MAGIC[7]]),
];

/// A packet to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The NIC port that sends it.
    pub from: PortId,
    /// Outer source: the address of the NIC.
    pub source: Ipv6Addr,
    /// Outer destination: the segment list.
    pub destination: Ipv6Addr,
    /// The inner packet.
    pub inner: Vec<u8>,
}

/// Identification of a packet: the number of its batch, and its number in the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// The batch; late packets of earlier batches are ignored.
    pub batch: u32,
    /// The number in the batch.
    pub number: u32,
}

/// Contents of an inner packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerPacket {
    /// Sending NIC.
    pub source: Ipv6Addr,
    /// Receiving NIC.
    pub destination: Ipv6Addr,
    /// Entropy value. Its lower 16 bits are the UDP source port; the upper bits are in the flow label.
    pub entropy: u32,
    /// UDP destination port.
    pub port: u16,
    /// Its identification.
    pub tag: Tag,
}

impl InnerPacket {
    /// Writes the packet.
    pub fn bytes(&self) -> Vec<u8> {
        let mut payload = MAGIC.to_vec();
        payload.extend(self.tag.batch.to_be_bytes());
        payload.extend(self.tag.number.to_be_bytes());
        // A pattern after the number reveals packets that were truncated or overwritten.
        payload.extend((0..16).map(|n| (self.tag.number.wrapping_mul(31) + n) as u8));
        let udp_length = (8 + payload.len()) as u16;
        let mut out = Vec::with_capacity(HEADERS + payload.len());
        out.extend((6 << 28 | self.entropy >> 16).to_be_bytes());
        out.extend(udp_length.to_be_bytes());
        out.extend([UDP, HOP_LIMIT]);
        out.extend(self.source.octets());
        out.extend(self.destination.octets());
        out.extend((self.entropy as u16).to_be_bytes());
        out.extend(self.port.to_be_bytes());
        out.extend(udp_length.to_be_bytes());
        out.extend([0, 0]);
        out.extend(&payload);
        let checksum = checksum(&out);
        out[46..48].copy_from_slice(&checksum.to_be_bytes());
        out
    }
}

/// Reads the identification from a payload.
pub fn tag(payload: &[u8]) -> Option<Tag> {
    let rest = payload.strip_prefix(&MAGIC)?;
    let word = |at: usize| Some(u32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?));
    Some(Tag { batch: word(0)?, number: word(4)? })
}

/// Returns the payload of an inner packet.
pub fn payload(inner: &[u8]) -> &[u8] {
    inner.get(HEADERS..).unwrap_or(&[])
}

/// Returns the payload of an IPv6 or IPv4 packet. An IPv4 header has a variable length (RFC 791 section 3.1).
pub(crate) fn payload_of_either(packet: &[u8]) -> &[u8] {
    match packet.first() {
        Some(first) if first >> 4 == 4 => packet.get(usize::from(first & 0xf) * 4 + 8..).unwrap_or(&[]),
        _ => payload(packet),
    }
}

/// Returns the destination of an inner packet.
pub fn destination(inner: &[u8]) -> Option<Ipv6Addr> {
    let bytes = <[u8; 16]>::try_from(inner.get(24..40)?).ok()?;
    Some(Ipv6Addr::from(bytes))
}

/// Prepends the outer header to a packet.
pub fn outer(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::with_capacity(40 + packet.inner.len());
    out.extend((6_u32 << 28).to_be_bytes());
    out.extend((packet.inner.len() as u16).to_be_bytes());
    out.extend([IPV6, HOP_LIMIT]);
    out.extend(packet.source.octets());
    out.extend(packet.destination.octets());
    out.extend(&packet.inner);
    out
}

/// Splits an encapsulated packet into outer destination and inner packet; `None` for other packets.
pub fn decapsulate(packet: &[u8]) -> Option<(Ipv6Addr, &[u8])> {
    let header = packet.get(..40)?;
    let destination = <[u8; 16]>::try_from(&header[24..40]).ok()?;
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let inner = packet.get(40..40 + length)?;
    (header[0] >> 4 == 6 && header[6] == IPV6).then(|| (Ipv6Addr::from(destination), inner))
}

/// The UDP checksum of a packet whose checksum field is zero (RFC 8200 section 8.1).
fn checksum(packet: &[u8]) -> u16 {
    let words = |bytes: &[u8]| -> u32 {
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |b| u32::from(*b))).sum()
    };
    let mut sum = words(&packet[8..]) + (packet.len() - 40) as u32 + u32::from(UDP);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    match !(sum as u16) {
        0 => 0xffff,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner() -> InnerPacket {
        InnerPacket {
            source: "2001:db8:1000:1::1".parse().unwrap(),
            destination: "2001:db8:1000:2::1".parse().unwrap(),
            entropy: 0x0003_1801,
            port: 4791,
            tag: Tag { batch: 7, number: 0x0102_0304 },
        }
    }

    #[test]
    fn a_number_comes_back() {
        let bytes = inner().bytes();
        assert_eq!(bytes.len(), 80);
        assert_eq!(tag(payload(&bytes)), Some(inner().tag));
        assert_eq!(tag(b"closclab\0\0"), None);
        assert_eq!(tag(b""), None);
    }

    #[test]
    fn every_packet_has_the_signs() {
        let packet = Packet {
            from: crate::model::CableId(0).lower(),
            source: inner().source,
            destination: inner().destination,
            inner: inner().bytes(),
        };
        let bytes = outer(&packet);
        for sign in SIGNS {
            match sign {
                Sign::Byte(at, value) => assert_eq!(bytes[at as usize], value),
                Sign::Word(at, value) => assert_eq!(bytes[at as usize..][..4], value),
            }
        }
    }

    #[test]
    fn the_checksum_over_a_whole_packet_is_all_ones() {
        // RFC 1071: the sum of a packet with its checksum is ffff.
        let bytes = inner().bytes();
        let mut sum: u32 = bytes[8..].chunks(2).map(|p| u32::from(p[0]) << 8 | u32::from(p[1])).sum();
        sum += 40 + 17;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        assert_eq!(sum, 0xffff);
    }

    #[test]
    fn only_ipv6_in_ipv6_is_decapsulated() {
        let bytes = inner().bytes();
        let mut outer = vec![0x60, 0, 0, 0, 0, bytes.len() as u8, 41, 61];
        outer.extend([0; 16]);
        outer.extend("fcbb:bbbb:8001::".parse::<Ipv6Addr>().unwrap().octets());
        outer.extend(&bytes);
        let (destination, inside) = decapsulate(&outer).unwrap();
        assert_eq!(destination.to_string(), "fcbb:bbbb:8001::");
        assert_eq!(inside, bytes);
        outer[6] = UDP;
        assert_eq!(decapsulate(&outer), None);
        assert_eq!(decapsulate(&bytes[..30]), None);
    }
}
