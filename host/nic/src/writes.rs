//! Writes: bytes from the local region to a far NIC's region, in pieces that can use any path.
//!
//! In: orders of jobs, results of sent packets, received pieces. Out: the next piece to send, and the offset of a
//! received piece in the region. Invariants: a piece contains its offset, so pieces can arrive in any order. Only
//! missing pieces are retransmitted. A write is done when the far NIC reports it complete. Region contents are not kept
//! in memory. The state of a write is a set of ranges. So its memory depends on the number of gaps, not on a count in a
//! packet.

use std::collections::VecDeque;
use std::net::Ipv6Addr;

use thiserror::Error;

use crate::ranges::{RANGE_BYTES, Ranges};
use crate::wire::{Chunk, RANGES_MAX, Status};

/// Maximum number of pieces of a write.
pub const PIECES_MAX: u64 = 1 << 20;
/// Maximum number of incoming writes from one NIC; the least recently active one is dropped for a new one.
const ARRIVING_MAX: usize = 16;
/// Number of stored completed writes.
const COMPLETE_MAX: usize = 64;
const ASK_AFTER_NS: u64 = 10_000_000;

/// An order of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Offset in the local region.
    pub local: u64,
    /// Offset in the far NIC's region.
    pub target: u64,
    /// Number of bytes.
    pub total: u64,
    /// Size of a piece in bytes.
    pub unit: u32,
}

/// The reason why a write was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WriteFault {
    /// The receiver is the NIC itself.
    #[error("{0} is the address of this NIC itself")]
    Own(Ipv6Addr),
    /// The receiver is not a NIC of the fabric.
    #[error("{0} is not the address of a NIC of this fabric")]
    Stranger(Ipv6Addr),
    /// The data is outside the local region.
    #[error("the region has {has} bytes; the write has {total} from offset {local}")]
    Region {
        /// Size of the region.
        has: u64,
        /// Offset of the write.
        local: u64,
        /// Size of the write.
        total: u64,
    },
    /// All channels are in use.
    #[error("the limit of {0} NICs is reached: try again when one is idle")]
    Crowded(usize),
    /// Too many unfinished writes to this NIC.
    #[error("{0} writes to this NIC are in progress: try again when one is done")]
    Busy(usize),
    /// The size of pieces does not fit the fabric's MTU.
    #[error("a piece of {unit} bytes does not fit; expected 1 to {max}")]
    Unit {
        /// Requested size.
        unit: u32,
        /// Maximum size.
        max: u32,
    },
    /// The write is empty.
    #[error("a write has at least one byte")]
    Empty,
    /// The write has too many pieces.
    #[error("{total} bytes in pieces of {unit} are {pieces} pieces; the maximum is {PIECES_MAX}")]
    Pieces {
        /// Size of the write.
        total: u64,
        /// Size of a piece.
        unit: u32,
        /// Resulting number of pieces.
        pieces: u64,
    },
    /// The end of the target range exceeds 64 bits.
    #[error("no region has {total} bytes from {target} on")]
    Target {
        /// Offset in the far NIC's region.
        target: u64,
        /// Size of the write.
        total: u64,
    },
}

/// The reason why a write failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Failure {
    /// The far NIC rejects it.
    #[error("the far NIC rejects it: its region does not contain all of these bytes, or cannot be written")]
    Refused,
    /// The local data cannot be read.
    #[error("the local region cannot be read")]
    Unreadable,
}

/// Counters of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Pieces sent, including retransmissions.
    pub sent: u64,
    /// Retransmitted pieces.
    pub resent: u64,
}

/// An outgoing write.
#[derive(Debug)]
pub struct OutgoingWrite {
    /// Its identifier.
    pub id: u64,
    /// Its order.
    pub order: Order,
    /// Counters.
    pub tally: Tally,
    /// When it was submitted.
    pub since_ns: u64,
    /// When the far NIC reported it complete, or when it failed.
    pub ended_ns: Option<u64>,
    /// The reason why it failed.
    pub failure: Option<Failure>,
    next: u32,
    retransmit_queue: VecDeque<RetransmitRange>,
    arrived_pieces: Ranges,
    last_query_ns: u64,
    last_activity_ns: u64,
}

