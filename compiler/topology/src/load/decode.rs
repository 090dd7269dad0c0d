//! From bytes to text.
//!
//! In: bytes. Out: a source text, or why the bytes are not text. Invariants: rejected bytes are still added as a
//! source, cut to the length of a message.

use closc_diagnostics::{Diagnostic, Diagnostics, SourceId, Sources, Span};

use crate::faults;

/// Bytes of a rejected file that are kept to show the place of the fault.
const SHOWN: usize = 4096;

/// Adds bytes as a source text if they are text of a reasonable size.
pub(crate) fn decode(sources: &mut Sources, name: &str, bytes: &[u8]) -> Result<SourceId, Diagnostics> {
    if bytes.len() > faults::BYTES_MAX {
        let source = sources.add(name, "");
        return refuse(faults::too_large(name, Span::new(source, 0..0)));
    }
    // A byte order mark is not part of the text. Offsets and columns count from the byte after it.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return not_text(sources, name, bytes, error.valid_up_to()),
    };
    if let Some(offset) = text.bytes().position(is_binary) {
        return not_text(sources, name, bytes, offset);
    }
    let source = sources.add(name, text);
    if text.trim().is_empty() {
        return refuse(faults::empty_file(Span::new(source, 0..0)));
    }
    Ok(source)
}

/// Returns whether a byte is a control character that no editor writes.
fn is_binary(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Rejects bytes that are not text, showing the line up to the first of them.
fn not_text(sources: &mut Sources, name: &str, bytes: &[u8], offset: usize) -> Result<SourceId, Diagnostics> {
    let byte = bytes[offset];
    // Lines above are replaced by empty ones, so that the line number is correct. A long line is cut.
    let line = bytes[..offset].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let before = String::from_utf8_lossy(&bytes[line.max(offset.saturating_sub(SHOWN))..offset]);
    let breaks = "\n".repeat(bytes[..line].split(|b| *b == b'\n').count() - 1);
    let shown = format!("{breaks}{before}\u{fffd}");
    let start = shown.len() - '\u{fffd}'.len_utf8();
    let end = shown.len();
    let source = sources.add(name, shown);
    refuse(faults::not_text(name, byte, offset, Span::new(source, start..end)))
}

fn refuse(diagnostic: Diagnostic) -> Result<SourceId, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    Err(diagnostics)
}
