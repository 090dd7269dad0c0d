//! Positions of fields in a header's bytes.
//!
//! Fields are read and written in groups of up to eight whole bytes, with one load per group and one shift
//! per field. Other fields are processed one at a time: 128-bit fields that start on a byte boundary as two
//! words, all others from any bit offset.

use super::field::FieldSpec;
use crate::bits;

/// Codec of a type's fixed fields.
#[derive(Debug, Default)]
pub(crate) struct Codec {
    /// Groups in order.
    pub(crate) groups: Vec<Group>,
    /// Fields of the [`Group::Packed`] groups.
    pub(crate) fields: Vec<GroupField>,
}

/// Consecutive fields that are read together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Group {
    /// Whole bytes, at most eight.
    Packed {
        /// First byte.
        byte: u16,
        /// Number of bytes.
        bytes: u8,
        /// First of its fields.
        first: u16,
        /// Number of fields.
        count: u16,
    },
    /// One field of 128 bits that starts on a byte boundary.
    Wide {
        /// First byte.
        byte: u16,
        /// First word, from the start of the header.
        word: u32,
    },
    /// One field of any width at any bit.
    Loose {
        /// First bit.
        bit: u32,
        /// Width.
        bits: u32,
        /// First word, from the start of the header.
        word: u32,
        /// Number of words.
        words: u16,
        /// Whether to sign-extend.
        signed: bool,
    },
}

/// A field of a packed group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupField {
    /// Word, from the start of the header.
    pub(crate) word: u32,
    /// Number of its words: a signed field of 64 bits has two.
    pub(crate) words: u8,
    /// Bits below it in the group.
    pub(crate) shift: u8,
    /// Width.
    pub(crate) bits: u8,
    /// Whether to sign-extend.
    pub(crate) signed: bool,
}

impl Codec {
    /// Makes the groups for the fields of a type.
    pub(crate) fn new(fields: &[FieldSpec]) -> Self {
        let mut codec = Self::default();
        let (mut start, mut bit) = (0, 0_u32);
        while start < fields.len() {
            let end = group_end(fields, start, bit);
            let width: u32 = fields[start..end].iter().map(|f| f.bits).sum();
            codec.add(&fields[start..end], bit, width);
            bit += width;
            start = end;
        }
        codec
    }

    fn add(&mut self, fields: &[FieldSpec], bit: u32, width: u32) {
        let packed = bit.is_multiple_of(8) && width.is_multiple_of(8) && width <= 64;
        if !packed {
            self.groups.extend(loose(fields, bit));
            return;
        }
        let first = self.fields.len() as u16;
        let mut shift = width;
        for field in fields {
            shift -= field.bits;
            self.fields.push(GroupField {
                word: field.word,
                words: field.words as u8,
                shift: shift as u8,
                bits: field.bits as u8,
                signed: field.signed,
            });
        }
        let (byte, bytes, count) = ((bit / 8) as u16, (width / 8) as u8, fields.len() as u16);
        self.groups.push(Group::Packed { byte, bytes, first, count });
    }
}

fn loose(fields: &[FieldSpec], mut bit: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    for field in fields {
        let word = field.word;
        groups.push(if field.bits == 128 && !field.signed && bit.is_multiple_of(8) {
            Group::Wide { byte: (bit / 8) as u16, word }
        } else {
            Group::Loose { bit, bits: field.bits, word, words: field.words, signed: field.signed }
        });
        bit += field.bits;
    }
    groups
}

/// Returns the end of the longest group from `start` that has at most 64 bits and ends on a byte boundary.
/// Without such a group, returns the end of the first field.
fn group_end(fields: &[FieldSpec], start: usize, bit: u32) -> usize {
    let mut best = start + 1;
    let mut width = 0;
    for (i, field) in fields.iter().enumerate().skip(start) {
        width += field.bits;
        if width > 64 || !bit.is_multiple_of(8) {
            break;
        }
        if width.is_multiple_of(8) {
            best = i + 1;
        }
    }
    best
}

/// Reads `width` bits from bit `bit` of `data` into `words`; bits past the end of `data` read as zero.
pub(crate) fn get_bits(data: &[u8], bit: usize, width: usize, words: &mut [u64]) {
    words.fill(0);
    for (i, word) in words.iter_mut().enumerate() {
        let low = i * 64;
        if low >= width {
            break;
        }
        let take = (width - low).min(64);
        *word = window(data, bit + width - low - take, take);
    }
}

/// Returns `take` (at most 64) bits from bit `bit`.
fn window(data: &[u8], bit: usize, take: usize) -> u64 {
    let mut sum: u128 = 0;
    let (first, last) = (bit / 8, (bit + take).div_ceil(8));
    for byte in first..last {
        sum = sum << 8 | u128::from(data.get(byte).copied().unwrap_or(0));
    }
    (sum >> (last * 8 - bit - take)) as u64 & bits::mask64(take as u32)
}

/// Writes the low `width` bits of `words` at bit `bit` of `data`; bits beyond its end are dropped.
pub(crate) fn put_bits(data: &mut [u8], bit: usize, width: usize, words: &[u64]) {
    for i in 0..width {
        let from = width - 1 - i;
        let value = words.get(from / 64).map_or(0, |word| word >> (from % 64) & 1) as u8;
        let at = bit + i;
        if let Some(byte) = data.get_mut(at / 8) {
            let shift = 7 - at % 8;
            *byte = *byte & !(1 << shift) | value << shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_round_trip_at_any_offset() {
        for bit in 0..9 {
            for width in [1, 7, 8, 20, 63, 64, 65, 128, 130] {
                let mut data = [0xa5_u8; 32];
                let words = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 3];
                put_bits(&mut data, bit, width, &words);
                let mut back = [0; 3];
                get_bits(&data, bit, width, &mut back);
                let mut want = words;
                bits::truncate(&mut want, width);
                assert_eq!(back, want, "bit {bit}, width {width}");
                assert_eq!(data[31], 0xa5);
            }
        }
    }

    #[test]
    fn reading_past_the_end_gives_zeros() {
        let mut words = [u64::MAX; 1];
        get_bits(&[0xff], 4, 8, &mut words);
        assert_eq!(words, [0xf0]);
    }
}
