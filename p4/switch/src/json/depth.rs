//! A limit on the nesting of brackets, checked before any recursion.

use crate::Error;

/// Maximum nesting. p4c writes two or three levels per operator of an expression.
pub(super) const LIMIT: usize = 1024;

/// Rejects text whose brackets are nested more deeply than [`LIMIT`].
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
