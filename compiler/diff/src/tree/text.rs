//! Compares text files: number of changed lines, and unified differences.

use similar::{ChangeTag, TextDiff};

use crate::report::Sign;
use crate::words::plural;

/// Maximum number of differing lines that are shown in full.
const SHOWN: usize = 4;

/// Lists the lines that differ, or their number if there are many.
pub(super) fn look(old: &str, new: &str) -> Vec<(Sign, String)> {
    let difference = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for change in difference.iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Insert => Sign::Add,
            ChangeTag::Delete => Sign::Remove,
        };
        lines.push((sign, change.value().trim().to_owned()));
    }
    if lines.len() <= SHOWN {
        return lines;
    }
    let count = |wanted| lines.iter().filter(|(sign, _)| *sign == wanted).count() as u64;
    let (added, removed) = (count(Sign::Add), count(Sign::Remove));
    vec![(
        Sign::Change,
        format!("{} added, {} removed", plural(added, "line", "lines"), plural(removed, "line", "lines")),
    )]
}

/// Returns the unified difference of two texts, or `None` if one is not text.
pub(super) fn unified_diff(path: &str, old: &[u8], new: &[u8]) -> Option<String> {
    let (old, new) = (std::str::from_utf8(old).ok()?, std::str::from_utf8(new).ok()?);
    let difference = TextDiff::from_lines(old, new);
    Some(difference.unified_diff().header(&format!("old/{path}"), &format!("new/{path}")).to_string())
}
