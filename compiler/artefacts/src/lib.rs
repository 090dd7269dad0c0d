//! A compiled tree: its files, and the formats of files that several programs read.
//!
//! The compiler writes a tree; `verify`, `diff`, `deploy` and `lab` read it. This crate contains the common
//! definitions: [`paths`], the [`Manifest`], rows of [`cables`], the JSON of a [`path_table`], and the transports of
//! each file ([`carriers`]). [`Files`] reads a tree from any store. Invariants: the definitions are formats, not
//! values. The crate does not access a disk or depend on planning, so a verifier that uses these types stays
//! independent of the compiler.

mod address;
pub mod cables;
pub mod carriers;
pub mod files;
pub mod json_keys;
pub mod manifest;
pub mod node_delay;
pub mod path_table;
pub mod paths;
pub mod profile;
mod release;
mod routing;
pub mod site;
mod table;

pub use address::{Address, Family, Prefix};
pub use files::{FILE_MAX, Files, Memory};
pub use manifest::{Counts, Entry, MANIFEST_MAX, Manifest, ManifestError};
pub use profile::{
    BgpTimers, StatedAddresses, StatedBalance, StatedBuffer, StatedCable, StatedClass, StatedHosts,
    StatedManagement, StatedManagementWidths, StatedNotifications, StatedPort, StatedQos, StatedSwitch,
    StatedTrimming, StatedValues, StatedWatchdog, StatedWidths, StatedWiring,
};
pub use release::{Date, Release};
pub use routing::Routing;
pub use table::{OPEN_QUOTE, open_quote, record_line, separator};
