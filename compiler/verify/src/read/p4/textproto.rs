//! Reads the text form of protocol buffers, without a schema.
//!
//! In: the text. Out: a tree of fields by name, with lines. Invariants: invalid text is an error with a line; nesting
//! is limited.

use crate::read::error::ReadError;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Message<'a> {
    fields: Vec<(&'a str, Value<'a>, usize)>,
    /// Line where the message starts.
    line: usize,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A number or word.
    Word(&'a str),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A message.
    Message(Message<'a>),
}

/// Permitted fields of a message.
pub(crate) struct Schema {
    pub(crate) fields: &'static [(&'static str, Shape)],
    /// Fields of which a message has at most one.
    pub(crate) one_of: &'static [&'static str],
}

/// Permitted values of a field.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Number,
    Bool,
    Word,
    Bytes,
    One(&'static Schema),
    Many(&'static Schema),
}

impl Value<'_> {
    fn fits(&self, shape: Shape) -> bool {
        match (self, shape) {
            (Value::Word(word), Shape::Number) => word.parse::<u64>().is_ok(),
            (Value::Word(word), Shape::Bool) => matches!(*word, "true" | "false"),
            (Value::Word(_), Shape::Word)
            | (Value::Bytes(_), Shape::Bytes)
            | (Value::Message(_), Shape::One(_) | Shape::Many(_)) => true,
            (Value::Word(_) | Value::Bytes(_) | Value::Message(_), _) => false,
        }
    }
}

/// Maximum nesting; P4Runtime needs a dozen levels.
const DEPTH: usize = 64;

/// Reads a message.
pub(crate) fn read(text: &str) -> Result<Message<'_>, ReadError> {
    let mut reader = Reader { text, at: 0, line: 1 };
    let message = reader.message(None, 0)?;
    Ok(message)
}

