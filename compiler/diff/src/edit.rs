//! Adds a name to `exceptions.drained` of a fabric file, or removes it, without changing any other byte.
//!
//! In: the text of a file and a name. Out: the new text. Invariants: only lines and lists in `exceptions`
//! change. The caller parses the result and compares it, so a faulty edit is rejected and never written.

/// Reason why a file is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The name is already in the list.
    #[error("`{0}` is in `exceptions.drained` already")]
    There(String),
    /// The list does not contain exactly this name.
    #[error(
        "`{0}` is not in `exceptions.drained` by itself; if a range or its plane is there, edit the file"
    )]
    NotThere(String),
    /// The list has a form that this module cannot edit.
    #[error(
        "`exceptions` is written in a way that cannot be changed line by line: add or remove `{0}` yourself"
    )]
    Form(String),
}

/// A line with its byte range.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    start: usize,
    end: usize,
    text: &'a str,
}

impl Row<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    /// Returns the line without comment and surrounding spaces.
    fn content(&self) -> &str {
        let cut = self.text.find(" #").unwrap_or(self.text.len());
        let text = self.text[..cut].trim();
        if text.starts_with('#') { "" } else { text }
    }
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let row = Row { start, end: start + line.len(), text: line.trim_end_matches(['\n', '\r']) };
            start += line.len();
            row
        })
        .collect()
}

/// Adds a name to `exceptions.drained`.
pub fn drain(text: &str, name: &str) -> Result<String, EditError> {
    let rows = rows(text);
    let Some(top) = key(&rows, 0..rows.len(), 0, "exceptions") else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{gap}exceptions:\n  drained:\n    - {name}\n"));
    };
    let body = block(&rows, top);
    let value = rows[top].content()["exceptions:".len()..].trim();
    if !value.is_empty() {
        return in_flow(text, &rows[top], name);
    }
    let Some(first) = body.clone().find(|at| !rows[*at].content().is_empty()) else {
        return Ok(insert(text, rows[top].end, &format!("  drained:\n    - {name}\n")));
    };
    let indent = rows[first].indent();
    let Some(list) = key(&rows, body, indent, "drained") else {
        let pad = " ".repeat(indent);
        return Ok(insert(text, rows[first].start, &format!("{pad}drained:\n{pad}  - {name}\n")));
    };
    let value = rows[list].content()["drained:".len()..].trim();
    if value.starts_with('[') {
        return flow_add(text, &rows[list], name);
    }
    if !value.is_empty() {
        return Err(EditError::Form(name.to_owned()));
    }
    let items: Vec<usize> = items(&rows, list);
    if items.iter().any(|at| item(&rows[*at]) == Some(name)) {
        return Err(EditError::There(name.to_owned()));
    }
    if let Some(last) = items.last() {
        let pad = " ".repeat(rows[*last].indent());
        let gap = if text[..rows[*last].end].ends_with('\n') { "" } else { "\n" };
        return Ok(insert(text, rows[*last].end, &format!("{gap}{pad}- {name}\n")));
    }
    let pad = " ".repeat(indent + 2);
    Ok(insert(text, rows[list].end, &format!("{pad}- {name}\n")))
}

/// Removes a name from `exceptions.drained`.
pub fn undrain(text: &str, name: &str) -> Result<String, EditError> {
    let rows = rows(text);
    let not_there = || EditError::NotThere(name.to_owned());
    let top = key(&rows, 0..rows.len(), 0, "exceptions").ok_or_else(not_there)?;
    if !rows[top].content()["exceptions:".len()..].trim().is_empty() {
        return flow_remove(text, &rows[top], name);
    }
    let body = block(&rows, top);
    let first = body.clone().find(|at| !rows[*at].content().is_empty()).ok_or_else(not_there)?;
    let list = key(&rows, body, rows[first].indent(), "drained").ok_or_else(not_there)?;
    if rows[list].content()["drained:".len()..].trim().starts_with('[') {
        return flow_remove(text, &rows[list], name);
    }
    let items = items(&rows, list);
    let at = *items.iter().find(|at| item(&rows[**at]) == Some(name)).ok_or_else(not_there)?;
    let without =
        |first: usize, last: usize| format!("{}{}", &text[..rows[first].start], &text[rows[last].end..]);
    if items.len() > 1 {
        return Ok(without(at, at));
    }
    // Remove the key with its last item, and `exceptions` with its last key. Keep other keys and comments.
    let is_bare = |row: &Row<'_>, key: &str| row.text.trim() == key;
    let is_blank = |at: usize| rows[at].text.trim().is_empty();
    if is_bare(&rows[list], "drained:") && (list + 1..at).all(is_blank) {
        let others = block(&rows, top).any(|row| (row < list || row > at) && !is_blank(row));
        let first = if !others && is_bare(&rows[top], "exceptions:") { top } else { list };
        if others || first == top {
            return Ok(without(first, at));
        }
    }
    let mut out = without(at, at);
    // A key without a value is not a list.
    let place = rows[list].start + rows[list].text.find("drained:").unwrap_or(0) + "drained:".len();
    out.insert_str(place, " []");
    Ok(out)
}

