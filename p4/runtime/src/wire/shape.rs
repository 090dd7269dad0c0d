//! Memory of a decoded message, derived from its descriptor: the size of the struct, and for each field its memory on
//! the heap.
//!
//! The sizes are upper bounds: a struct is the sum of its fields, each rounded up to words. A test compares them with
//! the sizes that the compiler reports.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use crate::proto::descriptors;

/// Bytes of a `Vec`, a `String` or a map.
const COLLECTION: usize = 24;

/// Size of `Bytes`, the largest type of a bytes field.
pub(super) const BYTES: usize = 32;

/// Levels of nested messages whose sizes are added; deeper messages are counted as a pointer.
const MAX_LEVELS: usize = 12;

/// Contents of a length-delimited field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Bytes or text. `many` is set if the field is a list, where each element has its own slot.
    Bytes { many: bool },
    /// Packed numbers.
    Numbers,
    /// A message with its shape. `many` is set if the field is a list, where each element has its own slot.
    Message { shape: usize, many: bool },
}

/// The shape of a message.
#[derive(Debug)]
pub(super) struct Shape {
    /// Size of the struct, without the heap memory of lists and strings.
    pub(super) size: usize,
    /// Length-delimited fields, indexed by their number: the content, and whether it must be UTF-8.
    fields: Vec<Option<(Content, bool)>>,
}

impl Shape {
    /// Returns the content of a field, and whether it must be UTF-8; `None` for unknown fields and for single numbers.
    pub(super) fn field(&self, number: u32) -> Option<(Content, bool)> {
        *self.fields.get(number as usize)?
    }
}

/// The shapes of all messages of P4Runtime.
#[derive(Debug)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    by_name: BTreeMap<String, usize>,
}

impl Shapes {
    pub(super) fn get() -> &'static Shapes {
        static SHAPES: LazyLock<Shapes> = LazyLock::new(Shapes::new);
        &SHAPES
    }

    fn new() -> Self {
        let messages: Vec<MessageDescriptor> = descriptors().all_messages().collect();
        let name = |(at, message): (usize, &MessageDescriptor)| (message.full_name().to_owned(), at);
        let by_name: BTreeMap<String, usize> = messages.iter().enumerate().map(name).collect();
        let shape = |message: &MessageDescriptor| {
            let last = message.fields().map(|field| field.number()).max().unwrap_or(0);
            let mut fields = vec![None; last as usize + 1];
            for (number, content, text) in message.fields().filter_map(|field| content(&by_name, &field)) {
                fields[number as usize] = Some((content, text));
            }
            Shape { size: size(message, 0), fields }
        };
        Shapes { shapes: messages.iter().map(shape).collect(), by_name }
    }

    /// Returns the index of a message by its full name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(super) fn shape(&self, number: usize) -> &Shape {
        &self.shapes[number]
    }
}

fn content(by_name: &BTreeMap<String, usize>, field: &FieldDescriptor) -> Option<(u32, Content, bool)> {
    let content = match field.kind() {
        Kind::Message(message) => {
            let shape = *by_name.get(message.full_name())?;
            Content::Message { shape, many: field.is_list() || field.is_map() }
        }
        Kind::Bytes | Kind::String => Content::Bytes { many: field.is_list() },
        _ if field.is_list() => Content::Numbers,
        _ => return None,
    };
    Some((field.number(), content, matches!(field.kind(), Kind::String)))
}

fn size(message: &MessageDescriptor, level: usize) -> usize {
    let mut choices: BTreeMap<String, usize> = BTreeMap::new();
    let mut sum = 0;
    for field in message.fields() {
        let own = field_size(&field, level);
        match field.containing_oneof() {
            Some(choice) => {
                let largest = choices.entry(choice.full_name().to_owned()).or_default();
                *largest = own.max(*largest);
            }
            None => sum += own,
        }
    }
    // One word is the discriminant of the `oneof`.
    sum + choices.values().map(|largest| largest + 8).sum::<usize>()
}

fn field_size(field: &FieldDescriptor, level: usize) -> usize {
    if field.is_list() || field.is_map() {
        return COLLECTION;
    }
    match field.kind() {
        Kind::Message(message) if level < MAX_LEVELS && !recursive(&message) => {
            // One word is the discriminant of the `Option`.
            size(&message, level + 1) + 8
        }
        Kind::String => COLLECTION,
        Kind::Bytes => BYTES,
        // A number, or a pointer to a message.
        _ => 8,
    }
}

/// Returns whether a message can contain itself without a list in between, so that it is behind a pointer.
fn recursive(message: &MessageDescriptor) -> bool {
    let direct = |message: &MessageDescriptor| -> Vec<MessageDescriptor> {
        let single = message.fields().filter(|field| !field.is_list() && !field.is_map());
        let inner = single.filter_map(|field| match field.kind() {
            Kind::Message(inner) => Some(inner),
            _ => None,
        });
        inner.collect()
    };
    let (mut seen, mut left) = (vec![message.full_name().to_owned()], direct(message));
    while let Some(inner) = left.pop() {
        if inner.full_name() == message.full_name() {
            return true;
        }
        if !seen.iter().any(|name| name == inner.full_name()) {
            seen.push(inner.full_name().to_owned());
            left.extend(direct(&inner));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use prost::Name;

    use super::*;
    use crate::proto::{config, v1};

    fn holds<M: Name>() {
        let shapes = Shapes::get();
        let shape = shapes.shape(shapes.find(&M::full_name()).expect("it is a message"));
        let own = size_of::<M>();
        assert!(shape.size >= own, "{}: {} bytes, estimated {}", M::full_name(), own, shape.size);
        assert!(shape.size <= 4 * own + 64, "{}: {} bytes, estimated {}", M::full_name(), own, shape.size);
    }

    #[test]
    fn sizes_are_not_below_those_of_the_compiler_and_not_far_above() {
        holds::<v1::Update>();
        holds::<v1::Entity>();
        holds::<v1::TableEntry>();
        holds::<v1::FieldMatch>();
        holds::<v1::Action>();
        holds::<v1::ActionProfileGroup>();
        holds::<v1::Replica>();
        holds::<v1::P4Data>();
        holds::<v1::WriteRequest>();
        holds::<v1::StreamMessageResponse>();
        holds::<config::P4Info>();
        holds::<config::Table>();
        holds::<config::Preamble>();
        holds::<crate::proto::rpc::Status>();
    }
}
