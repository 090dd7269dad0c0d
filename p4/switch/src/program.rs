//! A program compiled for running: every name is an index, every field a place in the packet's words.
//!
//! Comes in: a [`crate::json::Document`]. Goes out: a [`Program`], immutable and shared by every switch that runs it.
//! What always holds: every index in it is in range and every expression has been checked, so that running it cannot
//! fail.

mod action;
mod build;
mod codec;
mod control;
mod expr;
mod field;
mod hash;
mod header;
mod parser;
mod range;

pub use action::{Action, Aim, LogPiece, Primitive, Stack as StackRef};
pub(crate) use build::prefix_mask;
pub use codec::{Codec, Group, GroupField, get_bits, put_bits};
pub use control::{
    ActionCall, Checksum, ChecksumKind, Conditional, ConstEntry, ConstMatch, DefaultEntry, KeyField,
    KeySource, MatchKind, MeterTarget, Node, Profile, Selector, Table, TableKind, TableMatch,
};
pub use expr::{Binary, BinaryOp, BoolOp, Compare, Comparison, Cond, Expr, HeaderRef, Mode, UnionRef, Value};
pub use field::{Field, FieldSpec};
pub use hash::{Algorithm, Calculation, Crc, HashCall, HashInput, crc_table};
pub use header::{Header, HeaderType, Stack, Union, UnionStack};
pub use parser::{Case, Key, KeyPart, Parser, ParserOp, State, Target};

use crate::json::{self, Document};
use crate::{Error, bits};
use std::collections::BTreeMap;

/// A compiled program.
#[derive(Debug)]
pub struct Program {
    /// Header types.
    pub types: Vec<HeaderType>,
    /// Header and metadata instances.
    pub headers: Vec<Header>,
    /// Header stacks.
    pub stacks: Vec<Stack>,
    /// Header unions.
    pub unions: Vec<Union>,
    /// Stacks of unions.
    pub union_stacks: Vec<UnionStack>,
    /// Words that a packet's headers, metadata and validity take.
    pub words: usize,
    /// Words of metadata, together.
    pub metadata: std::ops::Range<usize>,
    /// The parser.
    pub parser: Parser,
    /// Headers in the order they are emitted.
    pub deparser: Vec<u16>,
    /// Calls before anything is emitted.
    pub deparser_calls: Vec<Primitive>,
    /// Checksums that the parser verifies.
    pub verify: Vec<Checksum>,
    /// Checksums that the deparser updates.
    pub update: Vec<Checksum>,
    /// Hash inputs.
    pub calculations: Vec<Calculation>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Tables of both control flows.
    pub tables: Vec<Table>,
    /// Conditions of both control flows.
    pub conditionals: Vec<Conditional>,
    /// Actions called outside tables.
    pub action_calls: Vec<ActionCall>,
    /// Action profiles and selectors.
    pub profiles: Vec<Profile>,
    /// First node of ingress.
    pub ingress: Node,
    /// First node of egress.
    pub egress: Node,
    /// Counter arrays.
    pub counters: Vec<CounterArray>,
    /// Meter arrays.
    pub meters: Vec<MeterArray>,
    /// Register arrays.
    pub registers: Vec<RegisterArray>,
    /// Parser value sets.
    pub value_sets: Vec<ValueSet>,
    /// Fields of each digest, by the number that actions use.
    pub digests: BTreeMap<u32, Digest>,
    /// Fields that survive a clone, resubmit or recirculate, by the number that actions use.
    pub field_lists: BTreeMap<u32, Vec<Field>>,
    /// The architecture's own fields.
    pub standard: Standard,
    /// Numbers of the core library's parser errors.
    pub errors: CoreErrors,
}

impl Program {
    /// Reads and compiles a BMv2 JSON document.
    pub fn from_json(text: &[u8]) -> Result<Self, Error> {
        let document = json::parse(text)?;
        json::with_stack(move || {
            let program = Self::compile(&document);
            drop(document);
            program
        })
    }

    /// Compiles a document.
    pub fn compile(document: &Document) -> Result<Self, Error> {
        build::program(document)
    }

    /// Returns the index of a table by name.
    pub fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    /// Returns the index of an action by name, among those of a table where several share it.
    pub fn action(&self, name: &str) -> Option<usize> {
        self.actions.iter().position(|action| action.name == name)
    }

    /// Returns how many words a header instance's field values take.
    pub fn header_words(&self, header: &Header) -> usize {
        self.types[header.ty as usize].words
    }
}

/// A counter array that is indexed, not bound to a table.
#[derive(Debug)]
pub struct CounterArray {
    /// Name.
    pub name: String,
    /// Number of counters.
    pub size: u32,
}

/// A meter array.
#[derive(Debug)]
pub struct MeterArray {
    /// Name.
    pub name: String,
    /// Number of meters; of a direct one, the table's size.
    pub size: u32,
    /// Whether bytes are metered, or packets.
    pub bytes: bool,
    /// Rates of a meter.
    pub rates: u8,
    /// Whether entries of a table own the meters.
    pub direct: bool,
}

/// A register array.
#[derive(Debug)]
pub struct RegisterArray {
    /// Name.
    pub name: String,
    /// Number of cells.
    pub size: u32,
    /// Width of a cell.
    pub bits: u32,
}

impl RegisterArray {
    /// Returns how many words a cell takes.
    pub fn words(&self) -> usize {
        bits::words_for(self.bits as usize)
    }
}

/// A parser value set.
#[derive(Debug)]
pub struct ValueSet {
    /// Name.
    pub name: String,
    /// Width of a value.
    pub bits: u32,
}

/// A digest.
#[derive(Debug)]
pub struct Digest {
    /// Name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// The fields through which v1model and a program speak.
#[derive(Clone, Debug)]
pub struct Standard {
    /// Port the packet came from.
    pub ingress_port: Field,
    /// Its length.
    pub packet_length: Field,
    /// Normal, clone, recirculated and so on.
    pub instance_type: Field,
    /// Port that ingress chose.
    pub egress_spec: Field,
    /// Port the packet leaves by.
    pub egress_port: Field,
    /// Parser error.
    pub parser_error: Option<Field>,
    /// Whether a checksum was wrong.
    pub checksum_error: Option<Field>,
    /// Multicast group.
    pub mcast_grp: Option<Field>,
    /// Replica number.
    pub egress_rid: Option<Field>,
    /// Arrival in microseconds.
    pub ingress_timestamp: Option<Field>,
    /// Start of egress in microseconds.
    pub egress_timestamp: Option<Field>,
    /// Priority of the queue.
    pub priority: Option<Field>,
    /// Queueing fields, where all of them are there.
    pub queueing: Option<Queueing>,
}

/// What a packet learns in its queue.
#[derive(Clone, Debug)]
pub struct Queueing {
    /// When it was enqueued, in microseconds.
    pub enq_timestamp: Field,
    /// Packets in the queue then.
    pub enq_qdepth: Field,
    /// Microseconds in the queue.
    pub deq_timedelta: Field,
    /// Packets in the queue when it left.
    pub deq_qdepth: Field,
    /// Which queue of the port.
    pub qid: Option<Field>,
}

/// Numbers of the core library's parser errors.
#[derive(Clone, Copy, Debug)]
pub struct CoreErrors {
    /// All is well.
    pub no_error: u32,
    /// Not enough data.
    pub packet_too_short: u32,
    /// No element left in a stack.
    pub stack_out_of_bounds: u32,
    /// Variable field longer than its header allows.
    pub header_too_short: u32,
    /// Too many states.
    pub parser_timeout: u32,
    /// A length that is no multiple of eight.
    pub parser_invalid_argument: u32,
}
