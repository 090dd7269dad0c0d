//! The objects of the format. Expressions and parameters stay raw JSON: their shape depends on where they stand, and
//! the compiler names that place in its messages.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A header name and a field name.
pub type FieldName = (String, String);

/// The root object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Format version and compiler.
    #[serde(rename = "__meta__")]
    pub meta: Option<Meta>,
    /// Path of the P4 source, as the compiler saw it.
    pub program: Option<String>,
    /// Header types.
    pub header_types: Vec<HeaderType>,
    /// Header and metadata instances.
    pub headers: Vec<Header>,
    /// Header stacks.
    pub header_stacks: Vec<HeaderStack>,
    /// Header union types.
    pub header_union_types: Vec<HeaderUnionType>,
    /// Header unions.
    pub header_unions: Vec<HeaderUnion>,
    /// Stacks of header unions.
    pub header_union_stacks: Vec<HeaderUnionStack>,
    /// Parser errors and their numbers.
    pub errors: Vec<(String, i64)>,
    /// Parsers.
    pub parsers: Vec<Parser>,
    /// Value sets that parsers refer to.
    pub parse_vsets: Vec<ValueSet>,
    /// Deparsers.
    pub deparsers: Vec<Deparser>,
    /// Meter arrays.
    pub meter_arrays: Vec<MeterArray>,
    /// Counter arrays.
    pub counter_arrays: Vec<CounterArray>,
    /// Register arrays.
    pub register_arrays: Vec<RegisterArray>,
    /// Hash and checksum inputs.
    pub calculations: Vec<Calculation>,
    /// Digests.
    pub learn_lists: Vec<FieldList>,
    /// Lists of fields that survive a clone, resubmit or recirculate.
    pub field_lists: Vec<FieldList>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Control flows.
    pub pipelines: Vec<Pipeline>,
    /// Checksums to verify or update.
    pub checksums: Vec<Checksum>,
    /// Instances of target externs.
    pub extern_instances: Vec<ExternInstance>,
    /// Names of the architecture for fields of the program.
    pub field_aliases: Vec<(String, FieldName)>,
}

impl Document {
    /// Returns the tables of every pipeline.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.pipelines.iter().flat_map(|pipeline| &pipeline.tables)
    }
}

/// Format version.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Major and minor version.
    pub version: Option<[i64; 2]>,
    /// Compiler that wrote the file.
    pub compiler: Option<String>,
}

/// A header type.
#[derive(Debug, Deserialize)]
pub struct HeaderType {
    /// Name.
    pub name: String,
    /// Number, unique among header types.
    pub id: i64,
    /// Name, width (`"*"` where variable), optionally signed, optionally saturating.
    #[serde(default)]
    pub fields: Vec<Vec<Value>>,
    /// Length in bits of the variable field, as an expression over earlier fields.
    #[serde(default)]
    pub length_exp: Option<Value>,
    /// Longest header in bytes.
    #[serde(default)]
    pub max_length: Option<u64>,
}

/// A header or metadata instance.
#[derive(Debug, Deserialize)]
pub struct Header {
    /// Name.
    pub name: String,
    /// Number, unique among headers.
    pub id: i64,
    /// Its type.
    pub header_type: String,
    /// Whether it is metadata.
    #[serde(default)]
    pub metadata: bool,
}

/// A header stack.
#[derive(Debug, Deserialize)]
pub struct HeaderStack {
    /// Name.
    pub name: String,
    /// Number, unique among stacks.
    pub id: i64,
    /// Type of its elements.
    pub header_type: String,
    /// Elements in order.
    pub header_ids: Vec<i64>,
}

/// A header union type.
#[derive(Debug, Deserialize)]
pub struct HeaderUnionType {
    /// Name.
    pub name: String,
    /// Member names and their types.
    pub headers: Vec<(String, String)>,
}

/// A header union.
#[derive(Debug, Deserialize)]
pub struct HeaderUnion {
    /// Name.
    pub name: String,
    /// Number, unique among unions.
    pub id: i64,
    /// Its type.
    pub union_type: String,
    /// Members in the order of the type.
    pub header_ids: Vec<i64>,
}

/// A stack of header unions.
#[derive(Debug, Deserialize)]
pub struct HeaderUnionStack {
    /// Name.
    pub name: String,
    /// Number, unique among union stacks.
    pub id: i64,
    /// Type of its elements.
    pub union_type: String,
    /// Elements in order.
    pub header_union_ids: Vec<i64>,
}

/// A parser.
#[derive(Debug, Deserialize)]
pub struct Parser {
    /// Name.
    pub name: String,
    /// First state.
    #[serde(default)]
    pub init_state: Option<String>,
    /// States.
    #[serde(default)]
    pub parse_states: Vec<ParseState>,
}

/// A parser state.
#[derive(Debug, Deserialize)]
pub struct ParseState {
    /// Name.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub parser_ops: Vec<ParserOp>,
    /// What it selects on.
    #[serde(default)]
    pub transition_key: Vec<Value>,
    /// Where it goes.
    #[serde(default)]
    pub transitions: Vec<Transition>,
}

