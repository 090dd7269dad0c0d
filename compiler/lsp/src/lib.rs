//! The language server of fabric files, which `closc lsp` runs.
//!
//! In: the messages of an editor about its open files. Out: findings as the user types, with the fixes that a program
//! can make; computed values at the pointer; keys and words that are allowed there. Invariants: the text of the editor
//! counts, and not that of the disk; nothing is written; requests are answered whatever errors the text has.
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
