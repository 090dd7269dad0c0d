//! The proof by composition: from facts about single cables to every path.
//!
//! `path_cables` says whether frames get over for each cable that lists name, in each
//! direction; `spread` adds up what each would carry, and `load` states it; `buffers` looks for rings of buffers that wait; `denied` holds what is missing against what the path tables deny; `count` adds up the paths.
//! The argument is in this crate's README.

mod bandwidth;
pub(crate) mod bits;
pub(crate) mod boxes;
pub(crate) mod buffers;
pub(crate) mod chosen;
pub(crate) mod converge;
pub(crate) mod count;
pub(crate) mod denied;
pub(crate) mod load;
pub(crate) mod nodes;
pub(crate) mod path_cables;
pub(crate) mod planes;
pub(crate) mod spread;
