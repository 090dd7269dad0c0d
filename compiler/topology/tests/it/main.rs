//! All tests of this crate in one program, so that the workspace is linked once.

mod cage_shares;
mod defaults;
mod edges;
mod format;
mod fuzz;
mod guide;
mod permuted;
mod robust;
mod rules;
