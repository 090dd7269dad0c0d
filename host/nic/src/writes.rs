//! Writes: bytes of a region here to a region there, in pieces that go over any path.
//!
//! In: what a job asks for, verdicts on packets, pieces that arrive. Out: the next piece to send, where a piece
//! belongs. Invariants: a piece says where it belongs, so none waits for another; only what is missing is sent again; a
//! write is done when the other side says that it has all of it. Nothing of a region is kept in memory, and what is
//! remembered of a write is a range for each run of pieces, so memory follows from what is missing and not from the count of
//! pieces that a packet names.

use std::collections::VecDeque;
use std::net::Ipv6Addr;

use thiserror::Error;

use crate::ranges::{RANGE_BYTES, Ranges};
use crate::wire::{Chunk, RANGES_MAX, Status};

/// Pieces of the longest write.
pub const PIECES_MAX: u64 = 1 << 20;
/// Writes that arrive from one NIC at a time; the one untouched longest makes room.
const ARRIVING_MAX: usize = 16;
/// Writes that are remembered as complete.
const COMPLETE_MAX: usize = 64;
const ASK_AFTER_NS: u64 = 10_000_000;

/// Request of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Where in the region here it begins.
    pub local: u64,
    /// Where in the region there.
    pub target: u64,
    /// Number of bytes.
    pub total: u64,
    /// Bytes of a piece.
    pub unit: u32,
}

/// Why a write was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WriteFault {
    /// To itself.
    #[error("{0} is the address of this NIC itself")]
    Own(Ipv6Addr),
    /// To nobody.
    #[error("{0} is the address of no NIC of this fabric")]
    Stranger(Ipv6Addr),
    /// The data to send is missing.
    #[error("the region has {has} bytes, and the write is of {total} from {local} on")]
    Region {
        /// Bytes of the region.
        has: u64,
        /// Where the write begins.
        local: u64,
        /// Its bytes.
        total: u64,
    },
    /// Too many NICs.
    #[error(
        "{0} other NICs are talked to already, which is all there is room for: try again when one is idle"
    )]
    Crowded(usize),
    /// Too many writes.
    #[error("{0} writes to this NIC are under way already: try again when one is done")]
    Busy(usize),
    /// Pieces that the fabric does not carry.
    #[error("a piece of {unit} bytes does not fit: a packet carries 1 to {most} of a write")]
    Unit {
        /// Request.
        unit: u32,
        /// The most.
        most: u32,
    },
    /// Nothing to write.
    #[error("a write is of one byte at least")]
    Empty,
    /// Too long.
    #[error("{total} bytes in pieces of {unit} are {pieces} pieces, and a write has {PIECES_MAX} at most")]
    Pieces {
        /// Its bytes.
        total: u64,
        /// Bytes of a piece.
        unit: u32,
        /// Number of pieces that would result.
        pieces: u64,
    },
    /// Beyond all numbers.
    #[error("no region has {total} bytes from {target} on")]
    Target {
        /// Where it was to go.
        target: u64,
        /// Its bytes.
        total: u64,
    },
}

/// Why a write ended that is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Failure {
    /// The far side does not take it.
    #[error("the far NIC refuses it: its region does not have all of these bytes, or cannot be written")]
    Refused,
    /// The data to send is not available.
    #[error("the region here cannot be read")]
    Unreadable,
}

/// Counters of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Pieces sent, those sent again included.
    pub sent: u64,
    /// Pieces sent again.
    pub resent: u64,
}

/// A write that leaves.
#[derive(Debug)]
pub struct Leaving {
    /// Its name.
    pub id: u64,
    /// Question.
    pub order: Order,
    /// Counters.
    pub tally: Tally,
    /// When it was asked for.
    pub since_ns: u64,
    /// When the other side said it has all of it, or it failed.
    pub ended_ns: Option<u64>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    next: u32,
    again: VecDeque<Again>,
    arrived: Ranges,
    asked_ns: u64,
    touched_ns: u64,
}

/// Pieces to retransmit: from the first up to the end, and the plane that lost them, if one did.
#[derive(Debug, Clone, Copy)]
struct Again {
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
    /// The plane that lost it, if one did.
    pub not_over: Option<u8>,
    /// Whether it was sent before.
    pub again: bool,
}

