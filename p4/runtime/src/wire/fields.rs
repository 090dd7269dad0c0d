//! Iterates over the fields of an encoded message without decoding their contents.

use prost::encoding::{WireType, decode_varint};

/// An encoded field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field<'b> {
    pub(super) number: u32,
    pub(super) wire_type: WireType,
    /// The content of a length-delimited field; empty for numbers.
    pub(super) content: &'b [u8],
}

/// Bytes that are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MalformedMessage;

/// Reads fields from the front of some bytes.
#[derive(Debug, Clone)]
pub(super) struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    pub(super) fn new(message: &'b [u8]) -> Self {
        Fields { rest: message }
    }

    fn varint(&mut self) -> Result<u64, MalformedMessage> {
        decode_varint(&mut self.rest).map_err(|_| MalformedMessage)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], MalformedMessage> {
        let (content, rest) = self.rest.split_at_checked(length).ok_or(MalformedMessage)?;
        self.rest = rest;
        Ok(content)
    }

    fn field(&mut self) -> Result<Field<'b>, MalformedMessage> {
        let key = u32::try_from(self.varint()?).map_err(|_| MalformedMessage)?;
        let number = key >> 3;
        if number == 0 {
            return Err(MalformedMessage);
        }
        let (wire_type, content): (_, &[u8]) = match key & 7 {
            0 => {
                self.varint()?;
                (WireType::Varint, &[])
            }
            1 => (WireType::SixtyFourBit, self.take(8).map(|_| &[][..])?),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| MalformedMessage)?;
                (WireType::LengthDelimited, self.take(length)?)
            }
            5 => (WireType::ThirtyTwoBit, self.take(4).map(|_| &[][..])?),
            // Groups were deprecated before these messages were defined.
            _ => return Err(MalformedMessage),
        };
        Ok(Field { number, wire_type, content })
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<Field<'b>, MalformedMessage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}
