//! Extracts the text of a restriction from its annotation, and shows parts of it in one line.

use super::{MAX_BYTES, RestrictionError};

/// Finds the annotation and returns its text without quotes. Several adjacent strings form one text, with one line per
/// string.
pub(super) fn find(annotations: &[String], name: &str) -> Result<Option<String>, RestrictionError> {
    let body = annotations.iter().find_map(|annotation| annotation.trim().strip_prefix(name));
    let Some(body) = body else { return Ok(None) };
    let wrong = |problem: &str| RestrictionError { line: 1, column: 1, problem: problem.to_owned() };
    if body.len() > MAX_BYTES {
        return Err(wrong(&format!("it has more than {MAX_BYTES} bytes")));
    }
    let quoted = || wrong("the text is not in parentheses and double quotes");
    let mut rest =
        body.trim().strip_prefix('(').and_then(|body| body.strip_suffix(')')).ok_or_else(quoted)?.trim();
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let (line, after) =
            rest.strip_prefix('"').and_then(|rest| rest.split_once('"')).ok_or_else(quoted)?;
        lines.push(line);
        rest = after.trim_start();
    }
    Ok(Some(lines.join("\n")))
}

/// Returns a part of the text without comments and with single spaces.
pub(super) fn in_one_line(piece: &str) -> String {
    let mut text = String::with_capacity(piece.len());
    let mut rest = piece;
    while !rest.is_empty() {
        let (before, after) = match (rest.find("//"), rest.find("/*")) {
            (Some(line), block) if block.is_none_or(|block| line < block) => {
                (&rest[..line], rest[line..].split_once(['\n', '\r']).map_or("", |(_, after)| after))
            }
            (_, Some(block)) => {
                (&rest[..block], rest[block + 2..].split_once("*/").map_or("", |(_, after)| after))
            }
            (_, None) => (rest, ""),
        };
        text.push_str(before);
        text.push(' ');
        rest = after;
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