impl Leaving {
    /// Takes an order, or says why not: it is empty, or has too many pieces.
    pub fn new(id: u64, order: Order, now_ns: u64) -> Result<Leaving, WriteFault> {
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
        Ok(Leaving {
            id,
            order,
            tally: Tally::default(),
            since_ns: now_ns,
            ended_ns: None,
            failure: None,
            next: 0,
            again: VecDeque::new(),
            arrived: Ranges::new(pieces as u32),
            asked_ns: now_ns,
            touched_ns: now_ns,
        })
    }

    /// Returns the next piece: what was lost first.
    pub fn next_piece(&mut self) -> Option<Piece> {
        while let Some(Again { first, end, not_over }) = self.again.pop_front() {
            if first + 1 < end {
                self.again.push_front(Again { first: first + 1, end, not_over });
            }
            if !self.arrived.has(first) {
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
        (self.next < self.arrived.count()).then(|| {
            let at = self.next;
            self.next += 1;
            self.tally.sent += 1;
            Piece { offset: self.offset(at), len: self.len(at), not_over: None, again: false }
        })
    }

    /// Takes back the piece that was given last: no port took it, so it was not sent.
    pub fn unsent(&mut self, piece: &Piece) {
        let at = self.place(piece.offset);
        self.tally.sent -= 1;
        if piece.again {
            self.tally.resent -= 1;
            // Any plane will do where none took it.
            self.again.push_front(Again { first: at, end: at + 1, not_over: None });
        } else {
            self.next = at;
        }
    }

    fn offset(&self, at: u32) -> u64 {
        u64::from(at) * u64::from(self.order.unit)
    }

    /// The number of the piece that begins at an offset: a write has at most [`PIECES_MAX`].
    fn place(&self, offset: u64) -> u32 {
        (offset / u64::from(self.order.unit)) as u32
    }

    fn len(&self, at: u32) -> u32 {
        u64::from(self.order.unit).min(self.order.total - self.offset(at)) as u32
    }

    /// A piece arrived.
    pub fn arrived(&mut self, offset: u64, now_ns: u64) {
        self.touched_ns = now_ns;
        self.arrived.add(self.place(offset));
    }

    /// A piece was lost by a plane.
    pub fn lost(&mut self, offset: u64, plane: u8) {
        let at = self.place(offset);
        if !self.arrived.has(at) {
            let not_over = (plane != u8::MAX).then_some(plane);
            self.again.push_back(Again { first: at, end: at + 1, not_over });
        }
    }

    /// Takes the other side's word on how much it has.
    pub fn acknowledge(&mut self, status: &Status, now_ns: u64) {
        if status.total != self.order.total {
            return;
        }
        self.touched_ns = now_ns;
        if status.refused {
            self.fail(Failure::Refused, now_ns);
            return;
        }
        if status.complete {
            self.ended_ns = self.ended_ns.or(Some(now_ns));
            return;
        }
        // Before everything was acknowledged, the rest is still under way or known to be lost.
        if !self.arrived.is_full() {
            return;
        }
        let unit = u64::from(self.order.unit);
        for (offset, len) in &status.missing[..usize::from(status.n_missing)] {
            let end = offset.saturating_add(*len).div_ceil(unit).min(u64::from(self.arrived.count())) as u32;
            let first = (offset / unit).min(u64::from(end)) as u32;
            if self.arrived.remove(first, end) {
                self.again.push_back(Again { first, end, not_over: None });
            }
        }
    }

    /// Tells whether the far side has all of it.
    pub fn is_done(&self) -> bool {
        self.ended_ns.is_some() && self.failure.is_none()
    }

    /// Ends it, unless it is done.
    pub fn fail(&mut self, failure: Failure, now_ns: u64) {
        if self.ended_ns.is_none() {
            (self.ended_ns, self.failure) = (Some(now_ns), Some(failure));
        }
    }

    /// Tells whether to ask the other side how much it has: all was acknowledged and it has not said that it is done,
    /// as when it started over.
    pub fn wants_to_ask(&mut self, now_ns: u64) -> bool {
        let quiet = now_ns.saturating_sub(self.touched_ns.max(self.asked_ns)) >= ASK_AFTER_NS;
        let ask = self.ended_ns.is_none() && self.arrived.is_full() && quiet;
        if ask {
            self.asked_ns = now_ns;
        }
        ask
    }
}

/// A write that arrives.
#[derive(Debug)]
struct Coming {
    id: u64,
    total: u64,
    unit: u32,
    pieces: Ranges,
    touched_ns: u64,
}

/// The most bytes that a NIC's writes take here: all that arrive at a time, with more gaps than a window makes.
pub(crate) const ARRIVING_BYTES: usize = ARRIVING_MAX * size_of::<Coming>() + 1024 * RANGE_BYTES;

/// Action on an arrived piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Put it into the region; `done` if it was the last one missing.
    Put {
        /// Where in the region.
        at: u64,
        /// Whether the write is complete with it.
        done: bool,
    },
    /// It is there.
    Known,
    /// It contradicts earlier pieces, or there are too many.
    Refused,
}

/// The writes of one NIC that arrive here.
#[derive(Debug, Default)]
pub struct Arriving {
    coming: Vec<Coming>,
    complete: VecDeque<(u64, u64)>,
}

impl Arriving {
    /// Takes a piece.
    pub fn take(&mut self, chunk: &Chunk<'_>, now_ns: u64) -> Place {
        if self.complete.iter().any(|(id, _)| *id == chunk.write) {
            return Place::Known;
        }
        let n = pieces_of(chunk);
        if n > PIECES_MAX {
            return Place::Refused;
        }
        let at = match self.coming.iter().position(|c| c.id == chunk.write) {
            Some(at) => at,
            None => self.begin(chunk, n, now_ns),
        };
        let coming = &mut self.coming[at];
        if (coming.total, coming.unit) != (chunk.total, chunk.unit) {
            return Place::Refused;
        }
        coming.touched_ns = now_ns;
        if !coming.pieces.add(place_of(chunk)) {
            return Place::Known;
        }
        let done = coming.pieces.is_full();
        if done {
            self.coming.swap_remove(at);
            if self.complete.len() == COMPLETE_MAX {
                self.complete.pop_front();
            }
            self.complete.push_back((chunk.write, chunk.total));
        }
        Place::Put { at: chunk.target + chunk.offset, done }
    }

