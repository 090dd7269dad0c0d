//! Releases of an operating system, as its maker numbers them.
//!
//! In: text such as `5.16`. Out: a [`Release`], ordered by its numbers: `5.9` is before `5.16`.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A release of an operating system: two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The first number.
    pub major: u16,
    /// The second.
    pub minor: u16,
}

impl FromStr for Release {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| {
            let is_plain =
                !text.is_empty() && text.len() <= 4 && text.bytes().all(|sign| sign.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain && (text.len() == 1 || !text.starts_with('0')))
        };
        let (major, minor) = text.split_once('.').ok_or("two numbers with a dot between them")?;
        let both = number(major).zip(number(minor)).ok_or("two numbers with a dot between them")?;
        Ok(Release { major: both.0, minor: both.1 })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.major, self.minor))
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
            "description": "A release as its maker numbers it, as in `\"5.16\"`",
            "pattern": "^(0|[1-9][0-9]{0,3})\\.(0|[1-9][0-9]{0,3})$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_by_their_numbers() {
        let of = |text: &str| text.parse::<Release>();
        assert!(of("5.9").unwrap() < of("5.16").unwrap());
        assert_eq!(of("5.16").unwrap().to_string(), "5.16");
        for text in ["", "5", "5.", ".5", "5.16.0", "5.x", "5.01", "+5.1", "5.123456"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
