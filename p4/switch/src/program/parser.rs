//! The parser as states with resolved operations.

use super::action::Primitive;
use super::expr::{Cond, Value};
use super::field::Field;

#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// States.
    pub states: Vec<State>,
    /// First state.
    pub(crate) start: Option<u32>,
}

/// A parser state.
#[derive(Debug)]
pub(crate) struct State {
    /// Operations.
    pub(crate) ops: Vec<ParserOp>,
    /// Selector fields, each part padded to bytes.
    pub(crate) key: Vec<KeyPart>,
    /// Bytes of the key.
    pub(crate) key_bytes: usize,
    /// Transitions; the first match applies.
    pub(crate) cases: Vec<Case>,
    /// Default transition; the parser ends without one.
    pub(crate) default: Option<u32>,
}

/// Target of an extraction.
#[derive(Debug)]
pub(crate) enum Target {
    Header(u16),
    /// The next element of a stack.
    Stack(u16),
    /// A member of the next element of a stack of unions.
    UnionStack(u16, u16),
}

/// An operation of a parser state.
#[derive(Debug)]
pub(crate) enum ParserOp {
    /// Extracts a header. If the header has a variable field, the value is the width of that field.
    Extract(Target, Option<Value>),
    /// Assigns a value to a field.
    Set(Field, Value),
    /// Copies a variable field.
    SetVariable(Field, Field),
    /// Assigns lookahead bits to a field.
    SetLookahead {
        field: Field,
        /// First bit, relative to the parser's position.
        offset: u32,
        /// Number of bits.
        bits: u32,
    },
    /// Ends with an error unless a condition holds.
    Verify(Cond, Value),
    /// Skips bits.
    Advance(Value),
    Call(Vec<Primitive>),
}

/// A part of a transition key.
#[derive(Debug)]
pub(crate) enum KeyPart {
    Field(Field),
    /// A field of the last element of a stack.
    StackField {
        stack: u16,
        /// The field's number.
        field: u16,
        /// Its width.
        bits: u32,
    },
    /// A field of the last element of a stack of unions.
    UnionStackField {
        stack: u16,
        member: u16,
        /// The field's number.
        field: u16,
        /// Its width.
        bits: u32,
    },
    /// Bits from the packet ahead.
    Lookahead {
        /// First bit.
        offset: u32,
        /// Number of bits.
        bits: u32,
    },
}

impl KeyPart {
    /// Returns the width of the part without padding.
    pub(crate) fn bits(&self) -> u32 {
        match self {
            Self::Field(field) => field.bits,
            Self::StackField { bits, .. }
            | Self::UnionStackField { bits, .. }
            | Self::Lookahead { bits, .. } => *bits,
        }
    }
}

/// A key, as a number if it has at most sixteen bytes.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// As a number.
    Short(u128),
    /// As bytes.
    Long(Box<[u8]>),
}

/// A transition of a state.
#[derive(Debug)]
pub(crate) enum Case {
    /// The key equals a value under a mask.
    Value {
        /// The value, masked.
        value: Key,
        mask: Key,
        /// Next state.
        next: Option<u32>,
    },
    /// The key is in a value set.
    Set {
        set: u16,
        /// Mask over key and values, padded like the key.
        mask: Option<Box<[u8]>>,
        /// Next state.
        next: Option<u32>,
    },
}
