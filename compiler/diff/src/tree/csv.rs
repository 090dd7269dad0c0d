//! Compares cable lists. A row is identified by the lower end of its cable.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::cables::COLUMNS;

use crate::report::Sign;
use crate::words::{names, plural};

/// Number of cables named per line.
const SHOWN: usize = 2;

type Row<'a> = Vec<&'a str>;

/// Rows by device and port at the lower end.
type Rows<'a> = BTreeMap<(&'a str, &'a str), Row<'a>>;

/// Lists added, removed and changed cables. Returns `None` if a text is not a cable list.
pub(super) fn look(old: &str, new: &str) -> Option<Vec<(Sign, String)>> {
    let (head, before) = rows(old)?;
    let (head_new, after) = rows(new)?;
    if head != head_new {
        return None;
    }
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut found: BTreeMap<(Sign, String), Vec<String>> = BTreeMap::new();
    for key in keys {
        match (before.get(key), after.get(key)) {
            (Some(old), Some(new)) if old != new => {
                let columns = head.iter().zip(old.iter().zip(new)).filter(|(_, (old, new))| old != new);
                let columns: Vec<String> =
                    columns.map(|(name, (old, new))| format!("{name} {old} -> {new}")).collect();
                found.entry((Sign::Change, format!(": {}", columns.join(", ")))).or_default().push(ends(new));
            }
            (Some(old), None) => found.entry((Sign::Remove, String::new())).or_default().push(ends(old)),
            (None, Some(new)) => found.entry((Sign::Add, String::new())).or_default().push(ends(new)),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
    Some(found.into_iter().map(|((sign, rest), cables)| (sign, cable_line(&cables, &rest))).collect())
}

/// Returns the line for cables with the same change.
fn cable_line(cables: &[String], rest: &str) -> String {
    match cables {
        [only] => format!("{only}{rest}"),
        more => {
            let count = plural(more.len() as u64, "cable", "cables");
            format!("{count}{rest} ({})", names(more.iter().cloned(), SHOWN))
        }
    }
}

fn rows<'a>(text: &'a str) -> Option<(Row<'a>, Rows<'a>)> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Row<'a>>());
    let head = lines.next()?;
    if head != COLUMNS {
        return None;
    }
    let key = |row: &Row<'a>| match row[..] {
        [_, _, device, port, ..] => Some((device, port)),
        _ => None,
    };
    let rows = lines.map(|row| Some((key(&row)?, row)));
    Some((head, rows.collect::<Option<_>>()?))
}

fn ends(row: &Row<'_>) -> String {
    match row.as_slice() {
        [_, _, lower, lower_port, upper, upper_port, ..] => {
            format!("{lower} {lower_port} -- {upper} {upper_port}")
        }
        other => other.join(" "),
    }
}