/// Pieces to retransmit: from `first` up to but excluding `end`. Includes the plane that lost them, if known.
#[derive(Debug, Clone, Copy)]
struct RetransmitRange {
    first: u32,
    end: u32,
    not_over: Option<u8>,
}

/// A piece to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins.
    pub offset: u64,
    /// Its length.
    pub len: u32,
    /// The plane that lost it, if it was lost.
    pub not_over: Option<u8>,
    /// Whether it was sent before.
    pub again: bool,
}

impl OutgoingWrite {
    /// Makes a write from an order. Rejects an order that is empty, has too many pieces, or has a target range that
    /// exceeds 64 bits.
    pub fn new(id: u64, order: Order, now_ns: u64) -> Result<OutgoingWrite, WriteFault> {
        let Order { target, total, .. } = order;
        let unit = order.unit.max(1);
        let pieces = total.div_ceil(u64::from(unit));
        if total == 0 {
            return Err(WriteFault::Empty);
        }
        if pieces > PIECES_MAX {
            return Err(WriteFault::Pieces { total, unit, pieces });
        }
        if target.checked_add(total).is_none() {
            return Err(WriteFault::Target { target, total });
        }
        let order = Order { unit, ..order };
        Ok(OutgoingWrite {
            id,
            order,
            tally: Tally::default(),
            since_ns: now_ns,
            ended_ns: None,
            failure: None,
            next: 0,
            retransmit_queue: VecDeque::new(),
            arrived_pieces: Ranges::new(pieces as u32),
            last_query_ns: now_ns,
            last_activity_ns: now_ns,
        })
    }

    /// Returns the next piece; lost pieces come first.
    pub fn next_piece(&mut self) -> Option<Piece> {
        while let Some(RetransmitRange { first, end, not_over }) = self.retransmit_queue.pop_front() {
            if first + 1 < end {
                self.retransmit_queue.push_front(RetransmitRange { first: first + 1, end, not_over });
            }
            if !self.arrived_pieces.has(first) {
                self.tally.sent += 1;
                self.tally.resent += 1;
                return Some(Piece {
                    offset: self.offset(first),
                    len: self.len(first),
                    not_over,
                    again: true,
                });
            }
        }
        (self.next < self.arrived_pieces.count()).then(|| {
            let at = self.next;
            self.next += 1;
            self.tally.sent += 1;
            Piece { offset: self.offset(at), len: self.len(at), not_over: None, again: false }
        })
    }

    /// Returns the last piece to the queue, because no port accepted it.
    pub fn unsent(&mut self, piece: &Piece) {
        let at = self.place(piece.offset);
        self.tally.sent -= 1;
        if piece.again {
            self.tally.resent -= 1;
            // No port accepted it, so any plane may be used.
            self.retransmit_queue.push_front(RetransmitRange { first: at, end: at + 1, not_over: None });
        } else {
            self.next = at;
        }
    }

    fn offset(&self, at: u32) -> u64 {
        u64::from(at) * u64::from(self.order.unit)
    }

    /// Returns the number of the piece at an offset; a write has at most [`PIECES_MAX`].
    fn place(&self, offset: u64) -> u32 {
        (offset / u64::from(self.order.unit)) as u32
    }

    fn len(&self, at: u32) -> u32 {
        u64::from(self.order.unit).min(self.order.total - self.offset(at)) as u32
    }

    /// Records that a piece arrived.
    pub fn record_arrival(&mut self, offset: u64, now_ns: u64) {
        self.last_activity_ns = now_ns;
        self.arrived_pieces.add(self.place(offset));
    }

    /// Records that a piece was lost on a plane; `u8::MAX` if no plane is to blame.
    pub fn record_loss(&mut self, offset: u64, plane: u8) {
        let at = self.place(offset);
        if !self.arrived_pieces.has(at) {
            let not_over = (plane != u8::MAX).then_some(plane);
            self.retransmit_queue.push_back(RetransmitRange { first: at, end: at + 1, not_over });
        }
    }

