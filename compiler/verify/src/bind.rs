//! Binds switches and nodes to the cable lists: which cable each port, route and segment uses.
//!
//! In: a device as its files describe it, and the cables. Out: the data that is kept, without text, and the faults that
//! are visible in the device alone. Invariants: every port in use, route and segment of a device is either kept or
//! reported.

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
