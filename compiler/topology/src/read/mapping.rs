//! Mappings with known keys.
//!
//! In: an item. Out: a struct, each field read by its own type. Invariants: an unknown key is rejected with the
//! nearest known one as a suggestion, and all faults of all fields are reported.

use std::collections::BTreeSet;

use super::{Read, Reader};
use crate::faults;
use crate::suggest::intended_key;
use crate::yaml::{Entry, Item, Value};

/// The entries of a mapping, and the probable correction of each misspelled key.
pub(crate) struct Entries<'a> {
    entries: &'a [Entry],
    corrections: Vec<(&'static str, &'a Item)>,
}

impl<'a> Entries<'a> {
    /// Returns the entries of an item that must be a mapping, and rejects unknown keys.
    pub(crate) fn of(
        item: &'a Item,
        known: &'static [&'static str],
        extensions: bool,
        reader: &mut Reader<'_>,
    ) -> Option<Self> {
        let Value::Mapping(entries) = &item.value else {
            let example = format!("{{{}: ...}}", known.first().copied().unwrap_or("key"));
            return reader.wrong_type(item, "a mapping", &example);
        };
        let there: BTreeSet<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        let free = || known.iter().copied().filter(|key| !there.contains(key));
        let mut meant = Vec::new();
        for entry in entries {
            if known.contains(&entry.key.as_str()) || (extensions && entry.key.starts_with("x-")) {
                continue;
            }
            // The fault is reported at the number before it.
            if matches!(entry.item.value, Value::Null) && reader.is_after_comma(entry.key_place) {
                continue;
            }
            reader.push_with(&faults::unknown_key::RULE, |reader| {
                let (span, path) = (reader.span(entry.key_place), reader.path());
                let likely = intended_key(&entry.key, free());
                let key = likely.and_then(|likely| free().find(|key| *key == likely));
                meant.extend(key.map(|key| (key, &entry.item)));
                faults::unknown_key(&path, &entry.key, known, likely, span)
            });
        }
        Some(Entries { entries, corrections: meant })
    }

    /// Reads one key. A missing key is reported, unless the type has a default, or a misspelled key was reported
    /// instead.
    pub(crate) fn read<T: Read>(&self, key: &str, item: &Item, reader: &mut Reader<'_>) -> Option<T> {
        match self.entries.iter().find(|entry| entry.key == key) {
            Some(entry) => reader.inside(key, |reader| match &entry.item.value {
                Value::Null => {
                    let (span, path) = (reader.span(entry.key_place), reader.path());
                    reader.push(faults::no_value(&path, T::absent().is_some(), span));
                    None
                }
                Value::Bool(_)
                | Value::Integer(_)
                | Value::Float(_)
                | Value::Text(_)
                | Value::List(_)
                | Value::Mapping(_) => T::read(&entry.item, reader),
            }),
            None => self.read_corrected(key, reader).or_else(T::absent).or_else(|| {
                if !self.corrections.iter().any(|(meant, _)| *meant == key) {
                    let place = self.entries.first().map_or(item.place, |first| first.key_place);
                    let (span, path) = (reader.span(place), reader.path());
                    reader.push(faults::missing_key(&path, key, span));
                }
                None
            }),
        }
    }

    /// Reads the value of a misspelled key. Otherwise the default in its place could cause other findings. An invalid
    /// value is ignored.
    fn read_corrected<T: Read>(&self, key: &str, reader: &mut Reader<'_>) -> Option<T> {
        let (_, item) = self.corrections.iter().find(|(meant, _)| *meant == key)?;
        T::absent()?;
        let (before, has_gap) = (std::mem::take(&mut reader.diagnostics), reader.has_gap);
        let value = reader.inside(key, |reader| T::read(item, reader));
        let found = std::mem::replace(&mut reader.diagnostics, before);
        reader.has_gap = has_gap;
        value.filter(|_| !found.has_errors())
    }
}

/// Declares a mapping of the language, every field once: its meaning, type and key. It also declares the artefacts
/// that a change affects, unless the key above does.
///
/// Generates the struct, its schema, its reader, its place in the reference and the paths that
/// [`crate::field!`] knows.
macro_rules! document {
    (
        $(#[$meta:meta])*
        $vis:vis struct $type:ident as $name:tt $(with $anchors:ident)? {
            $(
                $(#[$inner:meta])*
                $field_vis:vis $field:ident: $of:ty = $key:tt $(=> [$($touches:ident),*])?
            ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, schemars::JsonSchema)]
        #[schemars(rename = $name, deny_unknown_fields)]
        $vis struct $type {
            $($(#[$inner])* #[schemars(rename = $key)] $field_vis $field: $of,)+
        }

        impl $crate::read::Read for $type {
            const KIND: &'static $crate::read::Kind = &$crate::read::Kind::Mapping(&$crate::read::Mapping {
                name: $name,
                keys: &[$($crate::read::Key {
                    name: $key,
                    touches: $crate::read::touches!($([$($touches),*])?),
                    kind: <$of as $crate::read::Read>::KIND,
                }),+],
                read: |item, reader| <Self as $crate::read::Read>::read(item, reader).is_some(),
            });

            fn read(item: &$crate::yaml::Item, reader: &mut $crate::read::Reader<'_>) -> Option<Self> {
                const ANCHORS: &[&str] = &[$(stringify!($anchors))?];
                let entries =
                    $crate::read::Entries::of(item, &[$($key),+], !ANCHORS.is_empty(), reader)?;
                // Read all fields before reporting missing ones, so that all faults are shown.
                $(let $field = entries.read($key, item, reader);)+
                Some($type { $($field: $field?),+ })
            }
        }
    };
}
pub(crate) use document;

/// Expands the declaration of the artefacts that a key affects: nothing, or a list.
macro_rules! touches {
    () => {
        None
    };
    ([$($touches:ident),*]) => {
        Some($crate::read::AffectedArtefacts::of(&[$($crate::read::AffectedArtefacts::$touches),*]))
    };
}
pub(crate) use touches;
