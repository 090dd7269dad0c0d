//! Printable characters: foreign text on a terminal or in a page.
//!
//! In: text from other parties. Out: the first character that does more than show itself, or the text without
//! them. Invariants: what is left moves no cursor, ends no line and turns no direction of writing.

/// Tells whether a character does more than show itself: controls, and marks that turn the direction of writing
/// (Unicode Standard Annex 9), break lines or hide.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the first character of one line of text that no such line has.
pub fn fault(text: &str) -> Option<char> {
    text.chars().find(|c| acts(*c))
}

/// Returns a text of any lines in which every character shows itself.
pub fn lines(text: &str) -> String {
    text.chars().map(|c| if acts(c) && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Returns one line in which every character shows itself.
pub fn line(text: &str) -> String {
    text.chars().map(|c| if acts(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
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
