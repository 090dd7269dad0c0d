//! `qos`: a profile by name, or one of one's own.

use std::borrow::Cow;

use closc_qos::profile::{Preset, ProfileSpec};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::faults;
use crate::read::{Read, Reader, bridge};
use crate::yaml::{Item, Value};

/// A QoS profile as it was written.
#[derive(Debug, Clone)]
pub struct QosDoc {
    /// The profile.
    pub spec: ProfileSpec,
}

impl Read for QosDoc {
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
            Value::Mapping(_) => bridge::read(item, reader)?,
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
