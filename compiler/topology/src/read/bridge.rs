//! A serde reader over a tree, for types of other crates.
//!
//! In: an item. Out: any type that implements `Deserialize`, and a diagnostic at the innermost place of every fault.
//! All missing keys are reported at once. Invariants: serde's own words are replaced by those of closc. Serde stops
//! at the first fault, so the faulty part is removed and the rest read again.

use std::collections::BTreeSet;
use std::fmt;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};

use super::Reader;
use crate::faults;
use crate::suggest::{format_list, intended_key, shorten};
use crate::yaml::{Entry, Item, Place, Value};

/// Maximum number of reported faults of one item, because the item is read again after each fault.
const FAULTS_MAX: usize = 32;

/// Reads an item into a type of another crate, and reports faults. The rest is still read, unless a fault is in a key
/// that `decides` the meaning of the other keys.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    item: &Item,
    reader: &mut Reader<'_>,
    decides: fn(&str) -> bool,
) -> Option<T> {
    let mut rest = item.clone();
    let (mut whole, mut removed) = (true, BTreeSet::new());
    for _ in 0..FAULTS_MAX {
        let fault = match T::deserialize(ItemReader(&rest)) {
            Ok(value) => return Some(value).filter(|_| whole),
            Err(fault) => fault,
        };
        let mut path: Vec<String> = fault.path.iter().rev().cloned().collect();
        if let Kind::MissingKey(key) = fault.kind {
            // The key is missing because its value was faulty and has been removed.
            if removed.contains(&[&path[..], &[key.to_owned()]].concat()) {
                whole = false;
                if !remove(&mut rest, &path) {
                    return None;
                }
                continue;
            }
            if missing_keys::<T>(&rest, reader) {
                return None;
            }
        }
        if let Kind::UnknownKey { key, .. } = &fault.kind {
            path.push(key.clone());
        }
        report(fault, item, reader);
        whole &= path.first().is_some_and(|key| !decides(key));
        if !remove(&mut rest, &path) {
            return None;
        }
        removed.insert(path);
    }
    None
}

/// Removes the entry at a path or, if there is none, the nearest existing entry above. Returns whether an entry was
/// removed.
fn remove(item: &mut Item, path: &[String]) -> bool {
    let (Value::Mapping(entries), Some((key, below))) = (&mut item.value, path.split_first()) else {
        return false;
    };
    let Some(at) = entries.iter().position(|entry| entry.key == *key) else { return false };
    if below.is_empty() || !remove(&mut entries[at].item, below) {
        entries.remove(at);
    }
    true
}

fn report(fault: Fault, item: &Item, reader: &mut Reader<'_>) {
    let place = fault.place.unwrap_or(item.place);
    let mut path = reader.path();
    for key in fault.path.iter().rev() {
        path = format!("{path}.{key}");
    }
    let (span, written) = (reader.span(place), reader.text_at(place));
    reader.push(match fault.kind {
        Kind::UnknownKey { key, known } => {
            let meant = intended_key(&key, known.iter().copied());
            faults::unknown_key(&path, &key, known, meant, span)
        }
        Kind::MissingKey(key) => faults::missing_key(&path, key, span),
        Kind::UnknownWord { word, known } => faults::unknown_word(&path, "word", &word, known, span),
        Kind::WrongType { found, expected } => {
            let finding = faults::wrong_type(&path, &found, &expected, "", span);
            match code_point(&written).filter(|_| path.rsplit('.').next() == Some("dscp")) {
                Some(number) => finding.propose(span, number.to_string(), format!("write `{number}`")),
                None => finding,
            }
        }
        Kind::Other(message) => faults::bad_value(&path, &message, &written, span),
    });
}

/// Returns the DSCP of a name of RFC 2474, 2597, 3246, 5865 or 8622.
fn code_point(name: &str) -> Option<u8> {
    let name = name.to_ascii_uppercase();
    let digits = |text: &str| text.bytes().map(|byte| byte.wrapping_sub(b'0')).collect::<Vec<u8>>();
    match (name.as_str(), name.get(..2)?, digits(name.get(2..)?).as_slice()) {
        ("EF", ..) => Some(46),
        ("VA", ..) => Some(44),
        ("LE", ..) => Some(1),
        (_, "CS", [class @ 0..=7]) => Some(8 * class),
        (_, "AF", [class @ 1..=4, drop @ 1..=3]) => Some(8 * class + 2 * drop),
        _ => None,
    }
}

/// Reports all missing keys of all mappings; returns whether there are any.
fn missing_keys<T: JsonSchema>(item: &Item, reader: &mut Reader<'_>) -> bool {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let found = closc_platform::missing_keys(schema.as_value(), &json(item));
    for missing in &found {
        let mut at = item;
        let mut path = reader.path();
        for key in &missing.path {
            path = format!("{path}.{key}");
            let listed = || match &at.value {
                Value::List(items) => key.parse::<usize>().ok().and_then(|place| items.get(place)),
                _ => None,
            };
            let entry = at.entries().iter().find(|entry| entry.key == *key);
            at = entry.map(|entry| &entry.item).or_else(listed).unwrap_or(at);
        }
        let place = at.entries().first().map_or(at.place, |entry| entry.key_place);
        let span = reader.span(place);
        reader.push(faults::missing_key(&path, &missing.key, span));
    }
    !found.is_empty()
}

