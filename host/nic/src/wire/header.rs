//! Ethernet, the outer IPv6 header, the destination option with the sequence number, UDP.
//!
//! ```text
//! Ethernet 14 | IPv6 40 | destination option 16 | inner IPv6 packet           sprayed packets
//! Ethernet 14 | IPv6 40 | destination option 16 | UDP 8 | message 5 (chunk)   writes
//! Ethernet 14 | IPv6 40 | UDP 8 | message                                     probes, acknowledgements
//! ```
//!
//! The option has an experimental type that a node skips if it does not implement it (RFC 4727, RFC 8200 4.2). So a NIC
//! without an agent removes the outer headers, and receives the packets in order of arrival. Probes after
//! unacknowledged packets carry the option too.

use super::identity::{Fault, Identity};
use super::{message, sum};

/// Length of Ethernet and IPv6 header.
pub const HEADER_LEN: usize = ETHERNET + IPV6;
/// Length of the destination options header: next header, length, option type and length, epoch, tag, sequence, entropy
/// value.
pub const OPTION_LEN: usize = 16;
/// Length of a UDP header.
pub const UDP_LEN: usize = 8;

/// Length of an Ethernet header.
pub(crate) const ETHERNET_LEN: usize = 14;
const ETHERNET: usize = ETHERNET_LEN;
const IPV6: usize = 40;
const OPTION_TYPE: u8 = 0x1e;
const PROTO_UDP: u8 = 17;
const PROTO_IPV6: u8 = 41;
const PROTO_OPTIONS: u8 = 60;
const HOP_LIMIT: u8 = 64;

/// A segment of a NIC: the first 48 bits of a destination address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The block, 32 bits.
    pub block: u32,
    /// The uSID.
    pub usid: u16,
}

/// The sequence number of a packet from one NIC to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence {
    /// Changes when the sender's numbers restart.
    pub epoch: u16,
    /// Packet number.
    pub number: u32,
    /// Entropy value of its path. Switches remove it from the outer address on the way.
    pub entropy: u32,
}

/// Payload of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// An IPv6 packet of the node.
    Inner(&'a [u8]),
    /// A message of an agent, without UDP header.
    Message(&'a [u8]),
}

/// A packet of this fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The sending NIC.
    pub source: [u8; 16],
    /// Whether it carries a congestion mark (ECN).
    pub marked: bool,
    /// Its DSCP.
    pub dscp: u8,
    /// Whether a switch trimmed it: the headers are complete, the payload is not.
    pub cut: bool,
    /// Its sequence number. Only sprayed packets, writes and some probes have one.
    pub sequence: Option<Sequence>,
    /// The payload.
    pub payload: Payload<'a>,
}

/// Reads a frame.
pub fn parse<'a>(frame: &'a [u8], own: &Identity) -> Result<Packet<'a>, Fault> {
    let ip = frame.get(ETHERNET..).ok_or(Fault::Short)?;
    if frame[12..14] != [0x86, 0xdd] || ip.len() < IPV6 {
        return Err(Fault::Short);
    }
    if ip[0] >> 4 != 6 {
        return Err(Fault::Kind);
    }
    let len = usize::from(u16::from_be_bytes([ip[4], ip[5]]));
    let body = ip.get(IPV6..IPV6 + len).ok_or(Fault::Short)?;
    let source: [u8; 16] = ip[8..24].try_into().map_err(|_| Fault::Short)?;
    let to = u32::from_be_bytes([ip[24], ip[25], ip[26], ip[27]]);
    if to.wrapping_sub(own.block) >= u32::from(own.blocks) || !own.holds(&source) {
        return Err(Fault::Outside);
    }
    let marked = ip[1] >> 4 & 0b11 == 0b11;
    let (sequence, next, body) = match ip[6] {
        PROTO_OPTIONS => {
            let (sequence, next, rest) = option(body, own)?;
            (Some(sequence), next, rest)
        }
        next => (None, next, body),
    };
    let payload = match next {
        PROTO_IPV6 if sequence.is_some() && body.len() >= IPV6 && body[0] >> 4 == 6 => {
            let whole = IPV6 + usize::from(u16::from_be_bytes([body[4], body[5]]));
            (Payload::Inner(body), whole > body.len())
        }
        PROTO_UDP => {
            let (message, cut) = udp(body, own, sequence.is_some())?;
            (Payload::Message(message), cut)
        }
        _ => return Err(Fault::Kind),
    };
    let (payload, cut) = payload;
    if let (Payload::Message(message), false) = (payload, cut) {
        let body = &ip[IPV6..IPV6 + len];
        check(&source, body, message)?;
    }
    let dscp = (ip[0] << 4 | ip[1] >> 4) >> 2;
    Ok(Packet { source, marked, dscp, cut, sequence, payload })
}

/// Rejects a message of another version, and one with a wrong checksum.
fn check(source: &[u8; 16], body: &[u8], message: &[u8]) -> Result<(), Fault> {
    message::check_version(message)?;
    let sent = message.get(message::SUM_AT..).and_then(|rest| rest.first_chunk::<{ sum::LEN }>());
    let place = body.len().checked_sub(message.len()).ok_or(Fault::Short)? + message::SUM_AT;
    match (sent, sum::of(source, body, place)) {
        (Some(sent), Some(sum)) if u32::from_be_bytes(*sent) == sum => Ok(()),
        (Some(_), Some(_)) => Err(Fault::Damaged),
        _ => Err(Fault::Short),
    }
}

