//! Protobuf text format: reads and writes `.txtpb` files with any message of P4Runtime.
//!
//! Reading and writing use the descriptors. The reader never panics and returns an error with line and column. The
//! output of the writer is canonical, so a file changes only if its content does.

mod entries;
mod error;
mod lexer;
mod reader;
mod schema;
mod wire;
mod writer;

use prost::{Message, Name};

use crate::proto::config;
use crate::wire::{WireError, weigh_file};
pub use entries::{read_entries, write_entries};
pub use error::{TextError, TextFault};
use schema::Schema;

/// Memory limit of a message per byte of its text: several times the memory that files of entries need.
const MEMORY_PER_BYTE: usize = 16;

/// Memory limit that applies to a message of any length, in bytes.
const MEMORY: usize = 16 << 20;

/// Reads a message of any type, for instance a `p4.v1.WriteRequest`.
pub fn read<M: Message + Name + Default>(text: &str) -> Result<M, TextError> {
    let schema = Schema::get();
    let id = schema.find(&M::full_name()).expect("every generated message has a descriptor");
    let encoded = reader::read(schema, id, text)?;
    let limit = text.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY);
    if matches!(weigh_file::<M>(&encoded, limit), Err(WireError::TooHeavy { .. })) {
        return Err(TextError { line: 1, column: 1, fault: TextFault::TooHeavy { limit } });
    }
    Ok(M::decode(encoded.as_slice()).expect("the reader writes what the decoder takes"))
}

/// Writes a message of any type.
pub fn write<M: Message + Name>(message: &M) -> String {
    let schema = Schema::get();
    let id = schema.find(&M::full_name()).expect("every generated message has a descriptor");
    let mut text = String::new();
    writer::write(schema, id, &message.encode_to_vec(), 0, &mut text);
    text
}

/// Reads a P4Info in the format of `p4c --p4runtime-files`.
pub fn read_p4info(text: &str) -> Result<config::P4Info, TextError> {
    read(text)
}

#[cfg(test)]
mod tests;
