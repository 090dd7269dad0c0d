//! Checks values of registers and digests against their types, and values of meters and counters.

use config::p4_new_type_translation::SdnType;

use super::Fault;
use crate::proto::config::{self, p4_bitstring_like_type_spec, p4_data_type_spec, p4_new_type_spec};
use crate::proto::v1;
use crate::value::{Width, check_signed};
use p4_bitstring_like_type_spec::TypeSpec as Bits;
use p4_data_type_spec::TypeSpec;
use v1::p4_data::Data;

/// Maximum nesting of types; the decoder of messages has a limit of the same order.
const MAX_DEPTH: u32 = 64;

type Types<'t> = Option<&'t config::P4TypeInfo>;

/// Checks that a value matches its type.
pub(crate) fn check_data(
    types: Types<'_>,
    spec: &config::P4DataTypeSpec,
    data: &v1::P4Data,
) -> Result<(), Fault> {
    check(types, spec, data, 0)
}

fn check(
    types: Types<'_>,
    spec: &config::P4DataTypeSpec,
    data: &v1::P4Data,
    depth: u32,
) -> Result<(), Fault> {
    let given = data.data.as_ref();
    let wrong = |wanted: &str| Err(Fault::DataType { actual: form(given), expected: wanted.to_owned() });
    let Some(wanted) = spec.type_spec.as_ref().filter(|_| depth < MAX_DEPTH) else {
        return wrong("not known");
    };
    match (wanted, given) {
        (TypeSpec::Bitstring(bits), Some(Data::Bitstring(bytes))) => check_bits(bits, bytes),
        (TypeSpec::Bitstring(bits), Some(Data::Varbit(varbit))) => check_varbit(bits, varbit),
        (TypeSpec::Bool(_), Some(Data::Bool(_))) => Ok(()),
        (TypeSpec::Tuple(tuple), Some(Data::Tuple(value))) => {
            let specs: Vec<Option<&config::P4DataTypeSpec>> = tuple.members.iter().map(Some).collect();
            check_parts(types, &specs, &value.members, depth)
        }
        (TypeSpec::Struct(name), Some(Data::Struct(value))) => {
            let Some(declared) = types.and_then(|types| types.structs.get(&name.name)) else {
                return wrong(&format!("struct `{}`, which is not declared", name.name));
            };
            let specs: Vec<_> = declared.members.iter().map(|member| member.type_spec.as_ref()).collect();
            check_parts(types, &specs, &value.members, depth)
        }
        (TypeSpec::Header(name), Some(Data::Header(header))) => check_header(types, &name.name, header),
        (TypeSpec::HeaderUnion(name), Some(Data::HeaderUnion(union))) => {
            check_union(types, &name.name, union)
        }
        (TypeSpec::HeaderStack(stack), Some(Data::HeaderStack(value))) => {
            check_count(value.entries.len(), stack.size)?;
            let name = stack.header.as_ref().map_or("", |name| &name.name);
            value.entries.iter().try_for_each(|header| check_header(types, name, header))
        }
        (TypeSpec::HeaderUnionStack(stack), Some(Data::HeaderUnionStack(value))) => {
            check_count(value.entries.len(), stack.size)?;
            let name = stack.header_union.as_ref().map_or("", |name| &name.name);
            value.entries.iter().try_for_each(|union| check_union(types, name, union))
        }
        (TypeSpec::Enum(name), Some(Data::Enum(value))) => {
            let declared = types.and_then(|types| types.enums.get(&name.name));
            let known = declared.is_some_and(|spec| spec.members.iter().any(|member| member.name == *value));
            if known { Ok(()) } else { wrong(&format!("enum `{}`, which does not have it", name.name)) }
        }
        (TypeSpec::Error(_), Some(Data::Error(value))) => {
            let known = types.and_then(|t| t.error.as_ref()).is_some_and(|spec| spec.members.contains(value));
            if known { Ok(()) } else { wrong("error, which does not have it") }
        }
        (TypeSpec::SerializableEnum(name), Some(Data::EnumValue(bytes))) => {
            let declared = types.and_then(|types| types.serializable_enums.get(&name.name));
            match declared.and_then(|spec| spec.underlying_type) {
                Some(bits) => fits(width(bits.bitwidth), bytes),
                None => wrong(&format!("enum `{}`, which is not declared", name.name)),
            }
        }
        (TypeSpec::NewType(name), _) => check_new_type(types, &name.name, data, depth),
        (wanted, _) => wrong(kind(wanted)),
    }
}

