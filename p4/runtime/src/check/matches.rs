//! Checks the key of a table entry and the values of a value set.

use super::{Fault, Violation, part_violation};
use crate::info::{MatchField, MatchKind, ObjectKind};
use crate::proto::v1;
use crate::value::{Width, bits};
use v1::field_match::FieldMatchType;

/// Checks all fields of a key: each occurs at most once and has the form of its match kind, and no exact field is
/// missing.
pub(crate) fn check_key(
    kind: ObjectKind,
    name: &str,
    fields: &[MatchField],
    key: &[v1::FieldMatch],
) -> Result<(), Violation> {
    // Keys have few fields. A bit mask is enough for the first 128; further fields use a linear search.
    let mut seen: u128 = 0;
    for (position, value) in key.iter().enumerate() {
        let Some((index, field)) = find(fields, position, value.field_id) else {
            let within = Some(name.to_owned());
            let unknown = crate::info::LookupError::UnknownId {
                kind: ObjectKind::MatchField,
                scope: within,
                id: value.field_id,
            };
            return Err(unknown.into());
        };
        let twice = match 1u128.checked_shl(index as u32) {
            Some(bit) => {
                let twice = seen & bit != 0;
                seen |= bit;
                twice
            }
            None => key[..position].iter().any(|other| other.field_id == value.field_id),
        };
        let checked = if twice { Err(Fault::FieldTwice) } else { check_field(field, value) };
        checked.map_err(|fault| part_violation(kind, name, ObjectKind::MatchField, &field.name, fault))?;
    }
    for (index, field) in fields.iter().enumerate() {
        let there = match 1u128.checked_shl(index as u32) {
            Some(bit) => seen & bit != 0,
            None => key.iter().any(|value| value.field_id == field.id),
        };
        if !there && field.kind == MatchKind::Exact {
            let place = super::Place { kind, name: name.to_owned(), part: None };
            let fault = Fault::MissingField { field: field.name.clone() };
            return Err(Violation { place: Some(Box::new(place)), fault });
        }
    }
    Ok(())
}

/// Finds a field by id. Fields are mostly in the order of the table, so the same position is tried first.
fn find(fields: &[MatchField], position: usize, id: u32) -> Option<(usize, &MatchField)> {
    match fields.get(position) {
        Some(field) if field.id == id => Some((position, field)),
        Some(_) | None => fields.iter().enumerate().find(|(_, field)| field.id == id),
    }
}

fn check_field(field: &MatchField, value: &v1::FieldMatch) -> Result<(), Fault> {
    let width = field.width;
    match (&field.kind, value.field_match_type.as_ref()) {
        (MatchKind::Exact, Some(FieldMatchType::Exact(exact))) => value_fits(width, &exact.value),
        (MatchKind::Optional, Some(FieldMatchType::Optional(optional))) => value_fits(width, &optional.value),
        (
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Range,
            Some(FieldMatchType::Lpm(_) | FieldMatchType::Ternary(_) | FieldMatchType::Range(_)),
        ) if width == Width::Text => Err(Fault::PartOfText),
        (MatchKind::Lpm, Some(FieldMatchType::Lpm(lpm))) => check_lpm(width, lpm),
        (MatchKind::Ternary, Some(FieldMatchType::Ternary(ternary))) => check_ternary(width, ternary),
        (MatchKind::Range, Some(FieldMatchType::Range(range))) => check_range(width, range),
        (MatchKind::Other(_), Some(FieldMatchType::Other(_))) => Ok(()),
        (wanted, given) => {
            let wanted = wanted.to_string();
            Err(Fault::WrongMatch { actual: form(given), expected: wanted })
        }
    }
}

fn form(value: Option<&FieldMatchType>) -> &'static str {
    match value {
        None => "nothing",
        Some(FieldMatchType::Exact(_)) => "exact",
        Some(FieldMatchType::Ternary(_)) => "ternary",
        Some(FieldMatchType::Lpm(_)) => "lpm",
        Some(FieldMatchType::Range(_)) => "range",
        Some(FieldMatchType::Optional(_)) => "optional",
        Some(FieldMatchType::Other(_)) => "other",
    }
}

fn value_fits(width: Width, value: &[u8]) -> Result<(), Fault> {
    width.canonical(value).map(drop).map_err(Fault::Value)
}

fn check_lpm(width: Width, lpm: &v1::field_match::Lpm) -> Result<(), Fault> {
    let (value, length) = (width.canonical(&lpm.value)?, lpm.prefix_len);
    match u32::try_from(length) {
        Ok(0) => Err(Fault::DontCare),
        Ok(prefix) if prefix <= width.bits() => {
            if bits::is_prefix(value, prefix, width.bits()) {
                Ok(())
            } else {
                Err(Fault::HostBits { length })
            }
        }
        Ok(_) | Err(_) => Err(Fault::PrefixLength { length, width: width.bits() }),
    }
}

fn check_ternary(width: Width, ternary: &v1::field_match::Ternary) -> Result<(), Fault> {
    let (value, mask) = (width.canonical(&ternary.value)?, width.canonical(&ternary.mask)?);
    if bits::is_zero(mask) {
        return Err(Fault::DontCare);
    }
    if bits::is_within(value, mask) { Ok(()) } else { Err(Fault::OutsideMask) }
}

fn check_range(width: Width, range: &v1::field_match::Range) -> Result<(), Fault> {
    let (low, high) = (width.canonical(&range.low)?, width.canonical(&range.high)?);
    if bits::compare(low, high).is_gt() {
        return Err(Fault::EmptyRange);
    }
    let everything = bits::is_zero(low) && bits::is_all_ones(high, width.bits());
    if everything { Err(Fault::DontCare) } else { Ok(()) }
}
