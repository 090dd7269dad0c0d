//! Parses values in text.

use std::borrow::Cow;

use closc_artefacts::{Family, Prefix};

/// Parses a value; the error contains the text and the expected type.
pub(crate) fn parse<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let kind = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
        format!("`{text}` is not a {kind}")
    })
}

/// Parses a prefix of an address family.
pub(crate) fn prefix(family: Family, text: &str) -> Result<Prefix, String> {
    let prefix: Prefix = parse(text)?;
    if prefix.family() == family { Ok(prefix) } else { Err(format!("`{text}` is not a prefix of {family}")) }
}

/// Parses a prefix length of an address family, and returns the length of the mapped prefix.
pub(crate) fn length(family: Family, text: &str) -> Result<u8, String> {
    let length: u8 = parse(text)?;
    length
        .checked_add(family.offset())
        .filter(|length| *length <= 128)
        .ok_or_else(|| format!("`{text}` is not the length of a prefix of {family}"))
}

/// Returns the address family of a command.
pub(crate) fn family(command: &str) -> Option<Family> {
    [Family::V4, Family::V6].into_iter().find(|family| family.keyword() == command)
}

/// Splits a key at a separator. If the key is borrowed, its parts are also borrowed. A key without the separator is
/// returned as the error.
pub(crate) fn split(key: Cow<'_, str>, at: char) -> Result<(Cow<'_, str>, Cow<'_, str>), Cow<'_, str>> {
    match key {
        Cow::Borrowed(text) => {
            text.split_once(at).map(|(a, b)| (a.into(), b.into())).ok_or(Cow::Borrowed(text))
        }
        Cow::Owned(text) => match text.split_once(at) {
            Some((a, b)) => Ok((a.to_owned().into(), b.to_owned().into())),
            None => Err(Cow::Owned(text)),
        },
    }
}