/// Returns the shape of an item, without its scalars.
fn json(item: &Item) -> serde_json::Value {
    match &item.value {
        Value::Mapping(entries) => {
            entries.iter().map(|entry| (entry.key.to_string(), json(&entry.item))).collect()
        }
        Value::List(items) => items.iter().map(json).collect(),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => true.into(),
    }
}

/// An error and its place.
#[derive(Debug)]
struct Fault {
    kind: Kind,
    place: Option<Place>,
    /// Keys from the innermost outwards.
    path: Vec<String>,
}

#[derive(Debug)]
enum Kind {
    UnknownKey { key: String, known: &'static [&'static str] },
    MissingKey(&'static str),
    UnknownWord { word: String, known: &'static [&'static str] },
    WrongType { found: String, expected: String },
    Other(String),
}

impl Fault {
    fn new(kind: Kind) -> Self {
        Fault { kind, place: None, path: Vec::new() }
    }

    /// Sets the place of the fault, unless an inner one is known.
    fn at(mut self, place: Place) -> Self {
        self.place.get_or_insert(place);
        self
    }

    fn inside(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault::new(Kind::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = match found {
            Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
            Unexpected::Bool(value) => format!("the boolean `{value}`"),
            Unexpected::Signed(value) => format!("the number `{value}`"),
            Unexpected::Unsigned(value) => format!("the number `{value}`"),
            Unexpected::Float(value) => format!("the number `{value}`"),
            Unexpected::Str(text) => format!("the text `{}`", shorten(text)),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a mapping".to_owned(),
            Unexpected::UnitVariant => "the word alone".to_owned(),
            Unexpected::NewtypeVariant | Unexpected::TupleVariant | Unexpected::StructVariant => {
                "a word with a value".to_owned()
            }
            other => other.to_string(),
        };
        // Phrases of serde that list choices.
        let expected = match expected.to_string().as_str() {
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0".to_owned(),
            "a nonzero u8" | "a nonzero u16" | "a nonzero u32" | "a nonzero u64" => {
                "a whole number from 1".to_owned()
            }
            "i8" | "i16" | "i32" | "i64" | "i128" => "a whole number".to_owned(),
            "unit variant" => "the word alone".to_owned(),
            "newtype variant" | "tuple variant" | "struct variant" => {
                "a word with its value, as in `{word: value}`".to_owned()
            }
            other => other.to_owned(),
        };
        Fault::new(Kind::WrongType { found, expected })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Fault::new(Kind::UnknownWord { word: variant.to_owned(), known: expected })
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Fault::new(Kind::UnknownKey { key: field.to_owned(), known: expected })
    }

    fn missing_field(field: &'static str) -> Self {
        Fault::new(Kind::MissingKey(field))
    }
}

/// Deserializer for one item.
struct ItemReader<'a>(&'a Item);

impl<'de> Deserializer<'de> for ItemReader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let place = self.0.place;
        match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                (Err(_), Err(_)) => visitor.visit_i128(*value),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Elements(items.iter())),
            Value::Mapping(entries) => {
                let first = entries.first().map_or(place, |entry| entry.key_place);
                return visitor
                    .visit_map(Entries { rest: entries.iter(), current: None })
                    .map_err(|fault| fault.at(first));
            }
        }
        .map_err(|fault| fault.at(place))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Null => visitor.visit_none(),
            Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Mapping(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let place = self.0.place;
        match &self.0.value {
            Value::Text(word) => visitor.visit_enum(word.as_str().into_deserializer()),
            Value::Mapping(entries) if entries.len() == 1 => visitor.visit_enum(Variant(&entries[0])),
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Mapping(_) => Err(Fault::new(Kind::WrongType {
                found: match &self.0.value {
                    Value::Mapping(entries) => format!("a mapping with {} keys", entries.len()),
                    other => other.kind().to_owned(),
                },
                expected: format!(
                    "a word, or one key with its value: {}",
                    format_list(variants.iter().copied())
                ),
            })),
        }
        .map_err(|fault: Fault| fault.at(place))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

struct Elements<'a>(std::slice::Iter<'a, Item>);

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.0.next().map(|item| seed.deserialize(ItemReader(item)).map_err(|f| f.at(item.place))).transpose()
    }
}

struct Entries<'a> {
    rest: std::slice::Iter<'a, Entry>,
    current: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        self.current = Some(entry);
        let key: StrDeserializer<'_, Fault> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|fault| fault.at(entry.key_place))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let entry = self.current.expect("serde asks for a value only after its key");
        let place = match entry.item.value {
            Value::Mapping(_) | Value::List(_) | Value::Null => entry.key_place,
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => entry.item.place,
        };
        seed.deserialize(ItemReader(&entry.item)).map_err(|fault| fault.at(place).inside(&entry.key))
    }
}

struct Variant<'a>(&'a Entry);

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Fault;
    type Variant = Content<'a>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Content<'a>), Fault> {
        let key: StrDeserializer<'_, Fault> = self.0.key.as_str().into_deserializer();
        let variant = seed.deserialize(key).map_err(|fault| fault.at(self.0.key_place))?;
        Ok((variant, Content(&self.0.item)))
    }
}

struct Content<'a>(&'a Item);

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.0.value {
            Value::Null => Ok(()),
            Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Mapping(_) => Err(Fault::new(Kind::Other("takes no value".to_owned())).at(self.0.place)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(ItemReader(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        ItemReader(self.0).deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        ItemReader(self.0).deserialize_any(visitor)
    }
}
