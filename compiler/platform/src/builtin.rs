//! Catalogue files built into the program.
//!
//! In: `catalogue/*.yaml` and `catalogue/sonic/*.yaml`, at compile time. Out: their texts. Invariants: the files pass
//! the same checks as files of a site (a test loads all of them).

/// All files of the catalogue, embedded by `build.rs` and sorted by name: name, text, and whether the file is derived.
pub(crate) static FILES: &[(&str, &str, bool)] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));
