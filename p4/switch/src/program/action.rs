//! Actions as lists of resolved primitives.

use super::expr::{HeaderRef, UnionRef, Value};
use super::field::Field;
use super::hash::HashCall;

#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) name: String,
    /// Names and widths of its parameters.
    pub(crate) params: Vec<(String, u32)>,
    /// Offset of each parameter in an entry's argument words.
    pub(crate) offsets: Vec<u16>,
    /// Words of an entry's arguments.
    pub(crate) words: usize,
    pub(crate) primitives: Vec<Primitive>,
}

impl Action {
    /// Returns the words of a parameter in an entry's argument words.
    pub(crate) fn range(&self, param: usize) -> std::ops::Range<usize> {
        let start = self.offsets[param] as usize;
        start..start + crate::bits::words_for(self.params[param].1 as usize)
    }
}

/// Destination of a primitive.
#[derive(Debug)]
pub(crate) enum Destination {
    Field(Field),
    /// A field of a header that is selected at run time.
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
    Text(String),
    /// A number.
    Value(Value),
}

#[derive(Debug)]
pub(crate) enum Primitive {
    /// Assigns a value to a field.
    Assign(Destination, Value),
    /// Copies a variable-width field with its width.
    AssignVariable(Field, Field),
    /// Copies a header with its validity.
    CopyHeader(HeaderRef, HeaderRef),
    CopyUnion(UnionRef, UnionRef),
    /// Copies a stack of headers.
    CopyStack(u16, u16),
    CopyUnionStack(u16, u16),
    /// Makes a header valid with zero fields, unless it is valid.
    AddHeader(HeaderRef),
    /// Makes a header valid and keeps its fields.
    ValidateHeader(HeaderRef),
    /// Makes a header invalid.
    RemoveHeader(HeaderRef),
    /// Shifts a stack towards its end.
    Push(Stack, Value),
    /// Shifts a stack towards its start.
    Pop(Stack, Value),
    /// Continues at another primitive.
    Jump(u32),
    /// Continues at another primitive if a number is zero.
    JumpIfZero(Value, u32),
    /// Ends the control flow after this action.
    Exit,
    /// Drops the packet with a message if a number is zero.
    Assert {
        /// The number.
        value: Value,
        /// Statement of the source.
        text: String,
    },
    /// Writes a log message.
    Log(Vec<LogPiece>),
    /// Assigns a random number from a range to a field.
    Random(Destination, Value, Value),
    /// Assigns a hash to a field.
    Hash(Destination, HashCall),
    /// Marks the packet for dropping.
    MarkToDrop {
        /// Field that is set to the drop port.
        egress_spec: Field,
        /// Field that is set to zero.
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
    /// Assigns the colour of a meter to a field.
    Meter(u16, Value, Destination),
    /// Increments a counter.
    Count(u16, Value),
    ReadRegister(Destination, u16, Value),
    WriteRegister(u16, Value, Value),
    /// Limits the length of the packet.
    Truncate(Value),
    /// No operation.
    Nothing,
}
