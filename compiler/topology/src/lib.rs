//! The fabric language: text to [`Topology`].
//!
//! In: a fabric file and the catalogue of platforms. Out: a valid [`Topology`], or diagnostics that point at
//! lines. Invariants: no I/O and no panic on any input; a `Topology` exists only if no check reported an error, so
//! later stages do not check again.

mod balance;
mod choice;
mod coordinate;
mod domain;
mod draft;
mod edit;
mod faults;
mod field;
mod format;
mod ipv4;
mod island;
mod load;
mod lower;
mod model;
mod names;
mod nic_cage;
mod outline;
mod pci;
mod port_order;
mod port_place;
mod position;
mod rack;
mod read;
mod readers;
mod reference;
mod schema;
mod shape;
mod shared;
mod spans;
mod suggest;
#[cfg(test)]
mod testing;
mod widths;
mod yaml;
mod zone_size;

pub mod checks;
pub mod document;
pub mod media;
pub mod naming;
pub mod usid;

pub use checks::BANDWIDTH_CABLES_MAX;
pub use choice::{Bond, Face, HostOs, HostOutput, PacketOrder, Pin, SegmentPlan, TierBalance, Wiring};
pub use coordinate::{Link, Nic, NicPort, Node, PlaneId, PortRef, Side, Subject, Switch, TierId, ZoneId};
pub use domain::{Coordinate, DomainBy, DomainPosition, DomainRule, Domains};
pub use edit::{Edit, apply, edits};
pub use field::{Field, FieldPath, touches};
pub use format::format;
pub use ipv4::Ipv4Widths;
pub use island::Island;
pub use load::{ALIASED_MAX, Companion, DEPTH_MAX, Document, VALUES_MAX, load};
pub use lower::{LoweringResult, lower, lower_or_outline};
pub use model::{
    Addresses, Cable, Cables, Cages, Ecmp, Entropy, Exceptions, HostSlot, Hosts, ManagementList,
    ManagementPort, Mtu, NicKind, Pins, PortBlock, Services, Site, Srv6, T2, Tier, Topology, ZoneTier,
};
pub use names::expand_ranges;
pub use naming::Naming;
pub use outline::outline;
pub use pci::{PciAddress, PciAddressError};
pub use port_order::{PortOrders, PortStage, far_switches};
pub use rack::{RackPlace, RackRule, Racks};
pub use read::{AffectedArtefacts, Fraction, NameMap, Spanned};
pub use reference::reference;
pub use schema::schema;
pub use spans::Spans;
pub use suggest::nearest;
pub use usid::{GIB_MAX, Role, Usid, UsidLayout};
pub use widths::AddressWidths;
pub use zone_size::ZoneSizes;