/// Writes the checksum into a frame with a message. The frame must be complete otherwise.
pub fn seal(frame: &mut [u8]) {
    let option = if frame[20] == PROTO_OPTIONS { OPTION_LEN } else { 0 };
    let place = option + UDP_LEN + message::SUM_AT;
    let (head, body) = frame.split_at_mut(HEADER_LEN);
    if let Some(sum) = sum::of(&head[22..38], body, place) {
        body[place..place + sum::LEN].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Returns probe number and sender epoch from a switch probe with a wrong checksum. They may be damaged too, so the
/// caller must compare them with probes in flight.
pub fn damaged_probe(frame: &[u8]) -> Option<(u32, u16)> {
    if frame.get(20) != Some(&PROTO_UDP) {
        return None;
    }
    message::damaged_probe(frame.get(HEADER_LEN + UDP_LEN..)?)
}

fn option<'a>(body: &'a [u8], own: &Identity) -> Result<(Sequence, u8, &'a [u8]), Fault> {
    let (head, rest) = body.split_at_checked(OPTION_LEN).ok_or(Fault::Short)?;
    if head[1..4] != [1, OPTION_TYPE, 12] {
        return Err(Fault::Kind);
    }
    if u16::from_be_bytes([head[6], head[7]]) != own.tag() {
        return Err(Fault::Cookie);
    }
    let sequence = Sequence {
        epoch: u16::from_be_bytes([head[4], head[5]]),
        number: u32::from_be_bytes([head[8], head[9], head[10], head[11]]),
        entropy: u32::from_be_bytes([head[12], head[13], head[14], head[15]]),
    };
    Ok((sequence, head[0], rest))
}

/// Reads the UDP header. If a packet may be trimmed, the UDP length shows whether bytes are missing.
fn udp<'a>(body: &'a [u8], own: &Identity, may_be_cut: bool) -> Result<(&'a [u8], bool), Fault> {
    let (head, rest) = body.split_at_checked(UDP_LEN).ok_or(Fault::Short)?;
    if u16::from_be_bytes([head[2], head[3]]) != own.udp_port {
        return Err(Fault::Kind);
    }
    let len = usize::from(u16::from_be_bytes([head[4], head[5]]));
    let len = len.checked_sub(UDP_LEN).ok_or(Fault::Short)?;
    match rest.get(..len) {
        Some(message) => Ok((message, false)),
        None if may_be_cut => Ok((rest, true)),
        None => Err(Fault::Short),
    }
}

/// Writes the Ethernet and IPv6 headers and, with a sequence number, the option. They end at the end of `buffer`,
/// where the payload begins. Returns the offset of the frame in `buffer`.
pub fn write_outer(
    buffer: &mut [u8],
    ethernet: &[u8; ETHERNET],
    addresses: (&[u8; 16], &[u8; 16]),
    (entropy, traffic_class): (u32, u8),
    sequence: Option<(&Sequence, u16)>,
    (next, payload_len): (NextHeader, usize),
) -> usize {
    let option = if sequence.is_some() { OPTION_LEN } else { 0 };
    let start = buffer.len() - HEADER_LEN - option;
    let out = &mut buffer[start..];
    out[..ETHERNET].copy_from_slice(ethernet);
    let label = entropy & 0xffff;
    let first = 6 << 28 | u32::from(traffic_class) << 20 | label;
    out[14..18].copy_from_slice(&first.to_be_bytes());
    out[18..20].copy_from_slice(&((payload_len + option) as u16).to_be_bytes());
    out[20] = if option > 0 { PROTO_OPTIONS } else { next as u8 };
    out[21] = HOP_LIMIT;
    out[22..38].copy_from_slice(addresses.0);
    out[38..54].copy_from_slice(addresses.1);
    if let Some((sequence, tag)) = sequence {
        let head = &mut out[HEADER_LEN..];
        head[..4].copy_from_slice(&[next as u8, 1, OPTION_TYPE, 12]);
        head[4..6].copy_from_slice(&sequence.epoch.to_be_bytes());
        head[6..8].copy_from_slice(&tag.to_be_bytes());
        head[8..12].copy_from_slice(&sequence.number.to_be_bytes());
        head[12..16].copy_from_slice(&sequence.entropy.to_be_bytes());
    }
    start
}

/// The header after the outer headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum NextHeader {
    /// A message.
    Udp = PROTO_UDP,
    /// A packet of the node.
    Ipv6 = PROTO_IPV6,
}

/// Writes a UDP header without checksum, because switches change the destination address (RFC 6935).
pub fn write_udp(out: &mut [u8], own: &Identity, entropy: u32, payload_len: usize) {
    let source = (entropy >> 16) as u16 | 0xc000;
    out[..2].copy_from_slice(&source.to_be_bytes());
    out[2..4].copy_from_slice(&own.udp_port.to_be_bytes());
    out[4..6].copy_from_slice(&((payload_len + UDP_LEN) as u16).to_be_bytes());
    out[6..8].copy_from_slice(&[0, 0]);
}
