//! Splits a text into tokens: names, numbers, strings and punctuation. White space and `#` comments are skipped.

use super::error::{TextError, TextFault};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A word, such as a field, an enum value or `true`.
    Word(&'t str),
    /// A number as in the text, without its sign.
    Number(&'t str),
    /// A string with its quotes.
    Quoted(&'t str),
    /// One of `{ } < > [ ] : , ; - / .`
    Mark(char),
    End,
}

impl Token<'_> {
    /// Returns a description of the token for error messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(text) | Token::Number(text) => format!("`{text}`"),
            Token::Quoted(_) => "a string".to_owned(),
            Token::Mark(char) => format!("`{char}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// The tokens of a text, one at a time.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    /// The end of the next token.
    end: usize,
    /// The next token and its start.
    next: Token<'t>,
    position: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, TextError> {
        let mut lexer = Lexer { text, end: 0, next: Token::End, position: 0 };
        lexer.advance()?;
        Ok(lexer)
    }

    /// Returns the next token.
    pub(super) fn peek(&self) -> Token<'t> {
        self.next
    }

    /// Returns the start of the next token.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Consumes the next token.
    pub(super) fn take(&mut self) -> Result<Token<'t>, TextError> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    /// Consumes the next token if it is this mark.
    pub(super) fn take_mark(&mut self, mark: char) -> Result<bool, TextError> {
        let there = self.next == Token::Mark(mark);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    /// Returns an error at the next token, which is not the expected one.
    pub(super) fn unexpected_token(&self, wanted: &'static str) -> TextError {
        self.error(self.position, TextFault::Unexpected { expected: wanted, actual: self.next.describe() })
    }

    /// Returns an error at a position in the text.
    pub(super) fn error(&self, position: usize, fault: TextFault) -> TextError {
        let before = &self.text[..position];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        TextError { line: line as u32, column: column as u32, fault }
    }

    fn advance(&mut self) -> Result<(), TextError> {
        self.skip();
        self.position = self.end;
        let rest = &self.text.as_bytes()[self.end..];
        self.next = match rest.first() {
            None => Token::End,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => Token::Word(self.run(is_word)),
            Some(b'0'..=b'9') => Token::Number(self.run(is_word)),
            Some(quote @ (b'"' | b'\'')) => self.quoted_string(*quote)?,
            Some(b'{' | b'}' | b'<' | b'>' | b'[' | b']' | b':' | b',' | b';' | b'-' | b'/' | b'.') => {
                self.end += 1;
                Token::Mark(char::from(rest[0]))
            }
            Some(_) => {
                let char = self.text[self.end..].chars().next().expect("a byte is left");
                return Err(self.error(self.end, TextFault::Character { char }));
            }
        };
        Ok(())
    }

    fn skip(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.end) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.end += 1,
                b'#' => {
                    let rest = &bytes[self.end..];
                    self.end += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                _ => break,
            }
        }
    }

    fn run(&mut self, belongs: fn(u8) -> bool) -> &'t str {
        let start = self.end;
        let rest = &self.text.as_bytes()[start..];
        self.end += rest.iter().take_while(|byte| belongs(**byte)).count();
        &self.text[start..self.end]
    }

    fn quoted_string(&mut self, quote: u8) -> Result<Token<'t>, TextError> {
        let start = self.end;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                None | Some(b'\n') => return Err(self.error(start, TextFault::OpenString)),
                // The character after a backslash is part of the escape sequence, even if it is a quote. A line end is
                // handled by the next iteration.
                Some(b'\\') if bytes.get(end + 1).is_some_and(|byte| byte.is_ascii() && *byte != b'\n') => {
                    end += 2;
                }
                Some(byte) => {
                    end += 1;
                    if *byte == quote {
                        break;
                    }
                }
            }
        }
        self.end = end;
        Ok(Token::Quoted(&self.text[start..end]))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Appends the decoded bytes of a quoted string; returns false if an escape sequence is unknown.
pub(super) fn unquote(quoted: &str, into: &mut Vec<u8>) -> bool {
    let inner = &quoted.as_bytes()[1..quoted.len() - 1];
    let mut rest = inner;
    while let Some(slash) = rest.iter().position(|byte| *byte == b'\\') {
        into.extend_from_slice(&rest[..slash]);
        match escape(&rest[slash + 1..], into) {
            Some(used) => rest = &rest[slash + 1 + used..],
            None => return false,
        }
    }
    into.extend_from_slice(rest);
    true
}

/// Appends the decoded bytes of an escape sequence, without its backslash. Returns the length of the sequence, or
/// `None` if it is unknown.
fn escape(rest: &[u8], into: &mut Vec<u8>) -> Option<usize> {
    let simple = match rest.first()? {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        byte @ (b'\\' | b'\'' | b'"' | b'?') => *byte,
        b'0'..=b'7' => {
            let (number, digits) = number(rest, 8, 3);
            into.push(u8::try_from(number).ok()?);
            return Some(digits);
        }
        b'x' | b'X' => {
            let (number, digits) = number(&rest[1..], 16, 2);
            into.push(number as u8);
            return (digits > 0).then_some(digits + 1);
        }
        b'u' => return unicode(&rest[1..], 4, into),
        b'U' => return unicode(&rest[1..], 8, into),
        _ => return None,
    };
    into.push(simple);
    Some(1)
}

fn unicode(rest: &[u8], wanted: usize, into: &mut Vec<u8>) -> Option<usize> {
    let (number, digits) = number(rest, 16, wanted);
    let char = char::from_u32(number).filter(|_| digits == wanted)?;
    into.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    Some(digits + 1)
}

fn number(rest: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let digits = rest.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    digits.fold((0, 0), |(number, count), digit| (number.wrapping_mul(radix) + digit, count + 1))
}
