//! Converts keys of table entries between P4Runtime and data plane.

use closc_runtime::check::{EntryPlace, MatchOperand};
use closc_runtime::info::{self, MatchField, Table};
use closc_runtime::proto::v1;
use closc_runtime::value::encode_number;
use v1::field_match::{self, FieldMatchType};

use super::Fault;
use crate::bits;
use crate::pipeline::TableBinding;
use crate::program::{self, MatchKind, TableMatch, prefix_mask};
use crate::state::Key;

/// Converts between the priority of P4Runtime, where the greatest wins, and that of the data plane, where the smallest
/// wins.
pub(super) fn priority(given: i32) -> i32 {
    i32::MAX - given
}

/// Returns the key of an entry.
pub(super) fn encode(
    binding: &TableBinding,
    spec: &program::Table,
    place: &EntryPlace<'_>,
) -> Result<Key, Fault> {
    let masked = spec.has_priority();
    let priority = priority(place.entry.priority);
    let mut key = Key { value: vec![0; spec.key_words], priority, ..Key::default() };
    if masked {
        key.mask = wildcard(spec);
    }
    for part in &place.key {
        let field = &spec.key[binding.fields[part.place]];
        encode_field(part.value, field, spec.lookup, &mut key)
            .map_err(|bits| too_wide(place.table, part.field, bits))?;
    }
    key.normalise(spec);
    Ok(key)
}

fn too_wide(table: &Table, field: &MatchField, bits: u32) -> Fault {
    Fault::TooWide { place: format!("table `{}`, field `{}`", table.preamble.name, field.name), bits }
}

/// Returns the masks of a key that matches everything: zero, and the maximum for ranges.
fn wildcard(spec: &program::Table) -> Vec<u64> {
    let mut mask = vec![0; spec.key_words];
    for field in spec.key.iter().filter(|field| field.kind == MatchKind::Range) {
        let words = &mut mask[field.word as usize..(field.word + field.words) as usize];
        words.copy_from_slice(&prefix_mask(field.bits, field.bits));
    }
    mask
}

/// Writes a field into a key. On error, returns the width that it exceeds. Values that controllers represent
/// as text are numbers here.
fn encode_field(
    found: MatchOperand<'_>,
    target: &program::KeyField,
    matching: TableMatch,
    key: &mut Key,
) -> Result<(), u32> {
    let words = target.word as usize..(target.word + target.words) as usize;
    let put =
        |bytes: &[u8], into: &mut [u64]| put(bytes, target.bits, &mut into[words.clone()]).ok_or(target.bits);
    let full = |mask: &mut [u64]| {
        if !mask.is_empty() {
            mask[words.clone()].copy_from_slice(&prefix_mask(target.bits, target.bits));
        }
    };
    match found {
        MatchOperand::Exact(value) | MatchOperand::Optional(value) => {
            put(value, &mut key.value)?;
            full(&mut key.mask);
        }
        MatchOperand::Ternary { value, mask } => {
            put(value, &mut key.value)?;
            put(mask, &mut key.mask)?;
        }
        MatchOperand::Range { low, high } => {
            put(low, &mut key.value)?;
            put(high, &mut key.mask)?;
        }
        MatchOperand::Lpm { value, prefix } => {
            put(value, &mut key.value)?;
            match matching {
                TableMatch::Exact | TableMatch::Lpm => key.prefix = prefix,
                TableMatch::Ternary | TableMatch::Range => {
                    key.mask[words].copy_from_slice(&prefix_mask(prefix, target.bits));
                }
            }
        }
    }
    Ok(())
}

/// Writes a number into words; fails if it has too many bits.
pub(super) fn put(bytes: &[u8], width: u32, words: &mut [u64]) -> Option<()> {
    if closc_runtime::value::bits::significant(bytes) > u64::from(width) {
        return None;
    }
    bits::from_bytes(bytes, words);
    Some(())
}

/// Returns words as a canonical byte string.
pub(super) fn bytes(words: &[u64]) -> Vec<u8> {
    if let [word] = words {
        return encode_number(u128::from(*word));
    }
    let bytes = bits::to_bytes(words, words.len() * 8);
    closc_runtime::value::bits::strip(&bytes).to_vec()
}

/// Returns the match fields of a key; fields that match everything are omitted.
pub(super) fn decode(
    binding: &TableBinding,
    table: &Table,
    spec: &program::Table,
    key: &Key,
) -> Vec<v1::FieldMatch> {
    let decode = |(field, place): (&MatchField, &usize)| {
        let target = &spec.key[*place];
        let words = target.word as usize..(target.word + target.words) as usize;
        let mask = key.mask.get(words.clone()).unwrap_or_default();
        let found = decode_field(field, target, &key.value[words], mask, key.prefix)?;
        Some(v1::FieldMatch { field_id: field.id, field_match_type: Some(found) })
    };
    table.fields().iter().zip(&binding.fields).filter_map(decode).collect()
}

fn decode_field(
    field: &MatchField,
    target: &program::KeyField,
    value: &[u64],
    mask: &[u64],
    prefix: u32,
) -> Option<FieldMatchType> {
    let anything = mask.iter().all(|word| *word == 0);
    match field.kind {
        info::MatchKind::Exact => Some(FieldMatchType::Exact(field_match::Exact { value: bytes(value) })),
        info::MatchKind::Lpm => {
            let ones = mask.iter().map(|word| word.count_ones()).sum();
            let length = if mask.is_empty() { prefix } else { ones };
            let lpm = field_match::Lpm { value: bytes(value), prefix_len: length.cast_signed() };
            (length > 0).then_some(FieldMatchType::Lpm(lpm))
        }
        info::MatchKind::Ternary => {
            let ternary = field_match::Ternary { value: bytes(value), mask: bytes(mask) };
            (!anything).then_some(FieldMatchType::Ternary(ternary))
        }
        info::MatchKind::Optional => {
            (!anything).then(|| FieldMatchType::Optional(field_match::Optional { value: bytes(value) }))
        }
        info::MatchKind::Range => {
            let all = value.iter().all(|word| *word == 0) && *mask == *prefix_mask(target.bits, target.bits);
            let range = field_match::Range { low: bytes(value), high: bytes(mask) };
            (!all).then_some(FieldMatchType::Range(range))
        }
        info::MatchKind::Other(_) => None,
    }
}