impl<'a> Message<'a> {
    /// Returns all values of a field with their lines.
    pub(crate) fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = (&'s Value<'a>, usize)> + 's {
        self.fields.iter().filter(move |field| field.0 == name).map(|field| (&field.1, field.2))
    }

    /// Returns the messages of a field with their lines.
    pub(crate) fn messages<'s>(
        &'s self,
        name: &'s str,
    ) -> impl Iterator<Item = (&'s Message<'a>, usize)> + 's {
        self.all(name).filter_map(|(value, line)| match value {
            Value::Message(message) => Some((message, line)),
            Value::Word(_) | Value::Bytes(_) => None,
        })
    }

    /// Returns the single message of a field.
    pub(crate) fn message(&self, name: &str) -> Option<&Message<'a>> {
        self.fields.iter().rev().filter(|field| field.0 == name).find_map(|field| match &field.1 {
            Value::Message(message) => Some(message),
            Value::Word(_) | Value::Bytes(_) => None,
        })
    }

    /// Returns the single word of a field.
    pub(crate) fn word(&self, name: &str) -> Option<&'a str> {
        self.fields.iter().rev().filter(|field| field.0 == name).find_map(|field| match field.1 {
            Value::Word(word) => Some(word),
            Value::Bytes(_) | Value::Message(_) => None,
        })
    }

    /// Returns the single number of a field; 0 if it is absent, as in protocol buffers.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.word(name).and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// Returns the single byte string of a field.
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.fields.iter().rev().filter(|field| field.0 == name).find_map(|field| match &field.1 {
            Value::Bytes(bytes) => Some(bytes.as_slice()),
            Value::Word(_) | Value::Message(_) => None,
        })
    }

    /// Checks that all fields, including nested ones, are permitted, and that singular fields are not repeated.
    pub(crate) fn check(&self, schema: &'static Schema) -> Result<(), ReadError> {
        for (at, (name, value, line)) in self.fields.iter().enumerate() {
            let fault = |message| Err(ReadError::at(*line, message));
            let shape = schema.fields.iter().find(|(known, _)| known == name).map(|(_, shape)| *shape);
            let Some(shape) = shape.filter(|shape| value.fits(*shape)) else {
                return fault(format!("`{name}` is not a part of the file that the proof models"));
            };
            let is_before = |other: &str| self.fields[..at].iter().any(|(before, ..)| *before == other);
            if !matches!(shape, Shape::Many(_)) && is_before(name) {
                return fault(format!("`{name}` appears twice"));
            }
            if let Some(other) = schema.one_of.iter().find(|other| *other != name && is_before(other))
                && schema.one_of.contains(name)
            {
                return fault(format!("`{name}` and `{other}` exclude each other"));
            }
            if let (Value::Message(message), Shape::One(below) | Shape::Many(below)) = (value, shape) {
                message.check(below)?;
            }
        }
        Ok(())
    }

    /// Returns the error about a field, or about the message if the field is missing.
    pub(crate) fn fault(&self, name: &str, message: impl Into<String>) -> ReadError {
        ReadError::at(self.line_of(name), message)
    }

    /// Returns the line of the single field with a name, or that of the message if the field is missing.
    pub(crate) fn line_of(&self, name: &str) -> usize {
        self.fields.iter().rev().find(|field| field.0 == name).map_or(self.line, |field| field.2)
    }

    /// Returns the names of all fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.fields.iter().map(|field| field.0)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn fault<T>(&self, message: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError::at(self.line, message))
    }

    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                _ => return Some(byte),
            }
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        let word = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Reads fields up to a closing bracket, or to the end of the text.
    fn message(&mut self, close: Option<u8>, depth: usize) -> Result<Message<'a>, ReadError> {
        if depth > DEPTH {
            return self.fault("nested too deep");
        }
        let mut message = Message { line: self.line, ..Message::default() };
        loop {
            match (self.peek(), close) {
                (None, None) => return Ok(message),
                (None, Some(_)) => return self.fault("a bracket is not closed"),
                (Some(byte), Some(close)) if byte == close => {
                    self.at += 1;
                    return Ok(message);
                }
                (Some(_), _) => {}
            }
            let line = self.line;
            let name = self.word();
            if name.is_empty() {
                return self.fault("a field has no name");
            }
            let colon = self.take(b':');
            let value = self.value(colon, depth)?;
            let _ = self.take(b';') || self.take(b',');
            message.fields.push((name, value, line));
        }
    }

    fn value(&mut self, colon: bool, depth: usize) -> Result<Value<'a>, ReadError> {
        match self.peek() {
            Some(open @ (b'{' | b'<')) => {
                self.at += 1;
                let close = if open == b'{' { b'}' } else { b'>' };
                self.message(Some(close), depth + 1).map(Value::Message)
            }
            _ if !colon => self.fault("a field has no value"),
            Some(b'"' | b'\'') => {
                let mut bytes = Vec::new();
                // Adjacent strings are concatenated.
                while let Some(quote @ (b'"' | b'\'')) = self.peek() {
                    self.at += 1;
                    self.string(quote, &mut bytes)?;
                }
                Ok(Value::Bytes(bytes))
            }
            Some(_) => match self.word() {
                "" => self.fault("a value is neither a word, nor a string, nor a message"),
                word => Ok(Value::Word(word)),
            },
            None => self.fault("a field has no value"),
        }
    }

    fn string(&mut self, quote: u8, into: &mut Vec<u8>) -> Result<(), ReadError> {
        let bytes = self.text.as_bytes();
        loop {
            let Some(byte) = bytes.get(self.at).copied().filter(|byte| *byte != b'\n') else {
                return self.fault("a string is not closed");
            };
            self.at += 1;
            match byte {
                b'\\' => {
                    let Some(escaped) = self.escape() else { return self.fault("an escape is not known") };
                    into.push(escaped);
                }
                byte if byte == quote => return Ok(()),
                byte => into.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        let byte = *bytes.get(self.at)?;
        let digits = |from: usize, most: usize, radix: u32| {
            let rest = bytes.get(from..)?;
            let count = rest.iter().take(most).take_while(|b| char::from(**b).is_digit(radix)).count();
            let text = std::str::from_utf8(&rest[..count]).ok()?;
            Some((u8::from_str_radix(text, radix).ok()?, count))
        };
        let (value, length) = match byte {
            b'0'..=b'7' => digits(self.at, 3, 8)?,
            b'x' | b'X' => digits(self.at + 1, 2, 16).map(|(value, count)| (value, count + 1))?,
            b'a' => (7, 1),
            b'b' => (8, 1),
            b'f' => (12, 1),
            b'n' => (10, 1),
            b'r' => (13, 1),
            b't' => (9, 1),
            b'v' => (11, 1),
            b'\\' | b'\'' | b'"' | b'?' => (byte, 1),
            _ => return None,
        };
        self.at += length;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_nest_and_strings_are_unescaped() {
        let text = "# a comment\nid: 7\nvalue: \"\\001\\n\\x41\" \"z\" # behind\nsub {\n  flag: true\n}\nsub: < flag: false >\n";
        let message = read(text).unwrap();
        assert_eq!(message.number("id"), 7);
        assert_eq!(message.bytes("value").unwrap(), b"\x01\nAz");
        let subs: Vec<_> = message.messages("sub").map(|(sub, line)| (sub.word("flag"), line)).collect();
        assert_eq!(subs, [(Some("true"), 4), (Some("false"), 7)]);
    }

    #[test]
    fn a_schema_permits_fields() {
        static BELOW: Schema =
            Schema { fields: &[("id", Shape::Number), ("flag", Shape::Bool)], one_of: &[] };
        static SCHEMA: Schema = Schema {
            fields: &[
                ("kind", Shape::Word),
                ("name", Shape::Bytes),
                ("a", Shape::One(&BELOW)),
                ("b", Shape::One(&BELOW)),
                ("all", Shape::Many(&BELOW)),
            ],
            one_of: &["a", "b"],
        };
        let line = |text: &str| read(text).unwrap().check(&SCHEMA).err().and_then(|error| error.line);
        for (text, expected) in [
            ("kind: X\nname: \"x\"\na { id: 1 flag: true }\nall {}\nall {}\n", None),
            ("kind: X\nother: 1\n", Some(2)),
            ("all {}\nall {\n id: 1\n other: 1\n}\n", Some(4)),
            ("kind: X\nkind: X\n", Some(2)),
            ("a {}\na {}\n", Some(2)),
            ("b {}\na {}\n", Some(2)),
            ("a: \"x\"\n", Some(1)),
            ("name: x\n", Some(1)),
            ("a {\n id: 0x1\n}\n", Some(2)),
            ("a {\n flag: 1\n}\n", Some(2)),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_message_has_a_line() {
        for (text, line) in
            [("a: 1\nb {\n c: 2\n", 4), ("a: \"x\n", 1), ("\na\n", 3), ("a: \"\\q\"", 1), ("}", 1)]
        {
            assert_eq!(read(text).map_err(|error| error.line), Err(Some(line)), "{text:?}");
        }
        assert!(read(&"a{".repeat(100_000)).is_err(), "the stack holds");
    }
}
