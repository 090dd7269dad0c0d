//! The values of one plane that take turns.
//!
//! In: positions in use, and positions that are skipped once. Out: the position whose turn it is. Invariants: a turn
//! takes a constant number of instructions, unless positions are skipped. Between two changes, the numbers of turns of
//! any two positions in use differ by at most one.

use crate::settings::VALUES_PER_PLANE_MAX;

/// Positions of one plane, as bits and in order, and the position that had the last turn.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    in_use: u128,
    sitting_out: u128,
    last: u8,
    /// Index of the next turn in `order`; `len` means the first.
    next: u8,
    len: u8,
    /// The positions in use, in order. A turn reads only one of them. Rare operations use the bits.
    order: [u8; VALUES_PER_PLANE_MAX],
}

impl Rotation {
    /// Returns an empty rotation whose first turn goes to the lowest position.
    pub(crate) fn new() -> Self {
        Rotation { in_use: 0, sitting_out: 0, last: 127, next: 0, len: 0, order: [0; VALUES_PER_PLANE_MAX] }
    }

    /// Returns the position whose turn it is, and advances. At least one position must be in use.
    #[inline]
    pub(crate) fn next_position(&mut self) -> u8 {
        if self.sitting_out != 0 {
            return self.next_unskipped_position();
        }
        let at = if self.next < self.len { self.next } else { 0 };
        self.next = at + 1;
        self.last = self.order[usize::from(at)];
        self.last
    }

    /// Gives the next turn to one of the positions in use, by its index among them. If none is in use, the first turn
    /// will be the first position in use at or after `index`.
    pub(crate) fn begin(&mut self, index: u8) {
        let first = if self.len == 0 { index } else { self.order[usize::from(index)] };
        self.next = index;
        self.last = first.checked_sub(1).unwrap_or(127);
    }

    /// Takes a turn while some positions must be skipped. A position that is passed has been skipped.
    #[cold]
    fn next_unskipped_position(&mut self) -> u8 {
        let (free, last) = (self.in_use & !self.sitting_out, self.last);
        let position = if free == 0 {
            // If all positions must be skipped, none is, because skipping all of them changes nothing.
            self.sitting_out = 0;
            next_after(self.in_use, last)
        } else {
            let next = next_after(free, last);
            self.sitting_out &= !passed_positions(last, next);
            next
        };
        self.next = (self.in_use & !(!1u128 << position)).count_ones() as u8;
        self.last = position;
        position
    }

    /// Skips a position in use at its next turn.
    pub(crate) fn sit_out(&mut self, position: u8) {
        self.sitting_out |= self.in_use & 1 << position;
    }

    pub(crate) fn is_sitting_out(&self, position: u8) -> bool {
        self.sitting_out >> position & 1 == 1
    }

    pub(crate) fn is_in_use(&self, position: u8) -> bool {
        self.in_use >> position & 1 == 1
    }

    pub(crate) fn in_use(&self) -> u128 {
        self.in_use
    }

    pub(crate) fn len(&self) -> u32 {
        u32::from(self.len)
    }

    /// Replaces the positions in use. The order of those that remain does not change.
    pub(crate) fn set_in_use(&mut self, positions: u128) {
        if positions == self.in_use {
            return;
        }
        self.in_use = positions;
        self.sitting_out &= positions;
        (self.len, self.next) = (0, 0);
        let mut rest = positions;
        while rest != 0 {
            let position = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            self.order[usize::from(self.len)] = position;
            self.len += 1;
            if position <= self.last {
                self.next = self.len;
            }
        }
    }
}

/// Returns the lowest set bit above `last`, or the lowest of all. At least one bit must be set.
#[inline]
fn next_after(bits: u128, last: u8) -> u8 {
    let above = bits & (!1u128 << last);
    let from = if above == 0 { bits } else { above };
    from.trailing_zeros() as u8
}

/// Returns the positions that a step from `last` to `next` passes or reaches.
#[inline]
fn passed_positions(last: u8, next: u8) -> u128 {
    let above_last = !1u128 << last;
    let up_to_next = !(!1u128 << next);
    if next > last { above_last & up_to_next } else { above_last | up_to_next }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(rotation: &mut Rotation, n: usize) -> Vec<u8> {
        (0..n).map(|_| rotation.next_position()).collect()
    }

    #[test]
    fn positions_take_turns_up_to_the_last_bit() {
        let mut rotation = Rotation::new();
        rotation.set_in_use(1 | 1 << 5 | 1 << 127);
        assert_eq!(positions(&mut rotation, 6), [0, 5, 127, 0, 5, 127]);
    }

    #[test]
    fn the_first_turn_is_given() {
        let in_use = 1 | 1 << 5 | 1 << 127;
        for (index, first) in [[0, 5, 127], [5, 127, 0], [127, 0, 5]].into_iter().enumerate() {
            let mut rotation = Rotation::new();
            rotation.set_in_use(in_use);
            rotation.begin(index as u8);
            let mut marked = rotation.clone();
            assert_eq!(positions(&mut rotation, 3), first);
            marked.sit_out(first[0]);
            marked.next_position();
            assert!(!marked.is_sitting_out(first[0]), "it was passed, so it sat out");
        }
        for (position, first) in [(0, 0), (1, 5), (5, 5), (6, 127)] {
            let mut rotation = Rotation::new();
            rotation.begin(position);
            rotation.set_in_use(in_use);
            assert_eq!(rotation.next_position(), first, "from {position} on");
        }
    }

    #[test]
    fn a_position_sits_out_one_turn_and_no_more() {
        let mut rotation = Rotation::new();
        rotation.set_in_use(0b111);
        assert_eq!(rotation.next_position(), 0);
        rotation.sit_out(1);
        assert!(rotation.is_sitting_out(1));
        assert_eq!(positions(&mut rotation, 5), [2, 0, 1, 2, 0]);
        assert!(!rotation.is_sitting_out(1));
    }

    #[test]
    fn the_last_position_sits_out_over_the_wrap() {
        let mut rotation = Rotation::new();
        rotation.set_in_use(0b11 | 1 << 127);
        rotation.next_position();
        rotation.next_position();
        rotation.sit_out(127);
        assert_eq!(positions(&mut rotation, 4), [0, 1, 127, 0]);
    }

    #[test]
    fn if_all_sit_out_none_does() {
        let mut rotation = Rotation::new();
        rotation.set_in_use(0b11);
        rotation.sit_out(0);
        rotation.sit_out(1);
        assert_eq!(positions(&mut rotation, 3), [0, 1, 0]);
    }

    #[test]
    fn what_is_not_in_use_cannot_sit_out() {
        let mut rotation = Rotation::new();
        rotation.set_in_use(0b1);
        rotation.sit_out(3);
        assert!(!rotation.is_sitting_out(3));
    }
}
