//! Insertion of new keys into a mapping.

use crate::yaml::{Item, Value};

use super::Edit;

/// Returns the edit that adds keys to a mapping. They get a separate line if the other keys have separate lines.
pub(super) fn keys(item: &Item, new: &[String], text: &str) -> Option<Edit> {
    let entries = item.entries();
    let Some(first) = entries.first() else {
        let open = item.place.start;
        return text.get(open..)?.starts_with('{').then(|| at(open + 1, format!(" {} ", new.join(", "))));
    };
    let start = first.key_place.start;
    let before = text.get(..start)?.trim_end();
    if before.ends_with('{') {
        return Some(at(before.len(), format!(" {},", new.join(", "))));
    }
    let line = text[..start].rfind('\n').map_or(0, |line| line + 1);
    let column = text[line..start].chars().count();
    let end_of_line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let end = format!("{end_of_line}{}", " ".repeat(column));
    let last = entries.last()?;
    let (from, to) = (last.key_place.start, last.item.place.end);
    let is_short = !matches!(last.item.value, Value::Mapping(_) | Value::List(_) | Value::Null)
        && last.item.place.start > from
        && !text.get(from..to)?.contains('\n');
    if !is_short {
        return Some(at(start, new.iter().fold(String::new(), |text, key| format!("{text}{key}{end}"))));
    }
    let line_end = text[to..].find('\n').map_or(text.len(), |length| to + length);
    let line_end = if text[..line_end].ends_with('\r') { line_end - 1 } else { line_end };
    Some(at(line_end, new.iter().fold(String::new(), |text, key| format!("{text}{end}{key}"))))
}

fn at(place: usize, text: String) -> Edit {
    Edit { range: place..place, text }
}
