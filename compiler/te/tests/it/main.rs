//! All tests of this crate in one program, so that the workspace is linked once.

mod fair;
mod optimum;
mod parquet;
mod properties;
mod small;
