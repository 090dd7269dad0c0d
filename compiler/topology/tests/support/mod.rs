//! Shared code for tests of bad fabric files: the format of a case, and the function that runs it.
//!
//! In: a Markdown file with a fabric and the expected message. Out: the actual message. Invariants: the catalogue is
//! the built-in one and the platforms in `tests/errors/platforms`.

use std::path::{Path, PathBuf};

use closc_diagnostics::{Diagnostics, Sources, show};
use closc_platform::Catalogue;
use closc_topology::Companion;

/// Returns the folder of the cases.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors")
}

/// A test case: the contents of its two code blocks.
pub(crate) struct Case {
    /// The words after ```` ```yaml ````: `escaped` reads `\xff` as a byte, `times=N` repeats the text.
    pub(crate) form: String,
    /// The fabric.
    pub(crate) yaml: String,
    /// The expected message.
    pub(crate) expected: String,
}

impl Case {
    /// Finds the code blocks of a case.
    pub(crate) fn parse(text: &str) -> Option<Case> {
        let (_, rest) = text.split_once("```yaml")?;
        let (form, rest) = rest.split_once('\n')?;
        let (yaml, rest) = rest.split_once("```\n")?;
        let expected =
            rest.split_once("```text\n").and_then(|(_, rest)| rest.split_once("```")).map_or("", |(t, _)| t);
        Some(Case { form: form.trim().to_owned(), yaml: yaml.to_owned(), expected: expected.to_owned() })
    }

    /// Returns the bytes of the fabric file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.yaml.clone().into_bytes();
        if self.form.contains("escaped") {
            bytes = unescape(&self.yaml);
        }
        match self.form.split("times=").nth(1).and_then(|times| times.parse().ok()) {
            Some(times) => bytes.repeat(times),
            None => bytes,
        }
    }

    /// Returns the findings in the fabric, and their text form.
    pub(crate) fn run(&self) -> (Diagnostics, String) {
        let mut sources = Sources::new();
        let diagnostics = match closc_topology::load(&mut sources, "fabric.yaml", &self.bytes()) {
            Ok(mut document) => {
                for (which, place) in [(Companion::Pins, "pins"), (Companion::Management, "management")] {
                    let Some(name) = document.companion(which).map(str::to_owned) else { continue };
                    let text = std::fs::read_to_string(folder().join(place).join(&name));
                    let read =
                        text.map(|text| sources.add(name, text)).map_err(|error| error.kind().to_string());
                    document.companions.insert(which, read);
                }
                closc_topology::lower(&document, &catalogue(), &sources).1
            }
            Err(found) => found,
        };
        let text = show::text::all(&diagnostics, &sources, show::text::Colour::Plain);
        (diagnostics, text.trim_end().to_owned() + "\n")
    }
}

/// Returns the built-in platforms and those of the tests.
pub(crate) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::builtin();
    let mut files: Vec<_> = std::fs::read_dir(folder().join("platforms"))
        .expect("the platforms of tests are in the repository")
        .map(|entry| entry.expect("a folder can be read").path())
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a platform file is text");
        let name = file.display().to_string();
        let added = catalogue.add_yaml(&mut Sources::new(), &name, &text);
        added.unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
    }
    catalogue
}

/// Turns `\xff` into a byte.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        out.push(u8::from_str_radix(&rest[at + 2..at + 4], 16).expect("two hexadecimal digits follow `\\x`"));
        rest = &rest[at + 4..];
    }
    out.extend_from_slice(rest.as_bytes());
    out
}