/// One operation of a parser state.
#[derive(Debug, Deserialize)]
pub struct ParserOp {
    /// `extract`, `set`, `verify` and so on.
    pub op: String,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Vec<Value>,
}

/// One transition of a parser state.
#[derive(Debug, Deserialize)]
pub struct Transition {
    /// `default`, `hexstr` or `parse_vset`.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// Value, value set name, or nothing.
    #[serde(default)]
    pub value: Option<String>,
    /// Mask over key and value.
    #[serde(default)]
    pub mask: Option<String>,
    /// Next state; the parser ends without one.
    #[serde(default)]
    pub next_state: Option<String>,
}

/// A parser value set.
#[derive(Debug, Deserialize)]
pub struct ValueSet {
    /// Name.
    pub name: String,
    /// Width of its values without padding.
    pub compressed_bitwidth: u64,
}

/// A deparser.
#[derive(Debug, Deserialize)]
pub struct Deparser {
    /// Name.
    pub name: String,
    /// Headers in the order they are emitted.
    #[serde(default)]
    pub order: Vec<String>,
    /// Calls to make before.
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

/// A meter array.
#[derive(Debug, Deserialize)]
pub struct MeterArray {
    /// Name.
    pub name: String,
    /// `bytes` or `packets`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Rates of each meter.
    #[serde(default)]
    pub rate_count: u64,
    /// Number of meters.
    #[serde(default)]
    pub size: u64,
    /// Whether every entry of a table has one.
    #[serde(default)]
    pub is_direct: bool,
    /// That table.
    #[serde(default)]
    pub binding: Option<String>,
    /// Where a direct meter writes its colour.
    #[serde(default)]
    pub result_target: Option<FieldName>,
}

/// A counter array.
#[derive(Debug, Deserialize)]
pub struct CounterArray {
    /// Name.
    pub name: String,
    /// Number of counters.
    #[serde(default)]
    pub size: u64,
    /// Whether every entry of a table has one.
    #[serde(default)]
    pub is_direct: bool,
    /// That table.
    #[serde(default)]
    pub binding: Option<String>,
}

/// A register array.
#[derive(Debug, Deserialize)]
pub struct RegisterArray {
    /// Name.
    pub name: String,
    /// Number of cells.
    pub size: u64,
    /// Width of a cell.
    pub bitwidth: u64,
}

/// Input and algorithm of a hash.
#[derive(Debug, Deserialize)]
pub struct Calculation {
    /// Name.
    pub name: String,
    /// Algorithm.
    pub algo: String,
    /// What is hashed.
    #[serde(default)]
    pub input: Vec<Value>,
}

/// A list of fields.
#[derive(Debug, Deserialize)]
pub struct FieldList {
    /// Name.
    #[serde(default)]
    pub name: String,
    /// Number that actions refer to.
    pub id: i64,
    /// Fields and constants.
    #[serde(default)]
    pub elements: Vec<Value>,
}

/// An action.
#[derive(Debug, Deserialize)]
pub struct Action {
    /// Name.
    pub name: String,
    /// Number, unique among actions.
    pub id: i64,
    /// Parameters that the control plane gives.
    #[serde(default)]
    pub runtime_data: Vec<Parameter>,
    /// What it does.
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

/// An action parameter.
#[derive(Debug, Deserialize)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Width.
    pub bitwidth: u64,
}

/// One primitive call.
#[derive(Debug, Deserialize)]
pub struct Primitive {
    /// Name of the primitive.
    pub op: String,
    /// Its arguments.
    #[serde(default)]
    pub parameters: Vec<Value>,
    /// Where it is in the P4 source.
    #[serde(default)]
    pub source_info: Option<SourceInfo>,
}

/// A place in the P4 source.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SourceInfo {
    /// File.
    pub filename: String,
    /// Line.
    pub line: u64,
    /// The text there.
    pub source_fragment: String,
}

/// A control flow.
#[derive(Debug, Deserialize)]
pub struct Pipeline {
    /// `ingress` or `egress`.
    pub name: String,
    /// First node.
    #[serde(default)]
    pub init_table: Option<String>,
    /// Tables.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Action profiles and selectors.
    #[serde(default)]
    pub action_profiles: Vec<ActionProfile>,
    /// Conditions.
    #[serde(default)]
    pub conditionals: Vec<Conditional>,
    /// Actions called outside a table.
    #[serde(default)]
    pub action_calls: Vec<ActionCall>,
}

/// An action profile.
#[derive(Debug, Deserialize)]
pub struct ActionProfile {
    /// Name.
    pub name: String,
    /// Number of members.
    #[serde(default)]
    pub max_size: u64,
    /// How a member of a group is chosen.
    #[serde(default)]
    pub selector: Option<Selector>,
}

/// How an action selector chooses.
#[derive(Debug, Deserialize)]
pub struct Selector {
    /// Hash algorithm.
    pub algo: String,
    /// What is hashed.
    #[serde(default)]
    pub input: Vec<Value>,
}

