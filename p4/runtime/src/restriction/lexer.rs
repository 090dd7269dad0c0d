//! Splits restrictions into tokens.

use std::ops::Range;

use super::RestrictionError;
use super::number::Number;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'s> {
    /// A name, or `true` or `false`.
    Word(&'s str),
    /// A number.
    Number(Number<'static>),
    /// Text in single quotes, without them.
    Text(&'s str),
    /// An operator or a parenthesis.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Longer operators are before their prefixes: `->` before `-`.
const SIGNS: [&str; 16] =
    ["&&", "||", "->", "::", "==", "!=", ">=", "<=", "!", "(", ")", ">", "<", ".", ";", "-"];

/// Reads tokens one by one.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    /// Returns a lexer at the start of the text.
    pub(super) fn new(source: &'s str) -> Self {
        Lexer { source, at: 0 }
    }

    /// Returns the next token and its position.
    pub(super) fn next(&mut self) -> Result<(Token<'s>, Range<usize>), RestrictionError> {
        self.skip()?;
        let start = self.at;
        let rest = &self.source[start..];
        let token = match rest.chars().next() {
            None => Token::End,
            Some('\'') => {
                let end = rest[1..].find('\'');
                let end = end.ok_or_else(|| self.wrong("the text has no end: `'` is missing"))?;
                self.at += end + 2;
                Token::Text(&rest[1..=end])
            }
            Some(first) if first.is_ascii_digit() => self.number(rest)?,
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let word = word(rest);
                self.at += word.len();
                Token::Word(word)
            }
            Some(first) => {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let sign = sign.ok_or_else(|| self.wrong(&format!("`{first}` has no meaning here")))?;
                self.at += sign.len();
                Token::Sign(sign)
            }
        };
        Ok((token, start..self.at))
    }

    fn wrong(&self, problem: &str) -> RestrictionError {
        RestrictionError::at(self.source, self.at, problem)
    }

    /// Skips spaces and comments. A comment `/*` that is not closed extends to the end of the text, as in
    /// p4-constraints.
    fn skip(&mut self) -> Result<(), RestrictionError> {
        loop {
            let rest = &self.source[self.at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let comment = &rest[blank..];
            let length = if comment.starts_with("//") {
                comment.find(['\n', '\r']).unwrap_or(comment.len())
            } else if let Some(body) = comment.strip_prefix("/*") {
                body.find("*/").map_or(comment.len(), |end| end + 4)
            } else {
                0
            };
            self.at += blank + length;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn number(&mut self, rest: &'s str) -> Result<Token<'s>, RestrictionError> {
        let word = word(rest);
        let (digits, base) = match word.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("0x") => (&word[2..], 16),
            Some("0b") => (&word[2..], 2),
            Some("0o") => (&word[2..], 8),
            Some("0d") => (&word[2..], 10),
            Some(_) | None => (word, 10),
        };
        // No field needs more than 1,024 digits, and parsing time grows with the square of the digits.
        if digits.len() > 1024 {
            return Err(self.wrong("the number has more than 1024 digits"));
        }
        let number = Number::from_digits(digits, base).filter(|_| !digits.is_empty());
        let number = number.ok_or_else(|| self.wrong(&format!("`{word}` is not a number")))?;
        self.at += word.len();
        Ok(Token::Number(number))
    }
}

/// Returns the letters, digits and underscores at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    &text[..end.unwrap_or(text.len())]
}
