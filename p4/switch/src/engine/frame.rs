//! A packet during processing: its words, the requests that its actions made, and the state that actions can change.

use num_bigint::{BigInt, Sign};

use crate::program::{Field, Program};
use crate::state::Arrays;
use crate::{bits, program};

/// Metadata of a packet.
#[derive(Clone, Debug)]
pub(crate) struct PacketState {
    /// Port it came from.
    pub(crate) ingress_port: u32,
    /// Its original length, which counters and meters use.
    pub(crate) ingress_length: u64,
    /// Its current length.
    pub(crate) length: u64,
    /// Session and field list of a requested clone.
    pub(crate) clone: Option<(u16, u16)>,
    /// Requested digest, 0 for none.
    pub(crate) digest: u16,
    /// Field list of a requested resubmission, 0 for none.
    pub(crate) resubmit: u16,
    /// Field list of a requested recirculation, 0 for none.
    pub(crate) recirculate: u16,
    /// Number of bytes to keep.
    pub(crate) truncate: usize,
    /// Whether to end the control flow.
    pub(crate) exit: bool,
    /// Whether an assertion failed, or an action or a control flow exceeded its limit.
    pub(crate) aborted: bool,
    /// Parser error.
    pub(crate) error: u32,
    /// Whether a checksum was wrong.
    pub(crate) checksum_error: bool,
}

impl PacketState {
    /// Returns the state of a received packet.
    pub(crate) fn new(ingress_port: u32, length: usize) -> Self {
        Self {
            ingress_port,
            ingress_length: length as u64,
            length: length as u64,
            clone: None,
            digest: 0,
            resubmit: 0,
            recirculate: 0,
            truncate: usize::MAX,
            exit: false,
            aborted: false,
            error: 0,
            checksum_error: false,
        }
    }
}

/// Values that stay constant while a packet is processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    /// Time in nanoseconds since the switch started.
    pub(crate) now_ns: u64,
    /// Port that means drop.
    pub(crate) drop_port: u32,
}

impl Surroundings {
    /// Returns the time in microseconds.
    pub(crate) fn now_us(&self) -> u64 {
        self.now_ns / 1000
    }
}

/// A packet with the state that its actions can change.
pub(crate) struct Frame<'f> {
    /// The program.
    pub(crate) program: &'f Program,
    /// Headers, metadata and validity.
    pub(crate) words: &'f mut [u64],
    /// Arguments of the current action.
    pub(crate) args: &'f [u64],
    /// Counters, meters and registers.
    pub(crate) arrays: &'f mut Arrays,
    /// Metadata of the packet.
    pub(crate) packet: &'f mut PacketState,
    /// Payload after the parsed headers.
    pub(crate) payload: &'f [u8],
    /// Time and drop port.
    pub(crate) surroundings: Surroundings,
}

/// Reads the low 128 bits of a field; signed fields are sign-extended.
#[inline]
pub(crate) fn load(words: &[u64], field: &Field) -> u128 {
    let found = &words[field.range()];
    let value = bits::low128(found);
    match (field.signed, found.len()) {
        (true, 1) => i128::from((value as u64).cast_signed()).cast_unsigned(),
        _ => value,
    }
}

/// Reads a field exactly.
pub(crate) fn load_big(words: &[u64], field: &Field) -> BigInt {
    let value = bits::to_big(&words[field.range()]);
    let top = field.words as u32 * 64;
    if field.signed && value.bit(u64::from(top) - 1) { value - (BigInt::from(1) << top) } else { value }
}

/// Returns the bits of a field without sign extension, as words.
pub(crate) fn raw_words(words: &[u64], field: &Field) -> Vec<u64> {
    let mut raw =
        words[field.range()][..bits::words_for(field.bits as usize).min(field.words as usize)].to_vec();
    bits::truncate(&mut raw, field.bits as usize);
    raw
}

/// Writes an unsigned number to a field: truncated to its width, or saturated if the field saturates.
#[inline]
pub(crate) fn store(words: &mut [u64], field: &Field, value: u128) {
    if field.words == 1 && !field.signed && !field.saturating && field.length.is_none() {
        words[field.word as usize] = value as u64 & bits::mask64(field.bits);
    } else {
        store_any(words, field, value);
    }
}

fn store_any(words: &mut [u64], field: &Field, value: u128) {
    if field.signed || field.saturating || field.length.is_some() {
        store_big(words, field, &BigInt::from(value));
        return;
    }
    let place = &mut words[field.range()];
    bits::set128(place, value & bits::mask128(field.bits));
}

/// Writes any number to a field: truncated to its width, or saturated if the field saturates.
pub(crate) fn store_big(words: &mut [u64], field: &Field, value: &BigInt) {
    let width = field.length.map_or(field.bits, |at| words[at as usize] as u32);
    let value = fit(value, width, field.signed, field.saturating);
    let place = &mut words[field.range()];
    bits::set_big(place, &value);
    if !field.signed {
        bits::truncate(place, width as usize);
    }
}

