//! All tests of this crate in one program, so that the workspace is linked once.

mod catalogue;
mod errors;
mod layouts;
mod ports;
mod schema;
