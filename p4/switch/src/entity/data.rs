//! Converts structured values of registers and digests between words of the data plane and `P4Data`.
//!
//! The data plane has flat fields; the types of the P4Info define their structure for controllers.

use closc_runtime::proto::{config, v1};
use closc_runtime::value::check_signed;
use config::p4_bitstring_like_type_spec::TypeSpec as Bits;
use config::p4_data_type_spec::TypeSpec;
use config::p4_new_type_spec::Representation;
use config::p4_new_type_translation::SdnType;
use v1::p4_data::Data;

use super::Fault;
use super::key::{bytes, put};
use super::names::Names;
use crate::bits;
use crate::program::Field;

/// Maximum nesting of types; a P4Info may be recursive.
const MAX_DEPTH: u32 = 32;

/// The types of a P4Info, and the names behind the numbers of types that are translated from text.
#[derive(Clone, Copy, Default)]
pub(super) struct TypeNames<'n> {
    pub(super) types: Option<&'n config::P4TypeInfo>,
    pub(super) names: Option<&'n Names>,
}

/// A value of the data plane: its words and its width.
type DataValue<'w> = (&'w [u64], u32);

/// Converts a digest sample, whose fields are consecutive, to its type.
pub(super) fn sample_data(
    type_names: TypeNames<'_>,
    spec: &config::P4DataTypeSpec,
    fields: &[Field],
    sample: &[u64],
) -> v1::P4Data {
    let mut rest = sample;
    let mut parts = Vec::with_capacity(fields.len());
    for field in fields {
        let count = bits::words_for(field.bits as usize).min(field.words as usize).min(rest.len());
        let (words, after) = rest.split_at(count);
        parts.push((words, field.bits));
        rest = after;
    }
    let mut parts = parts.into_iter();
    build(type_names, Some(spec), &mut parts, 0)
}

/// Converts a value of one field to its type.
pub(super) fn single(spec: &config::P4DataTypeSpec, words: &[u64], bits: u32) -> v1::P4Data {
    build(TypeNames::default(), Some(spec), &mut std::iter::once((words, bits)), 0)
}

fn build<'w>(
    type_names: TypeNames<'_>,
    spec: Option<&config::P4DataTypeSpec>,
    parts: &mut dyn Iterator<Item = DataValue<'w>>,
    depth: u32,
) -> v1::P4Data {
    let types = type_names.types;
    let spec = spec.and_then(|spec| spec.type_spec.as_ref()).filter(|_| depth < MAX_DEPTH);
    let members = |specs: Vec<Option<&config::P4DataTypeSpec>>,
                   parts: &mut dyn Iterator<Item = DataValue<'w>>| {
        let members = specs.into_iter().map(|spec| build(type_names, spec, parts, depth + 1)).collect();
        v1::P4StructLike { members }
    };
    let data = match spec {
        Some(TypeSpec::Tuple(tuple)) => Data::Tuple(members(tuple.members.iter().map(Some).collect(), parts)),
        Some(TypeSpec::Struct(name)) => {
            let declared = types.and_then(|types| types.structs.get(&name.name));
            let specs = declared.into_iter().flat_map(|spec| &spec.members);
            Data::Struct(members(specs.map(|member| member.type_spec.as_ref()).collect(), parts))
        }
        Some(TypeSpec::Header(name)) => {
            let declared = types.and_then(|types| types.headers.get(&name.name));
            let count = declared.map_or(0, |spec| spec.members.len());
            let bitstrings = parts.take(count).map(|(words, _)| bytes(words)).collect();
            Data::Header(v1::P4Header { is_valid: true, bitstrings })
        }
        Some(TypeSpec::NewType(name)) => {
            let declared = types.and_then(|types| types.new_types.get(&name.name));
            return match declared.and_then(|spec| spec.representation.as_ref()) {
                Some(Representation::OriginalType(spec)) => build(type_names, Some(spec), parts, depth + 1),
                Some(Representation::TranslatedType(translation)) => {
                    let data = scalar(None, parts.next());
                    let text = matches!(translation.sdn_type, Some(SdnType::SdnString(_)));
                    let data = match (data, type_names.names) {
                        (Some(Data::Bitstring(number)), Some(names)) if text => {
                            Some(Data::Bitstring(names.name(&name.name, &number)))
                        }
                        (data, _) => data,
                    };
                    v1::P4Data { data }
                }
                None => v1::P4Data { data: scalar(None, parts.next()) },
            };
        }
        other => return v1::P4Data { data: scalar(other, parts.next()) },
    };
    v1::P4Data { data: Some(data) }
}

