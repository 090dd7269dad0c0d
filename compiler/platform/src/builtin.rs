//! The files built into the program.
//!
//! In: `catalogue/*.yaml`, at compile time. Out: their texts. Invariants: the files are accepted
//! by the same checks as a site's (a test loads them all).

/// Names and texts, in the order of names: every file of the catalogue, embedded by `build.rs`.
pub(crate) static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));
