//! Separators, quotes and lines of tables from spreadsheets.
//!
//! In: text with a header line. Out: the separator of cells. Invariants: a header with a comma is comma-separated.

/// Detects the separator from the header: spreadsheets use `;` in locales with a decimal comma, and tabs in the
/// clipboard. Empty lines and lines that begin with `#` are not the header.
pub fn separator(text: &[u8]) -> u8 {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let header = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
    [b',', b';', b'\t'].into_iter().find(|sign| header.contains(sign)).unwrap_or(b',')
}

/// Returns the line of an opening quote that is never closed. CSV readers read all text after such a quote as one cell,
/// so the later lines would be missing. A quote opens a cell only as its first character (RFC 4180).
pub fn open_quote(text: &[u8], separator: u8) -> Option<u64> {
    enum Cell {
        Start,
        Plain,
        Quoted,
        /// After a quote that closes the cell, or is the first of two.
        Closed,
    }
    let (mut cell, mut line, mut opened) = (Cell::Start, 1, 0);
    let mut is_comment = text.first() == Some(&b'#');
    for (at, byte) in text.iter().enumerate() {
        cell = match (cell, byte) {
            (Cell::Quoted, b'"') => Cell::Closed,
            (Cell::Closed, b'"') | (Cell::Quoted, _) => Cell::Quoted,
            (_, b'\n') => {
                is_comment = text.get(at + 1) == Some(&b'#');
                Cell::Start
            }
            _ if is_comment => Cell::Plain,
            (Cell::Start, b'"') => {
                opened = line;
                Cell::Quoted
            }
            (_, byte) if *byte == separator => Cell::Start,
            _ => Cell::Plain,
        };
        line += u64::from(*byte == b'\n');
    }
    matches!(cell, Cell::Quoted).then_some(opened)
}

/// Returns the line of a record. A CSV reader returns the position before skipped lines, as a byte and its line.
/// Skipped lines are the rest of a `\r\n`, empty lines, and lines that begin with `comment`.
pub fn record_line(text: &[u8], (byte, line): (u64, u64), comment: Option<u8>) -> u64 {
    let rest = usize::try_from(byte).ok().and_then(|byte| text.get(byte..)).unwrap_or_default();
    let passed = rest.split(|byte| *byte == b'\n').take_while(|text| {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        text.is_empty() || comment == Some(text[0])
    });
    line + passed.count() as u64
}

/// The message for a quote that is not closed.
pub const OPEN_QUOTE: &str =
    "a quote `\"` opens here and is not closed: close it, or write `\"\"` for a quote in a cell";

#[cfg(test)]
mod tests {
    use super::{open_quote, record_line, separator};

    #[test]
    fn quotes_are_closed() {
        let open = |text: &str| open_quote(text.as_bytes(), b',');
        assert_eq!(open("a,b\n1,\"2\n3\",4\n"), None);
        assert_eq!(open("a,b\n1,\"2\"\"\"\n"), None);
        assert_eq!(open("a,b\n1,3\"\n# \"\n"), None, "inches, and a comment");
        assert_eq!(open("a,b\n1,2\n\"3,4\n5,6\n"), Some(3));
        assert_eq!(open("a,b\n1,\"2\"\""), Some(2));
    }

    #[test]
    fn records_have_the_line_of_their_text() {
        let line = |text: &str, comment| record_line(text.as_bytes(), (3, 1), comment);
        assert_eq!(line("a,b\r\n1,2", None), 2, "an empty rest of the header's line");
        assert_eq!(line("a,b\n# c\r\n\n1,2", Some(b'#')), 4);
        assert_eq!(line("a,b\n#1,2", None), 2);
    }

    #[test]
    fn headers_decide() {
        assert_eq!(separator(b"# a;b\r\n\r\nname,role\r\nx;y,z"), b',');
        assert_eq!(separator(b"\xef\xbb\xbfname;role\r\nx;1,5"), b';');
        assert_eq!(separator(b"name\trole"), b'\t');
        assert_eq!(separator(b""), b',');
    }
}
