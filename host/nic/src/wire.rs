//! Wire formats: headers in front of a packet, and messages between agents.
//!
//! In: the bytes of a frame. Out: its contents, or the reason for rejecting it. Invariants: no input makes a reader
//! panic or allocate. Reading is the inverse of writing. `docs/decisions/0008-sequence-numbers-of-sprayed-packets.md`
//! explains the position of the sequence number.

mod header;
mod identity;
mod message;
mod sum;

pub(crate) use header::ETHERNET_LEN;
pub use header::{
    HEADER_LEN, NextHeader, OPTION_LEN, Packet, Payload, Segment, Sequence, UDP_LEN, damaged_probe, parse,
    seal, write_outer, write_udp,
};
pub use identity::{Fault, Identity};
pub use message::{
    Chunk, MESSAGE_LEN_MAX, Message, PairProbe, RANGES_MAX, SACK_BITS, Sack, SelfProbe, Status, TrimReport,
    is_pair_probe, read, write,
};

/// Length of the IP packet of an unpadded switch probe.
pub(crate) const SELF_PROBE_BYTES: u16 =
    (HEADER_LEN - ETHERNET_LEN + UDP_LEN + message::SELF_PROBE_MESSAGE) as u16;
