//! Binds switches and nodes to the cable lists: finds the cable of each port, route and segment.
//!
//! In: a device as its files describe it, and the cables. Out: the data to keep, which borrows nothing from
//! the files, and faults that are visible in the device alone. Invariants: every route, segment and used port
//! of a device is either kept or reported.

pub(crate) mod bgp;
pub(crate) mod binding;
pub(crate) mod lanes;
pub(crate) mod nics;
pub(crate) mod node;
pub(crate) mod node_routes;
pub(crate) mod ports;
pub(crate) mod routes;
pub(crate) mod segments;
pub(crate) mod switch;
