//! Messages between agents: probes, acknowledgements, writes.
//!
//! All begin with a magic number, a version, a kind, the cookie of the two NICs and a checksum; numbers are in network
//! order. Version 1 had no checksum, and its messages are rejected.

use super::identity::{Fault, Identity};
use super::sum;

const MAGIC: [u8; 2] = [0xc1, 0x05];
const VERSION: u8 = 2;
/// Offset of the checksum.
pub(super) const SUM_AT: usize = 12;
const HEAD: usize = SUM_AT + sum::LEN;
const SELF_PROBE: u8 = 1;
/// Number, tier, plane, two uplinks, epoch.
const SELF_PROBE_LEN: usize = 12;
const PAIR_PROBE: u8 = 2;
/// Length of the message of an unpadded switch probe. No agent reads the padding of a probe.
pub(super) const SELF_PROBE_MESSAGE: usize = HEAD + SELF_PROBE_LEN;
/// Number of packets covered by one acknowledgement.
pub const SACK_BITS: usize = 1024;
/// Maximum number of ranges in a status.
pub const RANGES_MAX: usize = 24;
/// Maximum number of congestion marks in an acknowledgement.
const MARKS_MAX: usize = 16;
/// Maximum length of a message other than a chunk.
pub const MESSAGE_LEN_MAX: usize = 512;

/// A probe to a switch and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfProbe {
    /// Its number.
    pub id: u32,
    /// Tier of the switch at which it turns: 0, 1 or 2.
    pub tier: u8,
    /// Its plane.
    pub plane: u8,
    /// Uplink of the T0.
    pub uplink: u16,
    /// Uplink of the T1.
    pub t1_uplink: u16,
    /// Epoch of the sender, so that an answer to an earlier process is ignored.
    pub epoch: u16,
}

/// Flag in the plane field of a probe: request two answers.
const TWICE: u8 = 0x80;

/// A probe along one path to a NIC, or the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairProbe {
    /// Its number.
    pub id: u32,
    /// Epoch of the NIC that sent the probe.
    pub epoch: u16,
    /// The path.
    pub entropy: u32,
    /// Its plane.
    pub plane: u8,
    /// Whether to answer over two planes, so that a lost answer does not count against the path.
    pub twice: bool,
    /// Bit mask of planes whose port is up at the sender of this message.
    pub ports: u32,
    /// Time in nanoseconds that the probe waited at the answering agent, which is subtracted from the round trip. Older
    /// agents do not report it.
    pub hold_ns: u32,
}

/// An acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sack {
    /// Epoch of the sender of the packets.
    pub epoch: u16,
    /// Packet number of the first bit.
    pub base: u32,
    /// A bit per packet, from `base` on: whether it arrived.
    pub bits: [u64; SACK_BITS / 64],
    /// Bit mask of planes whose port is up at the receiver.
    pub ports: u32,
    /// Entropy values of packets with congestion marks; only the first `n_marks` are valid.
    pub marks: [u32; MARKS_MAX],
    /// Number of marks.
    pub n_marks: u8,
    /// Rate at which the receiver of the acknowledgement may send, in kbit/s; 0 for no limit. Older agents do not
    /// report it.
    pub kbps: u32,
}

/// A piece of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The write, unique for its sender.
    pub write: u64,
    /// Its length.
    pub total: u64,
    /// Offset of the write in the receiver's region.
    pub target: u64,
    /// Offset of this piece within the write, a multiple of the unit.
    pub offset: u64,
    /// Length of every piece except the last.
    pub unit: u32,
    /// The piece.
    pub data: &'a [u8],
}

/// Status of a write at the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The write.
    pub write: u64,
    /// Whether all of it arrived.
    pub complete: bool,
    /// Whether this is a query of the status.
    pub question: bool,
    /// Whether the write is rejected permanently.
    pub refused: bool,
    /// Length of the write.
    pub total: u64,
    /// Offsets and lengths of missing bytes; only the first `n_missing` are valid.
    pub missing: [(u64, u64); RANGES_MAX],
    /// Number of ranges.
    pub n_missing: u8,
}

/// A report of a trimmed packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrimReport {
    /// Epoch of the sender of the packet.
    pub epoch: u16,
    /// Its number.
    pub number: u32,
    /// Its path.
    pub entropy: u32,
    /// Whether it was trimmed at the port to the receiver, which is not the path's fault.
    pub at_last_hop: bool,
    /// Bit mask of planes whose port is up at the receiver.
    pub ports: u32,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "it lives on the stack, and no allocation is the point")]
