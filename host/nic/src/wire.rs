//! Wire formats: headers in front of a packet, and messages between agents.
//!
//! In: bytes of a frame. Out: what they say, or why they are not ours. Invariants: no bytes make a reader panic or
//! allocate; what is written reads back. `docs/decisions/0008-sequence-numbers-of-sprayed-packets.md` says why
//! the sequence number is where it is.

mod header;
mod identity;
mod message;
mod sum;

pub(crate) use header::ETHERNET_LEN;
pub use header::{
    HEADER_LEN, Next, OPTION_LEN, Packet, Payload, Segment, Sequence, UDP_LEN, damaged_probe, parse, seal,
    write_outer, write_udp,
};
pub use identity::{Fault, Identity};
pub use message::{
    Chunk, Cut, MESSAGE_LEN_MAX, Message, PairProbe, RANGES_MAX, SACK_BITS, Sack, SelfProbe, Status,
    is_pair_probe, read, write,
};

/// Bytes of the IP packet of a probe to a switch without padding.
pub(crate) const SELF_PROBE_BYTES: u16 =
    (HEADER_LEN - ETHERNET_LEN + UDP_LEN + message::SELF_PROBE_MESSAGE) as u16;
