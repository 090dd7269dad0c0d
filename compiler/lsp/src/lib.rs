//! The language server of fabric files, which `closc lsp` runs.
//!
//! In: the messages of an editor about its open files. Out: findings as the user types, with automatic fixes;
//! computed values under the pointer; completions. Invariants: the server reads the text in the editor, not
//! the file on disk. It does not write files. Requests are answered even if the text has errors.
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
