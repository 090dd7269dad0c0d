//! The objects of the format. Expressions and parameters stay raw JSON: their shape depends on the context, which the
//! compiler includes in its messages.

#![expect(dead_code, reason = "unused fields are read too, so that their shape is checked")]
#![allow(clippy::struct_field_names, reason = "the names of the file")]

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A header name and a field name.
pub(crate) type FieldName = (String, String);

/// The root object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Document {
    /// Format version and compiler.
    #[serde(rename = "__meta__")]
    pub(crate) meta: Option<Meta>,
    /// Path of the P4 source.
    pub(crate) program: Option<String>,
    pub(crate) header_types: Vec<HeaderType>,
    /// Header and metadata instances.
    pub(crate) headers: Vec<Header>,
    pub(crate) header_stacks: Vec<HeaderStack>,
    pub(crate) header_union_types: Vec<HeaderUnionType>,
    pub(crate) header_unions: Vec<HeaderUnion>,
    /// Stacks of header unions.
    pub(crate) header_union_stacks: Vec<HeaderUnionStack>,
    /// Parser errors and their numbers.
    pub(crate) errors: Vec<(String, i64)>,
    pub(crate) parsers: Vec<Parser>,
    /// Value sets that parsers refer to.
    pub(crate) parse_vsets: Vec<ValueSet>,
    pub(crate) deparsers: Vec<Deparser>,
    pub(crate) meter_arrays: Vec<MeterArray>,
    pub(crate) counter_arrays: Vec<CounterArray>,
    pub(crate) register_arrays: Vec<RegisterArray>,
    /// Hash and checksum inputs.
    pub(crate) calculations: Vec<Calculation>,
    /// Digests.
    pub(crate) learn_lists: Vec<FieldList>,
    /// Lists of fields preserved by clone, resubmit or recirculate.
    pub(crate) field_lists: Vec<FieldList>,
    pub(crate) actions: Vec<Action>,
    /// Control flows.
    pub(crate) pipelines: Vec<Pipeline>,
    /// Checksums to verify or update.
    pub(crate) checksums: Vec<Checksum>,
    /// Instances of target externs.
    pub(crate) extern_instances: Vec<ExternInstance>,
    /// Names of the architecture for fields of the program.
    pub(crate) field_aliases: Vec<(String, FieldName)>,
}

/// Format version.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Meta {
    /// Major and minor version.
    pub(crate) version: Option<[i64; 2]>,
    /// Compiler that wrote the file.
    pub(crate) compiler: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeaderType {
    pub(crate) name: String,
    /// Number, unique among header types.
    pub(crate) id: i64,
    /// Name, width (`"*"` where variable), optionally signed, optionally saturating.
    #[serde(default)]
    pub(crate) fields: Vec<Vec<Value>>,
    /// Length in bits of the variable field, as an expression over earlier fields.
    #[serde(default)]
    pub(crate) length_exp: Option<Value>,
    /// Longest header in bytes.
    #[serde(default)]
    pub(crate) max_length: Option<u64>,
}

