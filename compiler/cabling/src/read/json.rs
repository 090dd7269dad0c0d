//! JSON of devices, decoded in bounded memory.
//!
//! In: a text. Out: the kind of report, and the values that a reader uses. Invariants: SONiC tables are
//! decoded row by row, and their unused values need no memory. The memory for any other text is checked
//! before it is decoded.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{MEMORY_MAX, ReadError};

/// Prefixes of keys of the SONiC tables that are read.
pub(super) const NEIGHBOURS: &str = "LLDP_ENTRY_TABLE:";
pub(super) const PORTS: &str = "PORT_TABLE:";

/// Fields of their rows that are read.
const FIELDS: [&str; 7] = [
    "value",
    "speed",
    "oper_status",
    "lldp_rem_sys_name",
    "lldp_rem_chassis_id",
    "lldp_rem_port_id",
    "lldp_rem_port_desc",
];

/// Returns whether a key belongs to one of the tables that are read.
pub(super) fn is_key(key: &str) -> bool {
    key.starts_with(NEIGHBOURS) || key.starts_with(PORTS)
}

/// Detects the kind of report of a document.
pub(super) fn outline(text: &str) -> Result<Outline, ReadError> {
    serde_json::from_str(text).map_err(|error| fault(&error))
}

/// Returns the value of a key of the top-level object.
pub(super) fn value(text: &str, key: &str) -> Result<Value, ReadError> {
    let mut object: Map<String, Value> =
        serde_json::from_str(check_memory(text)?).map_err(|error| fault(&error))?;
    Ok(object.remove(key).unwrap_or_default())
}

/// Returns the text if its decoded form needs at most [`MEMORY_MAX`] bytes.
pub(super) fn check_memory(text: &str) -> Result<&str, ReadError> {
    if closc_budget::decoded_json_bytes(text.as_bytes()) > MEMORY_MAX {
        return Err(ReadError::Memory);
    }
    Ok(text)
}

/// Converts an error of the JSON parser, with its place.
pub(super) fn fault(error: &serde_json::Error) -> ReadError {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default().to_owned();
    ReadError::Json { line: error.line(), column: error.column(), reason }
}

/// The kind of report, by the keys of the top-level object.
pub(super) enum Outline {
    /// `lldpd`.
    Lldpd,
    /// Tables of SONiC.
    Sonic,
    /// `show lldp neighbors | json` of EOS.
    Eos,
    /// Another document.
    Other,
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OutlineVisitor)
    }
}

struct OutlineVisitor;

impl<'de> Visitor<'de> for OutlineVisitor {
    type Value = Outline;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outline, A::Error> {
        let (mut is_lldpd, mut is_sonic, mut is_eos, mut is_empty) = (false, false, false, true);
        while let Some((key, _)) = map.next_entry::<Cow<'de, str>, IgnoredAny>()? {
            is_lldpd |= key == "lldp";
            is_sonic |= is_key(&key);
            is_eos |= key == "lldpNeighbors";
            is_empty = false;
        }
        Ok(match (is_lldpd, is_eos, is_sonic || is_empty) {
            (true, ..) => Outline::Lldpd,
            (false, true, _) => Outline::Eos,
            (false, false, true) => Outline::Sonic,
            (false, false, false) => Outline::Other,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Outline, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Outline::Other)
    }
}

/// A JSON value with only its strings and objects; all other values become null. Objects keep only the fields
/// in [`FIELDS`].
pub(super) struct PrunedValue(pub(super) Value);

impl<'de> Deserialize<'de> for PrunedValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PrunedVisitor)
    }
}

struct PrunedVisitor;

impl<'de> Visitor<'de> for PrunedVisitor {
    type Value = PrunedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<PrunedValue, E> {
        Ok(PrunedValue(Value::from(text)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<PrunedValue, E> {
        Ok(PrunedValue(Value::Null))
    }

    fn visit_i64<E>(self, _: i64) -> Result<PrunedValue, E> {
        Ok(PrunedValue(Value::Null))
    }

    fn visit_u64<E>(self, _: u64) -> Result<PrunedValue, E> {
        Ok(PrunedValue(Value::Null))
    }

    fn visit_f64<E>(self, _: f64) -> Result<PrunedValue, E> {
        Ok(PrunedValue(Value::Null))
    }

    fn visit_unit<E>(self) -> Result<PrunedValue, E> {
        Ok(PrunedValue(Value::Null))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PrunedValue, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if FIELDS.contains(&&*key) {
                kept.insert(key.into_owned(), map.next_value::<PrunedValue>()?.0);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(PrunedValue(Value::Object(kept)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PrunedValue, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(PrunedValue(Value::Null))
    }
}
