//! Actions as lists of resolved primitives.

use super::expr::{HeaderRef, UnionRef, Value};
use super::field::Field;
use super::hash::HashCall;

/// An action.
#[derive(Debug)]
pub(crate) struct Action {
    /// Name.
    pub(crate) name: String,
    /// Names and widths of its parameters.
    pub(crate) params: Vec<(String, u32)>,
    /// First word of each parameter in an entry's argument words.
    pub(crate) offsets: Vec<u16>,
    /// Words that an entry's arguments take.
    pub(crate) words: usize,
    /// Effect.
    pub(crate) primitives: Vec<Primitive>,
}

impl Action {
    /// Returns the words of a parameter in an entry's argument words.
    pub(crate) fn range(&self, param: usize) -> std::ops::Range<usize> {
        let start = self.offsets[param] as usize;
        start..start + crate::bits::words_for(self.params[param].1 as usize)
    }
}

/// Where a primitive writes.
#[derive(Debug)]
pub(crate) enum Destination {
    /// A field.
    Field(Field),
    /// A field of a header that is found at run time.
    Member(HeaderRef, u16),
    /// A field of the last element in use of a stack.
    StackLast(u16, u16),
    /// A register cell.
    Register(u16, Value),
}

/// A stack of headers or of unions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stack {
    /// Of headers.
    Headers(u16),
    /// Of unions.
    Unions(u16),
}

/// A part of a log message.
#[derive(Debug)]
pub(crate) enum LogPiece {
    /// Text.
    Text(String),
    /// A number.
    Value(Value),
}

/// A primitive.
#[derive(Debug)]
pub(crate) enum Primitive {
    /// Gives a field a value.
    Assign(Destination, Value),
    /// Copies a variable field with its width.
    AssignVariable(Field, Field),
    /// Copies a header with its validity.
    CopyHeader(HeaderRef, HeaderRef),
    /// Copies a union.
    CopyUnion(UnionRef, UnionRef),
    /// Copies a stack of headers.
    CopyStack(u16, u16),
    /// Copies a stack of unions.
    CopyUnionStack(u16, u16),
    /// Makes a header valid and zero, unless it is valid.
    AddHeader(HeaderRef),
    /// Makes a header valid as it is.
    ValidateHeader(HeaderRef),
    /// Makes a header invalid.
    RemoveHeader(HeaderRef),
    /// Shifts a stack up.
    Push(Stack, Value),
    /// Shifts a stack down.
    Pop(Stack, Value),
    /// Goes on at another primitive.
    Jump(u32),
    /// Goes on at another primitive where a number is zero.
    JumpIfZero(Value, u32),
    /// Ends the control flow after this action.
    Exit,
    /// Drops the packet with a message where a number is zero.
    Assert {
        /// The number.
        value: Value,
        /// Which statement of the source.
        text: String,
    },
    /// Writes a log message.
    Log(Vec<LogPiece>),
    /// Gives a field a random number between two.
    Random(Destination, Value, Value),
    /// Gives a field a hash.
    Hash(Destination, HashCall),
    /// Marks the packet to be dropped.
    MarkToDrop {
        /// Field that gets the drop port.
        egress_spec: Field,
        /// Field that gets zero.
        mcast_grp: Option<Field>,
    },
    /// Sends a digest to the control plane.
    Digest(Value),
    /// Clones the packet into a session, with a field list.
    Clone(Value, Value),
    /// Sends the packet through ingress again, with a field list.
    Resubmit(Value),
    /// Sends the packet through the switch again, with a field list.
    Recirculate(Value),
    /// Gives a field the colour of a meter.
    Meter(u16, Value, Destination),
    /// Counts.
    Count(u16, Value),
    /// Reads a register.
    ReadRegister(Destination, u16, Value),
    /// Writes a register.
    WriteRegister(u16, Value, Value),
    /// Limits the length of the packet.
    Truncate(Value),
    /// Does nothing.
    Nothing,
}
