//! Errors of an entity, and their canonical codes for a client.

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
    /// The field or parameter within.
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
    /// Where, if the object could be found at all.
    pub place: Option<Box<Place>>,
    /// What.
    pub fault: Fault,
}

impl Violation {
    /// Returns the code that a target answers with.
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

    /// The update does not say what to do.
    #[error("the update has no type")]
    NoUpdateType,
    /// The update has no entity, or the entity no case.
    #[error("the entity is not set")]
    NoEntity,
    /// Entities of the kind are there from the start and stay.
    #[error("entities of this kind can only be modified")]
    OnlyModify,

    /// A field that cannot be left out is.
    #[error("the key has no value for match field `{field}`")]
    MissingField {
        /// The field.
        field: String,
    },
    /// A field is there twice.
    #[error("the key has the field twice")]
    FieldTwice,
    /// A field is compared in another way than the value says.
    #[error("the value is given as {given}, the field is compared as {wanted}")]
    WrongMatch {
        /// Form in which it was given.
        given: &'static str,
        /// Comparison of the table.
        wanted: String,
    },
    /// The prefix is longer than the field.
    #[error("the prefix length {length} is outside of 1 to {width}")]
    PrefixLength {
        /// The length.
        length: i32,
        /// Bits of the field.
        width: u32,
    },
    /// Bits behind the prefix are set.
    #[error("bits behind the prefix of {length} bits are set")]
    HostBits {
        /// The length.
        length: i32,
    },
    /// Bits outside of the mask are set.
    #[error("bits outside of the mask are set")]
    OutsideMask,
    /// The value matches everything; such a field must be left out.
    #[error("the value matches everything; leave the field out instead")]
    DontCare,
    /// The range has no value in it.
    #[error("the low end of the range is above the high end")]
    EmptyRange,
    /// A priority is needed.
    #[error("the key has a ternary, range or optional field, so the entry needs a priority above 0")]
    NoPriority,
    /// A priority makes no sense.
    #[error("the priority {priority} is set, but no field of the key is ternary, range or optional")]
    NeedlessPriority {
        /// The priority.
        priority: i32,
    },
    /// A table without a key holds nothing but its default entry.
    #[error("the table has no key, so it has only a default entry")]
    Keyless,

    /// The entry does nothing.
    #[error("the entry has no action")]
    NoAction,
    /// The table wants another form of action.
    #[error("the action is given as {given}, the table wants {wanted}")]
    WrongActionForm {
        /// Form in which it was given.
        given: &'static str,
        /// What the table wants.
        wanted: &'static str,
    },
    /// The table does not have the action.
    #[error("action `{action}` is not an action of the table")]
    ForeignAction {
        /// The action.
        action: String,
    },
    /// The table has the action, but not here.
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
    /// A parameter is there twice.
    #[error("action `{action}` has parameter `{param}` twice")]
    ParamTwice {
        /// The action.
        action: String,
        /// The parameter.
        param: String,
    },

    /// The entry or the call is not what the program allows.
    #[error("the program restricts {what}: `{clause}` does not hold")]
    Restricted {
        /// Entries, or arguments.
        what: &'static str,
        /// The clause that is broken.
        clause: String,
    },
    /// A string is compared whole.
    #[error("the field is translated from text, which is matched whole or not at all")]
    PartOfText,

    /// The default entry is always there.
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
    /// A client may not make constant entries.
    #[error("`is_const` is set; only the program has constant entries")]
    IsConst,
    /// The table has no idle timeouts.
    #[error("the table does not support idle timeouts")]
    NoIdleTimeout,
    /// Only a target knows this.
    #[error("`time_since_last_hit` cannot be written")]
    LastHit,
    /// The table has no counter.
    #[error("the table has no direct counter")]
    NoDirectCounter,
    /// The table has no meter.
    #[error("the table has no direct meter")]
    NoDirectMeter,
    /// Colour counters can only be cleared.
    #[error("counters of meter colours can only be set to 0")]
    ColourCounters,
    /// A rate or burst below 0.
    #[error("the meter's {field} is {value}, below 0")]
    NegativeRate {
        /// Which.
        field: &'static str,
        /// Kind.
        value: i64,
    },

