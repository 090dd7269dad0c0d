//! Values in text.

/// Parses a value; the error says what it was.
pub(crate) fn parse<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let kind = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
        format!("`{text}` is no {kind}")
    })
}
