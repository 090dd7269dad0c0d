//! Finds definitions: an alias is defined at its anchor, a device at its tier, and a platform in a file of
//! the site. Pins and management ports are defined in the files that the fabric file names.

use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use closc_diagnostics::{Sources, Span};
use closc_topology::{Document, tier_field};

use crate::cursor;
use crate::place::Place;

/// The place of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Definition {
    /// In the same text.
    Here(Range<usize>),
    /// In another file, at a line from 0.
    File(Utf8PathBuf, u32),
}

/// Finds the definition of the element at an offset.
pub(crate) fn at(place: &Place<'_>, file: &Utf8Path, platforms: &Sources) -> Option<Definition> {
    let Place { text, offset, .. } = *place;
    let cursor = cursor::find(text, offset);
    let word = text.get(cursor.word.clone()).filter(|word| !word.is_empty())?;
    if text[..cursor.word.start].ends_with('*') {
        let anchor = format!("&{word}");
        let behind = |at: usize| text[at + anchor.len()..].chars().next().is_none_or(char::is_whitespace);
        let at = text.match_indices(&anchor).map(|(at, _)| at).find(|at| behind(*at))?;
        return Some(Definition::Here(at..at + anchor.len()));
    }
    let path: Vec<&str> = cursor.path.iter().map(String::as_str).collect();
    if path == ["ecmp", "pins"] || path == ["addresses", "management_list"] {
        return Some(Definition::File(file.parent()?.join(word), 0));
    }
    if path.last() == Some(&"platform") {
        return platform(word, platforms);
    }
    let switch = place.fabric()?.topology().naming.parse_switch(word)?;
    let mut sources = Sources::new();
    let document: Document = closc_topology::load(&mut sources, "", text.as_bytes()).ok()?;
    let Span { start, end, .. } = document.spans.stated_span(tier_field!(switch.tier))?;
    Some(Definition::Here(start as usize..end as usize))
}

/// Finds a platform in the files of the site.
fn platform(id: &str, platforms: &Sources) -> Option<Definition> {
    platforms.iter().find_map(|source| {
        let line = source.text.lines().position(|line| {
            let stated = line.trim_start().trim_start_matches("- ").strip_prefix("id:");
            let stated = stated.map(|value| value.split('#').next().unwrap_or_default());
            stated.is_some_and(|value| value.trim().trim_matches(['"', '\'']) == id)
        })?;
        Some(Definition::File(Utf8PathBuf::from(&source.name), line as u32))
    })
}