    /// Answers that a write is not taken, and forgets what came of it.
    pub fn refuse(&mut self, write: u64, total: u64) -> Status {
        self.coming.retain(|coming| coming.id != write);
        self.complete.retain(|(id, _)| *id != write);
        Status { refused: true, n_missing: 0, ..self.status(write, total) }
    }

    /// Tells whether a write has come in part.
    pub(crate) fn is_open(&self) -> bool {
        !self.coming.is_empty()
    }

    /// Returns the writes that came whole last, with their bytes, so many at most.
    pub(crate) fn last(&self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.complete.iter().skip(self.complete.len().saturating_sub(most)).copied()
    }

    /// Takes word of a write that had come whole before.
    pub(crate) fn came_before(&mut self, write: u64, total: u64) {
        self.complete.push_back((write, total));
    }

    /// Returns the bytes that all of it takes.
    pub(crate) fn bytes(&self) -> usize {
        let ranges: usize = self.coming.iter().map(|coming| coming.pieces.len()).sum();
        self.coming.len() * size_of::<Coming>() + ranges * RANGE_BYTES
    }

    /// Returns how many bytes more a piece takes, at most.
    pub(crate) fn growth(&self, chunk: &Chunk<'_>) -> usize {
        if self.complete.iter().any(|(id, _)| *id == chunk.write) || pieces_of(chunk) > PIECES_MAX {
            return 0;
        }
        match self.coming.iter().find(|coming| coming.id == chunk.write) {
            Some(coming) if coming.pieces.is_apart(place_of(chunk)) => RANGE_BYTES,
            Some(_) => 0,
            None if self.coming.len() < ARRIVING_MAX => size_of::<Coming>() + RANGE_BYTES,
            None => RANGE_BYTES,
        }
    }

    /// Forgets the write that was untouched longest, except one, and tells whether there was any. Its sender is asked for all of
    /// it again.
    pub(crate) fn forget_oldest(&mut self, except: Option<u64>) -> bool {
        let others = (0..self.coming.len()).filter(|at| Some(self.coming[*at].id) != except);
        let Some(oldest) = others.min_by_key(|at| self.coming[*at].touched_ns) else { return false };
        self.coming.swap_remove(oldest);
        true
    }

    fn begin(&mut self, chunk: &Chunk<'_>, n: u64, now_ns: u64) -> usize {
        if self.coming.len() == ARRIVING_MAX {
            self.forget_oldest(None);
        }
        let pieces = Ranges::new(n as u32);
        self.coming.push(Coming {
            id: chunk.write,
            total: chunk.total,
            unit: chunk.unit,
            pieces,
            touched_ns: now_ns,
        });
        self.coming.len() - 1
    }

