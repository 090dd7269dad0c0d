//! A setting that is either `off` or a mapping.
//!
//! In: `off`, or a mapping. Out: [`Switch`]. Invariants: the type of the mapping deserializes it, so unknown keys are
//! rejected and errors keep their place in the text.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Unexpected, Visitor};
use serde::{Serialize, Serializer};

/// Off, or on with settings. An absent key differs from `off`: it keeps the value of the base profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch<T> {
    /// Off, written as `off`.
    Off,
    /// On, written as a mapping.
    On(T),
}

impl<T> Switch<T> {
    /// Returns the settings, if the switch is on.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Off => None,
            Self::On(settings) => Some(settings),
        }
    }
}

impl<T> From<Option<T>> for Switch<T> {
    fn from(settings: Option<T>) -> Self {
        settings.map_or(Self::Off, Self::On)
    }
}

impl<T: Serialize> Serialize for Switch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str("off"),
            Self::On(settings) => settings.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Switch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SwitchVisitor(PhantomData))
    }
}

struct SwitchVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SwitchVisitor<T> {
    type Value = Switch<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`off` or a mapping")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match text {
            "off" => Ok(Switch::Off),
            other => Err(E::invalid_value(Unexpected::Str(other), &self)),
        }
    }

    /// Accepts `false`, because YAML 1.1 parsers read `off` as `false`.
    fn visit_bool<E: de::Error>(self, on: bool) -> Result<Self::Value, E> {
        if on { Err(E::invalid_value(Unexpected::Bool(on), &self)) } else { Ok(Switch::Off) }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Switch::On)
    }
}

impl<T: JsonSchema> JsonSchema for Switch<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrOff", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let settings = generator.subschema_for::<T>();
        json_schema!({ "oneOf": [{ "const": "off" }, settings] })
    }
}
