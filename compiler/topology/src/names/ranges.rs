//! Names with ranges in brackets, expanded only when each name is needed.
//!
//! In: `p[0-1]-t0-[017-018]`. Out: how many names it stands for, and the names one by one. Invariants: memory is
//! proportional to the text; the number of names is known before the first is written.

use closc_diagnostics::figures;
use smol_str::{SmolStr, SmolStrBuilder};

use super::NameFault;
use crate::suggest::shorten;

/// Maximum number of names that one range stands for.
pub(crate) const EXPANDED_MAX: u64 = 100_000;

/// Maximum number of names that all ranges of a file stand for.
pub(crate) const NAMES_MAX: u64 = 200_000;

/// Consecutive numbers, written with equal width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: u32,
    last: u32,
    width: usize,
}

/// The numbers of one pair of brackets, and the text before it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BracketGroup<'a> {
    prefix: &'a str,
    runs: Vec<Run>,
    count: u64,
}

impl BracketGroup<'_> {
    /// Writes the brackets with numbers of at least `width` digits.
    fn format_padded(&self, width: usize) -> String {
        let runs: Vec<String> = self
            .runs
            .iter()
            .map(|run| {
                let end = |number| format!("{number:0width$}");
                if run.first == run.last {
                    end(run.first)
                } else {
                    format!("{}-{}", end(run.first), end(run.last))
                }
            })
            .collect();
        format!("[{}]", runs.join(","))
    }
}

/// A name that may stand for many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameRange<'a> {
    parts: Vec<BracketGroup<'a>>,
    tail: &'a str,
    count: u64,
}

impl<'a> NameRange<'a> {
    /// Reads a name. The numbers of a range have at least as many digits as its first bound.
    pub(crate) fn parse(name: &'a str) -> Result<Self, NameFault> {
        let mut range = NameRange { parts: Vec::new(), tail: name, count: 1 };
        while let Some(open) = range.tail.find('[') {
            let close = range.tail[open..].find(']').ok_or_else(|| range_fault("`[` has no `]`"))? + open;
            let (runs, count) = runs(&range.tail[open + 1..close])?;
            range.count = range.count.saturating_mul(count);
            if range.count > EXPANDED_MAX {
                return Err(too_many());
            }
            range.parts.push(BracketGroup { prefix: &range.tail[..open], runs, count });
            range.tail = &range.tail[close + 1..];
        }
        Ok(range)
    }

    /// Returns how many names it stands for.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Writes the names one by one; the last number changes fastest.
    pub(crate) fn names(&self) -> impl Iterator<Item = SmolStr> {
        (0..self.count).map(|number| self.name(number))
    }

    fn name(&self, number: u64) -> SmolStr {
        use std::fmt::Write as _;
        let mut name = SmolStrBuilder::new();
        let mut below = self.count;
        let mut rest = number;
        for part in &self.parts {
            below /= part.count;
            let mut at = rest / below;
            rest %= below;
            name.push_str(part.prefix);
            for run in &part.runs {
                let length = u64::from(run.last - run.first) + 1;
                if at < length {
                    let value = u64::from(run.first) + at;
                    write!(name, "{value:0width$}", width = run.width)
                        .expect("a string accepts everything that is written to it");
                    break;
                }
                at -= length;
            }
        }
        name.push_str(self.tail);
        name.finish()
    }
}

/// Writes a name again as `meant` writes each name that it stands for: `p0-t1-[001-004]` for `p0-t1-[1-4]`. Returns
/// `None` unless the result stands for these names and no others.
pub(crate) fn rewritten(written: &str, meant: impl Fn(&str) -> Option<String>) -> Option<String> {
    let range = NameRange::parse(written).ok()?;
    let first = meant(&range.name(0))?;
    if range.parts.is_empty() {
        return Some(first);
    }
    let (old, new) = (pieces(written), pieces(&first));
    let mut parts = range.parts.iter().peekable();
    let text: String = old
        .iter()
        .zip(&new)
        .map(|(old, new)| match parts.next_if(|_| old.starts_with('[')) {
            Some(part) => part.format_padded(new.len()),
            None => (*new).to_owned(),
        })
        .collect();
    let after = NameRange::parse(&text).ok().filter(|after| after.count == range.count)?;
    let is_equal = |(old, new): (SmolStr, SmolStr)| meant(&old).as_deref() == Some(new.as_str());
    (old.len() == new.len() && range.names().zip(after.names()).all(is_equal)).then_some(text)
}

