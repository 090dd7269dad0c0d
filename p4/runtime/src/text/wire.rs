//! The parts of the protobuf wire format that the text format needs: tags, numbers and lengths.

/// The wire type of numbers.
pub(super) const VARINT: u32 = 0;
/// The wire type of strings, bytes and messages.
pub(super) const BYTES: u32 = 2;

/// Appends a number.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the tag of a field.
pub(super) fn tag(out: &mut Vec<u8>, number: u32, wire_type: u32) {
    varint(out, u64::from(number << 3 | wire_type));
}

/// Inserts the length of the data from `start` to the end before that data.
pub(super) fn insert_length(out: &mut Vec<u8>, start: usize) {
    let length = out.len() - start;
    let mut prefix = Vec::new();
    if length < 0x80 {
        out.insert(start, length as u8);
        return;
    }
    varint(&mut prefix, length as u64);
    out.splice(start..start, prefix);
}

/// One field of encoded data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'d> {
    Number(u64),
    Bytes(&'d [u8]),
}

/// The fields of encoded data; the iterator ends at the first invalid field.
#[derive(Debug, Clone)]
pub(super) struct Fields<'d> {
    rest: &'d [u8],
}

impl<'d> Fields<'d> {
    pub(super) fn new(data: &'d [u8]) -> Self {
        Fields { rest: data }
    }

    /// Reads one number, such as the next one of a packed list.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (index, byte) in self.rest.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * index as u32);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Some(value);
            }
        }
        self.rest = &[];
        None
    }
}

impl<'d> Iterator for Fields<'d> {
    type Item = (u32, Value<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        let tag = self.number()?;
        let number = u32::try_from(tag >> 3).ok()?;
        match tag as u32 & 7 {
            VARINT => Some((number, Value::Number(self.number()?))),
            BYTES => {
                let length = usize::try_from(self.number()?).ok()?;
                let (value, rest) = self.rest.split_at_checked(length)?;
                self.rest = rest;
                Some((number, Value::Bytes(value)))
            }
            _ => None,
        }
    }
}
