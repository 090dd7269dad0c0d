//! Entries of a P4 switch, `entries.txtpb`.
//!
//! In: two files. Out: the added and removed entries, each described by the comment above it. Invariants: if
//! only the encoding differs, the result is `None`, and the caller compares the texts instead.

use std::collections::BTreeSet;

use crate::report::Sign;
use crate::words::plural;

/// Start of the comment that describes an entry.
const HEADING: &str = "# + ";

/// Maximum number of entries shown. Further ones are only counted.
const SHOWN: usize = 4;

/// Lists added and removed entries. Returns `None` if there are none.
pub(super) fn look(old: &str, new: &str) -> Option<Vec<(Sign, String)>> {
    let entries = |text| -> BTreeSet<&str> { headings(text).collect() };
    let (before, after) = (entries(old), entries(new));
    let mut found = Vec::new();
    for (sign, some, others) in [(Sign::Add, &after, &before), (Sign::Remove, &before, &after)] {
        let own: Vec<&str> = some.difference(others).copied().collect();
        found.extend(own.iter().take(SHOWN).map(|entry| (sign, (*entry).to_owned())));
        if own.len() > SHOWN {
            found.push((
                sign,
                format!("and {}", plural((own.len() - SHOWN) as u64, "more entry", "more entries")),
            ));
        }
    }
    (!found.is_empty()).then_some(found)
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix(HEADING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_named_as_their_headings_have_them() {
        let old = "# switch\n# + t  a=1 -> x()\nupdates {}\n# + t  a=2 -> x()\nupdates {}\n";
        let new = "# switch\n# + t  a=2 -> x()\nupdates {}\n# + t  a=3 -> x()\nupdates {}\n";
        let found = look(old, new).unwrap();
        assert_eq!(
            found,
            [(Sign::Add, "t  a=3 -> x()".to_owned()), (Sign::Remove, "t  a=1 -> x()".to_owned())]
        );
        assert_eq!(look(old, old), None);
    }
}
