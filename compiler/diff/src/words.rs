//! Numbers and lists as text.
//!
//! In: counts and names. Out: text. Invariants: the text does not depend on the locale.

use closc_diagnostics::figures::number;
use closc_topology::{PlaneId, TierId};

/// Writes a count with its noun.
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
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

/// Writes the first names of a list, and the number of further ones.
pub(crate) fn names(all: impl Iterator<Item = String>, shown: usize) -> String {
    let all: Vec<String> = all.collect();
    let first: Vec<String> = all.iter().take(shown).map(|name| format!("`{name}`")).collect();
    match all.len().saturating_sub(shown) {
        0 => first.join(", "),
        more => format!("{} and {} more", first.join(", "), number(more as u64)),
    }
}

/// Returns the display name of a tier.
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
    fn planes_in_a_row_are_a_range() {
        let planes = |all: &[u8]| planes_text(&all.iter().map(|p| PlaneId(*p)).collect::<Vec<_>>());
        assert_eq!(planes(&[3]), "plane 3");
        assert_eq!(planes(&[0, 1, 2]), "planes 0-2");
        assert_eq!(planes(&[0, 2]), "planes 0, 2");
    }
}