    /// Handles the status that the far NIC reports.
    pub fn acknowledge(&mut self, status: &Status, now_ns: u64) {
        if status.total != self.order.total {
            return;
        }
        self.last_activity_ns = now_ns;
        if status.refused {
            self.fail(Failure::Refused, now_ns);
            return;
        }
        if status.complete {
            self.ended_ns = self.ended_ns.or(Some(now_ns));
            return;
        }
        // Until all pieces are acknowledged, the rest is in flight or already queued for retransmission.
        if !self.arrived_pieces.is_full() {
            return;
        }
        let unit = u64::from(self.order.unit);
        for (offset, len) in &status.missing[..usize::from(status.n_missing)] {
            let end =
                offset.saturating_add(*len).div_ceil(unit).min(u64::from(self.arrived_pieces.count())) as u32;
            let first = (offset / unit).min(u64::from(end)) as u32;
            if self.arrived_pieces.remove(first, end) {
                self.retransmit_queue.push_back(RetransmitRange { first, end, not_over: None });
            }
        }
    }

    /// Returns whether the far NIC has reported the write complete.
    pub fn is_done(&self) -> bool {
        self.ended_ns.is_some() && self.failure.is_none()
    }

    /// Marks the write as failed, unless it has ended.
    pub fn fail(&mut self, failure: Failure, now_ns: u64) {
        if self.ended_ns.is_none() {
            (self.ended_ns, self.failure) = (Some(now_ns), Some(failure));
        }
    }

    /// Returns whether to query the status: all pieces were acknowledged, but the write was not reported complete. This
    /// happens if that report was lost, or after a restart of the far NIC.
    pub fn wants_to_ask(&mut self, now_ns: u64) -> bool {
        let quiet = now_ns.saturating_sub(self.last_activity_ns.max(self.last_query_ns)) >= ASK_AFTER_NS;
        let ask = self.ended_ns.is_none() && self.arrived_pieces.is_full() && quiet;
        if ask {
            self.last_query_ns = now_ns;
        }
        ask
    }
}

/// An incoming write.
#[derive(Debug)]
struct IncomingWrite {
    id: u64,
    total: u64,
    unit: u32,
    pieces: Ranges,
    last_activity_ns: u64,
}

/// Maximum memory of one NIC's incoming writes: enough for the maximum number of writes, and for more gaps than a
/// window can cause.
pub(crate) const ARRIVING_BYTES: usize = ARRIVING_MAX * size_of::<IncomingWrite>() + 1024 * RANGE_BYTES;

/// The decision about a piece that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Write it to the region.
    Put {
        /// Offset in the region.
        at: u64,
        /// Whether this piece completes the write.
        done: bool,
    },
    /// It arrived before.
    Known,
    /// It contradicts earlier pieces, or there are too many.
    Refused,
}

/// Incoming writes from one NIC.
#[derive(Debug, Default)]
pub struct IncomingWrites {
    active_writes: Vec<IncomingWrite>,
    complete: VecDeque<(u64, u64)>,
}

impl IncomingWrites {
    /// Records a piece.
    pub fn take(&mut self, chunk: &Chunk<'_>, now_ns: u64) -> Place {
        if self.complete.iter().any(|(id, _)| *id == chunk.write) {
            return Place::Known;
        }
        let n = pieces_of(chunk);
        if n > PIECES_MAX {
            return Place::Refused;
        }
        let at = match self.active_writes.iter().position(|c| c.id == chunk.write) {
            Some(at) => at,
            None => self.begin(chunk, n, now_ns),
        };
        let coming = &mut self.active_writes[at];
        if (coming.total, coming.unit) != (chunk.total, chunk.unit) {
            return Place::Refused;
        }
        coming.last_activity_ns = now_ns;
        if !coming.pieces.add(place_of(chunk)) {
            return Place::Known;
        }
        let done = coming.pieces.is_full();
        if done {
            self.active_writes.swap_remove(at);
            if self.complete.len() == COMPLETE_MAX {
                self.complete.pop_front();
            }
            self.complete.push_back((chunk.write, chunk.total));
        }
        Place::Put { at: chunk.target + chunk.offset, done }
    }