/// A match-action table.
#[derive(Debug, Deserialize)]
pub struct Table {
    /// Name.
    pub name: String,
    /// `exact`, `lpm`, `ternary` or `range`.
    pub match_type: String,
    /// `simple`, `indirect` or `indirect_ws`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Profile of an indirect table.
    #[serde(default)]
    pub action_profile: Option<String>,
    /// Number of entries.
    #[serde(default)]
    pub max_size: Option<u64>,
    /// Whether entries count.
    #[serde(default)]
    pub with_counters: bool,
    /// Whether entries age.
    #[serde(default)]
    pub support_timeout: bool,
    /// Meter of each entry.
    #[serde(default)]
    pub direct_meters: Option<String>,
    /// What is matched.
    #[serde(default)]
    pub key: Vec<KeyField>,
    /// Actions by number.
    #[serde(default)]
    pub action_ids: Option<Vec<i64>>,
    /// Actions by name.
    #[serde(default)]
    pub actions: Vec<String>,
    /// Next node by action name, or for `__HIT__` and `__MISS__`.
    #[serde(default)]
    pub next_tables: BTreeMap<String, Option<String>>,
    /// Next node after a miss that set no action.
    #[serde(default)]
    pub base_default_next: Option<String>,
    /// Default action.
    #[serde(default)]
    pub default_entry: Option<DefaultEntry>,
    /// Entries that cannot change.
    #[serde(default)]
    pub entries: Option<Vec<Entry>>,
}

/// One field of a table key.
#[derive(Debug, Deserialize)]
pub struct KeyField {
    /// `exact`, `lpm`, `ternary`, `range` or `valid`.
    pub match_type: String,
    /// Header and field, or a header for `valid`.
    pub target: Value,
    /// Mask that the program puts on the field.
    #[serde(default)]
    pub mask: Option<String>,
    /// Name in the P4 program.
    #[serde(default)]
    pub name: Option<String>,
}

/// A default action.
#[derive(Debug, Deserialize)]
pub struct DefaultEntry {
    /// The action.
    pub action_id: i64,
    /// Whether the action cannot change.
    #[serde(default)]
    pub action_const: bool,
    /// Its arguments.
    #[serde(default)]
    pub action_data: Vec<String>,
    /// Whether neither action nor arguments can change.
    #[serde(default)]
    pub action_entry_const: bool,
}

/// An entry written in the program.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// What it matches.
    pub match_key: Vec<EntryKey>,
    /// What it does.
    pub action_entry: ActionEntry,
    /// Order among overlapping entries, smallest first.
    #[serde(default)]
    pub priority: i64,
}

/// One field of an entry.
#[derive(Debug, Deserialize)]
pub struct EntryKey {
    /// `exact`, `lpm`, `ternary`, `range` or `valid`.
    pub match_type: String,
    /// Value; for `valid` a boolean.
    #[serde(default)]
    pub key: Option<Value>,
    /// Mask of a ternary field.
    #[serde(default)]
    pub mask: Option<String>,
    /// Prefix length of an LPM field.
    #[serde(default)]
    pub prefix_length: Option<u64>,
    /// First value of a range.
    #[serde(default)]
    pub start: Option<String>,
    /// Last value of a range.
    #[serde(default)]
    pub end: Option<String>,
}

/// Action of an entry.
#[derive(Debug, Deserialize)]
pub struct ActionEntry {
    /// The action.
    pub action_id: i64,
    /// Its arguments.
    #[serde(default)]
    pub action_data: Vec<String>,
}

/// A condition.
#[derive(Debug, Deserialize)]
pub struct Conditional {
    /// Name.
    pub name: String,
    /// The condition.
    pub expression: Value,
    /// Next node where it holds.
    #[serde(default)]
    pub true_next: Option<String>,
    /// Next node where it does not.
    #[serde(default)]
    pub false_next: Option<String>,
}

/// An action called outside a table.
#[derive(Debug, Deserialize)]
pub struct ActionCall {
    /// Name.
    pub name: String,
    /// The action.
    pub action_id: i64,
    /// Next node.
    #[serde(default)]
    pub next_node: Option<String>,
}

/// A checksum.
#[derive(Debug, Deserialize)]
pub struct Checksum {
    /// Name.
    pub name: String,
    /// Field that holds it.
    pub target: FieldName,
    /// `generic` or `ipv4`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Calculation of a generic one.
    #[serde(default)]
    pub calculation: Option<String>,
    /// Whether deparsers update it.
    #[serde(default = "yes")]
    pub update: bool,
    /// Whether parsers verify it.
    #[serde(default = "yes")]
    pub verify: bool,
    /// When.
    #[serde(default)]
    pub if_cond: Option<Value>,
}

/// An instance of a target extern. v1model has none.
#[derive(Debug, Deserialize)]
pub struct ExternInstance {
    /// Name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub kind: String,
}

const fn yes() -> bool {
    true
}