pub enum Message<'a> {
    /// A probe to a switch and back.
    SelfProbe(SelfProbe),
    /// A probe along a path.
    PairProbe(PairProbe),
    /// The answer to a path probe.
    PairAnswer(PairProbe),
    /// An acknowledgement.
    Sack(Sack),
    /// A piece of a write.
    Chunk(Chunk<'a>),
    /// The status of a write.
    Status(Status),
    /// A report of a trimmed packet.
    Cut(TrimReport),
}

/// Reads bytes from the front. Missing bytes are an error.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(Fault::Short)?;
        self.0 = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, Fault> {
        Ok(self.take::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16, Fault> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        Ok(u64::from_be_bytes(self.take()?))
    }
}

/// Returns whether a message written by this agent is a path probe, regardless of the fabric.
pub fn is_pair_probe(message: &[u8]) -> bool {
    message.starts_with(&[MAGIC[0], MAGIC[1], VERSION, PAIR_PROBE])
}

/// Rejects messages of other versions.
pub(super) fn check_version(message: &[u8]) -> Result<(), Fault> {
    match message {
        [first, second, version, ..] if [*first, *second] == MAGIC => {
            if *version == VERSION {
                Ok(())
            } else {
                Err(Fault::Version)
            }
        }
        _ => Err(Fault::Kind),
    }
}

/// Returns the number of a switch probe and the epoch of its sender. The checksum is not verified.
pub(super) fn damaged_probe(message: &[u8]) -> Option<(u32, u16)> {
    // Long probes are padded.
    if message.len() < HEAD + SELF_PROBE_LEN || message[3] != SELF_PROBE {
        return None;
    }
    let mut r = Reader(&message[HEAD..]);
    let id = r.u32().ok()?;
    r.take::<6>().ok()?;
    Some((id, r.u16().ok()?))
}

/// Reads a message.
pub fn read<'a>(bytes: &'a [u8], own: &Identity) -> Result<Message<'a>, Fault> {
    let mut r = Reader(bytes);
    if r.take::<2>()? != MAGIC || r.u8()? != VERSION {
        return Err(Fault::Kind);
    }
    let kind = r.u8()?;
    if r.u64()? != own.cookie {
        return Err(Fault::Cookie);
    }
    // The checksum was verified with the frame.
    r.take::<{ sum::LEN }>()?;
    Ok(match kind {
        SELF_PROBE => Message::SelfProbe(SelfProbe {
            id: r.u32()?,
            tier: r.u8()?,
            plane: r.u8()?,
            uplink: r.u16()?,
            t1_uplink: r.u16()?,
            epoch: r.u16()?,
        }),
        PAIR_PROBE => Message::PairProbe(pair(&mut r)?),
        3 => Message::PairAnswer(pair(&mut r)?),
        4 => Message::Sack(sack(&mut r)?),
        5 => {
            let (write, total, target, offset, unit) = (r.u64()?, r.u64()?, r.u64()?, r.u64()?, r.u32()?);
            let whole = unit > 0 && offset < total && offset % u64::from(unit) == 0;
            if !whole
                || target.checked_add(total).is_none()
                || r.0.len() as u64 != u64::from(unit).min(total - offset)
            {
                return Err(Fault::Kind);
            }
            Message::Chunk(Chunk { write, total, target, offset, unit, data: r.0 })
        }
        6 => Message::Status(status(&mut r)?),
        7 => Message::Cut(TrimReport {
            epoch: r.u16()?,
            number: r.u32()?,
            entropy: r.u32()?,
            at_last_hop: r.u8()? == 1,
            ports: r.u32()?,
        }),
        _ => return Err(Fault::Kind),
    })
}

fn pair(r: &mut Reader<'_>) -> Result<PairProbe, Fault> {
    let (id, epoch, entropy, plane, ports) = (r.u32()?, r.u16()?, r.u32()?, r.u8()?, r.u32()?);
    let held_ns = if r.0.is_empty() { 0 } else { r.u32()? };
    Ok(PairProbe {
        id,
        epoch,
        entropy,
        plane: plane & !TWICE,
        twice: plane & TWICE != 0,
        ports,
        hold_ns: held_ns,
    })
}

