//! Finds the pattern of given names.
//!
//! In: names, each with the coordinates of its device. Out: a pattern that produces exactly these names, or
//! `None`.

use closc_topology::naming::{Numbers, Pattern, Placeholder};
use smol_str::SmolStr;

/// A piece of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Digits(&'a str),
}

/// Splits a name where digits begin and end.
fn pieces(name: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|sign: char| sign.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        found.push(if is_digit { Piece::Digits(piece) } else { Piece::Text(piece) });
        rest = behind;
    }
    found
}

/// Returns a key that sorts `leaf10` after `leaf9`.
pub(crate) fn natural(name: &str) -> Vec<(u64, &str)> {
    let key = |piece| match piece {
        Piece::Text(text) => (0, text),
        Piece::Digits(digits) => (digits.parse::<u64>().unwrap_or(u64::MAX).saturating_add(1), digits),
    };
    pieces(name).into_iter().map(key).collect()
}

/// Finds the pattern of these names. It uses only the fields in `allowed`.
pub(crate) fn pattern(names: &[(SmolStr, Numbers)], allowed: &[Placeholder]) -> Option<Pattern> {
    let rows: Vec<(Vec<Piece<'_>>, &Numbers)> =
        names.iter().map(|(name, numbers)| (pieces(name), numbers)).collect();
    let (first, _) = rows.first()?;
    let mut text = String::new();
    let mut free: Vec<Placeholder> = allowed.to_vec();
    for (at, piece) in first.iter().enumerate() {
        match *piece {
            Piece::Text(word) => {
                rows.iter().all(|(row, _)| row.get(at) == Some(&Piece::Text(word))).then_some(())?;
                text.push_str(word);
            }
            Piece::Digits(own) => {
                let column: Option<Vec<&str>> = rows
                    .iter()
                    .map(|(row, _)| match row.get(at) {
                        Some(Piece::Digits(digits)) => Some(*digits),
                        _ => None,
                    })
                    .collect();
                let column = column?;
                if column.iter().all(|digits| *digits == own) {
                    text.push_str(own);
                    continue;
                }
                let (chosen, offset) =
                    free.iter().copied().find_map(|field| Some((field, offset(&column, &rows, field)?)))?;
                free.retain(|field| *field != chosen);
                text.push_str(&hole(chosen, offset, &column));
            }
        }
    }
    let pattern = Pattern::parse(&text, allowed).ok()?;
    names.iter().all(|(name, numbers)| pattern.write(*numbers) == *name).then_some(pattern)
}

/// Returns the difference between a column of numbers and a coordinate, if it is the same in all rows.
fn offset(column: &[&str], rows: &[(Vec<Piece<'_>>, &Numbers)], field: Placeholder) -> Option<u32> {
    let first = match field {
        Placeholder::Plane | Placeholder::Zone => 0,
        Placeholder::Index | Placeholder::Unit | Placeholder::Node | Placeholder::Rack | Placeholder::Row => {
            1
        }
    };
    let mut found = None;
    for (digits, (_, numbers)) in column.iter().zip(rows) {
        let value = digits.parse::<u32>().ok()?.checked_sub(u32::from(numbers.get(field)) + first)?;
        if *found.get_or_insert(value) != value {
            return None;
        }
    }
    found
}

fn hole(field: Placeholder, offset: u32, column: &[&str]) -> String {
    let plus = if offset == 0 { String::new() } else { format!("+{offset}") };
    let is_padded = column.iter().any(|digits| digits.len() > 1 && digits.starts_with('0'));
    let width = column.iter().map(|digits| digits.len()).min().unwrap_or(1);
    let width = if is_padded { format!(":0{width}") } else { String::new() };
    format!("{{{}{plus}{width}}}", field.keyword())
}
