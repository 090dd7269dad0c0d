//! The language server of fabric files, which `closc lsp` is.
//!
//! In: what an editor says of the files that are open in it. Out: findings as one types, with the fixes that a program can
//! make; values that the compiler computes, where the pointer is; keys and words that may be written there. Invariants: the
//! text of the editor counts, and not that of the disk; nothing is written; a text at fault in any way is answered.
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
