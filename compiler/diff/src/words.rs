//! Numbers and lists as people write them.
//!
//! In: counts and names. Out: text. Invariants: the same on every machine; no locale.

use closc_topology::{PlaneId, TierId};

/// Writes a number with commas.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a count with its noun.
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// Writes a part of 1 in hundredths, with two digits that count.
pub fn percent(part: f64) -> String {
    let value = part * 100.0;
    let digits = if value >= 10.0 {
        1
    } else if value >= 0.1 {
        2
    } else {
        4
    };
    let text = format!("{value:.digits$}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    format!("{} %", if short.is_empty() { "0" } else { short })
}

/// Writes planes: `plane 3`, `planes 0-7`, `planes 0, 2`.
pub(crate) fn planes_text(planes: &[PlaneId]) -> String {
    match planes {
        [] => "no plane".to_owned(),
        [one] => format!("plane {one}"),
        [first, .., last] if usize::from(last.0 - first.0) + 1 == planes.len() => {
            format!("planes {first}-{last}")
        }
        more => {
            let all: Vec<String> = more.iter().map(ToString::to_string).collect();
            format!("planes {}", all.join(", "))
        }
    }
}

/// Writes the first names of a list, and how many more there are.
pub(crate) fn names(all: impl Iterator<Item = String>, shown: usize) -> String {
    let all: Vec<String> = all.collect();
    let first: Vec<String> = all.iter().take(shown).map(|name| format!("`{name}`")).collect();
    match all.len().saturating_sub(shown) {
        0 => first.join(", "),
        more => format!("{} and {} more", first.join(", "), number(more as u64)),
    }
}

/// Returns a tier as people write it.
pub(crate) fn tier(tier: TierId) -> &'static str {
    match tier {
        TierId::T0 => "T0",
        TierId::T1 => "T1",
        TierId::T2 => "T2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let shown = [0, 999, 1000, 131_072, 8_573_157_376].map(number);
        assert_eq!(shown, ["0", "999", "1,000", "131,072", "8,573,157,376"]);
        assert_eq!(percent(1.0 / 8.0), "12.5 %");
        assert_eq!(percent(1.0 / 2048.0), "0.0488 %");
        assert_eq!(percent(1.0 / 256.0), "0.39 %");
        assert_eq!(percent(1.0), "100 %");
    }

    #[test]
    fn planes_in_a_row_are_a_range() {
        let planes = |all: &[u8]| planes_text(&all.iter().map(|p| PlaneId(*p)).collect::<Vec<_>>());
        assert_eq!(planes(&[3]), "plane 3");
        assert_eq!(planes(&[0, 1, 2]), "planes 0-2");
        assert_eq!(planes(&[0, 2]), "planes 0, 2");
    }
}