    /// Drops a write and returns the status that rejects it.
    pub fn refuse(&mut self, write: u64, total: u64) -> Status {
        self.active_writes.retain(|coming| coming.id != write);
        self.complete.retain(|(id, _)| *id != write);
        Status { refused: true, n_missing: 0, ..self.status(write, total) }
    }

    /// Returns whether any write is incomplete.
    pub(crate) fn is_open(&self) -> bool {
        !self.active_writes.is_empty()
    }

    /// Returns the last completed writes with their sizes, at most `most` of them.
    pub(crate) fn last(&self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.complete.iter().skip(self.complete.len().saturating_sub(most)).copied()
    }

    /// Adds a completed write from an earlier channel of this NIC.
    pub(crate) fn add_completed_write(&mut self, write: u64, total: u64) {
        self.complete.push_back((write, total));
    }

    /// Returns the memory of all incomplete writes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let ranges: usize = self.active_writes.iter().map(|coming| coming.pieces.len()).sum();
        self.active_writes.len() * size_of::<IncomingWrite>() + ranges * RANGE_BYTES
    }

    /// Returns the maximum memory that a piece adds, in bytes.
    pub(crate) fn growth(&self, chunk: &Chunk<'_>) -> usize {
        if self.complete.iter().any(|(id, _)| *id == chunk.write) || pieces_of(chunk) > PIECES_MAX {
            return 0;
        }
        match self.active_writes.iter().find(|coming| coming.id == chunk.write) {
            Some(coming) if coming.pieces.is_apart(place_of(chunk)) => RANGE_BYTES,
            Some(_) => 0,
            None if self.active_writes.len() < ARRIVING_MAX => size_of::<IncomingWrite>() + RANGE_BYTES,
            None => RANGE_BYTES,
        }
    }

    /// Drops the least recently active incomplete write, other than `except`. Returns whether there was one. Its sender
    /// will have to retransmit all of it.
    pub(crate) fn forget_oldest(&mut self, except: Option<u64>) -> bool {
        let others = (0..self.active_writes.len()).filter(|at| Some(self.active_writes[*at].id) != except);
        let Some(oldest) = others.min_by_key(|at| self.active_writes[*at].last_activity_ns) else {
            return false;
        };
        self.active_writes.swap_remove(oldest);
        true
    }

    fn begin(&mut self, chunk: &Chunk<'_>, n: u64, now_ns: u64) -> usize {
        if self.active_writes.len() == ARRIVING_MAX {
            self.forget_oldest(None);
        }
        let pieces = Ranges::new(n as u32);
        self.active_writes.push(IncomingWrite {
            id: chunk.write,
            total: chunk.total,
            unit: chunk.unit,
            pieces,
            last_activity_ns: now_ns,
        });
        self.active_writes.len() - 1
    }

    /// Returns the status of a write: the missing ranges.
    pub fn status(&self, write: u64, total: u64) -> Status {
        let complete = self.complete.contains(&(write, total));
        let mut status = Status {
            write,
            complete,
            question: false,
            refused: false,
            total,
            missing: [(0, 0); RANGES_MAX],
            n_missing: 0,
        };
        if complete || total == 0 {
            return status;
        }
        let Some(coming) = self.active_writes.iter().find(|c| c.id == write && c.total == total) else {
            (status.missing[0], status.n_missing) = ((0, total), 1);
            return status;
        };
        let unit = u64::from(coming.unit);
        for ((first, end), missing) in coming.pieces.gaps().zip(&mut status.missing) {
            let (first, end) = (u64::from(first) * unit, (u64::from(end) * unit).min(total));
            *missing = (first, end - first);
            status.n_missing += 1;
        }
        status
    }
}

/// Returns the number of pieces of a write.
fn pieces_of(chunk: &Chunk<'_>) -> u64 {
    chunk.total.div_ceil(u64::from(chunk.unit.max(1)))
}

