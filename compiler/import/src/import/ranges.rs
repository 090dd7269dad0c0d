//! Names as ranges.
//!
//! In: names in order. Out: the same names, some as ranges. Invariants: the ranges expand to exactly these
//! names.

/// Writes names that differ in their last number as ranges.
pub(super) fn ranges(names: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut run: Option<(&str, u64, u64, usize)> = None;
    let close = |run: Option<(&str, u64, u64, usize)>, found: &mut Vec<String>| {
        let Some((head, first, last, width)) = run else { return };
        if first == last {
            found.push(format!("{head}{first:0width$}"));
        } else {
            found.push(format!("{head}[{first:0width$}-{last:0width$}]"));
        }
    };
    for name in names {
        let head = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
        let digits = &name[head.len()..];
        let number = digits.parse::<u64>().ok();
        match (run, number) {
            (Some((own, first, last, width)), Some(number))
                if own == head && last + 1 == number && width == digits.len() =>
            {
                run = Some((own, first, number, width));
            }
            (before, Some(number)) => {
                close(before, &mut found);
                run = Some((head, number, number, digits.len()));
            }
            (before, None) => {
                close(before, &mut found);
                run = None;
                found.push(name.clone());
            }
        }
    }
    close(run, &mut found);
    found
}
