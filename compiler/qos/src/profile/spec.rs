//! A profile in a fabric file.
//!
//! In: YAML, either the name of a preset (`qos: lossless`) or a mapping that changes one (`qos: {base: lossless,
//! classes: {...}}`). Out: [`ProfileSpec`], in which every field is optional. Invariants: unknown keys are rejected. An
//! absent key keeps the value of the base.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::class::{Role, Scheduler};
use super::name::ClassName;
use super::preset::Preset;
use super::switch::Switch;
use super::{BufferShares, LosslessTraffic, SharedHeadroom, Trimming, Watchdog};
use crate::codes::{Dscp, DynamicThreshold, Priority, PriorityGroup, Queue, TrafficClass};
use crate::ecn::Ecn;

/// A custom profile, as changes to a base.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProfileSpec {
    /// The preset to start from. Without one, every class must be complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Preset>,
    /// The name; that of the base if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<ClassName>,
    /// Classes to add or change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<ClassName, ClassSpec>,
    /// Classes of the base to omit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<ClassName>,
    /// The class of every DSCP without a class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<ClassName>,
    /// Packet trimming.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimming: Option<Switch<Trimming>>,
    /// The PFC watchdog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<Switch<Watchdog>>,
    /// Whether switches also mark packets on the port to a NIC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_last_hop: Option<bool>,
    /// Packet sizes of lossless classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossless_traffic: Option<LosslessTraffic>,
    /// Sharing of headroom between ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_headroom: Option<Switch<SharedHeadroom>>,
    /// Fixed shares of the buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_shares: Option<Switch<BufferShares>>,
}

/// The mapping form of [`ProfileSpec`]. It is a separate type, so that the derived deserializer keeps places and
/// rejects unknown keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OwnQosProfile", description = "Your own QoS profile, based on a preset or complete.")]
struct Fields {
    /// The preset to start from. Without one, every class must be complete.
    base: Option<Preset>,
    /// The name; that of the base if absent.
    name: Option<ClassName>,
    /// Classes to add or change.
    #[serde(default)]
    classes: BTreeMap<ClassName, ClassSpec>,
    /// Classes of the base to omit.
    #[serde(default)]
    without: Vec<ClassName>,
    /// The class of every DSCP without a class.
    default: Option<ClassName>,
    /// Packet trimming.
    trimming: Option<Switch<Trimming>>,
    /// The PFC watchdog.
    watchdog: Option<Switch<Watchdog>>,
    /// Whether switches also mark packets on the port to a NIC.
    ecn_last_hop: Option<bool>,
    /// Packet sizes of lossless classes.
    lossless_traffic: Option<LosslessTraffic>,
    /// Sharing of headroom between ports.
    shared_headroom: Option<Switch<SharedHeadroom>>,
    /// Fixed shares of the buffer.
    buffer_shares: Option<Switch<BufferShares>>,
}

impl From<Fields> for ProfileSpec {
    fn from(fields: Fields) -> Self {
        let Fields {
            base,
            name,
            classes,
            without,
            default,
            trimming,
            watchdog,
            ecn_last_hop,
            lossless_traffic,
            shared_headroom,
            buffer_shares,
        } = fields;
        Self {
            base,
            name,
            classes,
            without,
            default,
            trimming,
            watchdog,
            ecn_last_hop,
            lossless_traffic,
            shared_headroom,
            buffer_shares,
        }
    }
}

impl From<Preset> for ProfileSpec {
    fn from(preset: Preset) -> Self {
        Self { base: Some(preset), ..Self::default() }
    }
}

impl<'de> Deserialize<'de> for ProfileSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpecVisitor)
    }
}

struct SpecVisitor;

impl<'de> Visitor<'de> for SpecVisitor {
    type Value = ProfileSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a QoS profile ({}) or a mapping", Preset::names())
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<ProfileSpec, E> {
        name.parse::<Preset>().map(ProfileSpec::from).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ProfileSpec, A::Error> {
        Fields::deserialize(MapAccessDeserializer::new(map)).map(ProfileSpec::from)
    }
}

impl JsonSchema for ProfileSpec {
    fn schema_name() -> Cow<'static, str> {
        "QosProfile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<Preset>();
        let fields = generator.subschema_for::<Fields>();
        json_schema!({ "oneOf": [name, fields] })
    }
}

/// A class to add or change. A new class needs `dscp`, `tc` and `scheduler`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// Purpose; `other` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The code points of the class. Senders use the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Vec<Dscp>>,
    /// The traffic class inside the switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tc: Option<TrafficClass>,
    /// The egress queue; the number of the traffic class if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The ingress priority group. If absent, the number of the priority for a lossless class, otherwise 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_group: Option<PriorityGroup>,
    /// The 802.1Q priority; the number of the traffic class if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Scheduling of the queue: `strict` or `{dwrr: 50}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// Whether the class is lossless; no if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<bool>,
    /// ECN marking; `off` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Ecn>,
    /// Whether packets are trimmed instead of dropped; no if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    /// Dynamic limit of the priority group: with the value n, it may take 2^n times the free ingress pool. If absent, 0
    /// for a lossless class, otherwise 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_threshold: Option<DynamicThreshold>,
    /// Dynamic limit of the queue: with the value n, it may take 2^n times the free egress pool. If absent, 7 for a
    /// lossless class, otherwise 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_threshold: Option<DynamicThreshold>,
}
