//! Converts text to the wire format of a message, from which the message is then decoded.
//!
//! It takes one pass and builds no tree. The output is always valid wire data of the message: types, ranges, UTF-8,
//! duplicate fields and the nesting depth are checked here.

use super::error::{TextError, TextFault, closest};
use super::lexer::{Lexer, Token, unquote};
use super::schema::{Field, MessageId, Schema, Type};
use super::wire;

/// Maximum nesting of messages; the decoder stops at 100.
pub(super) const MAX_DEPTH: u32 = 64;

/// Reads a text as a message.
pub(super) fn read(schema: &Schema, message: MessageId, text: &str) -> Result<Vec<u8>, TextError> {
    let mut reader = Reader { schema, lexer: Lexer::new(text)?, out: Vec::with_capacity(text.len() / 4) };
    reader.message(message, None, 0)?;
    Ok(reader.out)
}

struct Reader<'s, 't> {
    schema: &'s Schema,
    lexer: Lexer<'t>,
    out: Vec<u8>,
}

/// The fields of a message that are already set. Most messages set few fields, and millions of messages are read, so
/// the first ones need no allocation.
#[derive(Default)]
struct FieldSet {
    first: [u16; 4],
    len: usize,
    overflow: Vec<u16>,
}

impl Reader<'_, '_> {
    /// Reads fields up to the closing mark, or to the end of the text if `close` is `None`.
    fn message(&mut self, id: MessageId, close: Option<char>, depth: u32) -> Result<(), TextError> {
        if depth > MAX_DEPTH {
            let position = self.lexer.position();
            return Err(self.lexer.error(position, TextFault::Depth { limit: MAX_DEPTH }));
        }
        let mut seen = FieldSet::default();
        loop {
            match (self.lexer.peek(), close) {
                (Token::End, None) => return Ok(()),
                (Token::Mark(mark), Some(close)) if mark == close => {
                    self.lexer.take()?;
                    return Ok(());
                }
                (Token::Word(name), _) => self.named_field(id, name, &mut seen, depth)?,
                (Token::Mark('['), _) => self.expanded_any(id, depth)?,
                (_, Some('}')) => return Err(self.lexer.unexpected_token("a field name or `}`")),
                (_, Some(_)) => return Err(self.lexer.unexpected_token("a field name or `>`")),
                (_, None) => return Err(self.lexer.unexpected_token("a field name")),
            }
            // Fields may be separated, but need not be.
            if !self.lexer.take_mark(',')? {
                self.lexer.take_mark(';')?;
            }
        }
    }

    fn named_field(
        &mut self,
        id: MessageId,
        name: &str,
        seen: &mut FieldSet,
        depth: u32,
    ) -> Result<(), TextError> {
        let schema = self.schema;
        let message = &schema.messages[id];
        let position = self.lexer.position();
        let Some((index, field)) = message.by_name(name) else {
            let suggestion = closest(name, message.fields.iter().map(|field| &field.name));
            let (message, field) = (message.name.clone(), name.to_owned());
            return Err(self.lexer.error(position, TextFault::NoField { message, field, suggestion }));
        };
        if !field.repeated {
            seen.set(&message.fields, index).map_err(|fault| self.lexer.error(position, fault))?;
        }
        self.lexer.take()?;
        let colon = self.lexer.take_mark(':')?;
        let is_message = matches!(field.ty, Type::Message(_));
        if !colon && !is_message {
            return Err(self.lexer.unexpected_token("`:`"));
        }
        if field.repeated && self.lexer.take_mark('[')? {
            return self.list(field, depth);
        }
        self.value(field, depth)
    }

    fn list(&mut self, field: &Field, depth: u32) -> Result<(), TextError> {
        if self.lexer.take_mark(']')? {
            return Ok(());
        }
        loop {
            self.value(field, depth)?;
            if self.lexer.take_mark(']')? {
                return Ok(());
            }
            if !self.lexer.take_mark(',')? {
                return Err(self.lexer.unexpected_token("`,` or `]`"));
            }
        }
    }

    fn value(&mut self, field: &Field, depth: u32) -> Result<(), TextError> {
        match field.ty {
            Type::Message(id) => {
                let close = self.open()?;
                wire::tag(&mut self.out, field.number, wire::BYTES);
                let start = self.out.len();
                self.message(id, Some(close), depth + 1)?;
                wire::insert_length(&mut self.out, start);
                Ok(())
            }
            Type::String | Type::Bytes => self.string(field),
            Type::Bool => self.bool(field),
            Type::Enum(id) => self.enum_value(field, id),
            Type::Int32 => self.number(field, "int32", i64::from(i32::MIN), i32::MAX as u64),
            Type::Int64 => self.number(field, "int64", i64::MIN, i64::MAX as u64),
            Type::Uint32 => self.number(field, "uint32", 0, u64::from(u32::MAX)),
            Type::Uint64 => self.number(field, "uint64", 0, u64::MAX),
            Type::Unsupported => Err(self.lexer.unexpected_token("a field that P4Runtime uses")),
        }
    }

    fn open(&mut self) -> Result<char, TextError> {
        if self.lexer.take_mark('{')? {
            Ok('}')
        } else if self.lexer.take_mark('<')? {
            Ok('>')
        } else {
            Err(self.lexer.unexpected_token("`{`"))
        }
    }

