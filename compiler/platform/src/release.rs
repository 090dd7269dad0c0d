//! Releases of operating systems, in the numbering of their vendors.
//!
//! In: text such as `5.16`, `10.5.4`, `4.33.1F`, `202511` or `master`. Out: a [`Release`]. Releases of the same form
//! are ordered: `5.9` is before `5.16`, and every branch is before `master`.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A release of an operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// A branch named by year and month, such as SONiC's `202511`.
    Branch(u32),
    /// The branch from which later branches are created.
    Master,
    /// Two or three numbers.
    Version {
        /// First number.
        major: u16,
        /// Second number.
        minor: u16,
        /// Third number, if stated.
        patch: Option<u16>,
        /// Letter of Arista's release train: `F` for features, `M` for maintenance.
        train: Option<char>,
    },
}

impl Release {
    /// Returns a release of two numbers.
    pub const fn version(major: u16, minor: u16) -> Self {
        Release::Version { major, minor, patch: None, train: None }
    }

    /// Returns whether another release has the same form, so that the two can be compared.
    pub(crate) fn has_form_of(self, other: Self) -> bool {
        let is_branch = |release: Release| match release {
            Release::Branch(_) | Release::Master => true,
            Release::Version { .. } => false,
        };
        is_branch(self) == is_branch(other)
    }
}

/// Error: the text has none of the forms of a release.
const FORMS: &str = "expected numbers with a dot between them, a branch such as `202511`, or `master`";

impl FromStr for Release {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "master" {
            return Ok(Release::Master);
        }
        if !text.contains('.') {
            return branch(text).map(Release::Branch).ok_or(FORMS);
        }
        let numbers = text.strip_suffix(['F', 'M']).unwrap_or(text);
        let train = text[numbers.len()..].chars().next();
        let parts: Vec<u16> = numbers.split('.').map(number).collect::<Option<_>>().ok_or(FORMS)?;
        match parts[..] {
            [major, minor] if train.is_none() => Ok(Release::version(major, minor)),
            [major, minor, patch] => Ok(Release::Version { major, minor, patch: Some(patch), train }),
            _ => Err(FORMS),
        }
    }
}

/// Parses a number without leading zeros.
fn number(text: &str) -> Option<u16> {
    let is_plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|sign| sign.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain && (text.len() == 1 || !text.starts_with('0')))
}

/// Parses a year from 2000 to 2999 and a month, as in `202511`.
fn branch(text: &str) -> Option<u32> {
    let digits = text.len() == 6 && text.bytes().all(|sign| sign.is_ascii_digit());
    let number: u32 = text.parse().ok().filter(|_| digits)?;
    ((200_000..300_000).contains(&number) && (1..=12).contains(&(number % 100))).then_some(number)
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Release::Branch(branch) => f.pad(&branch.to_string()),
            Release::Master => f.pad("master"),
            Release::Version { major, minor, patch, train } => {
                let patch = patch.map(|patch| format!(".{patch}")).unwrap_or_default();
                let train = train.map(String::from).unwrap_or_default();
                f.pad(&format!("{major}.{minor}{patch}{train}"))
            }
        }
    }
}

impl Serialize for Release {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Release {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Release".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "number"],
            "description": "A release in the numbering of its vendor, as in `\"5.16\"`, `10.5.4`, `4.33.1F`, `202511` or `master`",
            "pattern": "^(master|2[0-9]{3}(0[1-9]|1[0-2])|(0|[1-9][0-9]{0,3})\\.(0|[1-9][0-9]{0,3})(\\.(0|[1-9][0-9]{0,3})[FM]?)?)$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_by_their_numbers() {
        let of = |text: &str| text.parse::<Release>();
        for pair in [["5.9", "5.16"], ["202505", "202511"], ["202611", "master"], ["10.5.4", "10.10.0"]] {
            let [earlier, later] = pair.map(|text| of(text).unwrap());
            assert!(earlier < later && earlier.has_form_of(later), "{pair:?}");
        }
        assert!(of("4.33").unwrap() < of("4.33.0F").unwrap());
        assert!(of("4.33.1F").unwrap() < of("4.33.2M").unwrap());
        for text in ["5.16", "10.5.4", "4.33.1F", "4.33.2M", "202511", "master"] {
            assert_eq!(of(text).unwrap().to_string(), text);
        }
        let wrong = [
            "", "5", "5.", ".5", "5.x", "5.01", "+5.1", "5.123456", "5.1.2.3", "5.1F", "202500", "202513",
            "102511", "20251", "Master",
        ];
        for text in wrong {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
