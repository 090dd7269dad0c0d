//! A compiled program: names are resolved to indices, and fields to positions in the packet's words.
//!
//! In: a [`crate::json::Document`]. Out: a [`Program`], immutable and shared by every switch that runs it. Invariants:
//! all indices are in range and all expressions are validated, so execution cannot fail.

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

pub(crate) use action::{Action, Destination, LogPiece, Primitive, Stack as StackRef};
pub(crate) use build::prefix_mask;
pub(crate) use codec::{Codec, Group, get_bits, put_bits};
pub(crate) use control::{
    ActionCall, Checksum, ChecksumKind, Conditional, ConstEntry, KeyField, KeySource, MatchKind, Node,
    Profile, Table, TableKind, TableMatch,
};
pub(crate) use expr::{Binary, BinaryOp, BoolOp, Comparison, Cond, Expr, HeaderRef, Mode, UnionRef, Value};
pub(crate) use field::Field;
#[cfg(test)]
pub(crate) use hash::crc_table;
pub(crate) use hash::{Algorithm, Calculation, Crc, HashCall, HashInput};
pub(crate) use header::{Header, HeaderType, Stack, Union, UnionStack};
pub(crate) use parser::{Case, Key, KeyPart, Parser, ParserOp, State, Target};

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::json::{self, Document};
use crate::{Error, bits};

/// A compiled program.
#[derive(Debug)]
pub struct Program {
    pub(crate) types: Vec<HeaderType>,
    /// Header and metadata instances.
    pub(crate) headers: Vec<Header>,
    /// Header stacks.
    pub(crate) stacks: Vec<Stack>,
    /// Header unions.
    pub(crate) unions: Vec<Union>,
    /// Stacks of unions.
    pub(crate) union_stacks: Vec<UnionStack>,
    /// Words of a packet's headers, metadata and validity.
    pub(crate) words: usize,
    /// Words of metadata, which are consecutive.
    pub(crate) metadata: std::ops::Range<usize>,
    pub(crate) parser: Parser,
    /// Headers in the order of emission.
    pub(crate) deparser: Vec<u16>,
    /// Calls before emission.
    pub(crate) deparser_calls: Vec<Primitive>,
    /// Checksums that the parser verifies.
    pub(crate) verify: Vec<Checksum>,
    /// Checksums that the deparser updates.
    pub(crate) update: Vec<Checksum>,
    /// Hash inputs.
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) actions: Vec<Action>,
    /// Tables of both control flows.
    pub(crate) tables: Vec<Table>,
    /// Conditions of both control flows.
    pub(crate) conditionals: Vec<Conditional>,
    /// Actions called outside of tables.
    pub(crate) action_calls: Vec<ActionCall>,
    /// Action profiles and selectors.
    pub(crate) profiles: Vec<Profile>,
    /// First node of ingress.
    pub(crate) ingress: Node,
    /// First node of egress.
    pub(crate) egress: Node,
    pub(crate) counters: Vec<CounterArray>,
    /// Direct counters of tables.
    pub(crate) direct_counters: Vec<DirectCounter>,
    pub(crate) meters: Vec<MeterArray>,
    pub(crate) registers: Vec<RegisterArray>,
    /// Parser value sets.
    pub(crate) value_sets: Vec<ValueSet>,
    /// Fields of each digest, by the number used in actions.
    pub(crate) digests: BTreeMap<u32, Digest>,
    /// Fields preserved by clone, resubmit or recirculate, by the number used in actions.
    pub(crate) field_lists: BTreeMap<u32, Vec<Field>>,
    /// Standard metadata of the architecture.
    pub(crate) standard: Standard,
    /// Numbers of the core library's parser errors.
    pub(crate) errors: CoreErrors,
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
    pub(crate) fn compile(document: &Document) -> Result<Self, Error> {
        build::program(document)
    }

    /// Returns the problem with a drop port, if any.
    pub(crate) fn doubt_drop_port(&self, port: u32) -> Option<DropPortDoubt> {
        let bits = self.standard.egress_spec.bits;
        if u64::from(port) > last(bits) {
            return Some(DropPortDoubt::TooWide { bits, port });
        }
        (port == DROP_PORT && last(bits) > u64::from(DROP_PORT)).then_some(DropPortDoubt::InTheMidst { bits })
    }

    /// Returns the index of a table by name.
    pub(crate) fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }
}

/// Default drop port: the greatest number in the nine bits of a v1model port.
pub(crate) const DROP_PORT: u32 = 511;

/// The reason why a number cannot be the drop port, or is unlikely to be the intended one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum DropPortDoubt {
    /// Ports are wider than those of v1model, so the default number is a normal port.
    #[error("ports of the program have {bits} bits, so {DROP_PORT} is one of them, and packets to it are dropped; \
             `--drop-port {}` is the last", last(*.bits))]
    InTheMidst {
        /// Width of a port.
        bits: u32,
    },
    /// The number has more bits than the program's ports, so packets marked to be dropped leave through
    /// another port.
    #[error("ports of the program have {bits} bits, so `--drop-port {port}` is none of them, and nothing is dropped by it; \
             {} is the last", last(*.bits))]
    TooWide {
        /// Width of a port.
        bits: u32,
        port: u32,
    },
}

