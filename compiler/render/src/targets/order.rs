//! The natural order of names, in which users and devices list them.

use std::cmp::Ordering;

/// Compares names by their words and numbers: `Ethernet8` is before `Ethernet16`, `Ethernet2/5` before `Ethernet10/1`.
pub(super) fn natural(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let Some(differs) = one.iter().zip(other).position(|(one, other)| one != other) else {
        return one.len().cmp(&other.len());
    };
    // The number that differs may start before the first different digit.
    let same = one[..differs].iter().rev().take_while(|sign| sign.is_ascii_digit()).count();
    let (one, other) = (&one[differs - same..], &other[differs - same..]);
    match (number(one), number(other)) {
        ([], _) | (_, []) => one.cmp(other),
        (number, other) => number.len().cmp(&other.len()).then_with(|| number.cmp(other)),
    }
}

/// Returns the leading digits. Numbers in names have no leading zeros.
fn number(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|sign| !sign.is_ascii_digit()).unwrap_or(name.len());
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::natural;

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["lo", "Ethernet16", "Ethernet8", "Ethernet0", "Ethernet120"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet120", "lo"]);
        let mut names = ["Ethernet10/1", "Ethernet2/5", "Ethernet2/1", "Ethernet3/10/1", "Ethernet3/9/1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["Ethernet2/1", "Ethernet2/5", "Ethernet3/9/1", "Ethernet3/10/1", "Ethernet10/1"]);
        let mut names = ["swp2s1", "swp10", "swp2s0", "swp2"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["swp2", "swp2s0", "swp2s1", "swp10"]);
    }
}
