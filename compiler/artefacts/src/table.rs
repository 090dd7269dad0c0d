//! Field separator of tables from spreadsheets.
//!
//! In: text with a header line. Out: the separator of its cells. Invariants: a header with a comma is comma-separated.

/// Detects the separator from the header: spreadsheets use `;` in locales with a decimal comma, and tabs in the
/// clipboard. Empty lines and lines that begin with `#` are not the header.
pub fn separator(text: &[u8]) -> u8 {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let header = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
    [b',', b';', b'\t'].into_iter().find(|sign| header.contains(sign)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::separator;

    #[test]
    fn headers_decide() {
        assert_eq!(separator(b"# a;b\r\n\r\nname,role\r\nx;y,z"), b',');
        assert_eq!(separator(b"\xef\xbb\xbfname;role\r\nx;1,5"), b';');
        assert_eq!(separator(b"name\trole"), b'\t');
        assert_eq!(separator(b""), b',');
    }
}