    /// Answers how much of a write is here.
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
        let Some(coming) = self.coming.iter().find(|c| c.id == write && c.total == total) else {
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

/// The pieces that the write of a piece has.
fn pieces_of(chunk: &Chunk<'_>) -> u64 {
    chunk.total.div_ceil(u64::from(chunk.unit.max(1)))
}

/// The number of a piece in its write.
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
        let (mut leaving, mut arriving) = (Leaving::new(9, ORDER, 0).unwrap(), Arriving::default());
        let pieces: Vec<Piece> = std::iter::from_fn(|| leaving.next_piece()).collect();
        assert_eq!(
            pieces.iter().map(|p| (p.offset, p.len)).collect::<Vec<_>>(),
            [(0, 1000), (1000, 1000), (2000, 500)]
        );
        assert_eq!(arriving.take(&chunk(pieces[2], &data), 1), Place::Put { at: 7000, done: false });
        assert_eq!(arriving.take(&chunk(pieces[0], &data), 1), Place::Put { at: 5000, done: false });
        assert_eq!(arriving.take(&chunk(pieces[0], &data), 1), Place::Known);
        assert_eq!(arriving.status(9, 2500).missing[0], (1000, 1000));
        leaving.arrived(0, 2);
        leaving.arrived(2000, 2);
        leaving.lost(1000, 3);
        leaving.lost(0, 3);
        let again = leaving.next_piece().unwrap();
        assert_eq!((again.offset, again.not_over), (1000, Some(3)));
        assert!(leaving.next_piece().is_none());
        assert_eq!(arriving.take(&chunk(again, &data), 3), Place::Put { at: 6000, done: true });
        leaving.acknowledge(&arriving.status(9, 2500), 4);
        assert_eq!((leaving.ended_ns, leaving.tally.resent), (Some(4), 1));
    }

    #[test]
    fn what_no_port_took_was_not_sent() {
        let mut leaving = Leaving::new(9, ORDER, 0).unwrap();
        let first = leaving.next_piece().unwrap();
        leaving.unsent(&first);
        assert_eq!(leaving.tally, Tally::default());
        assert_eq!(leaving.next_piece(), Some(first), "for the first time, and not again");
        leaving.lost(first.offset, 2);
        let again = leaving.next_piece().unwrap();
        leaving.unsent(&again);
        assert_eq!(leaving.tally, Tally { sent: 1, resent: 0 });
        let again = leaving.next_piece().unwrap();
        assert_eq!((again.offset, again.again, again.not_over), (first.offset, true, None));
        assert_eq!(leaving.tally, Tally { sent: 2, resent: 1 });
    }

    #[test]
    fn a_receiver_that_started_over_is_sent_all_of_it_again() {
        let mut leaving = Leaving::new(9, ORDER, 0).unwrap();
        while let Some(piece) = leaving.next_piece() {
            leaving.arrived(piece.offset, 1);
        }
        assert!(!leaving.wants_to_ask(ASK_AFTER_NS));
        assert!(leaving.wants_to_ask(ASK_AFTER_NS + 1));
        assert!(!leaving.wants_to_ask(ASK_AFTER_NS + 2), "asked once in a while");
        leaving.acknowledge(&Arriving::default().status(9, 2500), 0);
        assert_eq!(std::iter::from_fn(|| leaving.next_piece()).count(), 3);
        assert_eq!(leaving.ended_ns, None);
    }

    #[test]
    fn what_arrives_is_bounded() {
        let mut arriving = Arriving::default();
        let data = [0u8; 1];
        for write in 0..1000 {
            let chunk = Chunk { write, total: 2, target: 0, offset: 0, unit: 1, data: &data };
            assert_ne!(arriving.take(&chunk, write), Place::Refused);
        }
        assert_eq!(arriving.coming.len(), ARRIVING_MAX);
        let huge = Chunk { write: 1, total: 1 << 60, target: 0, offset: 0, unit: 1, data: &data };
        assert_eq!(arriving.take(&huge, 0), Place::Refused);
        assert!(Leaving::new(1, Order { total: 1 << 60, ..ORDER }, 0).is_err());
        assert!(Leaving::new(1, Order { total: 0, ..ORDER }, 0).is_err());
    }
}
