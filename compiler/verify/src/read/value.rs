//! Values in text.

use std::borrow::Cow;

/// Parses a value; the error says what it was.
pub(crate) fn parse<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let kind = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
        format!("`{text}` is not a {kind}")
    })
}

/// Splits a key in two, borrowing where the key is borrowed; returns it where it has one part only.
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