    /// 0 is not an id.
    #[error("{what} is 0, which is not an id")]
    ZeroId {
        /// Which id.
        what: &'static str,
    },
    /// Only a selector has groups.
    #[error("the action profile has no selector, so it has no groups")]
    NoSelector,
    /// A weight below 1.
    #[error("the weight {weight} of member {member} is below 1")]
    Weight {
        /// The member.
        member: u32,
        /// Its weight.
        weight: i32,
    },
    /// The selector has no weights.
    #[error("the selector does not take weights; leave them 0")]
    WeightsDisallowed,
    /// A weight above the limit.
    #[error("the weight {weight} is above {limit}, the greatest of the selector")]
    WeightAbove {
        /// The weight.
        weight: i32,
        /// The limit.
        limit: u32,
    },
    /// A member is there twice.
    #[error("member {member} is there twice; use its weight")]
    MemberTwice {
        /// The member.
        member: u32,
    },
    /// `max_size` is not what the selector allows.
    #[error("`max_size` is {size}, the selector allows {}", sizes(*limit))]
    MaxSize {
        /// The size.
        size: i32,
        /// The limit of the selector, or 0.
        limit: u32,
    },
    /// The group is greater than the selector allows.
    #[error("the size {size} of the group is above {limit}")]
    GroupSize {
        /// The size, as the selector counts.
        size: u64,
        /// The limit.
        limit: u64,
    },

    /// An index below 0.
    #[error("the index {index} is below 0")]
    NegativeIndex {
        /// The index.
        index: i64,
    },
    /// An index past the end.
    #[error("the index {index} is past the end, the size is {size}")]
    IndexRange {
        /// The index.
        index: i64,
        /// The size.
        size: u64,
    },
    /// A value has another type than the P4Info says.
    #[error("the value is {given}, the type is {wanted}")]
    DataType {
        /// Given value.
        given: &'static str,
        /// What the type is.
        wanted: String,
    },
    /// A composite value has another number of parts.
    #[error("the value has {given} parts, the type has {wanted}")]
    DataParts {
        /// Number given.
        given: usize,
        /// Count.
        wanted: usize,
    },
    /// A copy is there twice.
    #[error("two replicas have the same port and instance {instance}")]
    ReplicaTwice {
        /// The instance.
        instance: u32,
    },
    /// A copy names no port.
    #[error("a replica has no port")]
    NoPort,
    /// A copy names the port that is none.
    #[error("port 0 is not a port of a replica; ports are numbered from 1")]
    ZeroPort,
    /// A backup is where what it is in for is.
    #[error("a backup of the replica with instance {instance} is on the same port")]
    BackupOnSamePort {
        /// The instance.
        instance: u32,
    },
    /// A number that is not of the enumeration.
    #[error("{value} is not a known `{field}`")]
    UnknownEnum {
        /// The field of the message.
        field: &'static str,
        /// The number.
        value: i32,
    },
    /// A port does not fit 32 bits.
    #[error("a port has more than 32 bits")]
    WidePort,
    /// More values than the set holds.
    #[error("{given} values are more than the {size} that the value set holds")]
    ValueSetSize {
        /// Number given.
        given: usize,
        /// Number that fit.
        size: u64,
    },
    /// A value is there twice.
    #[error("a value is there twice")]
    ValueTwice,
    /// A negative number where none makes sense.
    #[error("{what} is {value}, below 0")]
    Negative {
        /// Which number.
        what: &'static str,
        /// Kind.
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
    /// Returns the code that a target answers with.
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

/// P4Runtime 1.4, bytestrings: what is too wide, or has no bytes, is out of range.
#[cfg(feature = "transport")]
fn value_code(error: &ValueError) -> Code {
    match error {
        ValueError::TooWide { .. } | ValueError::Empty => Code::OutOfRange,
        ValueError::WantsNumber { .. } | ValueError::WantsText { .. } => Code::InvalidArgument,
    }
}
