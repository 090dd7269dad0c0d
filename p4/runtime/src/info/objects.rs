//! The objects of a P4Info with their references resolved.
//!
//! Ids are the plain numbers of the messages. They are read from a P4Info and written to messages, never by hand.

use std::fmt;
use std::sync::Arc;

use super::error::{LookupError, ObjectKind};
use super::names::Names;
use super::references::Reference;
use crate::proto::config;
use crate::restriction::Restriction;
use crate::value::Width;

/// Fields of every object.
#[derive(Debug, Clone)]
pub struct Preamble {
    /// The id on the wire.
    pub id: u32,
    /// The full name.
    pub name: String,
    /// A shorter name.
    pub alias: String,
    /// Annotations as in the source, such as `@hidden`.
    pub annotations: Vec<String>,
}

impl Preamble {
    /// Returns whether the object has an annotation without a value, with or without parentheses.
    pub fn is_annotated(&self, name: &str) -> bool {
        let bare = |text: &String| {
            let text = text.trim().strip_prefix('@')?.trim_end_matches("()").trim_end();
            Some(text == name)
        };
        self.annotations.iter().any(|annotation| bare(annotation) == Some(true))
    }
}

/// Comparison of a key field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchKind {
    /// The field equals a value.
    Exact,
    /// The first bits are equal.
    Lpm,
    /// The bits under a mask are equal.
    Ternary,
    /// The field is between two values.
    Range,
    /// The field equals a value, or matches everything.
    Optional,
    /// A match kind that is specific to the architecture.
    Other(String),
}

impl fmt::Display for MatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MatchKind::Exact => "exact",
            MatchKind::Lpm => "lpm",
            MatchKind::Ternary => "ternary",
            MatchKind::Range => "range",
            MatchKind::Optional => "optional",
            MatchKind::Other(name) => name,
        })
    }
}

/// A field of the key of a table or a value set.
#[derive(Debug, Clone)]
pub struct MatchField {
    /// The id within the table.
    pub id: u32,
    /// The name within the table.
    pub name: String,
    /// Width for the controller.
    pub width: Width,
    /// The declared type, if the controller sees its values as text.
    pub text: Option<Arc<str>>,
    /// Whether the target translates the type, so that the data plane may have another width.
    pub translated: bool,
    /// The match kind.
    pub kind: MatchKind,
    /// Objects that must exist before an entry with this value.
    pub refers_to: Vec<Reference>,
}

/// A parameter of an action.
#[derive(Debug, Clone)]
pub struct Param {
    /// The id within the action.
    pub id: u32,
    /// The name within the action.
    pub name: String,
    /// Width for the controller.
    pub width: Width,
    /// The declared type, if the controller sees its values as text.
    pub text: Option<Arc<str>>,
    /// Whether the target translates the type, so that the data plane may have another width.
    pub translated: bool,
    /// Objects that must exist before an entry with this value.
    pub refers_to: Vec<Reference>,
}

/// Parts of an object, indexed by name.
#[derive(Debug, Clone)]
pub(super) struct Parts<T> {
    pub(super) items: Vec<T>,
    pub(super) names: Names,
}

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Parts { items: Vec::new(), names: Names::default() }
    }
}

impl<T> Parts<T> {
    fn find(&self, kind: ObjectKind, within: &str, name: &str) -> Result<&T, LookupError> {
        let position = self.names.find(kind, Some(within), name)?;
        Ok(&self.items[position as usize])
    }
}

/// An action and its parameters.
#[derive(Debug, Clone)]
pub struct Action {
    /// Id and names.
    pub preamble: Preamble,
    pub(super) params: Parts<Param>,
    /// Condition on its arguments.
    pub restriction: Option<Restriction>,
}

impl Action {
    /// Returns the parameters in the order of the source.
    pub fn params(&self) -> &[Param] {
        &self.params.items
    }

    /// Finds a parameter by name.
    pub fn param(&self, name: &str) -> Result<&Param, LookupError> {
        self.params.find(ObjectKind::Param, &self.preamble.name, name)
    }

    /// Finds a parameter by id, together with its position.
    pub fn param_by_id(&self, id: u32) -> Option<(usize, &Param)> {
        self.params.items.iter().enumerate().find(|(_, param)| param.id == id)
    }
}

/// Where a table may use an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In entries and as the default action.
    Everywhere,
    /// Only in entries.
    EntriesOnly,
    /// Only as the default action.
    DefaultOnly,
    /// Only as the action of an entire group.
    GroupOnly,
}

/// An action in a table, with the uses that the table allows.
#[derive(Debug, Clone)]
pub struct ActionRef {
    /// The action.
    pub action: Arc<Action>,
    /// Where the table may use it.
    pub scope: Scope,
}

/// A match-action table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Id and names.
    pub preamble: Preamble,
    pub(super) fields: Parts<MatchField>,
    pub(super) actions: Parts<ActionRef>,
    /// The default action, if it cannot be changed.
    pub const_default_action: Option<u32>,
    /// The default action of the program, with its arguments.
    pub initial_default_action: Option<config::TableActionCall>,
    /// The action profile that contains the actions of the entries.
    pub profile: Option<Arc<ActionProfile>>,
    /// The counter of each entry.
    pub direct_counter: Option<Arc<Counter>>,
    /// The meter of each entry.
    pub direct_meter: Option<Arc<Meter>>,
    /// Number of entries that the target guarantees; 0 if it guarantees none.
    pub size: u64,
    /// Whether entries may have an idle timeout.
    pub idle_timeout: bool,
    /// Whether the entries are part of the program.
    pub is_const: bool,
    /// Whether the program defines entries.
    pub has_initial_entries: bool,
    /// Condition on its entries.
    pub restriction: Option<Restriction>,
}

