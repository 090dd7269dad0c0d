//! How wide the controller sees something: by its bit width, or as its declared type is translated.

use super::error::{InfoFault, ObjectKind};
use crate::proto::config;
use crate::value::Width;

/// Where a width was written, for the message when it is wrong.
pub(super) struct Place<'a> {
    pub(super) kind: ObjectKind,
    pub(super) name: &'a str,
    pub(super) within: &'a str,
}

/// Returns the width of a field, a parameter or a metadata field.
pub(super) fn width(
    types: Option<&config::P4TypeInfo>,
    bitwidth: i32,
    type_name: Option<&config::P4NamedType>,
    place: &Place<'_>,
) -> Result<Width, InfoFault> {
    let bits = if bitwidth == 0 { translated(types, type_name) } else { bitwidth };
    match u32::try_from(bits) {
        Ok(0) => Ok(Width::Text),
        Ok(bits) => Ok(Width::Bits(bits)),
        Err(_) => Err(InfoFault::BadWidth {
            kind: place.kind,
            name: place.name.to_owned(),
            within: place.within.to_owned(),
            width: bits,
        }),
    }
}

/// Returns the width that the type declares for the controller, 0 for a string.
fn translated(types: Option<&config::P4TypeInfo>, name: Option<&config::P4NamedType>) -> i32 {
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