fn insert(text: &str, at: usize, what: &str) -> String {
    format!("{}{what}{}", &text[..at], &text[at..])
}

/// Finds the row of a key with a given indentation.
fn key(rows: &[Row<'_>], within: std::ops::Range<usize>, indent: usize, name: &str) -> Option<usize> {
    within.into_iter().find(|at| {
        let row = &rows[*at];
        let rest = row.content().strip_prefix(name);
        row.indent() == indent && rest.is_some_and(|rest| rest.starts_with(':'))
    })
}

/// Returns the rows below a key: those with more indentation, and blank rows between them.
fn block(rows: &[Row<'_>], top: usize) -> std::ops::Range<usize> {
    let indent = rows[top].indent();
    let end =
        (top + 1..rows.len()).find(|at| !rows[*at].content().is_empty() && rows[*at].indent() <= indent);
    top + 1..end.unwrap_or(rows.len())
}

/// Returns the items of a list below a key. They may have the same indentation as the key.
fn items(rows: &[Row<'_>], list: usize) -> Vec<usize> {
    let indent = rows[list].indent();
    (list + 1..rows.len())
        .take_while(|at| {
            let row = &rows[*at];
            row.content().is_empty()
                || row.indent() > indent
                || (row.indent() == indent && row.content().starts_with("- "))
        })
        .filter(|at| rows[*at].content().starts_with("- "))
        .collect()
}

fn item<'a>(row: &'a Row<'_>) -> Option<&'a str> {
    Some(strip_quotes(row.content().strip_prefix("- ")?))
}

fn strip_quotes(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// Adds a name to `exceptions: { ... }` on one line.
fn in_flow(text: &str, row: &Row<'_>, name: &str) -> Result<String, EditError> {
    if row.content().contains("drained:") {
        return flow_add(text, row, name);
    }
    let open = row.text.find('{').ok_or_else(|| EditError::Form(name.to_owned()))?;
    let rest = row.text[open + 1..].trim_start();
    let comma = if rest.starts_with('}') { " " } else { ", " };
    let list = format!(" drained: [{name}]{}", comma.trim_end());
    Ok(insert(text, row.start + open + 1, &list))
}

/// Returns the range of the list in `drained: [ ... ]`, within its row.
fn flow_list(row: &Row<'_>, name: &str) -> Result<std::ops::Range<usize>, EditError> {
    let form = || EditError::Form(name.to_owned());
    let start = row.text.find("drained:").ok_or_else(form)? + "drained:".len();
    let open = start + row.text[start..].find('[').ok_or_else(form)? + 1;
    // Names with ranges also contain brackets, but are quoted.
    let mut quote = None;
    for (at, c) in row.text[open..].char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(own), c) if own == c => quote = None,
            (None, ']') => return Ok(open..open + at),
            (_, _) => {}
        }
    }
    Err(form())
}

fn flow_add(text: &str, row: &Row<'_>, name: &str) -> Result<String, EditError> {
    let list = flow_list(row, name)?;
    let inside = &row.text[list.clone()];
    if inside.split(',').any(|item| strip_quotes(item) == name) {
        return Err(EditError::There(name.to_owned()));
    }
    let kept = inside.trim_end();
    let what = if kept.trim().is_empty() { name.to_owned() } else { format!(", {name}") };
    Ok(insert(text, row.start + list.start + kept.len(), &what))
}

fn flow_remove(text: &str, row: &Row<'_>, name: &str) -> Result<String, EditError> {
    let list = flow_list(row, name).map_err(|_| EditError::NotThere(name.to_owned()))?;
    let inside = &row.text[list.clone()];
    let items: Vec<&str> = inside.split(',').collect();
    let at = items
        .iter()
        .position(|item| strip_quotes(item) == name)
        .ok_or_else(|| EditError::NotThere(name.to_owned()))?;
    let mut kept = items;
    kept.remove(at);
    if kept.is_empty()
        && let Some(out) = remove_flow_key(text, row, &list)
    {
        return Ok(out);
    }
    let joined = kept.join(",");
    let joined = if at == 0 { joined.trim_start().to_owned() } else { joined };
    let (start, end) = (row.start + list.start, row.start + list.end);
    Ok(format!("{}{joined}{}", &text[..start], &text[end..]))
}

/// Removes `drained: []` from `exceptions: { ... }` on one line. If that was the last key, removes the
/// complete line.
fn remove_flow_key(text: &str, row: &Row<'_>, list: &std::ops::Range<usize>) -> Option<String> {
    let open =
        row.text.strip_prefix("exceptions:").and_then(|rest| Some(rest.find('{')? + "exceptions:".len()))?;
    let key = row.text.find("drained:")?;
    let rest = row.text.get(list.end + 1..)?;
    let (before, after) = (row.text.get(open + 1..key)?.trim(), rest.trim_start());
    if before.is_empty() && after == "}" {
        return Some(format!("{}{}", &text[..row.start], &text[row.end..]));
    }
    let next = after.strip_prefix(',').filter(|_| before.is_empty())?.trim_start();
    let (start, end) = (row.start + open + 1, row.start + row.text.len() - next.len());
    Some(format!("{} {}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "p1-t1-002";

    #[test]
    fn a_file_without_exceptions_gets_them() {
        let after = "fabric: x\nexceptions:\n  drained:\n    - p1-t1-002\n";
        assert_eq!(drain("fabric: x\n", NAME).unwrap(), after);
        assert_eq!(drain("fabric: x", NAME).unwrap(), after);
        assert_eq!(undrain(after, NAME).unwrap(), "fabric: x\n");
        // If other text stays on the line, the key needs a value, because an empty value is not a list.
        assert_eq!(
            undrain("exceptions: # why\n  drained:\n    - p1-t1-002\n", NAME).unwrap(),
            "exceptions: # why\n  drained: []\n"
        );
        assert_eq!(
            undrain("exceptions:\n  drained:\n    - p1-t1-002\n  absent: [a]\n", NAME).unwrap(),
            "exceptions:\n  absent: [a]\n"
        );
        for before in ["fabric: x\n", "exceptions: { absent: [c] }\n", "exceptions:\n  absent: [c]\nqos: x\n"]
        {
            assert_eq!(undrain(&drain(before, NAME).unwrap(), NAME).unwrap(), before);
        }
        assert_eq!(undrain("exceptions: { drained: [p1-t1-002] }\nqos: x\n", NAME).unwrap(), "qos: x\n");
        assert_eq!(
            drain("fabric: x\nexceptions:\n  drained: []\n", NAME).unwrap(),
            "fabric: x\nexceptions:\n  drained: [p1-t1-002]\n"
        );
    }

    #[test]
    fn a_block_keeps_its_indentation_and_comments() {
        assert_eq!(
            drain("exceptions: # why\n    absent:\n      - a # gone\n\nqos: x\n", NAME).unwrap(),
            "exceptions: # why\n    drained:\n      - p1-t1-002\n    absent:\n      - a # gone\n\nqos: x\n",
        );
        let before = "exceptions:\n  drained:\n  - a\n  # note\n  - b\n  absent: [c]\n";
        let after = "exceptions:\n  drained:\n  - a\n  # note\n  - b\n  - p1-t1-002\n  absent: [c]\n";
        assert_eq!(drain(before, NAME).unwrap(), after);
        assert_eq!(undrain(after, NAME).unwrap(), before);
    }

    #[test]
    fn lists_on_one_line_stay_on_it() {
        for (before, after) in [
            ("exceptions:\n  drained: [a, b] # x\n", "exceptions:\n  drained: [a, b, p1-t1-002] # x\n"),
            ("exceptions:\n  drained: []\n", "exceptions:\n  drained: [p1-t1-002]\n"),
            (
                "exceptions: { drained: [\"p0-t0-[1-2]\"], absent: [c] }\n",
                "exceptions: { drained: [\"p0-t0-[1-2]\", p1-t1-002], absent: [c] }\n",
            ),
        ] {
            assert_eq!(drain(before, NAME).unwrap(), after);
            assert_eq!(undrain(after, NAME).unwrap(), before);
        }
        assert_eq!(
            drain("exceptions: { absent: [c] }\n", NAME).unwrap(),
            "exceptions: { drained: [p1-t1-002], absent: [c] }\n"
        );
    }

    #[test]
    fn what_is_there_or_not_there_is_said() {
        let text = "exceptions:\n  drained:\n    - p1-t1-002\n";
        assert_eq!(drain(text, NAME), Err(EditError::There(NAME.into())));
        assert_eq!(undrain(text, "p1-t1-003"), Err(EditError::NotThere("p1-t1-003".into())));
        assert_eq!(undrain("fabric: x\n", NAME), Err(EditError::NotThere(NAME.into())));
    }
}
