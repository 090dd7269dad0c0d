//! From a tree to typed documents, with every fault of shape in one run.
//!
//! In: [`Item`]s. Out: document types, or diagnostics. Invariants: reading continues after a fault, so that a file
//! with five misspelled keys gets five messages. `None` means that at least one message was pushed. If only single
//! optional values are at fault, a document is still returned.
//!
//! This does not use serde, which stops at the first fault. Types of other crates that implement serde are read
//! through [`bridge`].

pub(crate) mod bridge;
mod language;
mod mapping;
mod scalar;
mod word;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId, Span, printable};

pub use language::AffectedArtefacts;
pub(crate) use language::{Key, Kind, Mapping};
pub(crate) use mapping::{Entries, document, touches};
pub use scalar::Fraction;
pub(crate) use scalar::PrefixText;
pub(crate) use word::word;

use crate::faults;
use crate::suggest::shorten;
use crate::yaml::{Item, Place, Value};

/// A value and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place in the file.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Returns the same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

/// A type that can be read from a part of a document.
pub(crate) trait Read: Sized {
    /// The kind of value, as declared in the language.
    const KIND: &'static Kind = &Kind::Value;

    /// Reads an item; pushes its faults.
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self>;

    /// Returns the value of an absent key; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// Destination of faults, and the current path.
pub(crate) struct Reader<'a> {
    source: SourceId,
    text: &'a str,
    path: Vec<String>,
    pub(crate) diagnostics: Diagnostics,
    /// Returns the minimum and maximum that the schema allows at a path, if any.
    pub(crate) range: fn(&str) -> (Option<u32>, Option<u32>),
    /// Whether a mapping or list is omitted because of a fault in it, so that its contents are unknown.
    pub(crate) has_gap: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: SourceId, text: &'a str) -> Self {
        let range = |_: &str| (None, None);
        Reader { source, text, path: Vec::new(), diagnostics: Diagnostics::new(), range, has_gap: false }
    }

    /// Turns a place in the text into a span.
    pub(crate) fn span(&self, place: Place) -> Span {
        Span::new(self.source, place.start..place.end)
    }

    /// Returns the text at a place, cut to a length that fits a message.
    pub(crate) fn text_at(&self, place: Place) -> String {
        shorten(self.text.get(place.start..place.end).unwrap_or_default())
    }

    /// Returns the rest of a number with a decimal comma, which splits entries in a flow mapping: `5m` of `3,5m`.
    pub(crate) fn decimal_part(&self, place: Place) -> Option<&'a str> {
        let number = self.text.get(place.start..place.end)?;
        let rest = self.text.get(place.end..)?.strip_prefix(',')?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && rest.starts_with(|c: char| c.is_ascii_digit())).then_some(&rest[..end])
    }

    /// Returns whether a key is the rest of a number with a decimal comma.
    pub(crate) fn is_after_comma(&self, place: Place) -> bool {
        let before = self.text.get(..place.start).and_then(|text| text.strip_suffix(','));
        let key = self.text.get(place.start..place.end).unwrap_or_default();
        key.starts_with(|c: char| c.is_ascii_digit())
            && before.is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()))
    }

    /// Reads one level deeper.
    pub(crate) fn inside<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(shorten(key));
        let result = read(self);
        self.path.pop();
        result
    }

    /// Returns the current dotted path, for example `tiers.t0.up`.
    pub(crate) fn path(&self) -> String {
        self.path.join(".")
    }

    /// Adds a finding.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds a finding that is computed only if it is kept. Of a hundred thousand equal faults, only a few are shown.
    pub(crate) fn push_with(&mut self, rule: &'static Rule, make: impl FnOnce(&Self) -> Diagnostic) {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        diagnostics.push_with(rule, || make(self));
        self.diagnostics = diagnostics;
    }

    /// Reports that another type was expected.
    pub(crate) fn wrong_type<T>(&mut self, item: &Item, expected: &str, example: &str) -> Option<T> {
        let path = self.path();
        let diagnostic =
            faults::wrong_type(&path, item.value.kind(), expected, example, self.span(item.place));
        let diagnostic = match (&item.value, expected) {
            (Value::Integer(plane), "text") if path.starts_with("exceptions.") => {
                let name = format!("plane {plane}");
                diagnostic.propose(self.span(item.place), &name, format!("did you mean `{name}`?"))
            }
            (Value::Integer(_) | Value::Bool(_) | Value::Float(_), "text") => {
                let written = self.text_at(item.place);
                diagnostic.help(format!("put it in quotes: `\"{written}\"`"))
            }
            _ => diagnostic,
        };
        self.push(diagnostic);
        None
    }
}

