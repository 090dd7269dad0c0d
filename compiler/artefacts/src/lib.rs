//! A compiled tree: its files, and the form of those that more than one program reads.
//!
//! The compiler writes a tree; `verify`, `diff`, `deploy` and `lab` read it. What they have to agree on is here, once:
//! [`paths`], the [`Manifest`], rows of [`cables`], the JSON of a [`path_table`], and [`Files`], through which a tree is
//! read wherever it is; and which transport brings which file of a switch ([`carriers`]). Invariants: these are formats, not values; nothing here touches a disk; nothing here knows how a fabric is planned, so a
//! reader that shares these types judges for itself.

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
mod table;

pub use address::{Address, Family, Prefix};
pub use files::{FILE_MAX, Files, Memory};
pub use manifest::{Counts, Entry, MANIFEST_MAX, Manifest, ManifestError};
pub use profile::{
    BgpTimers, Stated, StatedAddresses, StatedBuffer, StatedCable, StatedClass, StatedHosts,
    StatedManagement, StatedManagementWidths, StatedNotifications, StatedPort, StatedQos, StatedSwitch,
    StatedTrimming, StatedWatchdog, StatedWidths, StatedWiring,
};
pub use release::{Date, Release};
pub use routing::Routing;
pub use table::separator;
