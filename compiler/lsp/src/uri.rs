//! Conversion between file paths and the URIs that editors use.

use camino::Utf8PathBuf;
use lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Characters that are percent-encoded in the path of a URI (RFC 3986 section 3.3).
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'|')
    .add(b'\\');

/// Returns the path of a file. For a text that is not yet on disk, returns its complete URI.
pub(crate) fn path(uri: &Uri) -> Utf8PathBuf {
    let text = uri.as_str();
    let path = text.strip_prefix("file://").map_or(text, |rest| &rest[rest.find('/').unwrap_or(0)..]);
    percent_decode_str(path).decode_utf8_lossy().into_owned().into()
}

/// Returns the `file` URI of a path.
pub(crate) fn of(path: &camino::Utf8Path) -> Option<Uri> {
    let path = camino::absolute_utf8(path).ok()?;
    format!("file://{}", utf8_percent_encode(path.as_str(), ESCAPED)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for name in ["/a/b.yaml", "/a b/ä#1?.yaml", "/50%/x[1].yaml"] {
            let uri = of(name.into()).unwrap();
            assert_eq!(path(&uri), name, "{}", uri.as_str());
        }
        assert_eq!(path(&"untitled:Untitled-1".parse().unwrap()), "untitled:Untitled-1");
        assert_eq!(path(&"file://host/a.yaml".parse().unwrap()), "/a.yaml");
    }
}
