//! Printable characters: makes untrusted text safe for a terminal or a page.
//!
//! In: untrusted text. Out: the first unsafe character, or the text without such characters. Invariants: the
//! remaining text cannot move the cursor or change the writing direction. Only [`lines`] keeps line breaks.

/// Returns whether a character is unsafe. These are control characters, and characters that change the
/// writing direction (Unicode Standard Annex 9), break lines or are invisible.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the first character that is unsafe in a single line of text.
pub fn fault(text: &str) -> Option<char> {
    text.chars().find(|c| is_unsafe(*c))
}

/// Returns the text with unsafe characters replaced by U+FFFD. Line breaks are kept.
pub fn lines(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Returns the text as a single line with unsafe characters replaced by U+FFFD.
pub fn line(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_found() {
        for text in
            ["a\nb", "a\tb", "\u{1b}[2J", "\u{9b}2J", "\u{202e}abc", "a\u{7f}", "\u{feff}a", "a\u{2028}b"]
        {
            assert!(fault(text).is_some(), "{text:?}");
            assert_eq!(fault(&line(text)), None, "{text:?}");
        }
        for text in ["", "Zürich, Halle 3", "дата-центр", "NOC <noc@example.net>", "../../x"] {
            assert_eq!(fault(text), None, "{text:?}");
            assert_eq!(line(text), text);
        }
        assert_eq!(lines("a\n\u{1b}b"), "a\n\u{fffd}b");
    }
}