/// A header or metadata instance.
#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub(crate) name: String,
    /// Number, unique among headers.
    pub(crate) id: i64,
    pub(crate) header_type: String,
    /// Whether it is metadata.
    #[serde(default)]
    pub(crate) metadata: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeaderStack {
    pub(crate) name: String,
    /// Number, unique among stacks.
    pub(crate) id: i64,
    /// Type of its elements.
    pub(crate) header_type: String,
    /// Elements in order.
    pub(crate) header_ids: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeaderUnionType {
    pub(crate) name: String,
    /// Member names and their types.
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeaderUnion {
    pub(crate) name: String,
    /// Number, unique among unions.
    pub(crate) id: i64,
    pub(crate) union_type: String,
    /// Members in the order of the type.
    pub(crate) header_ids: Vec<i64>,
}

/// A stack of header unions.
#[derive(Debug, Deserialize)]
pub(crate) struct HeaderUnionStack {
    pub(crate) name: String,
    /// Number, unique among union stacks.
    pub(crate) id: i64,
    /// Type of its elements.
    pub(crate) union_type: String,
    /// Elements in order.
    pub(crate) header_union_ids: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Parser {
    pub(crate) name: String,
    /// First state.
    #[serde(default)]
    pub(crate) init_state: Option<String>,
    #[serde(default)]
    pub(crate) parse_states: Vec<ParseState>,
}

/// A parser state.
#[derive(Debug, Deserialize)]
pub(crate) struct ParseState {
    pub(crate) name: String,
    /// Operations.
    #[serde(default)]
    pub(crate) parser_ops: Vec<ParserOp>,
    /// Fields of the transition key.
    #[serde(default)]
    pub(crate) transition_key: Vec<Value>,
    #[serde(default)]
    pub(crate) transitions: Vec<Transition>,
}

/// One operation of a parser state.
#[derive(Debug, Deserialize)]
pub(crate) struct ParserOp {
    /// `extract`, `set`, `verify` and so on.
    pub(crate) op: String,
    #[serde(default)]
    pub(crate) parameters: Vec<Value>,
}

/// One transition of a parser state.
#[derive(Debug, Deserialize)]
pub(crate) struct Transition {
    /// `default`, `hexstr` or `parse_vset`.
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
    /// Value, value set name, or nothing.
    #[serde(default)]
    pub(crate) value: Option<String>,
    /// Mask over key and value.
    #[serde(default)]
    pub(crate) mask: Option<String>,
    /// Next state; the parser ends without one.
    #[serde(default)]
    pub(crate) next_state: Option<String>,
}

/// A parser value set.
#[derive(Debug, Deserialize)]
pub(crate) struct ValueSet {
    pub(crate) name: String,
    /// Width of its values without padding.
    pub(crate) compressed_bitwidth: u64,
    /// Maximum number of values.
    #[serde(default)]
    pub(crate) max_size: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Deparser {
    pub(crate) name: String,
    /// Headers in the order of emission.
    #[serde(default)]
    pub(crate) order: Vec<String>,
    /// Calls before emission.
    #[serde(default)]
    pub(crate) primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MeterArray {
    pub(crate) name: String,
    /// `bytes` or `packets`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Rates of each meter.
    #[serde(default)]
    pub(crate) rate_count: u64,
    /// Number of meters.
    #[serde(default)]
    pub(crate) size: u64,
    /// Whether every entry of a table has its own meter.
    #[serde(default)]
    pub(crate) is_direct: bool,
    /// Table of a direct meter.
    #[serde(default)]
    pub(crate) binding: Option<String>,
    /// Destination for the colour of a direct meter.
    #[serde(default)]
    pub(crate) result_target: Option<FieldName>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CounterArray {
    pub(crate) name: String,
    /// Number of counters.
    #[serde(default)]
    pub(crate) size: u64,
    /// Whether every entry of a table has its own counter.
    #[serde(default)]
    pub(crate) is_direct: bool,
    /// Table of a direct counter.
    #[serde(default)]
    pub(crate) binding: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RegisterArray {
    pub(crate) name: String,
    /// Number of cells.
    pub(crate) size: u64,
    /// Width of a cell.
    pub(crate) bitwidth: u64,
}

/// Input and algorithm of a hash.
#[derive(Debug, Deserialize)]
pub(crate) struct Calculation {
    pub(crate) name: String,
    /// Algorithm.
    pub(crate) algo: String,
    /// Hashed fields.
    #[serde(default)]
    pub(crate) input: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FieldList {
    #[serde(default)]
    pub(crate) name: String,
    /// Number that actions refer to.
    pub(crate) id: i64,
    /// Fields and constants.
    #[serde(default)]
    pub(crate) elements: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Action {
    pub(crate) name: String,
    /// Number, unique among actions.
    pub(crate) id: i64,
    /// Parameters from the control plane.
    #[serde(default)]
    pub(crate) runtime_data: Vec<Parameter>,
    #[serde(default)]
    pub(crate) primitives: Vec<Primitive>,
}

/// An action parameter.
#[derive(Debug, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Width.
    pub(crate) bitwidth: u64,
}

/// One primitive call.
#[derive(Debug, Deserialize)]
pub(crate) struct Primitive {
    /// Name of the primitive.
    pub(crate) op: String,
    /// Its arguments.
    #[serde(default)]
    pub(crate) parameters: Vec<Value>,
    /// Where it is in the P4 source.
    #[serde(default)]
    pub(crate) source_info: Option<SourceInfo>,
}

/// A place in the P4 source.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SourceInfo {
    /// File.
    pub(crate) filename: String,
    pub(crate) line: u64,
    /// The text there.
    pub(crate) source_fragment: String,
}

/// A control flow.
#[derive(Debug, Deserialize)]
pub(crate) struct Pipeline {
    /// `ingress` or `egress`.
    pub(crate) name: String,
    /// First node.
    #[serde(default)]
    pub(crate) init_table: Option<String>,
    #[serde(default)]
    pub(crate) tables: Vec<Table>,
    /// Action profiles and selectors.
    #[serde(default)]
    pub(crate) action_profiles: Vec<ActionProfile>,
    /// Conditions.
    #[serde(default)]
    pub(crate) conditionals: Vec<Conditional>,
    /// Actions called outside a table.
    #[serde(default)]
    pub(crate) action_calls: Vec<ActionCall>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ActionProfile {
    pub(crate) name: String,
    /// Maximum number of members.
    #[serde(default)]
    pub(crate) max_size: u64,
    /// Selection of a member of a group.
    #[serde(default)]
    pub(crate) selector: Option<Selector>,
}

/// Selection by an action selector.
#[derive(Debug, Deserialize)]
pub(crate) struct Selector {
    /// Hash algorithm.
    pub(crate) algo: String,
    /// Hashed fields.
    #[serde(default)]
    pub(crate) input: Vec<Value>,
}

/// A match-action table.
#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// `exact`, `lpm`, `ternary` or `range`.
    pub(crate) match_type: String,
    /// `simple`, `indirect` or `indirect_ws`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Profile of an indirect table.
    #[serde(default)]
    pub(crate) action_profile: Option<String>,
    /// Maximum number of entries.
    #[serde(default)]
    pub(crate) max_size: Option<u64>,
    /// Whether entries have counters.
    #[serde(default)]
    pub(crate) with_counters: bool,
    /// Whether entries have idle timeouts.
    #[serde(default)]
    pub(crate) support_timeout: bool,
    /// Meter of each entry.
    #[serde(default)]
    pub(crate) direct_meters: Option<String>,
    #[serde(default)]
    pub(crate) key: Vec<KeyField>,
    /// Actions by number.
    #[serde(default)]
    pub(crate) action_ids: Option<Vec<i64>>,
    /// Actions by name.
    #[serde(default)]
    pub(crate) actions: Vec<String>,
    /// Next node by action name, or for `__HIT__` and `__MISS__`.
    #[serde(default)]
    pub(crate) next_tables: BTreeMap<String, Option<String>>,
    /// Next node after a miss without a default action.
    #[serde(default)]
    pub(crate) base_default_next: Option<String>,
    /// Default action.
    #[serde(default)]
    pub(crate) default_entry: Option<DefaultEntry>,
    /// Constant entries.
    #[serde(default)]
    pub(crate) entries: Option<Vec<Entry>>,
}

/// One field of a table key.
#[derive(Debug, Deserialize)]
pub(crate) struct KeyField {
    /// `exact`, `lpm`, `ternary`, `range` or `valid`.
    pub(crate) match_type: String,
    /// Header and field, or a header for `valid`.
    pub(crate) target: Value,
    /// Mask that the program applies to the field.
    #[serde(default)]
    pub(crate) mask: Option<String>,
    /// Name in the P4 program.
    #[serde(default)]
    pub(crate) name: Option<String>,
}

/// A default action.
#[derive(Debug, Deserialize)]
pub(crate) struct DefaultEntry {
    pub(crate) action_id: i64,
    /// Whether the action cannot change.
    #[serde(default)]
    pub(crate) action_const: bool,
    /// Its arguments.
    #[serde(default)]
    pub(crate) action_data: Vec<String>,
    /// Whether neither action nor arguments can change.
    #[serde(default)]
    pub(crate) action_entry_const: bool,
}

/// An entry in the program.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    pub(crate) match_key: Vec<EntryKey>,
    /// Effect.
    pub(crate) action_entry: ActionEntry,
    /// Order among overlapping entries, smallest first.
    #[serde(default)]
    pub(crate) priority: i64,
}

/// One field of an entry.
#[derive(Debug, Deserialize)]
pub(crate) struct EntryKey {
    /// `exact`, `lpm`, `ternary`, `range` or `valid`.
    pub(crate) match_type: String,
    /// Value; for `valid` a boolean.
    #[serde(default)]
    pub(crate) key: Option<Value>,
    /// Mask of a ternary field.
    #[serde(default)]
    pub(crate) mask: Option<String>,
    /// Prefix length of an LPM field.
    #[serde(default)]
    pub(crate) prefix_length: Option<u64>,
    /// First value of a range.
    #[serde(default)]
    pub(crate) start: Option<String>,
    /// Last value of a range.
    #[serde(default)]
    pub(crate) end: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ActionEntry {
    pub(crate) action_id: i64,
    /// Its arguments.
    #[serde(default)]
    pub(crate) action_data: Vec<String>,
}

/// A condition.
#[derive(Debug, Deserialize)]
pub(crate) struct Conditional {
    pub(crate) name: String,
    /// The condition.
    pub(crate) expression: Value,
    /// Next node if it holds.
    #[serde(default)]
    pub(crate) true_next: Option<String>,
    /// Next node if it does not.
    #[serde(default)]
    pub(crate) false_next: Option<String>,
}

/// An action called outside a table.
#[derive(Debug, Deserialize)]
pub(crate) struct ActionCall {
    pub(crate) name: String,
    pub(crate) action_id: i64,
    #[serde(default)]
    pub(crate) next_node: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Checksum {
    pub(crate) name: String,
    /// Field that holds the checksum.
    pub(crate) target: FieldName,
    /// `generic` or `ipv4`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Calculation of a generic checksum.
    #[serde(default)]
    pub(crate) calculation: Option<String>,
    /// Whether deparsers update it.
    #[serde(default = "yes")]
    pub(crate) update: bool,
    /// Whether parsers verify it.
    #[serde(default = "yes")]
    pub(crate) verify: bool,
    /// Condition for verification and update.
    #[serde(default)]
    pub(crate) if_cond: Option<Value>,
}

/// An instance of a target extern. v1model has none.
#[derive(Debug, Deserialize)]
pub(crate) struct ExternInstance {
    pub(crate) name: String,
    /// Type.
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

const fn yes() -> bool {
    true
}
