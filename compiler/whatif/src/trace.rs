//! Traces of failures and repairs, replayed moment by moment.
//!
//! In: lines of `TIME,down|up,ELEMENT`. Out: the remaining capacity after each moment, or errors with their
//! line numbers. After 100 errors, reading stops. Invariants: times never decrease. Only an element that is
//! up can go down, and only one that is down can come up. An element and its parts fail independently, so a
//! cable is down while either it or its switch is.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::WhatIf;
use crate::element::{Element, Elements};
use crate::lines::{self, LineError};
use crate::outcome::Outcome;

/// Kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// The element fails.
    Down,
    /// The element recovers.
    Up,
}

/// A line of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The time as written in the trace.
    pub time: String,
    /// The time in seconds: since the start of the trace, or since 1970.
    pub seconds: f64,
    /// Whether the elements fail or recover.
    pub change: Change,
    /// The elements that fail or recover.
    pub elements: Vec<Element>,
}

/// Remaining capacity between one moment of a trace and the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The time as written in the trace.
    pub time: String,
    /// The time in seconds.
    pub seconds: f64,
    /// Events of this moment.
    pub changes: Vec<(Change, Element)>,
    /// Number of elements that are down.
    pub down: usize,
    /// Remaining capacity.
    pub outcome: Outcome,
}

/// First line of a trace.
const HEADER: [&str; 3] = ["time", "event", "element"];

/// Reads a trace.
pub fn read(elements: &Elements<'_>, text: &str) -> Result<Vec<Event>, Vec<LineError>> {
    let mut events: Vec<Event> = Vec::new();
    let mut faults = Vec::new();
    // The line of the `down` event, for each element that is down.
    let mut down: BTreeMap<Element, u64> = BTreeMap::new();
    let mut named = 0;
    for row in lines::rows(text, &HEADER) {
        if faults.len() >= lines::FAULTS_MAX {
            break;
        }
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let mut bad = |why: String| faults.push(LineError { line: row.line, reason: why });
        let [time, change, name] = row.fields;
        let seconds = seconds(&time);
        if let (Ok(seconds), Some(last)) = (&seconds, events.last())
            && *seconds < last.seconds
        {
            bad(format!(
                "`{time}` is before `{}`, the time of the previous event: sort the trace by time",
                last.time
            ));
        }
        let change = match change.as_str() {
            "down" => Ok(Change::Down),
            "up" => Ok(Change::Up),
            other => Err(format!("`{other}` is not an event: write `down` or `up`")),
        };
        let found = elements.parse(&name);
        match (seconds, change, found) {
            (Ok(seconds), Ok(change), Ok(elements_named)) => {
                named += elements_named.len();
                if named > lines::NAMED_MAX {
                    faults.push(LineError::too_much(row.line));
                    break;
                }
                for element in &elements_named {
                    if let Err(why) = apply_event(&mut down, *element, change, row.line) {
                        bad(format!("`{}` {why}", elements.name(*element)));
                    }
                }
                events.push(Event { time, seconds, change, elements: elements_named });
            }
            (seconds, change, found) => {
                for why in [seconds.err(), change.err(), found.err()].into_iter().flatten() {
                    bad(why);
                }
            }
        }
    }
    if faults.is_empty() { Ok(events) } else { Err(faults) }
}

/// Records an event, or returns why it does not fit the state of its element.
fn apply_event(
    down: &mut BTreeMap<Element, u64>,
    element: Element,
    change: Change,
    line: u64,
) -> Result<(), String> {
    match change {
        Change::Down => match down.insert(element, line) {
            None => Ok(()),
            Some(since) => Err(format!("is down already, since line {since}")),
        },
        Change::Up => match down.remove(&element) {
            Some(_) => Ok(()),
            None => Err("is not down".to_owned()),
        },
    }
}

/// Reads seconds, or a time of RFC 3339 in UTC.
fn seconds(text: &str) -> Result<f64, String> {
    let bad = || format!("`{text}` is not a time: write seconds as `12.5`, or UTC as `2026-05-05T12:00:00Z`");
    match text.strip_suffix('Z').and_then(|utc| utc.split_once('T')) {
        Some((date, clock)) => {
            Ok(days(date).ok_or_else(bad)? as f64 * 86_400.0 + of_day(clock).ok_or_else(bad)?)
        }
        None => {
            text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0).ok_or_else(bad)
        }
    }
}

/// Returns the days since 1970 of a date such as `2026-05-05`, in the proleptic Gregorian calendar.
fn days(date: &str) -> Option<i64> {
    let parts: Vec<i64> = date.split('-').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [year, month, day] = parts.as_slice() else { return None };
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap(*year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(*month).ok().filter(|month| (1..=12).contains(month))?;
    if !(1970..=9999).contains(year) || !(1..=lengths[month - 1]).contains(day) {
        return None;
    }
    let before = *year - 1;
    let to_year = |year: i64| year * 365 + year / 4 - year / 100 + year / 400;
    Some(to_year(before) - to_year(1969) + lengths[..month - 1].iter().sum::<i64>() + day - 1)
}

/// Returns the seconds of a time such as `12:00:00.5`.
fn of_day(clock: &str) -> Option<f64> {
    let mut parts = clock.split(':');
    let (hours, minutes) = (parts.next()?.parse::<u8>().ok()?, parts.next()?.parse::<u8>().ok()?);
    let seconds: f64 = parts.next()?.parse().ok()?;
    let fits = hours < 24 && minutes < 60 && (0.0..61.0).contains(&seconds) && parts.next().is_none();
    fits.then(|| f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + seconds)
}

/// Replays a trace. Events with the same time form one moment.
pub(crate) fn follow(whatif: &WhatIf<'_>, events: &[Event]) -> Vec<Moment> {
    let mut down: BTreeSet<Element> = BTreeSet::new();
    let mut moments = Vec::new();
    for now in events.chunk_by(|a, b| a.seconds.total_cmp(&b.seconds).is_eq()) {
        let mut changes = Vec::new();
        for event in now {
            for element in &event.elements {
                match event.change {
                    Change::Down => drop(down.insert(*element)),
                    Change::Up => drop(down.remove(element)),
                }
                changes.push((event.change, *element));
            }
        }
        let failed: Vec<Element> = down.iter().copied().collect();
        moments.push(Moment {
            time: now[0].time.clone(),
            seconds: now[0].seconds,
            changes,
            down: failed.len(),
            outcome: whatif.fail(&failed, 1),
        });
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_utc() {
        assert_eq!(seconds("12.5"), Ok(12.5));
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Ok(0.0));
        // The expected values were computed with `date -u -d ... +%s`.
        assert_eq!(seconds("2026-05-05T12:30:15.5Z"), Ok(1_777_984_215.5));
        assert_eq!(seconds("2000-03-01T00:00:00Z"), Ok(951_868_800.0));
        for text in
            ["", "-1", "NaN", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-05-05T24:00:00Z", "noon"]
        {
            assert!(seconds(text).unwrap_err().contains("is not a time"), "{text}");
        }
    }
}
