//! Errors of an entity, and the canonical codes that they have for a client.

use std::fmt;

use thiserror::Error;
#[cfg(feature = "transport")]
use tonic::Code;

use crate::info::{LookupError, ObjectKind};
use crate::value::ValueError;

/// The part of an entity that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The object, for instance the table.
    pub kind: ObjectKind,
    /// Its name.
    pub name: String,
    /// The field or parameter within the object.
    pub part: Option<(ObjectKind, String)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)?;
        match &self.part {
            Some((kind, name)) => write!(f, ", {kind} `{name}`"),
            None => Ok(()),
        }
    }
}

/// An entity or update that breaks a rule of P4Runtime or of the P4Info.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{fault}", place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
pub struct Violation {
    /// The place, if the object was found.
    pub place: Option<Box<Place>>,
    /// The rule that is broken.
    pub fault: Fault,
}

impl Violation {
    /// Returns the code of a target's answer.
    #[cfg(feature = "transport")]
    pub fn code(&self) -> Code {
        self.fault.code()
    }
}

impl From<Fault> for Violation {
    fn from(fault: Fault) -> Self {
        Violation { place: None, fault }
    }
}

impl From<LookupError> for Violation {
    fn from(error: LookupError) -> Self {
        Fault::Lookup(error).into()
    }
}