    /// Reads one string, or several adjacent ones.
    fn string(&mut self, field: &Field) -> Result<(), TextError> {
        let first = self.lexer.position();
        wire::tag(&mut self.out, field.number, wire::BYTES);
        let start = self.out.len();
        if !matches!(self.lexer.peek(), Token::Quoted(_)) {
            return Err(self.lexer.unexpected_token("a string"));
        }
        while let Token::Quoted(quoted) = self.lexer.peek() {
            if !unquote(quoted, &mut self.out) {
                return Err(self.lexer.error(self.lexer.position(), TextFault::Escape));
            }
            self.lexer.take()?;
        }
        if field.ty == Type::String && str::from_utf8(&self.out[start..]).is_err() {
            return Err(self.lexer.error(first, TextFault::Utf8));
        }
        wire::insert_length(&mut self.out, start);
        Ok(())
    }

    fn bool(&mut self, field: &Field) -> Result<(), TextError> {
        let value = match self.lexer.peek() {
            Token::Word("true" | "True" | "t") | Token::Number("1") => true,
            Token::Word("false" | "False" | "f") | Token::Number("0") => false,
            _ => return Err(self.lexer.unexpected_token("`true` or `false`")),
        };
        self.lexer.take()?;
        self.varint(field, u64::from(value));
        Ok(())
    }

    fn enum_value(&mut self, field: &Field, id: usize) -> Result<(), TextError> {
        let values = &self.schema.enums[id];
        let Token::Word(name) = self.lexer.peek() else {
            return self.number(field, "int32", i64::from(i32::MIN), i32::MAX as u64);
        };
        let Some(number) = values.by_name.get(name) else {
            let suggestion = closest(name, values.by_name.keys());
            let fault =
                TextFault::NoEnumValue { name: values.name.clone(), value: name.to_owned(), suggestion };
            return Err(self.lexer.error(self.lexer.position(), fault));
        };
        self.lexer.take()?;
        self.varint(field, i64::from(*number) as u64);
        Ok(())
    }

    fn number(&mut self, field: &Field, ty: &'static str, min: i64, max: u64) -> Result<(), TextError> {
        let position = self.lexer.position();
        let negative = self.lexer.take_mark('-')?;
        let Token::Number(text) = self.lexer.peek() else {
            return Err(self.lexer.unexpected_token("a number"));
        };
        let range = |lexer: &Lexer<'_>| {
            let number = format!("{}{text}", if negative { "-" } else { "" });
            lexer.error(position, TextFault::Range { number, ty })
        };
        let magnitude = parse_number(text).ok_or_else(|| range(&self.lexer))?;
        let value = match negative {
            false if magnitude <= max => magnitude,
            true if magnitude <= min.unsigned_abs() => magnitude.wrapping_neg(),
            true | false => return Err(range(&self.lexer)),
        };
        self.lexer.take()?;
        self.varint(field, value);
        Ok(())
    }

    fn varint(&mut self, field: &Field, value: u64) {
        // Numbers of a list are written one by one. Decoders accept lists in packed and unpacked form.
        wire::tag(&mut self.out, field.number, wire::VARINT);
        wire::varint(&mut self.out, value);
    }

    /// Reads `[type.googleapis.com/p4.v1.Error] { ... }` inside of an `Any`.
    fn expanded_any(&mut self, id: MessageId, depth: u32) -> Result<(), TextError> {
        let position = self.lexer.position();
        let message = &self.schema.messages[id];
        if message.name != "google.protobuf.Any" {
            return Err(self.lexer.unexpected_token("a field name"));
        }
        self.lexer.take()?;
        let mut url = String::new();
        loop {
            match self.lexer.take()? {
                Token::Word(word) | Token::Number(word) => url.push_str(word),
                Token::Mark(mark @ ('/' | '.' | '-')) => url.push(mark),
                Token::Mark(']') => break,
                Token::Mark(_) | Token::Quoted(_) | Token::End => {
                    let found = "something else".to_owned();
                    let wanted = "the type of the message and `]`";
                    return Err(self
                        .lexer
                        .error(position, TextFault::Unexpected { expected: wanted, actual: found }));
                }
            }
        }
        let name = url.rsplit('/').next().unwrap_or_default();
        let Some(inner) = self.schema.find(name) else {
            return Err(self.lexer.error(position, TextFault::NoMessage { name: name.to_owned() }));
        };
        self.lexer.take_mark(':')?;
        let close = self.open()?;
        wire::tag(&mut self.out, 1, wire::BYTES);
        wire::varint(&mut self.out, url.len() as u64);
        self.out.extend_from_slice(url.as_bytes());
        wire::tag(&mut self.out, 2, wire::BYTES);
        let start = self.out.len();
        self.message(inner, Some(close), depth + 1)?;
        wire::insert_length(&mut self.out, start);
        Ok(())
    }
}

impl FieldSet {
    fn set(&mut self, fields: &[Field], index: usize) -> Result<(), TextFault> {
        let field = &fields[index];
        let first = &self.first[..self.len.min(self.first.len())];
        for other in first.iter().chain(&self.overflow) {
            let other = usize::from(*other);
            if other == index {
                return Err(TextFault::Twice { field: field.name.clone() });
            }
            let other = &fields[other];
            if field.oneof.is_some() && field.oneof == other.oneof {
                return Err(TextFault::OneOf {
                    field: field.name.clone(),
                    earlier_field: other.name.clone(),
                });
            }
        }
        match self.first.get_mut(self.len) {
            Some(place) => *place = index as u16,
            None => self.overflow.push(index as u16),
        }
        self.len += 1;
        Ok(())
    }
}

/// Reads a decimal, hexadecimal (`0x`) or octal (`0`) number.
fn parse_number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok();
    }
    match text.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        Some(_) | None => text.parse().ok(),
    }
}
