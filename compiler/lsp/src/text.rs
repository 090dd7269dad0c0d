//! The text of an open file, and positions in it as editors count them.
//!
//! In: texts and their changes. Out: byte offsets. Invariants: an offset is always on a character boundary,
//! for any position that an editor sends.

use std::ops::Range;

use lsp_types::{Position, PositionEncodingKind, TextDocumentContentChangeEvent};

/// Unit in which an editor counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Columns {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every editor supports.
    #[default]
    Utf16,
}

impl Columns {
    /// Returns the unit for an editor that offers these encodings.
    pub(crate) fn from_encodings(kinds: Option<&[PositionEncodingKind]>) -> Columns {
        let bytes = kinds.is_some_and(|kinds| kinds.contains(&PositionEncodingKind::UTF8));
        if bytes { Columns::Utf8 } else { Columns::Utf16 }
    }

    /// Returns the protocol's name for the unit.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Columns::Utf8 => PositionEncodingKind::UTF8,
            Columns::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn length(self, character: char) -> usize {
        match self {
            Columns::Utf8 => character.len_utf8(),
            Columns::Utf16 => character.len_utf16(),
        }
    }
}

/// The text of an open file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    /// Contents.
    pub(crate) content: String,
    /// Version number of the text, from the editor.
    pub(crate) version: i32,
    /// Byte offsets at which lines start.
    starts: Vec<usize>,
    columns: Columns,
}

impl Text {
    /// Stores a text, and finds the starts of its lines.
    pub(crate) fn new(text: String, version: i32, columns: Columns) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Text { content: text, version, starts, columns }
    }

    /// Applies the changes of an editor.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        for change in changes {
            match change.range {
                Some(range) => {
                    let (from, to) = (self.offset(range.start), self.offset(range.end));
                    let to = to.max(from);
                    self.content.replace_range(from..to, &change.text);
                    self.move_lines(from..to, &change.text);
                }
                None => *self = Text::new(change.text, version, self.columns),
            }
        }
        self.version = version;
    }

    /// Adjusts the starts of lines after a text has replaced a byte range.
    fn move_lines(&mut self, replaced: Range<usize>, text: &str) {
        let first = self.starts.partition_point(|start| *start <= replaced.start);
        let later = self.starts.partition_point(|start| *start <= replaced.end);
        for start in &mut self.starts[later..] {
            *start = *start - replaced.len() + text.len();
        }
        let new = text.match_indices('\n').map(|(at, _)| replaced.start + at + 1);
        drop(self.starts.splice(first..later, new));
    }

    /// Returns the offset of a position. A position after the end of its line is treated as the end of the line.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.starts.get(line).copied() else { return self.content.len() };
        let end = self.starts.get(line + 1).map_or(self.content.len(), |next| next - 1);
        let mut left = position.character as usize;
        for (at, character) in self.content[start..end].char_indices() {
            let length = self.columns.length(character);
            if left < length {
                return start + at;
            }
            left -= length;
        }
        end
    }

    /// Returns the position of an offset.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.content.len());
        while !self.content.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let column =
            self.content[self.starts[line]..offset].chars().map(|c| self.columns.length(c)).sum::<usize>();
        Position::new(line as u32, column as u32)
    }

    /// Converts a byte range to a range of positions.
    pub(crate) fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// Returns the range of the complete text.
    pub(crate) fn full_range(&self) -> lsp_types::Range {
        self.range(0..self.content.len())
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::Range;

    use super::*;

    fn event(range: Option<[u32; 4]>, text: &str) -> TextDocumentContentChangeEvent {
        let range = range.map(|[a, b, c, d]| Range::new(Position::new(a, b), Position::new(c, d)));
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[test]
    fn columns_are_those_of_the_editor() {
        for (columns, expected) in [(Columns::Utf8, 8), (Columns::Utf16, 5)] {
            let text = Text::new("a: 1\nä𝄞b: c\n".to_owned(), 1, columns);
            let offset = text.content.find(": c").unwrap();
            assert_eq!(text.position(offset + 1), Position::new(1, expected));
            assert_eq!(text.offset(Position::new(1, expected)), offset + 1);
        }
    }

    #[test]
    fn changes_are_made_in_order_and_nothing_panics() {
        let mut text = Text::new("planes: 2\nhosts:\n".to_owned(), 1, Columns::Utf16);
        text.change(vec![event(Some([0, 8, 0, 9]), "16"), event(Some([1, 6, 1, 6]), " {}")], 2);
        assert_eq!((text.content.as_str(), text.version), ("planes: 16\nhosts: {}\n", 2));
        text.change(vec![event(Some([9, 9, 3, 3]), "x"), event(Some([0, 900, 0, 1]), "y")], 3);
        assert!(text.content.ends_with('x'));
        text.change(vec![event(None, "fabric: a\n")], 4);
        assert_eq!(text.full_range(), Range::new(Position::new(0, 0), Position::new(1, 0)));
    }

    #[test]
    fn lines_start_where_they_would_in_the_new_text() {
        let mut text = Text::new("a\nb\n\nc: 1\n".to_owned(), 1, Columns::Utf16);
        let changes = [
            ([0, 1, 1, 0], "\n\nx"),
            ([0, 0, 0, 0], "\n"),
            ([1, 0, 9, 9], "y\nz"),
            ([0, 0, 0, 1], ""),
            ([1, 1, 1, 1], "\n"),
            ([0, 0, 9, 0], ""),
            ([0, 0, 0, 0], "q"),
        ];
        for (range, new) in changes {
            text.change(vec![event(Some(range), new)], 2);
            assert_eq!(
                text.starts,
                Text::new(text.content.clone(), 2, Columns::Utf16).starts,
                "{}",
                text.content
            );
        }
        assert_eq!(text.content, "q");
    }
}