/// The rules that can be broken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// A name or an id is unknown.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A value does not fit.
    #[error(transparent)]
    Value(#[from] ValueError),

    /// The update does not state its type.
    #[error("the update has no type")]
    NoUpdateType,
    /// The update has no entity, or the `oneof` of the entity is not set.
    #[error("the entity is not set")]
    NoEntity,
    /// Entities of this kind always exist.
    #[error("entities of this kind can only be modified")]
    OnlyModify,

    /// A required field of the key is missing.
    #[error("the key has no value for match field `{field}`")]
    MissingField {
        /// The field.
        field: String,
    },
    /// A field is given twice.
    #[error("the key has the field twice")]
    FieldTwice,
    /// The form of the value does not fit the match kind of the field.
    #[error("the value is given as {actual}, the field is compared as {expected}")]
    WrongMatch {
        /// Form of the value.
        actual: &'static str,
        /// Match kind of the field.
        expected: String,
    },
    /// The prefix is longer than the field.
    #[error("the prefix length {length} is outside of 1 to {width}")]
    PrefixLength {
        /// The length.
        length: i32,
        /// Bits of the field.
        width: u32,
    },
    /// Bits after the prefix are set.
    #[error("bits after the prefix of {length} bits are set")]
    HostBits {
        /// The length.
        length: i32,
    },
    /// Bits outside of the mask are set.
    #[error("bits outside of the mask are set")]
    OutsideMask,
    /// The value matches everything; such a field must be omitted.
    #[error("the value matches everything; leave the field out instead")]
    DontCare,
    /// No value is within the range.
    #[error("the low end of the range is above the high end")]
    EmptyRange,
    /// The entry needs a priority.
    #[error("the key has a ternary, range or optional field, so the entry needs a priority above 0")]
    NoPriority,
    /// The key has no field for which a priority matters.
    #[error("the priority {priority} is set, but no field of the key is ternary, range or optional")]
    NeedlessPriority {
        /// The priority.
        priority: i32,
    },
    /// A table without a key has only a default entry.
    #[error("the table has no key, so it has only a default entry")]
    Keyless,

    /// The entry has no action.
    #[error("the entry has no action")]
    NoAction,
    /// The table requires another form of action.
    #[error("the action is given as {actual}, the table wants {expected}")]
    WrongActionForm {
        /// Form in which it was given.
        actual: &'static str,
        /// Form that the table requires.
        expected: &'static str,
    },
    /// The table does not have the action.
    #[error("action `{action}` is not an action of the table")]
    ForeignAction {
        /// The action.
        action: String,
    },
    /// The table has the action, but not for this use.
    #[error("action `{action}` may not be used here: it is {scope}")]
    ActionScope {
        /// The action.
        action: String,
        /// Where it may be used.
        scope: &'static str,
    },
    /// A parameter has no value.
    #[error("action `{action}` has no value for parameter `{param}`")]
    MissingParam {
        /// The action.
        action: String,
        /// The parameter.
        param: String,
    },
    /// A parameter is given twice.
    #[error("action `{action}` has parameter `{param}` twice")]
    ParamTwice {
        /// The action.
        action: String,
        /// The parameter.
        param: String,
    },

    /// The entry or the call breaks a restriction in the program.
    #[error("the program restricts {subject}: `{clause}` does not hold")]
    Restricted {
        /// `entries` or `arguments`.
        subject: &'static str,
        /// The clause that is broken.
        clause: String,
    },
    /// A string can only be matched as a whole.
    #[error("the field is translated from text, which is matched whole or not at all")]
    PartOfText,

    /// The default entry always exists.
    #[error("the default entry can only be modified")]
    DefaultOnlyModify,
    /// The default entry has no key.
    #[error("the default entry has neither key nor priority nor idle timeout")]
    DefaultWithKey,
    /// The program fixes the default action.
    #[error("the default action is constant")]
    ConstDefault,
    /// The program fixes the entries.
    #[error("the entries of the table are constant")]
    ConstTable,
    /// Only the program can define constant entries.
    #[error("`is_const` is set; only the program has constant entries")]
    IsConst,
    /// The table has no idle timeouts.
    #[error("the table does not support idle timeouts")]
    NoIdleTimeout,
    /// Only a target sets this field.
    #[error("`time_since_last_hit` cannot be written")]
    LastHit,
    /// The table has no counter.
    #[error("the table has no direct counter")]
    NoDirectCounter,
    /// The table has no meter.
    #[error("the table has no direct meter")]
    NoDirectMeter,
    /// Counters per meter colour can only be set to 0.
    #[error("counters of meter colours can only be set to 0")]
    ColourCounters,
    /// A rate or burst is below 0.
    #[error("the meter's {field} is {value}, below 0")]
    NegativeRate {
        /// The field.
        field: &'static str,
        /// The value.
        value: i64,
    },

    /// 0 is not an id.
    #[error("{name} is 0, which is not an id")]
    ZeroId {
        /// The name of the id.
        name: &'static str,
    },
    /// Only a selector has groups.
    #[error("the action profile has no selector, so it has no groups")]
    NoSelector,
    /// A weight is below 1.
    #[error("the weight {weight} of member {member} is below 1")]
    Weight {
        /// The member.
        member: u32,
        /// Its weight.
        weight: i32,
    },
    /// Members of this selector must not have weights.
    #[error("the selector does not take weights; leave them 0")]
    WeightsDisallowed,
    /// A weight is above the limit.
    #[error("the weight {weight} is above {limit}, the greatest of the selector")]
    WeightAbove {
        /// The weight.
        weight: i32,
        /// The limit.
        limit: u32,
    },
    /// A member is listed twice.
    #[error("member {member} is there twice; use its weight")]
    MemberTwice {
        /// The member.
        member: u32,
    },
    /// The selector does not allow this `max_size`.
    #[error("`max_size` is {size}, the selector allows {}", sizes(*limit))]
    MaxSize {
        /// The size.
        size: i32,
        /// The limit of the selector, or 0.
        limit: u32,
    },
    /// The group is larger than the selector allows.
    #[error("the size {size} of the group is above {limit}")]
    GroupSize {
        /// The size in the unit of the selector.
        size: u64,
        /// The limit.
        limit: u64,
    },

    /// An index is below 0.
    #[error("the index {index} is below 0")]
    NegativeIndex {
        /// The index.
        index: i64,
    },
    /// An index is past the end.
    #[error("the index {index} is past the end, the size is {size}")]
    IndexRange {
        /// The index.
        index: i64,
        /// The size.
        size: u64,
    },
    /// A value has a type other than that in the P4Info.
    #[error("the value is {actual}, the type is {expected}")]
    DataType {
        /// The kind of the value.
        actual: &'static str,
        /// The expected type.
        expected: String,
    },
    /// A composite value has the wrong number of parts.
    #[error("the value has {actual} parts, the type has {expected}")]
    DataParts {
        /// Parts of the value.
        actual: usize,
        /// Parts of the type.
        expected: usize,
    },
    /// A replica is listed twice.
    #[error("two replicas have the same port and instance {instance}")]
    ReplicaTwice {
        /// The instance.
        instance: u32,
    },
    /// A replica has no port.
    #[error("a replica has no port")]
    NoPort,
    /// A replica has port 0.
    #[error("port 0 is not a port of a replica; ports are numbered from 1")]
    ZeroPort,
    /// A backup is on the same port as its replica.
    #[error("a backup of the replica with instance {instance} is on the same port")]
    BackupOnSamePort {
        /// The instance.
        instance: u32,
    },
    /// A number is not a value of the enumeration.
    #[error("{value} is not a known `{field}`")]
    UnknownEnum {
        /// The field of the message.
        field: &'static str,
        /// The number.
        value: i32,
    },
    /// A port needs more than 32 bits.
    #[error("a port has more than 32 bits")]
    WidePort,
    /// There are more values than the value set can hold.
    #[error("{count} values are more than the {size} that the value set holds")]
    ValueSetSize {
        /// Number of values given.
        count: usize,
        /// Number of values that fit.
        size: u64,
    },
    /// A value is listed twice.
    #[error("a value is there twice")]
    ValueTwice,
    /// A number is negative, which is not allowed.
    #[error("{name} is {value}, below 0")]
    Negative {
        /// The name of the number.
        name: &'static str,
        /// The value.
        value: i64,
    },
    /// The extern type does not have the instance.
    #[error("extern type 0x{type_id:08x} has no instance 0x{id:08x}")]
    ExternType {
        /// The type.
        type_id: u32,
        /// The instance.
        id: u32,
    },
}