fn check_new_type(types: Types<'_>, name: &str, data: &v1::P4Data, depth: u32) -> Result<(), Fault> {
    let wrong = |wanted: String| Err(Fault::DataType { actual: form(data.data.as_ref()), expected: wanted });
    let declared = types.and_then(|types| types.new_types.get(name));
    match declared.and_then(|spec| spec.representation.as_ref()) {
        Some(p4_new_type_spec::Representation::OriginalType(spec)) => check(types, spec, data, depth + 1),
        Some(p4_new_type_spec::Representation::TranslatedType(translation)) => {
            match (&translation.sdn_type, data.data.as_ref()) {
                (Some(SdnType::SdnBitwidth(bits)), Some(Data::Bitstring(bytes))) => fits(width(*bits), bytes),
                (Some(SdnType::SdnString(_)), Some(Data::Bitstring(_))) => Ok(()),
                _ => wrong(format!("type `{name}`, a translated value")),
            }
        }
        None => wrong(format!("type `{name}`, which is not declared")),
    }
}

fn check_parts(
    types: Types<'_>,
    specs: &[Option<&config::P4DataTypeSpec>],
    values: &[v1::P4Data],
    depth: u32,
) -> Result<(), Fault> {
    if specs.len() != values.len() {
        return Err(Fault::DataParts { actual: values.len(), expected: specs.len() });
    }
    let unknown = config::P4DataTypeSpec::default();
    let mut parts = specs.iter().zip(values);
    parts.try_for_each(|(spec, value)| check(types, spec.unwrap_or(&unknown), value, depth + 1))
}

fn check_count(given: usize, size: i32) -> Result<(), Fault> {
    let wanted = usize::try_from(size).unwrap_or(0);
    if given == wanted { Ok(()) } else { Err(Fault::DataParts { actual: given, expected: wanted }) }
}

fn check_header(types: Types<'_>, name: &str, header: &v1::P4Header) -> Result<(), Fault> {
    let Some(declared) = types.and_then(|types| types.headers.get(name)) else {
        let wanted = format!("header `{name}`, which is not declared");
        return Err(Fault::DataType { actual: "a header", expected: wanted });
    };
    let wanted = if header.is_valid { declared.members.len() } else { 0 };
    if header.bitstrings.len() != wanted {
        return Err(Fault::DataParts { actual: header.bitstrings.len(), expected: wanted });
    }
    let mut parts = declared.members.iter().zip(&header.bitstrings);
    parts.try_for_each(|(member, bytes)| {
        member.type_spec.as_ref().map_or(Ok(()), |bits| check_bits(bits, bytes))
    })
}

fn check_union(types: Types<'_>, name: &str, union: &v1::P4HeaderUnion) -> Result<(), Fault> {
    let wrong = |wanted: String| Err(Fault::DataType { actual: "a header union", expected: wanted });
    let Some(declared) = types.and_then(|types| types.header_unions.get(name)) else {
        return wrong(format!("header union `{name}`, which is not declared"));
    };
    if union.valid_header_name.is_empty() {
        return Ok(());
    }
    let member = declared.members.iter().find(|member| member.name == union.valid_header_name);
    match (member.and_then(|member| member.header.as_ref()), &union.valid_header) {
        (Some(name), Some(header)) => check_header(types, &name.name, header),
        (Some(_) | None, _) => wrong(format!("header union `{name}`, which does not have it")),
    }
}