/// Cuts a name into brackets, numbers and the texts between them.
fn pieces(name: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '[' => rest.find(']').map(|close| close + 1),
            digit if digit.is_ascii_digit() => rest.find(|c: char| !c.is_ascii_digit()),
            _ => rest.find(|c: char| c == '[' || c.is_ascii_digit()),
        };
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Maximum number of digits of a number. No fabric has larger numbers.
const DIGITS_MAX: usize = 9;

/// Reads `017-024`, `1,3` or `1-4,7`, and counts the numbers.
fn runs(text: &str) -> Result<(Vec<Run>, u64), NameFault> {
    let mut runs = Vec::new();
    let mut count = 0;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let width = first.len();
        let is_large = |text: &str| text.len() > DIGITS_MAX && text.bytes().all(|b| b.is_ascii_digit());
        if is_large(first) || is_large(last) {
            let text = shorten(text);
            return Err(range_fault(&format!("`[{text}]` has a number of more than {DIGITS_MAX} digits")));
        }
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(range_fault(&format!("`[{}]` is not a number or a range of numbers", shorten(text))));
        };
        if first > last {
            return Err(range_fault(&format!("`[{}]` contains a descending range", shorten(text))));
        }
        count += u64::from(last - first) + 1;
        // A list of thousands of numbers would take thousands of steps for each of its names.
        if runs.len() >= RUNS_MAX {
            return Err(range_fault(&format!("it lists more than {RUNS_MAX} numbers one by one")));
        }
        if count > EXPANDED_MAX {
            return Err(too_many());
        }
        runs.push(Run { first, last, width });
    }
    Ok((runs, count))
}

fn range_fault(why: &str) -> NameFault {
    NameFault::Range { reason: why.to_owned() }
}

fn too_many() -> NameFault {
    NameFault::TooMany { reason: format!("it expands to more than {} names", figures::number(EXPANDED_MAX)) }
}

/// Maximum number of numbers or runs of numbers in one pair of brackets.
const RUNS_MAX: usize = 1_000;

fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.len() <= DIGITS_MAX && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::Naming;

    fn expand(name: &str) -> Vec<SmolStr> {
        NameRange::parse(name).unwrap().names().collect()
    }

    #[test]
    fn ranges_are_written_out() {
        assert_eq!(expand("p3-t0-017"), ["p3-t0-017"]);
        assert_eq!(expand("p[0-1]-t0-[009-010]"), ["p0-t0-009", "p0-t0-010", "p1-t0-009", "p1-t0-010"]);
        assert_eq!(expand("x[1,3-4]y"), ["x1y", "x3y", "x4y"]);
        assert_eq!(expand("[1,2][3-4]"), ["13", "14", "23", "24"]);
        for name in
            ["p[", "p[]", "p[1-]", "p[b]", "p[4-3]", "p[0-999999]", "p[1-999][1-999]", "p[99999999999]"]
        {
            assert!(NameRange::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn ranges_are_written_again_only_if_they_name_the_same() {
        let naming = Naming::default_for(false);
        let rewritten = |name| rewritten(name, |name| naming.nearest(name));
        let padded = [
            ("p0-t1-[1-4]", "p0-t1-[001-004]"),
            ("su1-n[001-004]", "su001-n[001-004]"),
            ("su[1,3,05-7]-n[1-1200]/nic[0-3].p0", "su[001,003,005-007]-n[001-1200]/nic[0-3].p0"),
            ("p0-t0-1--p0-t1-[1-17]#[1-2]", "p0-t0-001--p0-t1-[001-017]#[1-2]"),
            ("p[00-01]-t0-[001,2]", "p[0-1]-t0-[001,002]"),
            ("plane[0-1]", "plane [0-1]"),
            ("p0-t1-4", "p0-t1-004"),
        ];
        for (written, meant) in padded {
            assert_eq!(rewritten(written).as_deref(), Some(meant), "{written}");
        }
        // A number that is only partly in brackets, index 0, a width that the first number does not have, a name of
        // another pattern, and a range that counts down.
        for name in ["p0-t1-1[0-3]", "p0-t1-[0-3]", "p0-t1-[1000,1]", "leaf-[1-4]", "p0-t1-[4-1]"] {
            assert_eq!(rewritten(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_counted_before_they_are_written() {
        let range = NameRange::parse("p[0-9]-t0-[0001-9999]").unwrap();
        assert_eq!(range.count(), 99_990);
        assert_eq!(range.parts.iter().map(|part| part.runs.len()).sum::<usize>(), 2);
        assert_eq!(range.names().next().unwrap(), "p0-t0-0001");
    }
}