/// A value at fault is reported and then treated as absent, so that the rest of the file can be checked in the same
/// run.
impl<T: Read> Read for Option<T> {
    const KIND: &'static Kind = T::KIND;

    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let read = T::read(item, reader);
        reader.has_gap |= read.is_none() && matches!(item.value, Value::List(_) | Value::Mapping(_));
        Some(read)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Read> Read for Spanned<T> {
    const KIND: &'static Kind = T::KIND;

    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let value = T::read(item, reader)?;
        Some(Spanned { value, span: reader.span(item.place) })
    }
}

impl<T: Read> Read for Vec<T> {
    const KIND: &'static Kind = &Kind::List(T::KIND);

    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::List(items) = &item.value else {
            return reader.wrong_type(item, "a list", &example(T::KIND));
        };
        // Read every element even after a fault, so that all faults are shown.
        let read: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(at, item)| reader.inside(&at.to_string(), |reader| T::read(item, reader)))
            .collect();
        read.into_iter().collect()
    }
}

/// Returns an example of a list. For a list of mappings, it has their first two keys.
fn example(kind: &Kind) -> String {
    match kind {
        Kind::Mapping(mapping) => {
            let keys = mapping.keys.iter().take(2).map(|key| format!("{}: ...", key.name));
            format!("[{{ {} }}]", keys.collect::<Vec<_>>().join(", "))
        }
        Kind::Value | Kind::Foreign(_) | Kind::Named(_) | Kind::List(_) => "[a, b]".to_owned(),
    }
}

/// A mapping whose keys are names that users choose, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameMap<K, T>(pub Vec<(Spanned<K>, T)>);

impl<K, T> Default for NameMap<K, T> {
    fn default() -> Self {
        NameMap(Vec::new())
    }
}

/// A key of a [`NameMap`] mapping.
pub(crate) trait ReadKey: Sized {
    /// Kind of a key, for messages.
    const EXPECTED: &'static str;

    /// Reads a key.
    fn read_key(text: &str) -> Option<Self>;
}

impl ReadKey for smol_str::SmolStr {
    const EXPECTED: &'static str = "names of one printable line";

    fn read_key(text: &str) -> Option<Self> {
        printable::fault(text).is_none().then(|| text.into())
    }
}

impl ReadKey for closc_platform::Os {
    const EXPECTED: &'static str = "words of operating systems";

    fn read_key(text: &str) -> Option<Self> {
        closc_platform::Os::ALL.into_iter().find(|os| os.keyword() == text)
    }
}

impl ReadKey for u16 {
    const EXPECTED: &'static str = "a whole number from 0 to 65535";

    fn read_key(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl<K: ReadKey, T: Read> Read for NameMap<K, T> {
    const KIND: &'static Kind = &Kind::Named(T::KIND);

    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Mapping(entries) = &item.value else {
            return reader.wrong_type(item, "a mapping", "{name: value}");
        };
        let mut read = Vec::new();
        let mut whole = true;
        for entry in entries {
            let span = reader.span(entry.key_place);
            let key = K::read_key(&entry.key);
            if key.is_none() {
                let path = reader.path();
                reader.push(faults::wrong_key(&path, &entry.key, K::EXPECTED, span));
            }
            let value = reader.inside(&entry.key, |reader| T::read(&entry.item, reader));
            match (key, value) {
                (Some(key), Some(value)) => read.push((Spanned { value: key, span }, value)),
                (None, _) | (_, None) => whole = false,
            }
        }
        whole.then_some(NameMap(read))
    }
}

impl<K, T: schemars::JsonSchema> schemars::JsonSchema for NameMap<K, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("NamedOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<T>();
        schemars::json_schema!({ "type": "object", "additionalProperties": value })
    }
}