fn check_bits(spec: &config::P4BitstringLikeTypeSpec, bytes: &[u8]) -> Result<(), Fault> {
    match &spec.type_spec {
        Some(Bits::Bit(bit)) => fits(width(bit.bitwidth), bytes),
        Some(Bits::Int(int)) => check_signed(bytes, width(int.bitwidth)).map(drop).map_err(Fault::Value),
        // A varbit without a length may use the maximum.
        Some(Bits::Varbit(varbit)) => fits(width(varbit.max_bitwidth), bytes),
        None => Err(Fault::DataType { actual: "a bit string", expected: "not known".to_owned() }),
    }
}

fn check_varbit(spec: &config::P4BitstringLikeTypeSpec, varbit: &v1::P4Varbit) -> Result<(), Fault> {
    match &spec.type_spec {
        Some(Bits::Varbit(limit)) if (0..=limit.max_bitwidth).contains(&varbit.bitwidth) => {
            match varbit.bitwidth {
                0 => Ok(()),
                bits => fits(width(bits), &varbit.bitstring),
            }
        }
        Some(Bits::Varbit(limit)) => Err(Fault::DataType {
            actual: "a varbit that is too long",
            expected: format!("varbit<{}>", limit.max_bitwidth),
        }),
        Some(Bits::Bit(_) | Bits::Int(_)) | None => {
            Err(Fault::DataType { actual: "a varbit", expected: "a bit string".to_owned() })
        }
    }
}

fn width(bits: i32) -> u32 {
    u32::try_from(bits).unwrap_or(0)
}

fn fits(bits: u32, bytes: &[u8]) -> Result<(), Fault> {
    Width::Bits(bits).canonical(bytes).map(drop).map_err(Fault::Value)
}

fn form(data: Option<&Data>) -> &'static str {
    match data {
        None => "not set",
        Some(Data::Bitstring(_)) => "a bit string",
        Some(Data::Varbit(_)) => "a varbit",
        Some(Data::Bool(_)) => "a bool",
        Some(Data::Tuple(_)) => "a tuple",
        Some(Data::Struct(_)) => "a struct",
        Some(Data::Header(_)) => "a header",
        Some(Data::HeaderUnion(_)) => "a header union",
        Some(Data::HeaderStack(_)) => "a header stack",
        Some(Data::HeaderUnionStack(_)) => "a stack of header unions",
        Some(Data::Enum(_)) => "an enum value",
        Some(Data::Error(_)) => "an error value",
        Some(Data::EnumValue(_)) => "a numbered enum value",
    }
}

fn kind(spec: &TypeSpec) -> &'static str {
    match spec {
        TypeSpec::Bitstring(_) => "a bit string",
        TypeSpec::Bool(_) => "bool",
        TypeSpec::Tuple(_) => "a tuple",
        TypeSpec::Struct(_) => "a struct",
        TypeSpec::Header(_) => "a header",
        TypeSpec::HeaderUnion(_) => "a header union",
        TypeSpec::HeaderStack(_) => "a header stack",
        TypeSpec::HeaderUnionStack(_) => "a stack of header unions",
        TypeSpec::Enum(_) => "an enum",
        TypeSpec::Error(_) => "an error",
        TypeSpec::SerializableEnum(_) => "a numbered enum",
        TypeSpec::NewType(_) => "a declared type",
    }
}

/// Checks rates and bursts.
pub(super) fn check_config(config: Option<&v1::MeterConfig>) -> Result<(), Fault> {
    let Some(config) = config else { return Ok(()) };
    let rates = [
        ("cir", config.cir),
        ("cburst", config.cburst),
        ("pir", config.pir),
        ("pburst", config.pburst),
        ("eburst", config.eburst),
    ];
    match rates.into_iter().find(|(_, value)| *value < 0) {
        Some((field, value)) => Err(Fault::NegativeRate { field, value }),
        None => Ok(()),
    }
}

/// Checks that counters per colour are only set to zero.
pub(super) fn check_colour_counters(data: Option<&v1::MeterCounterData>) -> Result<(), Fault> {
    let Some(data) = data else { return Ok(()) };
    let mut colours = [data.green, data.yellow, data.red].into_iter().flatten();
    if colours.all(|data| data == v1::CounterData::default()) { Ok(()) } else { Err(Fault::ColourCounters) }
}
