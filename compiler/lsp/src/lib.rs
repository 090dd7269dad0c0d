//! The language server of fabric files, which `closc lsp` runs.
//!
//! In: the messages of an editor about its open files. Out: findings as the user types, with automatic fixes;
//! computed values at the pointer; keys and words that are allowed there. Invariants: the text of the editor is read,
//! not that on the disk. Nothing is written. Requests are answered even if the text has errors.
//!
//! Language Server Protocol 3.17, over standard input and output.

mod actions;
mod completion;
mod cursor;
mod definition;
mod facts;
mod findings;
mod hover;
mod language;
mod place;
mod server;
mod stream;
mod text;
mod uri;

pub use server::{LspError, run, serve};