impl Table {
    /// Returns the fields of the key in the order of the source.
    pub fn fields(&self) -> &[MatchField] {
        &self.fields.items
    }

    /// Finds a field of the key by name.
    pub fn field(&self, name: &str) -> Result<&MatchField, LookupError> {
        self.fields.find(ObjectKind::MatchField, &self.preamble.name, name)
    }

    /// Finds a field of the key by id, together with its position.
    pub fn field_by_id(&self, id: u32) -> Option<(usize, &MatchField)> {
        self.fields.items.iter().enumerate().find(|(_, field)| field.id == id)
    }

    /// Returns the actions that the table may use.
    pub fn actions(&self) -> &[ActionRef] {
        &self.actions.items
    }

    /// Finds an action of the table by name.
    pub fn action(&self, name: &str) -> Result<&ActionRef, LookupError> {
        self.actions.find(ObjectKind::Action, &self.preamble.name, name)
    }

    /// Finds an action of the table by id.
    pub fn action_by_id(&self, id: u32) -> Option<&ActionRef> {
        self.actions.items.iter().find(|reference| reference.action.preamble.id == id)
    }

    /// Returns whether entries have a priority: a packet can match several of them, and prefix lengths do not decide
    /// which one is used.
    pub fn needs_priority(&self) -> bool {
        self.fields.items.iter().any(|field| match field.kind {
            MatchKind::Ternary | MatchKind::Range | MatchKind::Optional => true,
            MatchKind::Exact | MatchKind::Lpm | MatchKind::Other(_) => false,
        })
    }
}

/// The unit in which the size of a group is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeSemantics {
    /// The size is the sum of the weights.
    Weights,
    /// The size is the number of members. The weight of each is at most `max_weight`, unless that is 0.
    Members {
        /// The maximum weight, or 0.
        max_weight: u32,
    },
}

/// An action profile, or a selector.
#[derive(Debug, Clone)]
pub struct ActionProfile {
    /// Id and names.
    pub preamble: Preamble,
    /// The tables that use it.
    pub table_ids: Vec<u32>,
    /// Whether it has groups.
    pub with_selector: bool,
    /// Number of members, or of the unit in `semantics`; 0 if it is not stated.
    pub size: u64,
    /// Maximum size of a group; 0 if it is not stated.
    pub max_group_size: u32,
    /// The unit in which sizes are counted.
    pub semantics: SizeSemantics,
    /// Whether weights must be omitted.
    pub weights_disallowed: bool,
}

/// Unit of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterUnit {
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Both.
    Both,
}

/// A counter array, or the counter of each entry of a table.
#[derive(Debug, Clone)]
pub struct Counter {
    /// Id and names.
    pub preamble: Preamble,
    /// Counted unit.
    pub unit: CounterUnit,
    /// Number of cells; 0 for a direct counter.
    pub size: u64,
    /// The table of a direct counter.
    pub table_id: Option<u32>,
}

/// Unit of a meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeterUnit {
    /// Bytes per second.
    Bytes,
    /// Packets per second.
    Packets,
}

/// A meter array, or the meter of each entry of a table.
#[derive(Debug, Clone)]
pub struct Meter {
    /// Id and names.
    pub preamble: Preamble,
    /// Measured quantity.
    pub unit: MeterUnit,
    /// Number of rates and colours.
    pub kind: config::meter_spec::Type,
    /// Number of cells; 0 for a direct meter.
    pub size: u64,
    /// The table of a direct meter.
    pub table_id: Option<u32>,
}

/// A register array.
#[derive(Debug, Clone)]
pub struct Register {
    /// Id and names.
    pub preamble: Preamble,
    /// Type of a cell.
    pub spec: config::P4DataTypeSpec,
    /// Number of cells.
    pub size: u64,
}

/// A parser value set.
#[derive(Debug, Clone)]
pub struct ValueSet {
    /// Id and names.
    pub preamble: Preamble,
    /// Fields of a value.
    pub fields: Vec<MatchField>,
    /// Number of values that the set can hold.
    pub size: u64,
}

/// A message from the data plane.
#[derive(Debug, Clone)]
pub struct Digest {
    /// Id and names.
    pub preamble: Preamble,
    /// Type of the values in the message.
    pub spec: config::P4DataTypeSpec,
}

/// A field of the header of packet-ins or packet-outs.
#[derive(Debug, Clone)]
pub struct Metadata {
    /// The id within the header.
    pub id: u32,
    /// The name within the header.
    pub name: String,
    /// Width for the controller.
    pub width: Width,
    /// The declared type, if the controller sees its values as text.
    pub text: Option<Arc<str>>,
    /// Whether the target translates the type, so that the data plane may have another width.
    pub translated: bool,
}

/// The header of packet-ins or packet-outs.
#[derive(Debug, Clone)]
pub struct PacketHeader {
    /// Id and names; the name is `packet_in` or `packet_out`.
    pub preamble: Preamble,
    pub(super) fields: Parts<Metadata>,
}

impl PacketHeader {
    /// Returns the fields in the order of the source.
    pub fn fields(&self) -> &[Metadata] {
        &self.fields.items
    }

    /// Finds a field by name.
    pub fn field(&self, name: &str) -> Result<&Metadata, LookupError> {
        self.fields.find(ObjectKind::Metadata, &self.preamble.name, name)
    }

    /// Finds a field by id.
    pub fn field_by_id(&self, id: u32) -> Option<&Metadata> {
        self.fields.items.iter().find(|field| field.id == id)
    }
}

/// An instance of an extern that is specific to the architecture.
#[derive(Debug, Clone)]
pub struct ExternInstance {
    /// Id and names.
    pub preamble: Preamble,
    /// The type of the extern.
    pub type_id: u32,
    /// The name of the type.
    pub type_name: String,
}
