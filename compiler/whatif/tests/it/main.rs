//! All tests of this crate in one program, so that the workspace is linked once.

mod adapters;
mod alone;
mod counting;
mod directions;
mod judged;
mod merging;
mod nic_cages;
mod properties;
mod published;
mod sites;
