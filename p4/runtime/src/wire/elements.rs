//! Decodes the elements of a list in an encoded message, one at a time.

use std::marker::PhantomData;

use bytes::Bytes;
use prost::encoding::WireType;
use prost::{Message, Name};

use super::fields::Fields;
use super::weigh::{WireError, shape_of, weigh_element};

/// An iterator over the elements of one list of a message. Each is decoded on demand.
#[derive(Debug)]
pub struct Elements<M> {
    message: Bytes,
    number: u32,
    at: usize,
    limit: usize,
    weight: usize,
    other_fields: usize,
    /// The shape of the elements, from which their memory is estimated.
    shape: Option<usize>,
    element: PhantomData<M>,
}

/// Maximum number of fields in the message that are not elements, including fields of later versions. Skipping millions
/// of them would take too long.
const OTHERS_MAX: usize = 4096;

impl<M: Message + Name + Default> Elements<M> {
    /// Returns the elements of the list with a field number. Each may take at most `limit` bytes of memory.
    pub fn new(message: Bytes, number: u32, limit: usize) -> Self {
        let shape = shape_of::<M>();
        Elements { message, number, at: 0, limit, weight: 0, other_fields: 0, shape, element: PhantomData }
    }
}

impl<M> Elements<M> {
    /// Returns the number of bytes of the message that were read so far.
    #[cfg(feature = "transport")]
    pub(crate) fn consumed_bytes(&self) -> usize {
        self.at
    }

    /// Returns the memory of the elements so far, in bytes.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

impl<M: Message + Name + Default> Iterator for Elements<M> {
    type Item = Result<M, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.message[self.at..];
        let start = rest.as_ptr() as usize;
        let mut fields = Fields::new(rest);
        loop {
            match fields.next()? {
                Ok(field) if field.number == self.number && field.wire_type == WireType::LengthDelimited => {
                    // The position of the element in the message: its content ends where the next field begins.
                    let from = self.at + (field.content.as_ptr() as usize - start);
                    self.at = from + field.content.len();
                    let element = self.message.slice(from..self.at);
                    let weighed = weigh_element::<M>(self.shape, &element, self.limit);
                    return Some(weighed.and_then(|weight| {
                        self.weight += weight;
                        Ok(M::decode(element)?)
                    }));
                }
                Ok(_) if self.other_fields < OTHERS_MAX => self.other_fields += 1,
                Ok(_) | Err(_) => {
                    let bytes = self.message.len();
                    self.at = bytes;
                    return Some(Err(WireError::Malformed { message: M::full_name(), bytes }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1;

    #[test]
    fn elements_are_those_of_the_message() {
        let entry = |id| v1::Entity::from(v1::TableEntry { table_id: id, ..Default::default() });
        let response = v1::ReadResponse { entities: (0..100).map(entry).collect() };
        let elements = Elements::<v1::Entity>::new(response.encode_to_vec().into(), 1, 1 << 16);
        let found: Vec<v1::Entity> = elements.map(|entity| entity.expect("whole")).collect();
        assert_eq!(found, response.entities);
    }

    #[test]
    fn fields_without_end_that_are_no_elements_are_refused() {
        let message = |others: usize| [[0x7a, 0x00].repeat(others), vec![0x0a, 0x00]].concat();
        let first = |others| Elements::<v1::Entity>::new(message(others).into(), 1, 1 << 16).next();
        assert_eq!(first(4096), Some(Ok(v1::Entity::default())));
        assert!(matches!(first(4097), Some(Err(WireError::Malformed { .. }))));
    }

    #[test]
    fn what_is_cut_off_is_said_once() {
        let mut elements = Elements::<v1::Entity>::new(vec![0x0a, 0x00, 0x0a, 0x07].into(), 1, 1 << 16);
        assert_eq!(elements.next(), Some(Ok(v1::Entity::default())));
        assert!(matches!(elements.next(), Some(Err(WireError::Malformed { .. }))));
        assert_eq!(elements.next(), None);
    }
}
