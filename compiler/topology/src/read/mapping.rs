//! Mappings with known keys.
//!
//! In: an item. Out: a struct, each field read by its own type. Always: unknown keys are refused with the
//! nearest known one, and all faults of all fields are reported.

use smol_str::SmolStr;

use super::{Read, Reader};
use crate::checks::loader;
use crate::yaml::{Entry, Item, Value};

/// A document type read from a mapping.
pub(crate) trait MappingType {
    /// The keys in the order of the documentation.
    const KEYS: &'static [&'static str];
}

/// Reads one key of a mapping; an absent key is reported unless the type knows what absence means.
pub(crate) fn field<T: Read>(
    entries: &[Entry],
    key: &str,
    item: &Item,
    reader: &mut Reader<'_>,
) -> Option<T> {
    match entries.iter().find(|entry| entry.key == key) {
        Some(entry) => reader.inside(key, |reader| match &entry.item.value {
            Value::Null => {
                let span = reader.span(entry.key_place);
                let path = reader.path();
                reader.push(loader::no_value(&path, span));
                None
            }
            Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Mapping(_) => T::read(&entry.item, reader),
        }),
        None => T::absent().or_else(|| {
            let path = reader.path();
            let place = entries.first().map_or(item.place, |first| first.key_place);
            let span = reader.span(place);
            reader.push(loader::missing_key(&path, key, span));
            None
        }),
    }
}

/// Returns the entries of an item that must be a mapping, after refusing keys that are not known.
pub(crate) fn entries<'a>(
    item: &'a Item,
    known: &[&'static str],
    extensions: bool,
    reader: &mut Reader<'_>,
) -> Option<&'a [Entry]> {
    let Value::Mapping(entries) = &item.value else {
        let example = format!("{{{}: ...}}", known.first().copied().unwrap_or("key"));
        return reader.wrong_type(item, "a mapping", &example);
    };
    for entry in entries {
        if known.contains(&entry.key.as_str()) || (extensions && entry.key.starts_with("x-")) {
            continue;
        }
        let others: Vec<&SmolStr> = entries.iter().map(|e| &e.key).collect();
        let span = reader.span(entry.key_place);
        let path = reader.path();
        reader.push(loader::unknown_key(&path, &entry.key, known, &others, span));
    }
    Some(entries)
}

/// Reads a struct from a mapping: `mapping!(Type { field = "key", ... })`, every field once.
macro_rules! mapping {
    ($type:ident { $($field:ident = $key:literal),+ $(,)? }) => {
        $crate::read::mapping!($type, false { $($field = $key),+ });
    };
    ($type:ident, $extensions:literal { $($field:ident = $key:literal),+ $(,)? }) => {
        impl $crate::read::MappingType for $type {
            const KEYS: &'static [&'static str] = &[$($key),+];
        }

        impl $crate::read::Read for $type {
            fn read(item: &$crate::yaml::Item, reader: &mut $crate::read::Reader<'_>) -> Option<Self> {
                use $crate::read::MappingType as _;
                let entries = $crate::read::mapping_entries(item, Self::KEYS, $extensions, reader)?;
                // All fields are read before any is missed, so that all faults show.
                $(let $field = $crate::read::mapping_field(entries, $key, item, reader);)+
                Some($type { $($field: $field?),+ })
            }
        }
    };
}
pub(crate) use mapping;