fn sizes(limit: u32) -> String {
    if limit == 0 { "0 or more".to_owned() } else { format!("1 to {limit}") }
}

impl Fault {
    /// Returns the code of a target's answer.
    #[cfg(feature = "transport")]
    pub fn code(&self) -> Code {
        match self {
            Fault::ConstDefault | Fault::ConstTable | Fault::ActionScope { .. } => Code::PermissionDenied,
            Fault::Value(error) => value_code(error),
            Fault::IndexRange { .. } => Code::OutOfRange,
            Fault::ValueSetSize { .. } => Code::ResourceExhausted,
            Fault::ValueTwice => Code::AlreadyExists,
            Fault::Lookup(_)
            | Fault::NoUpdateType
            | Fault::NoEntity
            | Fault::OnlyModify
            | Fault::MissingField { .. }
            | Fault::FieldTwice
            | Fault::WrongMatch { .. }
            | Fault::PrefixLength { .. }
            | Fault::HostBits { .. }
            | Fault::OutsideMask
            | Fault::DontCare
            | Fault::EmptyRange
            | Fault::NoPriority
            | Fault::NeedlessPriority { .. }
            | Fault::Keyless
            | Fault::NoAction
            | Fault::WrongActionForm { .. }
            | Fault::ForeignAction { .. }
            | Fault::MissingParam { .. }
            | Fault::ParamTwice { .. }
            | Fault::Restricted { .. }
            | Fault::PartOfText
            | Fault::DefaultOnlyModify
            | Fault::DefaultWithKey
            | Fault::IsConst
            | Fault::NoIdleTimeout
            | Fault::LastHit
            | Fault::NoDirectCounter
            | Fault::NoDirectMeter
            | Fault::ColourCounters
            | Fault::NegativeRate { .. }
            | Fault::ZeroId { .. }
            | Fault::NoSelector
            | Fault::Weight { .. }
            | Fault::WeightsDisallowed
            | Fault::WeightAbove { .. }
            | Fault::MemberTwice { .. }
            | Fault::MaxSize { .. }
            | Fault::GroupSize { .. }
            | Fault::NegativeIndex { .. }
            | Fault::DataType { .. }
            | Fault::DataParts { .. }
            | Fault::ReplicaTwice { .. }
            | Fault::NoPort
            | Fault::ZeroPort
            | Fault::BackupOnSamePort { .. }
            | Fault::UnknownEnum { .. }
            | Fault::WidePort
            | Fault::Negative { .. }
            | Fault::ExternType { .. } => Code::InvalidArgument,
        }
    }
}

/// P4Runtime 1.4, bytestrings: a value that is too wide or empty is answered with `OUT_OF_RANGE`.
#[cfg(feature = "transport")]
fn value_code(error: &ValueError) -> Code {
    match error {
        ValueError::TooWide { .. } | ValueError::Empty => Code::OutOfRange,
        ValueError::WantsNumber { .. } | ValueError::WantsText { .. } => Code::InvalidArgument,
    }
}
