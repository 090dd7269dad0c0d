//! Pieces for reading JSON without building it in memory: text that is borrowed where it can be, and tables
//! whose rows go to a function one by one.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// Text, borrowed from the file where it has no escapes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Text, or a list of texts as one with commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Either<'a> {
            #[serde(borrow)]
            One(Str<'a>),
            #[serde(borrow)]
            List(Vec<Str<'a>>),
        }
        Ok(Words(match Either::deserialize(deserializer)? {
            Either::One(text) => text.0,
            Either::List(list) => list.iter().map(|text| &*text.0).collect::<Vec<&str>>().join(",").into(),
        }))
    }
}

/// A table: calls a function with each key and row.
pub(crate) struct Rows<'f, V, F> {
    each: &'f mut F,
    row: PhantomData<V>,
}

impl<'f, V, F> Rows<'f, V, F> {
    /// Takes the function.
    pub(crate) fn new(each: &'f mut F) -> Self {
        Rows { each, row: PhantomData }
    }
}

impl<'de, V, F> DeserializeSeed<'de> for Rows<'_, V, F>
where
    V: Deserialize<'de>,
    F: FnMut(Cow<'de, str>, V) -> Result<(), String>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, V, F> Visitor<'de> for Rows<'_, V, F>
where
    V: Deserialize<'de>,
    F: FnMut(Cow<'de, str>, V) -> Result<(), String>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Str(key)) = map.next_key()? {
            let row = map.next_value()?;
            (self.each)(key, row).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
