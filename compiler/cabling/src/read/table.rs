//! The table of SONiC's `show lldp table`: one neighbour per line. The dashes under the titles show the width of the
//! columns.

use std::ops::Range;

use super::{Ports, ReadError};
use crate::sighting::{Neighbour, Sighting};

const TITLES: [&str; 5] = ["LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"];

fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    TITLES.iter().all(|title| words.next() == Some(*title))
}

/// Returns whether a text is such a table.
pub(super) fn is_table(text: &str) -> bool {
    text.lines().any(is_head)
}

/// Reads the table.
pub(super) fn read(text: &str) -> Result<Vec<Sighting>, ReadError> {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| !is_head(line)).skip(1);
    let columns = match lines.next() {
        Some((_, rule)) if rule.starts_with("--") => columns(rule),
        other => {
            return Err(fault(
                other.map_or(0, |(at, _)| at),
                "no column widths, expected a line of dashes under the titles",
            ));
        }
    };
    if columns.len() != TITLES.len() {
        return Err(fault(
            0,
            "wrong number of columns, expected LocalPort, RemoteDevice, RemotePortID, Capability, RemotePortDescr",
        ));
    }
    let mut ports = Ports::default();
    for (at, line) in lines {
        if line.trim().is_empty() || line.starts_with("--") || line.starts_with("Total entries") {
            continue;
        }
        let cell = |column: usize| cell(line, &columns, column);
        let port = cell(0).ok_or_else(|| fault(at, "no local port"))?;
        let neighbour = Neighbour {
            system: cell(1),
            chassis: None,
            ports: [cell(2), cell(4)].into_iter().flatten().collect(),
        };
        ports.add(&port, neighbour)?;
    }
    Ok(ports.finish())
}

fn fault(at: usize, reason: &'static str) -> ReadError {
    ReadError::Line { line: at + 1, reason }
}

/// Returns the ranges of the columns, in characters.
fn columns(rule: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, sign) in rule.chars().enumerate() {
        match found.last_mut() {
            Some(last) if sign == '-' && last.end == at => last.end = at + 1,
            _ if sign == '-' => found.push(at..at + 1),
            _ => {}
        }
    }
    found
}

/// Returns the text in a column. The last column extends to the end of the line.
fn cell(line: &str, columns: &[Range<usize>], column: usize) -> Option<String> {
    let Range { start, end } = columns.get(column)?.clone();
    let length = if column + 1 == columns.len() { usize::MAX } else { end - start };
    let text: String = line.chars().skip(start).take(length).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
