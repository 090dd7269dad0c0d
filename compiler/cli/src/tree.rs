//! The artefact tree: what is in it, and how it gets onto a disk.
//!
//! `unit` says which pieces there are and when one has to be rendered again, `write` renders and writes them,
//! `state` remembers what was written for the next run, `swap` puts a whole new tree in
//! place of the old one.

pub mod archive;
pub mod cables;
pub mod state;
pub mod swap;
pub mod unit;
pub mod write;