/// Returns the greatest number of a width.
fn last(bits: u32) -> u64 {
    bits::mask64(bits)
}

/// Formats the size of the program.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} headers in {} words, {} states, {} tables, {} actions",
            self.headers.len(),
            self.words,
            self.parser.states.len(),
            self.tables.len(),
            self.actions.len(),
        )
    }
}

/// An indexed counter array.
#[derive(Debug)]
pub(crate) struct CounterArray {
    pub(crate) name: String,
    /// Number of counters.
    pub(crate) size: u32,
}

/// A direct counter of a table.
#[derive(Debug)]
pub(crate) struct DirectCounter {
    pub(crate) name: String,
    /// Name of the table.
    pub(crate) table: String,
}

#[derive(Debug)]
pub(crate) struct MeterArray {
    pub(crate) name: String,
    /// Number of meters. For a direct meter, this is the size of the table.
    pub(crate) size: u32,
    /// Whether it meters bytes instead of packets.
    pub(crate) bytes: bool,
}

#[derive(Debug)]
pub(crate) struct RegisterArray {
    pub(crate) name: String,
    /// Number of cells.
    pub(crate) size: u32,
    /// Width of a cell.
    pub(crate) bits: u32,
}

impl RegisterArray {
    /// Returns how many words a cell takes.
    pub(crate) fn words(&self) -> usize {
        bits::words_for(self.bits as usize)
    }
}

/// A parser value set.
#[derive(Debug)]
pub(crate) struct ValueSet {
    pub(crate) name: String,
    /// Bits of a value.
    pub(crate) bits: u32,
    /// Maximum number of values; 0 if the program leaves it open.
    pub(crate) size: u32,
}

#[derive(Debug)]
pub(crate) struct Digest {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
}

/// Fields with which v1model and a program communicate.
#[derive(Clone, Debug)]
pub(crate) struct Standard {
    pub(crate) ingress_port: Field,
    pub(crate) packet_length: Field,
    /// Kind of packet: normal, clone, recirculated and so on.
    pub(crate) instance_type: Field,
    /// Port that ingress chose.
    pub(crate) egress_spec: Field,
    pub(crate) egress_port: Field,
    pub(crate) parser_error: Option<Field>,
    /// Whether a checksum was wrong.
    pub(crate) checksum_error: Option<Field>,
    /// Multicast group.
    pub(crate) mcast_grp: Option<Field>,
    /// Replica number.
    pub(crate) egress_rid: Option<Field>,
    /// Arrival in microseconds.
    pub(crate) ingress_timestamp: Option<Field>,
    /// Start of egress in microseconds.
    pub(crate) egress_timestamp: Option<Field>,
    /// Priority of the queue.
    pub(crate) priority: Option<Field>,
    /// Queueing fields, if all of them exist.
    pub(crate) queueing: Option<Queueing>,
}

/// Queueing metadata of a packet.
#[derive(Clone, Debug)]
pub(crate) struct Queueing {
    /// Time of enqueueing, in microseconds.
    pub(crate) enq_timestamp: Field,
    /// Packets in the queue at that time.
    pub(crate) enq_qdepth: Field,
    /// Microseconds in the queue.
    pub(crate) deq_timedelta: Field,
    /// Packets in the queue when it left.
    pub(crate) deq_qdepth: Field,
    /// Queue of the port.
    pub(crate) qid: Option<Field>,
}

/// Numbers of the core library's parser errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreErrors {
    pub(crate) no_error: u32,
    /// Not enough data.
    pub(crate) packet_too_short: u32,
    /// No element left in a stack.
    pub(crate) stack_out_of_bounds: u32,
    /// Variable field longer than its header allows.
    pub(crate) header_too_short: u32,
    /// Too many states.
    pub(crate) parser_timeout: u32,
    /// A length that is not a multiple of eight.
    pub(crate) parser_invalid_argument: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the program `forward`, with ports of this width.
    fn with_ports(bits: u32) -> Program {
        let text = include_str!("../tests/programs/forward.json");
        let mut program = Program::from_json(text.as_bytes()).expect("the fixture is a program");
        program.standard.egress_spec.bits = bits;
        program
    }

    #[test]
    fn the_port_that_means_drop_is_the_last() {
        assert_eq!(with_ports(9).doubt_drop_port(DROP_PORT), None);
        assert_eq!(with_ports(9).doubt_drop_port(510), None, "the operator chose it");
        assert_eq!(with_ports(10).doubt_drop_port(1023), None);
        let doubt = with_ports(10).doubt_drop_port(DROP_PORT).expect("512 to 1023 are ports");
        assert_eq!(
            doubt.to_string(),
            "ports of the program have 10 bits, so 511 is one of them, and packets to it are dropped; \
             `--drop-port 1023` is the last"
        );
        let doubt = with_ports(9).doubt_drop_port(1023);
        assert_eq!(doubt, Some(DropPortDoubt::TooWide { bits: 9, port: 1023 }));
    }
}
