//! Errors of a P4Info, and of lookups by name or id.

use std::fmt;

use thiserror::Error;

use crate::restriction::RestrictionError;

/// The kinds of objects that have names in a P4Info.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A match-action table.
    Table,
    /// A field of a table's key.
    MatchField,
    /// An action.
    Action,
    /// A parameter of an action.
    Param,
    /// An action profile or selector.
    ActionProfile,
    /// A counter array.
    Counter,
    /// A counter for each entry of a table.
    DirectCounter,
    /// A meter array.
    Meter,
    /// A meter for each entry of a table.
    DirectMeter,
    /// A register array.
    Register,
    /// A parser value set.
    ValueSet,
    /// A digest.
    Digest,
    /// The header of packet-ins or packet-outs.
    PacketHeader,
    /// A field of such a header.
    Metadata,
    /// An instance of an extern.
    Extern,
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ObjectKind::Table => "table",
            ObjectKind::MatchField => "match field",
            ObjectKind::Action => "action",
            ObjectKind::Param => "parameter",
            ObjectKind::ActionProfile => "action profile",
            ObjectKind::Counter => "counter",
            ObjectKind::DirectCounter => "direct counter",
            ObjectKind::Meter => "meter",
            ObjectKind::DirectMeter => "direct meter",
            ObjectKind::Register => "register",
            ObjectKind::ValueSet => "value set",
            ObjectKind::Digest => "digest",
            ObjectKind::PacketHeader => "packet header",
            ObjectKind::Metadata => "metadata field",
            ObjectKind::Extern => "extern",
        })
    }
}

/// A name or an id that is not in the P4Info.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LookupError {
    /// No object has the name.
    #[error("no {kind} `{name}`{}{}", in_scope(scope.as_deref()), did_you_mean(suggestion.as_deref()))]
    Unknown {
        /// The kind of object.
        kind: ObjectKind,
        /// The table, action or header in which it was looked up.
        scope: Option<String>,
        /// The name.
        name: String,
        /// A similar name that exists.
        suggestion: Option<String>,
    },
    /// Several objects have the name.
    #[error("{kind} `{name}` is ambiguous: {}", join_alternatives(candidates))]
    Ambiguous {
        /// The kind of object.
        kind: ObjectKind,
        /// The name.
        name: String,
        /// All full names that end with this name.
        candidates: Vec<String>,
    },
    /// No object has the id.
    #[error("no {kind} has the id {id} (0x{id:08x}){}", in_scope(scope.as_deref()))]
    UnknownId {
        /// The kind of object.
        kind: ObjectKind,
        /// The table, action or header in which it was looked up.
        scope: Option<String>,
        /// The id.
        id: u32,
    },
}

fn in_scope(within: Option<&str>) -> String {
    within.map(|within| format!(" in `{within}`")).unwrap_or_default()
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn join_alternatives(candidates: &[String]) -> String {
    let quoted: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

/// One error of a P4Info.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InfoFault {
    /// An object has the id 0, or no preamble.
    #[error("{kind} `{name}` has no id")]
    NoId {
        /// Its kind.
        kind: ObjectKind,
        /// Its name.
        name: String,
    },
    /// Two objects have the same id.
    #[error("{kind} `{name}` has the id 0x{id:08x} of `{first}`")]
    SameId {
        /// The kind of the second.
        kind: ObjectKind,
        /// The name of the second.
        name: String,
        /// The name of the first.
        first: String,
        /// The id.
        id: u32,
    },
    /// Two objects of a kind have the same name.
    #[error("{kind} `{name}` is there twice")]
    SameName {
        /// Their kind.
        kind: ObjectKind,
        /// Their name.
        name: String,
    },
    /// An object refers to an unknown id.
    #[error("{kind} `{name}` refers to {target_kind} 0x{id:08x}, which does not exist")]
    Dangling {
        /// The kind of the referrer.
        kind: ObjectKind,
        /// The name of the referrer.
        name: String,
        /// The kind that it refers to.
        target_kind: ObjectKind,
        /// The id that it refers to.
        id: u32,
    },
    /// A table lists a direct resource of another table.
    #[error("table `{table}` lists {kind} `{name}`, which is of another table")]
    ForeignResource {
        /// Kind of the resource.
        kind: ObjectKind,
        /// Name of the resource.
        name: String,
        /// The table that lists it.
        table: String,
    },
    /// A number is not a value of the enumeration.
    #[error("{kind} `{name}`: {value} is not a known `{field}`")]
    UnknownEnum {
        /// Kind of the object.
        kind: ObjectKind,
        /// Its name.
        name: String,
        /// The field of the message.
        field: &'static str,
        /// The number.
        value: i32,
    },
    /// A width is negative.
    #[error("{kind} `{name}` of `{scope}` has the width {width}")]
    BadWidth {
        /// Field, parameter or metadata.
        kind: ObjectKind,
        /// Its name.
        name: String,
        /// The object that it belongs to.
        scope: String,
        /// The width.
        width: i32,
    },
    /// A match field has no match type.
    #[error("match field `{field}` of `{scope}` has no match type")]
    NoMatchType {
        /// The field.
        field: String,
        /// Its table or value set.
        scope: String,
    },
    /// The annotation that restricts entries or arguments is invalid.
    #[error("{kind} `{name}`: its restriction, {error}")]
    Restriction {
        /// The kind of the object.
        kind: ObjectKind,
        /// Its name.
        name: String,
        /// The error and its place.
        error: RestrictionError,
    },
}

/// A P4Info that cannot be used, with all of its errors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the P4Info is not consistent: {}", list(faults))]
pub struct InfoError {
    /// The errors in the order of the P4Info; never empty.
    pub faults: Vec<InfoFault>,
}

fn list(faults: &[InfoFault]) -> String {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    faults.join("; ")
}
