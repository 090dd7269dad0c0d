//! All tests of this crate in one program, so that the workspace is linked once.

mod numbered;
mod round;
mod swapped;
