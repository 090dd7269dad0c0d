//! `qos`: a profile by name, or a custom profile.

use std::borrow::Cow;

use closc_qos::profile::{Preset, ProfileSpec};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::faults;
use crate::read::{Key, Kind, Read, Reader, bridge};
use crate::suggest::intended_key;
use crate::yaml::{Item, Value};

/// A QoS profile as it was written.
#[derive(Debug, Clone)]
pub struct QosDoc {
    /// The profile.
    pub spec: ProfileSpec,
}

impl Read for QosDoc {
    const KIND: &'static Kind = &Kind::Foreign(PROFILE);

    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let spec = match &item.value {
            Value::Text(name) => {
                let Ok(preset) = name.parse::<Preset>() else {
                    let span = reader.span(item.place);
                    reader.push(faults::unknown_profile(name, span));
                    return None;
                };
                preset.into()
            }
            Value::Mapping(_) => {
                // Classes override those of the base. Without a base, every omitted field would be missing.
                bridge::read(item, reader, |key| intended_key(key, ["base"].into_iter()).is_some())?
            }
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::List(_) => {
                return reader.wrong_type(item, "the name of a profile or a mapping", "lossy-trim");
            }
        };
        Some(QosDoc { spec })
    }
}

impl JsonSchema for QosDoc {
    fn inline_schema() -> bool {
        ProfileSpec::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        ProfileSpec::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        ProfileSpec::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ProfileSpec::json_schema(generator)
    }
}

/// Writes the keys of a mapping that another crate reads.
macro_rules! keys {
    ($($name:literal $(: $kind:expr)?),+ $(,)?) => {
        &[$(Key { name: $name, touches: None, kind: keys!(@kind $($kind)?) }),+]
    };
    (@kind) => { &Kind::Value };
    (@kind $kind:expr) => { $kind };
}

/// The keys of a profile. The QoS crate declares them for serde, where they cannot be read at compile time. A test
/// compares them with the schema of its types.
const PROFILE: &[Key] = keys! {
    "base",
    "buffer_shares": &Kind::Foreign(keys! { "headroom", "lossless", "lossy" }),
    "classes": &Kind::Named(&Kind::Foreign(CLASS)),
    "default",
    "ecn_last_hop",
    "lossless_traffic": &Kind::Foreign(keys! { "mtu", "small_packets" }),
    "name",
    "shared_headroom": &Kind::Foreign(keys! { "over_subscribe_ratio" }),
    "trimming": &Kind::Foreign(keys! { "class", "fabric_dscp", "last_hop_dscp", "size", "tc" }),
    "watchdog": &Kind::Foreign(keys! { "action", "detection", "poll", "restoration" }),
    "without": &Kind::List(&Kind::Value),
};

/// The keys of a class.
const CLASS: &[Key] = keys! {
    "dscp": &Kind::List(&Kind::Value),
    "ecn": &Kind::Foreign(keys! {
        "preset",
        "thresholds": &Kind::Foreign(keys! { "max", "min", "probability" }),
        "fill": &Kind::Foreign(keys! { "max", "min", "probability" }),
        "computed": &Kind::Foreign(keys! { "max_over_min", "min", "probability" }),
    }),
    "egress_threshold",
    "ingress_threshold",
    "pfc",
    "priority",
    "priority_group",
    "queue",
    "role",
    "scheduler": &Kind::Foreign(keys! { "dwrr" }),
    "tc",
    "trim",
};
