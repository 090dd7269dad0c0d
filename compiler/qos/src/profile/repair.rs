//! The place of a profile error in the file, and its fix.
//!
//! In: a [`ProfileError`]. Out: keys of a profile, the most specific first, and a suggestion. At least one of the keys
//! is in the file. Invariants: following the suggestion removes the error.

use super::error::ProfileError;
use super::name::ClassName;

/// A key of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileKey {
    /// A key of the profile.
    Key(&'static str),
    /// A key of the watchdog.
    Watchdog(&'static str),
    /// A class.
    Class(ClassName),
    /// A field of a class.
    Field(ClassName, &'static str),
}

/// Returns the keys of a field of classes: first the field in each class, then the classes.
fn of(classes: &[&ClassName], field: &'static str) -> Vec<ProfileKey> {
    let fields = classes.iter().map(|class| ProfileKey::Field((*class).clone(), field));
    fields.chain(classes.iter().map(|class| ProfileKey::Class((*class).clone()))).collect()
}

/// Returns the keys of several fields of two classes, then those of the classes.
fn keys_of_classes(classes: [&ClassName; 2], fields: [&'static str; 2]) -> Vec<ProfileKey> {
    let mut written: Vec<ProfileKey> =
        fields.iter().flat_map(|field| of(&classes, field).into_iter().take(2)).collect();
    written.extend(classes.map(|class| ProfileKey::Class(class.clone())));
    written
}

impl ProfileError {
    /// Returns the keys of the error. The first one that is in the file is the place of the error.
    pub fn profile_keys(&self) -> Vec<ProfileKey> {
        match self {
            Self::UnknownPreset { .. } => vec![ProfileKey::Key("base")],
            Self::TooManyClasses { .. } | Self::NoData | Self::NoClasses => vec![ProfileKey::Key("classes")],
            Self::MissingField { class, .. } => vec![ProfileKey::Class(class.clone())],
            Self::UnknownClass { field, .. } => {
                vec![ProfileKey::Key(field.split('.').next().unwrap_or(field))]
            }
            Self::NoDscp { class, .. } => of(&[class], "dscp"),
            Self::RoleTwice { first, second, .. } => of(&[first, second], "role"),
            Self::DscpTwice { first, second, .. } => of(&[first, second], "dscp"),
            Self::TrafficClassTwice { first, second, .. } => of(&[first, second], "tc"),
            Self::QueueConflict { first, second, field, .. } => {
                keys_of_classes([first, second], [field, "queue"])
            }
            Self::GroupConflict { first, second, .. } => {
                keys_of_classes([first, second], ["ingress_threshold", "priority_group"])
            }
            Self::GroupShared { lossless, other, .. } => {
                keys_of_classes([lossless, other], ["priority_group", "pfc"])
            }
            Self::PriorityShared { lossless, other, .. } => {
                keys_of_classes([other, lossless], ["priority", "tc"])
            }
            Self::NoPriority { class, .. } => of(&[class], "tc"),
            Self::TrimsLossless { class } | Self::TrimWithoutTrimming { class } => of(&[class], "trim"),
            Self::RoleConflict { class, field, .. } => {
                let field = if field.starts_with("ecn") { "ecn" } else { "trim" };
                let mut written = of(&[class], field);
                written.insert(1, ProfileKey::Field(class.clone(), "role"));
                written
            }
            Self::TrimmingUnused | Self::TrimmedDscpTwice { .. } => vec![ProfileKey::Key("trimming")],
            Self::TrimmedDscp { expected: wanted, actual: found, .. } => {
                [ProfileKey::Key("trimming")].into_iter().chain(of(&[wanted, found], "dscp")).collect()
            }
            Self::TrimTrafficClass { class, .. } => {
                let mut written = of(&[class], "tc");
                written.insert(0, ProfileKey::Key("trimming"));
                written
            }
            Self::EcnOrder { class, .. } | Self::EcnNeverMarks { class } => of(&[class], "ecn"),
            Self::WatchdogRange { field, .. } | Self::WatchdogPoll { field, .. } => {
                vec![ProfileKey::Watchdog(field), ProfileKey::Key("watchdog")]
            }
            Self::WatchdogUnused => vec![ProfileKey::Key("watchdog")],
        }
    }

    /// Suggestion for a profile without classes.
    const CLASSES: &str = "write `base`, a built-in profile as in `base: lossless`, or `classes` of your own";

    /// Returns the suggestion.
    pub fn fix(&self) -> String {
        match self {
            Self::NoClasses => Self::CLASSES.to_owned(),
            Self::UnknownClass { allowed: known, .. } if known.is_empty() => Self::CLASSES.to_owned(),
            Self::UnknownPreset { allowed: known, .. } | Self::UnknownClass { allowed: known, .. } => {
                format!("write one of {known}")
            }
            Self::TooManyClasses { max, .. } => format!("remove classes until {max} are left"),
            Self::MissingField { class, field } => format!("write `{field}` for class `{class}`"),
            Self::NoData => "give one class `role: data`".to_owned(),
            Self::NoDscp { class, .. } => format!("write a `dscp` of `{class}` that no other class has"),
            Self::RoleTwice { second, .. } => {
                format!("give `{second}` another `role`, or leave it out with `without: [{second}]`")
            }
            Self::DscpTwice { dscp, first, second } => {
                format!("remove {dscp} from the `dscp` of `{first}` or of `{second}`")
            }
            Self::TrafficClassTwice { first, second, .. } => {
                format!("give `{first}` or `{second}` a `tc` from 0 to 15 that no class has")
            }
            Self::QueueConflict { first, second, field, .. } => {
                format!("give `{first}` or `{second}` another `queue`, or both the same `{field}`")
            }
            Self::GroupConflict { first, second, .. } => {
                format!("give `{first}` or `{second}` another `priority_group`, or both the same threshold")
            }
            Self::GroupShared { lossless, .. } => {
                format!("give `{lossless}` a `priority_group` that no other class has")
            }
            Self::PriorityShared { other, .. } => {
                format!("give `{other}` a `priority` that no other class has")
            }
            Self::NoPriority { class, .. } => format!("write a `priority` from 0 to 7 for `{class}`"),
            Self::TrimsLossless { class } => {
                format!("set `pfc: false` or `trim: false` in class `{class}`")
            }
            Self::RoleConflict { class, field, .. } => match field.split(':').next() {
                Some("ecn") => format!("set `ecn: off` in class `{class}`, or give it another `role`"),
                _ => format!("set `trim: false` in class `{class}`, or give it another `role`"),
            },
            Self::TrimWithoutTrimming { class } => {
                format!(
                    "write `trimming` (`class`, `fabric_dscp`, `last_hop_dscp`), or `trim: false` in `{class}`"
                )
            }
            Self::TrimmingUnused => "set `trim: true` in a class, or `trimming: off`".to_owned(),
            Self::TrimmedDscp { dscp, expected: wanted, actual: found } => {
                format!("add {dscp} to the `dscp` of `{wanted}`, and remove it from that of `{found}`")
            }
            Self::TrimmedDscpTwice { .. } => "write two code points of the trimmed class".to_owned(),
            Self::TrimTrafficClass { .. } => "write a `tc` from 0 to 15 that no class has".to_owned(),
            Self::EcnOrder { class, .. } => format!("write a `min` of `{class}` below its `max`"),
            Self::EcnNeverMarks { .. } => "write a `probability` from 1 to 100, or `ecn: off`".to_owned(),
            Self::WatchdogRange { field, min, max, .. } => format!("write `{field}` from {min} to {max}"),
            Self::WatchdogPoll { field, poll, .. } => {
                format!("write `{field}` of {poll} or more, or a shorter `poll`")
            }
            Self::WatchdogUnused => "set `watchdog: off`, or `pfc: true` in a class".to_owned(),
        }
    }
}