/// Returns the number of a piece within its write.
fn place_of(chunk: &Chunk<'_>) -> u32 {
    (chunk.offset / u64::from(chunk.unit.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: Order = Order { local: 0, target: 5000, total: 2500, unit: 1000 };

    fn chunk(piece: Piece, data: &[u8]) -> Chunk<'_> {
        let Order { target, total, unit, .. } = ORDER;
        Chunk { write: 9, total, target, offset: piece.offset, unit, data: &data[..piece.len as usize] }
    }

    #[test]
    fn pieces_arrive_in_any_order_and_only_what_was_lost_goes_again() {
        let data = [0; 1000];
        let (mut leaving, mut arriving) =
            (OutgoingWrite::new(9, ORDER, 0).unwrap(), IncomingWrites::default());
        let pieces: Vec<Piece> = std::iter::from_fn(|| leaving.next_piece()).collect();
        assert_eq!(
            pieces.iter().map(|p| (p.offset, p.len)).collect::<Vec<_>>(),
            [(0, 1000), (1000, 1000), (2000, 500)]
        );
        assert_eq!(arriving.take(&chunk(pieces[2], &data), 1), Place::Put { at: 7000, done: false });
        assert_eq!(arriving.take(&chunk(pieces[0], &data), 1), Place::Put { at: 5000, done: false });
        assert_eq!(arriving.take(&chunk(pieces[0], &data), 1), Place::Known);
        assert_eq!(arriving.status(9, 2500).missing[0], (1000, 1000));
        leaving.record_arrival(0, 2);
        leaving.record_arrival(2000, 2);
        leaving.record_loss(1000, 3);
        leaving.record_loss(0, 3);
        let again = leaving.next_piece().unwrap();
        assert_eq!((again.offset, again.not_over), (1000, Some(3)));
        assert!(leaving.next_piece().is_none());
        assert_eq!(arriving.take(&chunk(again, &data), 3), Place::Put { at: 6000, done: true });
        leaving.acknowledge(&arriving.status(9, 2500), 4);
        assert_eq!((leaving.ended_ns, leaving.tally.resent), (Some(4), 1));
    }

    #[test]
    fn what_no_port_took_was_not_sent() {
        let mut leaving = OutgoingWrite::new(9, ORDER, 0).unwrap();
        let first = leaving.next_piece().unwrap();
        leaving.unsent(&first);
        assert_eq!(leaving.tally, Tally::default());
        assert_eq!(leaving.next_piece(), Some(first), "for the first time, and not again");
        leaving.record_loss(first.offset, 2);
        let again = leaving.next_piece().unwrap();
        leaving.unsent(&again);
        assert_eq!(leaving.tally, Tally { sent: 1, resent: 0 });
        let again = leaving.next_piece().unwrap();
        assert_eq!((again.offset, again.again, again.not_over), (first.offset, true, None));
        assert_eq!(leaving.tally, Tally { sent: 2, resent: 1 });
    }

    #[test]
    fn a_receiver_that_started_over_is_sent_all_of_it_again() {
        let mut leaving = OutgoingWrite::new(9, ORDER, 0).unwrap();
        while let Some(piece) = leaving.next_piece() {
            leaving.record_arrival(piece.offset, 1);
        }
        assert!(!leaving.wants_to_ask(ASK_AFTER_NS));
        assert!(leaving.wants_to_ask(ASK_AFTER_NS + 1));
        assert!(!leaving.wants_to_ask(ASK_AFTER_NS + 2), "asked once in a while");
        leaving.acknowledge(&IncomingWrites::default().status(9, 2500), 0);
        assert_eq!(std::iter::from_fn(|| leaving.next_piece()).count(), 3);
        assert_eq!(leaving.ended_ns, None);
    }

    #[test]
    fn what_arrives_is_bounded() {
        let mut arriving = IncomingWrites::default();
        let data = [0u8; 1];
        for write in 0..1000 {
            let chunk = Chunk { write, total: 2, target: 0, offset: 0, unit: 1, data: &data };
            assert_ne!(arriving.take(&chunk, write), Place::Refused);
        }
        assert_eq!(arriving.active_writes.len(), ARRIVING_MAX);
        let huge = Chunk { write: 1, total: 1 << 60, target: 0, offset: 0, unit: 1, data: &data };
        assert_eq!(arriving.take(&huge, 0), Place::Refused);
        assert!(OutgoingWrite::new(1, Order { total: 1 << 60, ..ORDER }, 0).is_err());
        assert!(OutgoingWrite::new(1, Order { total: 0, ..ORDER }, 0).is_err());
    }
}