fn sack(r: &mut Reader<'_>) -> Result<Sack, Fault> {
    let (epoch, base, ports, n_marks) = (r.u16()?, r.u32()?, r.u32()?, r.u8()?);
    let (mut bits, mut marks) = ([0; SACK_BITS / 64], [0; MARKS_MAX]);
    for word in &mut bits {
        *word = r.u64()?;
    }
    for mark in marks.get_mut(..usize::from(n_marks)).ok_or(Fault::Kind)? {
        *mark = r.u32()?;
    }
    let kbps = if r.0.is_empty() { 0 } else { r.u32()? };
    Ok(Sack { epoch, base, bits, ports, marks, n_marks, kbps })
}

fn status(r: &mut Reader<'_>) -> Result<Status, Fault> {
    let (write, total, flags, n_missing) = (r.u64()?, r.u64()?, r.u8()?, r.u8()?);
    let mut missing = [(0, 0); RANGES_MAX];
    for range in missing.get_mut(..usize::from(n_missing)).ok_or(Fault::Kind)? {
        *range = (r.u64()?, r.u64()?);
        if range.0.checked_add(range.1).is_none_or(|end| end > total) {
            return Err(Fault::Kind);
        }
    }
    let [complete, question, refused] = [1, 2, 4].map(|flag| flags & flag != 0);
    Ok(Status { write, complete, question, refused, total, missing, n_missing })
}

/// Writes bytes to the front of a sufficiently large buffer.
struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.out[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

/// Writes a message and returns its length. For a chunk only the part before the data is written; the caller appends
/// the data. The buffer must have at least [`MESSAGE_LEN_MAX`] bytes.
pub fn write(out: &mut [u8], message: &Message<'_>, own: &Identity) -> usize {
    let mut w = Writer { out, len: 0 };
    let kind = match message {
        Message::SelfProbe(_) => SELF_PROBE,
        Message::PairProbe(_) => PAIR_PROBE,
        Message::PairAnswer(_) => 3,
        Message::Sack(_) => 4,
        Message::Chunk(_) => 5,
        Message::Status(_) => 6,
        Message::Cut(_) => 7,
    };
    w.put(&MAGIC);
    w.put(&[VERSION, kind]);
    w.put(&own.cookie.to_be_bytes());
    // The checksum is written when all bytes are known.
    w.put(&[0; sum::LEN]);
    debug_assert_eq!(w.len, HEAD);
    match message {
        Message::Cut(c) => write_cut(&mut w, c),
        Message::SelfProbe(p) => {
            w.put(&p.id.to_be_bytes());
            w.put(&[p.tier, p.plane]);
            for number in [p.uplink, p.t1_uplink, p.epoch] {
                w.put(&number.to_be_bytes());
            }
        }
        Message::PairProbe(p) | Message::PairAnswer(p) => {
            w.put(&p.id.to_be_bytes());
            w.put(&p.epoch.to_be_bytes());
            w.put(&p.entropy.to_be_bytes());
            w.put(&[p.plane | if p.twice { TWICE } else { 0 }]);
            w.put(&p.ports.to_be_bytes());
            w.put(&p.hold_ns.to_be_bytes());
        }
        Message::Sack(s) => {
            w.put(&s.epoch.to_be_bytes());
            w.put(&s.base.to_be_bytes());
            w.put(&s.ports.to_be_bytes());
            w.put(&[s.n_marks]);
            for word in s.bits {
                w.put(&word.to_be_bytes());
            }
            for mark in &s.marks[..usize::from(s.n_marks)] {
                w.put(&mark.to_be_bytes());
            }
            w.put(&s.kbps.to_be_bytes());
        }
        Message::Chunk(c) => {
            for number in [c.write, c.total, c.target, c.offset] {
                w.put(&number.to_be_bytes());
            }
            w.put(&c.unit.to_be_bytes());
        }
        Message::Status(s) => write_status(&mut w, s),
    }
    w.len
}

fn write_cut(w: &mut Writer<'_>, c: &TrimReport) {
    w.put(&c.epoch.to_be_bytes());
    for number in [c.number, c.entropy] {
        w.put(&number.to_be_bytes());
    }
    w.put(&[u8::from(c.at_last_hop)]);
    w.put(&c.ports.to_be_bytes());
}

fn write_status(w: &mut Writer<'_>, s: &Status) {
    w.put(&s.write.to_be_bytes());
    w.put(&s.total.to_be_bytes());
    let flags = u8::from(s.complete) | u8::from(s.question) << 1 | u8::from(s.refused) << 2;
    w.put(&[flags, s.n_missing]);
    for (offset, len) in &s.missing[..usize::from(s.n_missing)] {
        w.put(&offset.to_be_bytes());
        w.put(&len.to_be_bytes());
    }
}
