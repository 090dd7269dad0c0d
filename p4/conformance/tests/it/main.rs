//! All tests of this crate in one program, so that the workspace is linked once.

mod bmv2;
mod embedded;
