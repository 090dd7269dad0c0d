//! Values of registers and digests by the names of their fields.

use crate::check::{Fault, Violation};
use crate::info::{Info, LookupError, ObjectKind};
use crate::proto::{config, v1};
use crate::value::{Value, Width};
use config::p4_data_type_spec::TypeSpec;
use v1::p4_data::Data;

/// Returns the fields of a struct by name, `None` for a value of another type.
pub fn fields<'a>(
    info: &'a Info,
    spec: &config::P4DataTypeSpec,
    data: &'a v1::P4Data,
) -> Option<Vec<(&'a str, &'a v1::P4Data)>> {
    let (Some(TypeSpec::Struct(name)), Some(Data::Struct(value))) = (&spec.type_spec, &data.data) else {
        return None;
    };
    let declared = info.types()?.structs.get(&name.name)?;
    let names = declared.members.iter().map(|member| member.name.as_str());
    (declared.members.len() == value.members.len()).then(|| names.zip(&value.members).collect())
}

/// Returns a bit string, an enum value or a bool as a number, if it has at most 128 bits.
pub fn number(data: &v1::P4Data) -> Option<u128> {
    match &data.data {
        Some(Data::Bitstring(bytes) | Data::EnumValue(bytes)) => Width::Bits(128).decode(bytes).ok(),
        Some(Data::Bool(value)) => Some(u128::from(*value)),
        _ => None,
    }
}

/// Returns a bit string of `bits` bits.
pub fn bits<'v>(value: impl Into<Value<'v>>, bits: u32) -> Result<v1::P4Data, Violation> {
    let bytes = Width::Bits(bits).encode(&value.into()).map_err(Fault::Value)?;
    Ok(v1::P4Data { data: Some(Data::Bitstring(bytes)) })
}

/// Returns a struct from fields given by name in any order; every field is required.
pub fn structure(
    info: &Info,
    spec: &config::P4DataTypeSpec,
    values: &[(&str, v1::P4Data)],
) -> Result<v1::P4Data, Violation> {
    let Some(TypeSpec::Struct(name)) = &spec.type_spec else {
        return Err(Fault::DataType { actual: "a struct", expected: "not a struct".to_owned() }.into());
    };
    let declared = info.types().and_then(|types| types.structs.get(&name.name));
    let declared = declared.map(|spec| spec.members.as_slice()).unwrap_or_default();
    if let Some((wrong, _)) =
        values.iter().find(|(field, _)| !declared.iter().any(|member| member.name == *field))
    {
        let (kind, name, within) = (ObjectKind::Param, (*wrong).to_owned(), Some(name.name.clone()));
        return Err(LookupError::Unknown { kind, scope: within, name, suggestion: None }.into());
    }
    let value = |field: &str| values.iter().find(|(name, _)| *name == field).map(|(_, value)| value.clone());
    let members: Vec<v1::P4Data> = declared.iter().filter_map(|member| value(&member.name)).collect();
    let data = v1::P4Data { data: Some(Data::Struct(v1::P4StructLike { members })) };
    crate::check::check_data(info.types(), spec, &data)?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn structs_are_made_and_read_by_name() {
        let info = sample::info();
        let spec = &info.digest("learn").expect("known").spec;
        let flag = v1::P4Data { data: Some(Data::Bool(true)) };
        let port = bits(300u16, 9).expect("it fits");
        let data = structure(&info, spec, &[("valid", flag.clone()), ("port", port)]).expect("complete");
        let read = fields(&info, spec, &data).expect("a struct");
        let read: Vec<(&str, Option<u128>)> =
            read.into_iter().map(|(name, value)| (name, number(value))).collect();
        assert_eq!(read, [("port", Some(300)), ("valid", Some(1))]);
        assert!(structure(&info, spec, &[("valid", flag.clone())]).is_err(), "a field is missing");
        assert!(structure(&info, spec, &[("vlid", flag)]).is_err(), "no such field");
        assert!(bits(512u16, 9).is_err());
    }
}
