//! The files built into the program.
//!
//! In: `catalogue/*.yaml` and `catalogue/sonic/*.yaml`, at compile time. Out: their texts. Invariants: the files are accepted
//! by the same checks as a site's (a test loads them all).

/// Names, texts and whether they are derived, in the order of names: every file of the catalogue, embedded by `build.rs`.
pub(crate) static FILES: &[(&str, &str, bool)] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));