/// Converts a number to the range of a field. Signed fields keep numbers up to the unsigned maximum, as in BMv2.
fn fit(value: &BigInt, width: u32, signed: bool, saturating: bool) -> BigInt {
    let one = BigInt::from(1);
    let mask: BigInt = (&one << width) - 1_u8;
    let (low, high) = if signed {
        let half = &one << width.saturating_sub(1);
        (-half.clone(), half - 1_u8)
    } else {
        (BigInt::ZERO, mask.clone())
    };
    let value = if saturating { value.clone().clamp(low.clone(), high.clone()) } else { value.clone() };
    if value >= low && value <= mask {
        return value;
    }
    let cut: BigInt = value & mask.clone();
    if signed && cut > high { cut - (mask + 1_u8) } else { cut }
}

/// Returns the low 128 bits of a number.
pub(crate) fn wrap(value: &BigInt) -> u128 {
    let mut words = [0; 2];
    bits::set_big(&mut words, value);
    bits::low128(&words)
}

/// Converts a number to 64 unsigned bits: 0 if negative, the maximum if too large.
pub(crate) fn natural(value: &BigInt) -> u64 {
    if value.sign() == Sign::Minus { 0 } else { u64::try_from(value).unwrap_or(u64::MAX) }
}

impl Frame<'_> {
    /// Returns whether a header is valid.
    pub(crate) fn is_valid(&self, header: u16) -> bool {
        let header = &self.program.headers[header as usize];
        header.metadata || self.words[header.valid as usize] != 0
    }

    /// Makes a header valid, and the other members of its union invalid.
    pub(crate) fn mark_valid(&mut self, header: u16) {
        let found: &program::Header = &self.program.headers[header as usize];
        self.words[found.valid as usize] = 1;
        let Some((union, member)) = found.union else { return };
        let union = &self.program.unions[union as usize];
        let state = &mut self.words[union.state as usize];
        let old = std::mem::replace(state, u64::from(member) + 1);
        if old != 0 && old != u64::from(member) + 1 {
            let other = union.headers[old as usize - 1];
            self.words[self.program.headers[other as usize].valid as usize] = 0;
        }
    }

    /// Makes a header invalid.
    pub(crate) fn mark_invalid(&mut self, header: u16) {
        let found: &program::Header = &self.program.headers[header as usize];
        self.words[found.valid as usize] = 0;
        let Some((union, member)) = found.union else { return };
        let state = self.program.unions[union as usize].state as usize;
        if self.words[state] == u64::from(member) + 1 {
            self.words[state] = 0;
        }
    }

    /// Returns the size of a header in a packet, in bytes.
    pub(crate) fn header_bytes(&self, header: u16) -> usize {
        header_bytes(self.program, self.words, header)
    }

    /// Makes every field of a header zero.
    pub(crate) fn clear_fields(&mut self, header: u16) {
        let found: &program::Header = &self.program.headers[header as usize];
        let base = found.base as usize;
        self.words[base..base + self.program.types[found.ty as usize].words].fill(0);
    }
}

/// Returns the size of a header in a packet, in bytes.
pub(crate) fn header_bytes(program: &Program, words: &[u64], header: u16) -> usize {
    let found = &program.headers[header as usize];
    let varies = found.length.map_or(0, |at| words[at as usize] as usize / 8);
    program.types[found.ty as usize].fixed_bytes() + varies
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(bits: u32, signed: bool, saturating: bool) -> Field {
        let words = bits::words_for(bits as usize + usize::from(signed)) as u16;
        Field { word: 0, words, signed, saturating, bits, length: None, header: 0 }
    }

    #[test]
    fn a_signed_field_wraps_below_and_keeps_up_to_the_mask() {
        let mut words = [0; 2];
        let eight = field(8, true, false);
        for (given, kept) in
            [(-1, -1), (-128, -128), (-129, 127), (127, 127), (200, 200), (256, 0), (384, -128)]
        {
            store_big(&mut words, &eight, &BigInt::from(given));
            assert_eq!(load_big(&words, &eight), BigInt::from(kept), "{given}");
            assert_eq!(load(&words, &eight).cast_signed(), kept, "{given}");
        }
        store_big(&mut words, &eight, &BigInt::from(-1));
        assert_eq!(raw_words(&words, &eight), [0xff]);
    }

    #[test]
    fn a_saturating_field_stops_at_its_ends() {
        let mut words = [0; 2];
        let (unsigned, signed) = (field(8, false, true), field(8, true, true));
        store_big(&mut words, &unsigned, &BigInt::from(300));
        assert_eq!(load(&words, &unsigned), 255);
        store_big(&mut words, &unsigned, &BigInt::from(-3));
        assert_eq!(load(&words, &unsigned), 0);
        store_big(&mut words, &signed, &BigInt::from(300));
        assert_eq!(load_big(&words, &signed), BigInt::from(127));
    }

    #[test]
    fn a_signed_field_of_64_bits_has_room_for_its_mask() {
        let mut words = [0; 2];
        let wide = field(64, true, false);
        store_big(&mut words, &wide, &BigInt::from(u64::MAX));
        assert_eq!(load_big(&words, &wide), BigInt::from(u64::MAX));
        store_big(&mut words, &wide, &BigInt::from(i64::MIN));
        assert_eq!(load_big(&words, &wide), BigInt::from(i64::MIN));
    }
}
