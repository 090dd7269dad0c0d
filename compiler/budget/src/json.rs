//! Estimates the memory that decoded JSON needs.

/// Memory of an entry or a field in addition to its text.
const VALUE_BYTES: usize = 128;

/// Estimates the bytes of memory that JSON will need when decoded, from its length and its number of colons
/// and commas.
pub fn decoded_json_bytes(text: &[u8]) -> usize {
    let marks = text.iter().filter(|byte| matches!(byte, b':' | b',')).count();
    marks.saturating_mul(VALUE_BYTES).saturating_add(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_weigh_more_than_one_long_text() {
        let limit = 1 << 20;
        let text = format!("{{\"A\":\"{}\"}}", "x".repeat(limit / 2));
        assert!(decoded_json_bytes(text.as_bytes()) < limit);
        let lists = format!("{{\"A\":[{}[]]}}", "[],".repeat(limit / 100));
        assert!(lists.len() < limit / 10 && decoded_json_bytes(lists.as_bytes()) > limit);
    }
}
