//! The BMv2 JSON document, unresolved: names, ids and expression trees.
//!
//! In: bytes. Out: a [`Document`], or the line and column of the first error. Shapes are checked here, names
//! and meaning by [`crate::program`].

mod depth;
mod document;

pub(crate) use document::*;

use crate::Error;

/// Stack size for reading and compiling, which recurse once or twice per bracket, up to [`depth::LIMIT`] levels.
const STACK_BYTES: usize = 64 << 20;

/// Reads a document.
pub(crate) fn parse(text: &[u8]) -> Result<Document, Error> {
    depth::check(text)?;
    with_stack(|| {
        let mut reader = serde_json::Deserializer::from_slice(text);
        reader.disable_recursion_limit();
        let document: Document = serde::Deserialize::deserialize(&mut reader).map_err(|e| syntax(&e))?;
        reader.end().map_err(|e| syntax(&e))?;
        check_version(&document)?;
        Ok(document)
    })
}

/// Runs `work` on a thread with a stack that is sufficient for the deepest accepted document.
///
/// The memory is only reserved; the system allocates pages on access.
pub(crate) fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        match worker.expect("the system lets a process start one more thread").join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn syntax(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem).to_owned();
    Error::Syntax { line: error.line(), column: error.column(), problem }
}

fn check_version(document: &Document) -> Result<(), Error> {
    match document.meta.as_ref().and_then(|meta| meta.version) {
        Some([major, minor]) if major != 2 => Err(Error::Version { major, minor }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_object_is_an_empty_document() {
        assert!(parse(b"{}").expect("nothing is required of the shape").pipelines.is_empty());
    }

    #[test]
    fn faults_have_a_line_and_a_column() {
        let fault = parse(b"{\n  \"headers\": [{\"name\": 7}]\n}").expect_err("a name is text");
        assert_eq!(fault.to_string(), "line 2, column 24: invalid type: integer `7`, expected a string");
        assert!(matches!(parse(b"{} x"), Err(Error::Syntax { line: 1, .. })));
        assert!(matches!(parse(b""), Err(Error::Syntax { .. })));
    }

    #[test]
    fn deep_brackets_are_refused() {
        let bomb = vec![b'['; 1_000_000];
        assert!(matches!(parse(&bomb), Err(Error::Depth { .. })));
    }

    #[test]
    fn another_major_version_is_refused() {
        let fault = parse(br#"{"__meta__": {"version": [3, 1]}}"#).expect_err("3.1 is unknown");
        assert_eq!(fault, Error::Version { major: 3, minor: 1 });
    }
}