fn scalar(spec: Option<&TypeSpec>, part: Option<DataValue>) -> Option<Data> {
    let (words, width) = part?;
    Some(match spec {
        Some(TypeSpec::Bool(_)) => Data::Bool(words.iter().any(|word| *word != 0)),
        Some(TypeSpec::SerializableEnum(_)) => Data::EnumValue(bytes(words)),
        Some(TypeSpec::Bitstring(spec)) => match spec.type_spec {
            Some(Bits::Int(_)) => Data::Bitstring(signed_bytes(words, width)),
            Some(Bits::Varbit(_)) => {
                let (bitstring, bitwidth) = (bytes(words), width.cast_signed());
                Data::Varbit(v1::P4Varbit { bitstring, bitwidth })
            }
            Some(Bits::Bit(_)) | None => Data::Bitstring(bytes(words)),
        },
        // The data plane has no separate form for these types, so they are converted to numbers.
        Some(
            TypeSpec::Tuple(_)
            | TypeSpec::Struct(_)
            | TypeSpec::Header(_)
            | TypeSpec::HeaderUnion(_)
            | TypeSpec::HeaderStack(_)
            | TypeSpec::HeaderUnionStack(_)
            | TypeSpec::Enum(_)
            | TypeSpec::Error(_)
            | TypeSpec::NewType(_),
        )
        | None => Data::Bitstring(bytes(words)),
    })
}

/// Returns a number in two's complement in its shortest form.
fn signed_bytes(words: &[u64], width: u32) -> Vec<u8> {
    let mut extended = bits::to_bytes(words, bits::bytes_for(width as usize).max(1));
    let (sign, used) = ((width.max(1) - 1) % 8, extended.first().copied().unwrap_or(0));
    if used >> sign & 1 == 1 {
        extended[0] |= !(bits::mask64(sign + 1) as u8);
    }
    check_signed(&extended, width).map_or_else(|_| extended.clone(), <[u8]>::to_vec)
}

/// Returns the words of a validated value.
pub(super) fn words(
    data: &v1::P4Data,
    spec: &config::P4DataTypeSpec,
    width: u32,
    place: impl Fn() -> String,
) -> Result<Vec<u64>, Fault> {
    let mut words = vec![0; bits::words_for(width as usize)];
    let is_signed = matches!(
        &spec.type_spec,
        Some(TypeSpec::Bitstring(config::P4BitstringLikeTypeSpec { type_spec: Some(Bits::Int(_)), .. }))
    );
    match data.data.as_ref() {
        Some(Data::Bitstring(bytes)) if is_signed => {
            let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
            let fill = bits::bytes_for(width as usize).saturating_sub(bytes.len());
            let mut extended = vec![if negative { 0xff } else { 0 }; fill];
            extended.extend_from_slice(bytes);
            bits::from_bytes(&extended, &mut words);
            bits::truncate(&mut words, width as usize);
        }
        Some(Data::Bitstring(bytes) | Data::EnumValue(bytes)) => {
            put(bytes, width, &mut words).ok_or_else(|| Fault::TooWide { place: place(), bits: width })?;
        }
        Some(Data::Bool(value)) => words.iter_mut().take(1).for_each(|word| *word = u64::from(*value)),
        Some(
            Data::Varbit(_)
            | Data::Tuple(_)
            | Data::Struct(_)
            | Data::Header(_)
            | Data::HeaderUnion(_)
            | Data::HeaderStack(_)
            | Data::HeaderUnionStack(_)
            | Data::Enum(_)
            | Data::Error(_),
        )
        | None => return Err(Fault::unsupported(format!("{}: a value that is not a number", place()))),
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(bitwidth: i32) -> config::P4DataTypeSpec {
        let type_spec = Some(Bits::Int(config::P4IntTypeSpec { bitwidth }));
        let spec = config::P4BitstringLikeTypeSpec { type_spec, ..Default::default() };
        config::P4DataTypeSpec { type_spec: Some(TypeSpec::Bitstring(spec)) }
    }

    #[test]
    fn signed_numbers_keep_their_sign() {
        for (width, number, wire) in
            [(12, 0xd1d, vec![0xfd, 0x1d]), (12, 0x2e3, vec![0x02, 0xe3]), (8, 0x9d, vec![0x9d])]
        {
            let spec = int(width);
            let data = single(&spec, &[number], width.unsigned_abs());
            assert_eq!(data.data, Some(Data::Bitstring(wire)));
            assert_eq!(words(&data, &spec, width.unsigned_abs(), String::new), Ok(vec![number]));
        }
    }

    #[test]
    fn a_type_that_refers_to_itself_ends() {
        let name = |name: &str| config::P4NamedType { name: name.to_owned() };
        let spec = config::P4DataTypeSpec { type_spec: Some(TypeSpec::NewType(name("t"))) };
        let new = config::P4NewTypeSpec {
            representation: Some(Representation::OriginalType(spec.clone())),
            ..Default::default()
        };
        let types = config::P4TypeInfo { new_types: [("t".to_owned(), new)].into(), ..Default::default() };
        let data = sample_data(TypeNames { types: Some(&types), names: None }, &spec, &[], &[]);
        assert_eq!(data.data, None);
    }
}
