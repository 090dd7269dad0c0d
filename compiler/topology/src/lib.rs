//! The fabric language: text to [`Topology`].
//!
//! In: a fabric file and the catalogue of platforms. Out: a valid [`Topology`], or diagnostics that point at
//! lines. Invariants: no I/O and no panic on any input; a `Topology` exists only if no check reported an error, so
//! later stages do not check again.

mod coordinate;
mod domain;
mod draft;
mod faults;
mod load;
mod lower;
mod model;
mod names;
mod pci;
mod position;
mod read;
mod reference;
mod schema;
mod shape;
mod suggest;
#[cfg(test)]
mod testing;
mod yaml;

pub mod checks;
pub mod document;
pub mod media;
pub mod naming;
pub mod usid;

pub use checks::BANDWIDTH_CABLES_MAX;
pub use coordinate::{Link, Nic, NicPort, Node, PlaneId, PortRef, Side, Subject, Switch, TierId, ZoneId};
pub use document::Document;
pub use domain::{Coordinate, DomainBy, DomainPosition, DomainRule, Domains};
pub use load::{ALIASED_MAX, DEPTH_MAX, VALUES_MAX, load};
pub use lower::lower;
pub use model::{
    Addresses, Cable, Cables, Ecmp, Entropy, Exceptions, HostOs, HostOutput, HostSlot, Hosts, Mtu, Pin, Pins,
    PortBlock, Routing, Services, Site, Spans, Srv6, Tier, Topology, Wiring,
};
pub use naming::Naming;
pub use pci::{PciAddress, PciAddressError};
pub use read::{Fraction, Named, Spanned};
pub use reference::reference;
pub use schema::schema;
pub use usid::{GIB_MAX, Role, Usid, UsidLayout};
