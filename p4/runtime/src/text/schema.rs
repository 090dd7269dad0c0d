//! The descriptors in the form that the reader and the writer need: messages by number, fields by name and tag.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor};

use crate::proto::descriptors;

/// A message, by its index in the schema.
pub(super) type MessageId = usize;

/// The type of one value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    String,
    Bytes,
    Enum(usize),
    Message(MessageId),
    /// A type that no P4Runtime message uses.
    Unsupported,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) number: u32,
    pub(super) ty: Type,
    pub(super) repeated: bool,
    pub(super) map: bool,
    /// Whether the numbers have a common length prefix, as repeated numbers have in proto3.
    pub(super) packed: bool,
    /// The `oneof` that contains the field.
    pub(super) oneof: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Message {
    pub(super) name: String,
    /// The fields in the order of their numbers.
    pub(super) fields: Vec<Field>,
}

impl Message {
    pub(super) fn by_name(&self, name: &str) -> Option<(usize, &Field)> {
        // A message has few fields, and most names differ in length, so a linear search is fast.
        self.fields.iter().enumerate().find(|(_, field)| field.name == name)
    }

    pub(super) fn by_number(&self, number: u32) -> Option<&Field> {
        self.fields.binary_search_by_key(&number, |field| field.number).ok().map(|index| &self.fields[index])
    }
}

#[derive(Debug)]
pub(super) struct Enum {
    pub(super) name: String,
    pub(super) by_name: BTreeMap<String, i32>,
    pub(super) by_number: BTreeMap<i32, String>,
}

/// Every message and enum of `proto/`.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) messages: Vec<Message>,
    pub(super) enums: Vec<Enum>,
    by_name: HashMap<String, MessageId>,
}

impl Schema {
    /// Returns the schema of P4Runtime.
    pub(super) fn get() -> &'static Schema {
        static SCHEMA: LazyLock<Schema> = LazyLock::new(build);
        &SCHEMA
    }

    pub(super) fn find(&self, full_name: &str) -> Option<MessageId> {
        self.by_name.get(full_name).copied()
    }
}

fn build() -> Schema {
    let pool = descriptors();
    let mut schema = Schema::default();
    let messages: Vec<MessageDescriptor> = pool.all_messages().collect();
    for (id, message) in messages.iter().enumerate() {
        schema.by_name.insert(message.full_name().to_owned(), id);
    }
    let mut enums = HashMap::new();
    for descriptor in pool.all_enums() {
        enums.insert(descriptor.full_name().to_owned(), schema.enums.len());
        let values = || descriptor.values().map(|value| (value.name().to_owned(), value.number()));
        schema.enums.push(Enum {
            name: descriptor.full_name().to_owned(),
            by_name: values().collect(),
            by_number: values().map(|(name, number)| (number, name)).collect(),
        });
    }
    for message in &messages {
        let mut fields: Vec<Field> =
            message.fields().map(|field| build_field(&field, &schema.by_name, &enums)).collect();
        fields.sort_by_key(|field| field.number);
        schema.messages.push(Message { name: message.full_name().to_owned(), fields });
    }
    schema
}

fn build_field(
    field: &FieldDescriptor,
    messages: &HashMap<String, MessageId>,
    enums: &HashMap<String, usize>,
) -> Field {
    let ty = match field.kind() {
        Kind::Bool => Type::Bool,
        Kind::Int32 => Type::Int32,
        Kind::Int64 => Type::Int64,
        Kind::Uint32 => Type::Uint32,
        Kind::Uint64 => Type::Uint64,
        Kind::String => Type::String,
        Kind::Bytes => Type::Bytes,
        Kind::Enum(descriptor) => {
            enums.get(descriptor.full_name()).map_or(Type::Unsupported, |id| Type::Enum(*id))
        }
        Kind::Message(descriptor) => {
            messages.get(descriptor.full_name()).map_or(Type::Unsupported, |id| Type::Message(*id))
        }
        Kind::Double
        | Kind::Float
        | Kind::Sint32
        | Kind::Sint64
        | Kind::Fixed32
        | Kind::Fixed64
        | Kind::Sfixed32
        | Kind::Sfixed64 => Type::Unsupported,
    };
    Field {
        name: field.name().to_owned(),
        number: field.number(),
        ty,
        repeated: field.cardinality() == Cardinality::Repeated,
        map: field.is_map(),
        packed: field.is_packed(),
        oneof: field.containing_oneof().map(|oneof| oneof.path().last().copied().unwrap_or(0).unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reader and the writer support only the types that P4Runtime uses; this test fails for a new one.
    #[test]
    fn every_type_of_p4runtime_is_supported() {
        let schema = Schema::get();
        for message in schema.messages.iter().filter(|message| message.name.starts_with("p4.")) {
            for field in &message.fields {
                assert_ne!(field.ty, Type::Unsupported, "{}.{}", message.name, field.name);
            }
        }
        assert!(schema.find("p4.v1.WriteRequest").is_some());
    }
}
