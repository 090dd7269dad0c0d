//! The proof by composition: from facts about single cables to every path.
//!
//! `path_cables` determines which cables of segment lists carry frames, per direction. `spread` adds up their load, and
//! `load` reports it. `buffers` checks that no cyclic buffer wait exists. `denials` compares missing paths with the
//! denials of path tables. `count` counts the paths. The argument is in this crate's README.

mod bandwidth;
pub(crate) mod bits;
pub(crate) mod boxes;
pub(crate) mod buffers;
pub(crate) mod chosen;
pub(crate) mod converge;
pub(crate) mod count;
pub(crate) mod denials;
pub(crate) mod load;
pub(crate) mod nodes;
pub(crate) mod path_cables;
pub(crate) mod planes;
pub(crate) mod spread;
