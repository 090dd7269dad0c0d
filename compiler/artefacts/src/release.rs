//! The release of a signed tree: its sequence number and its expiry date.
//!
//! In: a number and a date that the signer chose. Out: fields of the manifest, so that the signature covers them.
//! Invariants: a date is a day of the Gregorian calendar, `YYYY-MM-DD`. A tree expires at the end of that day in UTC.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The release of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Sequence number: a tree with a higher number is newer.
    pub sequence: u64,
    /// The last day on which the tree may be pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Date>,
}

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

const DAY_S: u64 = 24 * 3600;

impl Date {
    /// Returns whether the day has ended at a time, which is given in seconds since 1970.
    pub fn is_before(self, now_s: u64) -> bool {
        now_s >= (self.days() + 1) * DAY_S
    }

    /// Returns the days since 1970-01-01. Years begin in March here, so a leap day is the last day of its year.
    fn days(self) -> u64 {
        let month = u64::from(self.month);
        let year = u64::from(self.year) - u64::from(month < 3);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + u64::from(self.day) - 1;
        // There are 719,468 days from 0000-03-01 to 1970-01-01.
        (365 * year + year / 4 - year / 100 + year / 400 + day_of_year).saturating_sub(719_468)
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{}` is not a day: expected YYYY-MM-DD", text.escape_default());
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return Err(wrong()) };
        if !is_plain || (year.len(), month.len(), day.len()) != (4, 2, 2) {
            return Err(wrong());
        }
        let year: u16 = year.parse().map_err(|_| wrong())?;
        let (month, day) = (month.parse().map_err(|_| wrong())?, day.parse().map_err(|_| wrong())?);
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last: u8 = match month {
            2 => 28 + u8::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        if year < 1970 || day == 0 || day > last { Err(wrong()) } else { Ok(Date { year, month, day }) }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Date> for String {
    fn from(date: Date) -> String {
        date.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_midnight() {
        // `date -u -d 2024-02-29 +%s` prints 1709164800, and 951868800 for 2000-03-01.
        for (text, begin) in [("1970-01-01", 0), ("2024-02-29", 1_709_164_800), ("2000-03-01", 951_868_800)] {
            let date: Date = text.parse().expect("a day");
            assert_eq!(date.to_string(), text);
            assert!(!date.is_before(begin) && !date.is_before(begin + DAY_S - 1), "{text}");
            assert!(date.is_before(begin + DAY_S), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2024",
            "2023-02-29",
            "1900-01-01",
            "2024-13-01",
            "2024-1-1",
            "2024-04-31",
            "+024-01-01",
            "2024-01-00",
        ] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
