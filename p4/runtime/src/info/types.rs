//! Width of a value for the controller: the bit width, or that of the translated type.

use std::sync::Arc;

use super::error::{InfoFault, ObjectKind};
use crate::proto::config;
use crate::value::Width;

/// The place of a width, for error messages.
pub(super) struct Place<'a> {
    pub(super) kind: ObjectKind,
    pub(super) name: &'a str,
    pub(super) scope: &'a str,
}

/// Returns the width of a field, a parameter or a metadata field.
pub(super) fn width(
    types: Option<&config::P4TypeInfo>,
    bitwidth: i32,
    type_name: Option<&config::P4NamedType>,
    place: &Place<'_>,
) -> Result<Width, InfoFault> {
    let bits = if bitwidth == 0 { translated_width(types, type_name) } else { bitwidth };
    match u32::try_from(bits) {
        Ok(0) => Ok(Width::Text),
        Ok(bits) => Ok(Width::Bits(bits)),
        Err(_) => Err(InfoFault::BadWidth {
            kind: place.kind,
            name: place.name.to_owned(),
            scope: place.scope.to_owned(),
            width: bits,
        }),
    }
}

/// Returns the width for the controller that the type declares, or 0 for a string.
fn translated_width(types: Option<&config::P4TypeInfo>, name: Option<&config::P4NamedType>) -> i32 {
    use config::p4_new_type_spec::Representation;
    use config::p4_new_type_translation::SdnType;
    let spec = types.zip(name).and_then(|(types, name)| types.new_types.get(&name.name));
    match spec.and_then(|spec| spec.representation.as_ref()) {
        Some(Representation::TranslatedType(translation)) => match translation.sdn_type {
            Some(SdnType::SdnBitwidth(bits)) => bits,
            Some(SdnType::SdnString(_)) | None => 0,
        },
        Some(Representation::OriginalType(_)) | None => 0,
    }
}

/// Returns whether the target translates values of the declared type.
pub(super) fn is_translated(types: Option<&config::P4TypeInfo>, name: Option<&config::P4NamedType>) -> bool {
    use config::p4_new_type_spec::Representation;
    let spec = types.zip(name).and_then(|(types, name)| types.new_types.get(&name.name));
    let representation = spec.and_then(|spec| spec.representation.as_ref());
    matches!(representation, Some(Representation::TranslatedType(_)))
}

/// Returns the declared type of a value that the controller sees as text.
pub(super) fn text_type(width: Width, name: Option<&config::P4NamedType>) -> Option<Arc<str>> {
    name.filter(|_| width == Width::Text).map(|name| name.name.as_str().into())
}

/// Returns whether a type is a port type. It is one if the last part of its name, or of the URI of its translation,
/// begins with `PortId` in any notation. PSA and sonic-pins use `PortId_t`, `PortIdInHeader_t` and `port_id_t`.
pub(super) fn is_port_type(name: &str, uri: &str) -> bool {
    let begins = |name: &str| {
        let plain = name.rsplit(['/', '.']).next().unwrap_or(name).replace('_', "");
        plain.to_ascii_lowercase().starts_with("portid")
    };
    begins(name) || begins(uri)
}

/// Returns the type of ports, if the controller sees them as text: the first one by name.
pub(super) fn port_type(types: Option<&config::P4TypeInfo>) -> Option<Arc<str>> {
    use config::p4_new_type_spec::Representation;
    use config::p4_new_type_translation::SdnType;
    let text_port = |(name, spec): (&String, &config::P4NewTypeSpec)| match &spec.representation {
        Some(Representation::TranslatedType(translation)) => {
            matches!(translation.sdn_type, Some(SdnType::SdnString(_)))
                && is_port_type(name, &translation.uri)
        }
        Some(Representation::OriginalType(_)) | None => false,
    };
    let found = types?.new_types.iter().filter(|(name, spec)| text_port((name, spec)));
    found.map(|(name, _)| name.as_str()).min().map(Into::into)
}
