//! Formats numbers for people.
//!
//! In: a number. Out: text. Invariants: a number is written in the same way in every report.

/// Formats a number with commas between thousands.
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

/// Formats a number with its noun, given in the singular: `1 path`, `2 T0 switches`, `1,024 entries`.
pub fn format_count(count: u64, noun: &str) -> String {
    let number = number(count);
    let is_sibilant = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let vowel_before_y = ["ay", "ey", "oy", "uy"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("{number} {noun}"),
        Some(stem) if !vowel_before_y => format!("{number} {stem}ies"),
        _ if is_sibilant => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

/// Formats a fraction of 1 as a percentage: at most one decimal from 10 %, two from 0.1 %, and four below
/// that.
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
    format!("{} %", if matches!(short, "" | "-0" | "-") { "0" } else { short })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let shown = [0, 999, 1000, 131_072, 8_573_157_376].map(number);
        assert_eq!(shown, ["0", "999", "1,000", "131,072", "8,573,157,376"]);
        assert_eq!(format_count(0, "path"), "0 paths");
        assert_eq!(
            ["T0 switch", "entry", "key", "prefix", "NIC"].map(|noun| format_count(1, noun)),
            ["1 T0 switch", "1 entry", "1 key", "1 prefix", "1 NIC"]
        );
        assert_eq!(
            ["T0 switch", "entry", "key", "prefix", "NIC"].map(|noun| format_count(1024, noun)),
            ["1,024 T0 switches", "1,024 entries", "1,024 keys", "1,024 prefixes", "1,024 NICs"]
        );
        assert_eq!(percent(1.0 / 8.0), "12.5 %");
        assert_eq!(percent(1.0 / 2048.0), "0.0488 %");
        assert_eq!(percent(1.0 / 256.0), "0.39 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!([0.0, -0.0, -1e-9].map(percent), ["0 %"; 3]);
    }
}
