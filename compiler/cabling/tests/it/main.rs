//! All tests of this crate in one program, so that the workspace is linked once.

mod judge;
mod netbox;
mod nic_cages;
mod racks;
mod read;
