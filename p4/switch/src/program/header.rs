//! Header types, instances, stacks and unions, and the positions of their fields in a packet's words.
//!
//! Invariants: instances of one type have the same layout. So copying a header means copying words, and the field of a
//! stack element is found by its index at run time.

use super::codec::Codec;
use super::expr::Value;
use super::field::{Field, FieldSpec};

#[derive(Debug)]
pub(crate) struct HeaderType {
    pub(crate) name: String,
    /// Fields in order.
    pub(crate) fields: Vec<FieldSpec>,
    /// Bits of the fields that do not vary.
    pub(crate) fixed_bits: u32,
    /// The field that varies.
    pub(crate) variable: Option<usize>,
    /// Longest header in bytes, 0 where unknown.
    pub(crate) max_bytes: u32,
    /// Words of an instance, without validity.
    pub(crate) words: usize,
    /// Reading and writing of fixed fields.
    pub(crate) codec: Codec,
}

impl HeaderType {
    /// Returns the bytes of the fields that do not vary.
    pub(crate) fn fixed_bytes(&self) -> usize {
        self.fixed_bits as usize / 8
    }
}

/// A header instance.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) name: String,
    /// Its type.
    pub(crate) ty: u16,
    /// Whether it is metadata, always valid.
    pub(crate) metadata: bool,
    /// Word that is 1 if the header is valid.
    pub(crate) valid: u32,
    /// First word of its fields.
    pub(crate) base: u32,
    /// Word with the width of its variable field.
    pub(crate) length: Option<u32>,
    /// Union and index in it.
    pub(crate) union: Option<(u16, u16)>,
    /// Its fields, in the order of the type.
    pub(crate) fields: Box<[Field]>,
    /// Width of its variable field, if it is given by the type instead of the extraction.
    pub(crate) length_value: Option<Box<Value>>,
}

impl Header {
    /// Returns the field that contains the header's validity.
    pub(crate) fn valid_field(&self, header: u16) -> Field {
        Field { word: self.valid, words: 1, signed: false, saturating: false, bits: 1, length: None, header }
    }
}

/// A header stack.
#[derive(Debug)]
pub(crate) struct Stack {
    /// Type of its elements.
    pub(crate) ty: u16,
    /// Elements in order.
    pub(crate) headers: Vec<u16>,
    /// Word that counts the elements in use.
    pub(crate) next: u32,
}

/// A header union.
#[derive(Debug)]
pub(crate) struct Union {
    /// Members in order.
    pub(crate) headers: Vec<u16>,
    /// Word that is 0 if no member is valid, otherwise the index of the valid member plus one.
    pub(crate) state: u32,
}

/// A stack of header unions.
#[derive(Debug)]
pub(crate) struct UnionStack {
    /// Elements in order.
    pub(crate) unions: Vec<u16>,
    /// Word that counts the elements in use.
    pub(crate) next: u32,
}
