//! A compiled tree: its files, and the formats of those that several programs read.
//!
//! The compiler writes a tree; `verify`, `diff`, `deploy` and `lab` read it. The common definitions are here:
//! [`paths`], the [`Manifest`], rows of [`cables`], the JSON of a [`path_table`], [`Files`], which reads a tree from
//! any store, and the transports of each file ([`carriers`]). Invariants: these are formats, not values. Nothing here
//! accesses a disk or depends on planning, so a verifier that shares these types stays independent of the compiler.

mod address;
pub mod cables;
pub mod carriers;
pub mod files;
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
