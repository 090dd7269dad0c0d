//! A bound on how deep brackets nest, checked before anything recurses.

use crate::Error;

/// Levels accepted. p4c writes two or three for each operator of an expression.
pub(super) const LIMIT: usize = 1024;

/// Refuses text whose brackets nest deeper than [`LIMIT`].
pub(super) fn check(text: &[u8]) -> Result<(), Error> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (offset, byte) in text.iter().enumerate() {
        if in_string {
            match (escaped, byte) {
                (true, _) => escaped = false,
                (false, b'\\') => escaped = true,
                (false, b'"') => in_string = false,
                (false, _) => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > LIMIT {
                    return Err(Error::Depth { limit: LIMIT, offset });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = format!("[\"{}\\\"[\"]", "[".repeat(LIMIT + 1));
        assert_eq!(check(text.as_bytes()), Ok(()));
    }
}
