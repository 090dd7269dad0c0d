//! Names that begin with typed text, without a list of all names.
//!
//! In: the beginning of a name, and the numbers of planes, zones, switches or nodes. Out: names, or longer beginnings
//! if there are too many names. Invariants: every result is compatible with the typed text. The work is bounded by
//! the largest count of one field, not by the number of names.

use smol_str::SmolStr;

use super::{Hole, Numbers, Pattern, PatternElement, display_number};

/// Maximum number of names that are written for one placeholder.
const WRITTEN_MAX: usize = 1 << 17;

/// Possible continuations of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameCompletion {
    /// The numbers of a name. The device may not exist.
    Name(Numbers),
    /// A longer common beginning of several names.
    Open(SmolStr),
}

impl Pattern {
    /// Completes `typed`: returns at most `limit` names, or else longer beginnings that distinguish the names.
    /// `counts` contains the number of values of each field.
    pub fn completions(&self, typed: &str, counts: Numbers, limit: usize) -> Vec<NameCompletion> {
        let mut found = vec![(String::new(), Numbers::default())];
        for (at, part) in self.parts.iter().enumerate() {
            found = match part {
                PatternElement::Text(text) => {
                    found.into_iter().map(|(name, numbers)| (name + text.as_str(), numbers)).collect()
                }
                PatternElement::Hole(hole) => {
                    let values = counts.get(hole.field);
                    if found.len().saturating_mul(usize::from(values)) > WRITTEN_MAX {
                        return open(found);
                    }
                    found.iter().flat_map(|item| fill_hole(item, *hole, values)).collect()
                }
            };
            found.retain(|(name, _)| name.starts_with(typed) || typed.starts_with(name.as_str()));
            if found.len() > limit {
                // The character after a number distinguishes 1 from 10.
                let next = self.parts.get(at + 1).map_or("", |next| match next {
                    PatternElement::Text(text) => text.as_str(),
                    PatternElement::Hole(_) => "",
                });
                let names: Vec<String> = found.into_iter().map(|(name, _)| name + next).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                return narrow_names(&names)
                    .into_iter()
                    .map(|name| NameCompletion::Open(name.into()))
                    .collect();
            }
        }
        found.retain(|(name, _)| name.starts_with(typed));
        found.into_iter().map(|(_, numbers)| NameCompletion::Name(numbers)).collect()
    }
}

fn open(found: Vec<(String, Numbers)>) -> Vec<NameCompletion> {
    found.into_iter().map(|(name, _)| NameCompletion::Open(name.into())).collect()
}

fn fill_hole(
    (name, numbers): &(String, Numbers),
    hole: Hole,
    values: u16,
) -> impl Iterator<Item = (String, Numbers)> {
    (0..values).map(move |value| {
        let numbers = numbers.with(hole.field, value);
        (format!("{name}{:0width$}", display_number(hole, numbers), width = usize::from(hole.width)), numbers)
    })
}

/// Cuts names one letter after their common beginning, so that many names give few beginnings.
pub fn narrow_names<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let common = names.iter().skip(1).fold(names.first().map_or(0, |name| name.len()), |common, name| {
        let alike = name.bytes().zip(names[0].bytes()).take_while(|(a, b)| a == b).count();
        common.min(alike)
    });
    // A letter may have several bytes, and `common` may end inside one.
    let end =
        |name: &str| (common + 1..=name.len()).find(|at| name.is_char_boundary(*at)).unwrap_or(name.len());
    let mut cut: Vec<&str> = names.iter().map(|name| &name[..end(name)]).collect();
    cut.sort_unstable();
    cut.dedup();
    cut
}

#[cfg(test)]
mod tests {
    use super::super::Placeholder;
    use super::*;

    const SWITCH: &[Placeholder] = &[Placeholder::Plane, Placeholder::Zone, Placeholder::Index];

    fn counts(plane: u16, index: u16) -> Numbers {
        Numbers::default().with(Placeholder::Plane, plane).with(Placeholder::Index, index)
    }

    fn list_completions(pattern: &Pattern, typed: &str, counts: Numbers) -> Vec<String> {
        let item = pattern.completions(typed, counts, 20).into_iter();
        item.map(|item| match item {
            NameCompletion::Name(numbers) => pattern.write(numbers).to_string(),
            NameCompletion::Open(text) => format!("{text}..."),
        })
        .collect()
    }

    #[test]
    fn beginnings_tell_many_names_apart() {
        let names = Pattern::parse("p{plane}-t0-{index:03}", SWITCH).unwrap();
        let all = counts(8, 512);
        let eight = ["p0...", "p1...", "p2...", "p3...", "p4...", "p5...", "p6...", "p7..."];
        assert_eq!(list_completions(&names, "", all), eight);
        assert_eq!(
            list_completions(&names, "p3", all),
            ["p3-t0-0...", "p3-t0-1...", "p3-t0-2...", "p3-t0-3...", "p3-t0-4...", "p3-t0-5..."]
        );
        assert_eq!(list_completions(&names, "p3-t0-51", all), ["p3-t0-510", "p3-t0-511", "p3-t0-512"]);
        assert_eq!(list_completions(&names, "p3-t0-513", all), [""; 0]);
        assert_eq!(list_completions(&names, "p8", all), [""; 0]);
        assert_eq!(list_completions(&names, "su", all), [""; 0]);
        assert_eq!(
            list_completions(&names, "p0-t0-00", counts(1, 3)),
            ["p0-t0-001", "p0-t0-002", "p0-t0-003"]
        );
    }

    /// Every name can be completed from each of its beginnings.
    #[test]
    fn every_name_is_found_by_its_beginning() {
        for text in ["p{plane}-t0-{index:03}", "leaf{index}-{plane+1}", "x{index+98:02}p{plane:02}"] {
            let names = Pattern::parse(text, SWITCH).unwrap();
            let all = counts(12, 130);
            for (plane, index) in [(0, 0), (1, 9), (11, 129), (9, 99)] {
                let name = names.write(counts(plane, index));
                for end in 0..=name.len() {
                    let found = names.completions(&name[..end], all, 20);
                    let leads = found.iter().any(|item| match item {
                        NameCompletion::Name(numbers) => names.write(*numbers) == name,
                        NameCompletion::Open(text) => {
                            name.starts_with(text.as_str()) && (text.len() > end || *text == name)
                        }
                    });
                    assert!(leads, "{name} after {end} letters: {found:?}");
                }
            }
        }
    }

    #[test]
    fn large_numbers_are_not_multiplied() {
        let names = Pattern::parse("z{zone}-p{plane}-{index}", SWITCH).unwrap();
        let all = counts(16, 65_535).with(Placeholder::Zone, 65_535);
        assert_eq!(names.completions("", all, 100).len(), 10);
        assert_eq!(names.completions("z7-p1", all, 100).len(), 7);
    }
}
