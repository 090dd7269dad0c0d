//! Source texts and places in them.
//!
//! A [`Span`] is a byte range in one source. Lines and columns are computed only when a span is shown.

use std::ops::Range;

/// Index of a source text in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

/// A byte range in one source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The text that contains the range.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from a byte range.
    pub fn new(source: SourceId, range: Range<usize>) -> Self {
        Span { source, start: range.start as u32, end: range.end as u32 }
    }
}

/// Position as displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A source text with its display name.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name in messages, usually the path as given by the user.
    pub name: String,
    /// The complete text.
    pub text: String,
}

/// All source texts of a run.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.files.push(Source { name: name.into(), text: text.into() });
        SourceId(self.files.len() as u32 - 1)
    }

    /// Returns the id of the last text that was added with this name.
    pub fn find(&self, name: &str) -> Option<SourceId> {
        self.files.iter().rposition(|file| file.name == name).map(|at| SourceId(at as u32))
    }

    /// Returns all texts, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// Returns a source by its id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// Returns the text under a span, or an empty text if the span is outside the source.
    pub fn text(&self, span: Span) -> &str {
        let text = &self.get(span.source).text;
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns the line and column of the first byte of a span.
    pub fn position(&self, span: Span) -> Position {
        self.position_at(span.source, span.start as usize)
    }

    /// Returns the line and column of a byte offset.
    pub fn position_at(&self, source: SourceId, offset: usize) -> Position {
        let text = &self.get(source).text;
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = Sources::new();
        let id = sources.add("a.yaml", "planes: 8\nnäme: x\n");
        assert_eq!(sources.position(Span::new(id, 0..1)), Position { line: 1, column: 1 });
        let x = "planes: 8\nnäme: ".len();
        assert_eq!(sources.position(Span::new(id, x..x + 1)), Position { line: 2, column: 7 });
        assert_eq!(sources.text(Span::new(id, x..x + 1)), "x");
    }

    #[test]
    fn offsets_past_the_end_or_inside_a_character_do_not_panic() {
        let mut sources = Sources::new();
        let id = sources.add("a.yaml", "ä");
        assert_eq!(sources.position_at(id, 1).column, 1);
        assert_eq!(sources.position_at(id, 99).column, 2);
    }
}
