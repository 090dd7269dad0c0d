//! Cages of a panel as text: `8-23, 40-55`.
//!
//! In: text of a fabric or catalogue file, cages counted from 0. Out: a [`CageSet`]. Invariants: the set is not empty,
//! cages are in ascending order, and printed text can be parsed again.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const WORDS: usize = 8;

/// A set of cages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CageSet([u64; WORDS]);

/// Reason to reject a text as a set of cages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CageError {
    /// A part is neither a cage nor two cages with a dash between them.
    #[error("`{0}` is not a cage or a run of cages; write `8` or `8-23`")]
    Form(String),
    /// The end of a range is before its beginning.
    #[error("`{0}` ends before it begins")]
    Backwards(String),
    /// A cage number is too large.
    #[error("cage {0} is above {max}, the last one that a set can contain", max = CageSet::LAST)]
    Beyond(u32),
    /// A cage is listed twice.
    #[error("cage {0} is listed twice")]
    Twice(u16),
    /// The list is empty.
    #[error("the list of cages is empty")]
    Empty,
}

impl CageSet {
    /// The last cage that a set can contain.
    pub const LAST: u16 = (WORDS * 64 - 1) as u16;

    /// Returns a range of cages; `None` if it is empty, or if a cage is above [`CageSet::LAST`].
    pub fn run(first: u16, count: u16) -> Option<CageSet> {
        CageSet::of(first..first.checked_add(count)?)
    }

    /// Returns the set of these cages; `None` if there are none, or if one is above [`CageSet::LAST`].
    pub fn of(cages: impl IntoIterator<Item = u16>) -> Option<CageSet> {
        let mut set = CageSet([0; WORDS]);
        for cage in cages {
            *set.0.get_mut(usize::from(cage / 64))? |= 1 << (cage % 64);
        }
        (!set.is_empty()).then_some(set)
    }

    /// Returns whether all cages of the set are in another set.
    pub fn is_subset(&self, other: &CageSet) -> bool {
        self.0.iter().zip(&other.0).all(|(own, others)| own & !others == 0)
    }

    /// Returns the number of cages.
    pub fn len(&self) -> u16 {
        self.0.iter().map(|word| word.count_ones() as u16).sum()
    }

    /// Returns whether the set is empty. A parsed set never is.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Returns whether a cage is in the set.
    pub fn contains(&self, cage: u16) -> bool {
        cage <= Self::LAST && self.0[usize::from(cage / 64)] & (1 << (cage % 64)) != 0
    }

    /// Returns the cages in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<'_> {
        (0..=Self::LAST).filter(|cage| self.contains(*cage))
    }

    /// Returns the last cage.
    pub fn last(&self) -> u16 {
        self.iter().last().unwrap_or_default()
    }

    /// Returns the cage at an index, from 0. Indices after the end continue after the last cage.
    pub fn nth(&self, place: u16) -> u16 {
        let mut left = u32::from(place);
        for (at, word) in self.0.iter().enumerate() {
            if left < word.count_ones() {
                let mut word = *word;
                for _ in 0..left {
                    word &= word - 1;
                }
                return at as u16 * 64 + word.trailing_zeros() as u16;
            }
            left -= word.count_ones();
        }
        self.last() + 1 + left as u16
    }

    /// Returns the index of a cage, from 0.
    pub fn place(&self, cage: u16) -> Option<u16> {
        let before = |word: usize| self.0[..word].iter().map(|word| word.count_ones() as u16).sum::<u16>();
        self.contains(cage).then(|| {
            let word = usize::from(cage / 64);
            before(word) + (self.0[word] & ((1 << (cage % 64)) - 1)).count_ones() as u16
        })
    }

    /// Returns the other cages of a panel with this number of cages; `None` if there are none.
    pub fn rest(&self, cages: u16) -> Option<CageSet> {
        let mut rest = CageSet([0; WORDS]);
        for cage in (0..cages.min(Self::LAST + 1)).filter(|cage| !self.contains(*cage)) {
            rest.0[usize::from(cage / 64)] |= 1 << (cage % 64);
        }
        (!rest.is_empty()).then_some(rest)
    }

    fn add(&mut self, part: &str) -> Result<(), CageError> {
        let number = |text: &str| -> Option<u32> {
            let text = text.trim();
            text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        let form = || CageError::Form(part.to_owned());
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first).ok_or_else(form)?, number(last).ok_or_else(form)?),
            None => (number(part).ok_or_else(form)?, number(part).ok_or_else(form)?),
        };
        if last < first {
            return Err(CageError::Backwards(part.to_owned()));
        }
        if last > u32::from(Self::LAST) {
            return Err(CageError::Beyond(last));
        }
        for cage in first as u16..=last as u16 {
            if self.contains(cage) {
                return Err(CageError::Twice(cage));
            }
            self.0[usize::from(cage / 64)] |= 1 << (cage % 64);
        }
        Ok(())
    }
}

impl FromStr for CageSet {
    type Err = CageError;

    fn from_str(text: &str) -> Result<Self, CageError> {
        let mut set = CageSet([0; WORDS]);
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            set.add(part)?;
        }
        if set.is_empty() { Err(CageError::Empty) } else { Ok(set) }
    }
}

impl fmt::Display for CageSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u16, u16)> = Vec::new();
        for cage in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == cage => *last = cage,
                Some(_) | None => runs.push((cage, cage)),
            }
        }
        for (at, (first, last)) in runs.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for CageSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CageSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for CageSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cages".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "cages from 0 and runs of them, as in `8-23, 40-55`",
            "type": "string",
            "pattern": "^ *[0-9]+( *- *[0-9]+)? *(, *[0-9]+( *- *[0-9]+)? *)*$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_over_the_runs() {
        let set: CageSet = "40-55, 8-23".parse().unwrap();
        assert_eq!((set.len(), set.last(), set.to_string().as_str()), (32, 55, "8-23, 40-55"));
        for (place, cage) in set.iter().enumerate() {
            assert_eq!((set.nth(place as u16), set.place(cage)), (cage, Some(place as u16)));
        }
        assert_eq!((set.nth(16), set.nth(32), set.nth(34)), (40, 56, 58), "behind the last one");
        assert_eq!((set.place(24), set.place(600)), (None, None));
        assert_eq!(set.rest(64).unwrap().to_string(), "0-7, 24-39, 56-63");
        let far: CageSet = "63-64, 511".parse().unwrap();
        assert_eq!(
            (far.nth(0), far.nth(1), far.nth(2), far.to_string()),
            (63, 64, 511, "63-64, 511".to_owned())
        );
    }

    #[test]
    fn refuses_what_is_not_a_set() {
        for text in ["", "a", "8-", "-8", "9-8", "512", "1, 1", "0-7, 7", "8–23", "1.5", "99999999999"] {
            assert!(text.parse::<CageSet>().is_err(), "{text}");
        }
    }
}
