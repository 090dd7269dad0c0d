//! Splits one line into words and punctuation.
//!
//! In: a line. Out: its tokens up to a comment. A name may be quoted completely or in part: quoted text is taken
//! literally, and the quotes are removed.

use std::iter::Peekable;
use std::str::Chars;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a number, or a value.
    Word(String),
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `=`, or a comparison.
    Operator(String),
}

/// Returns the line without its comment.
pub(super) fn strip_comment(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|c| {
        quoted ^= c == '"';
        c == '#' && !quoted
    });
    line[..end.unwrap_or(line.len())].trim()
}

/// Splits a line that has no comment.
pub(super) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&next) = chars.peek() {
        let token = match next {
            ':' => Token::Colon,
            ',' => Token::Comma,
            '(' => Token::Open,
            ')' => Token::Close,
            '=' | '!' | '<' | '>' => {
                tokens.push(Token::Operator(run_of(&mut chars, |c| "=!<>".contains(c))));
                continue;
            }
            space if space.is_whitespace() => {
                chars.next();
                continue;
            }
            _ => {
                tokens.push(Token::Word(word(&mut chars)?));
                continue;
            }
        };
        chars.next();
        tokens.push(token);
    }
    Ok(tokens)
}

fn run_of(chars: &mut Peekable<Chars<'_>>, holds: impl Fn(char) -> bool) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next_if(|c| holds(*c)) {
        text.push(c);
    }
    text
}

fn word(chars: &mut Peekable<Chars<'_>>) -> Result<String, String> {
    let mut text = String::new();
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !":,()=!<>".contains(*c)) {
        if c != '"' {
            text.push(c);
            continue;
        }
        text.push_str(&run_of(chars, |c| c != '"'));
        chars.next().ok_or_else(|| format!("the quote before `{text}` is not closed"))?;
    }
    Ok(text)
}

/// The tokens of a line.
#[derive(Debug)]
pub(super) struct Line {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Line {
    /// Splits the rest of a statement after its first word.
    pub(super) fn of(text: &str) -> Result<Self, String> {
        Ok(Self { tokens: tokens(text)?.into_iter().peekable() })
    }

    /// Returns the next word; the error message calls it `what`.
    pub(super) fn word(&mut self, what: &str) -> Result<String, String> {
        match self.tokens.next_if(|token| matches!(token, Token::Word(_))) {
            Some(Token::Word(word)) => Ok(word),
            _ => Err(format!("{what} is needed")),
        }
    }

    /// Returns the next word, if there is one.
    pub(super) fn optional_word(&mut self) -> Option<String> {
        self.word("").ok()
    }

    /// Returns the next operator, if there is one.
    pub(super) fn operator(&mut self) -> Option<String> {
        match self.tokens.next_if(|token| matches!(token, Token::Operator(_))) {
            Some(Token::Operator(operator)) => Some(operator),
            _ => None,
        }
    }

    /// Takes a token if it is next.
    pub(super) fn take(&mut self, token: &Token) -> bool {
        self.tokens.next_if_eq(token).is_some()
    }

    /// Fails if tokens are left.
    pub(super) fn end(mut self) -> Result<(), String> {
        match self.tokens.next() {
            None => Ok(()),
            Some(Token::Word(word) | Token::Operator(word)) => Err(format!("`{word}` is too much")),
            Some(other) => Err(format!("{other:?} is too much")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Token {
        Token::Word(text.to_owned())
    }

    #[test]
    fn quotes_are_no_part_of_a_name() {
        let found = tokens("\"c.t\" \"hdr.a\".\"f 1\":0x1 go()").expect("all are tokens");
        let want = [word("c.t"), word("hdr.a.f 1"), Token::Colon, word("0x1"), word("go"), Token::Open];
        assert_eq!(found[..6], want);
        assert!(tokens("add \"t").is_err());
    }

    #[test]
    fn comments_begin_outside_of_quotes() {
        assert_eq!(strip_comment(" add \"a#b\" x # y"), "add \"a#b\" x");
        assert_eq!(strip_comment("# y"), "");
    }
}
