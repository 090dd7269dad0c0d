//! Binds what devices say to the cable lists: whose ports, routes and segments lead where.
//!
//! In: a device as its files say, and the cables. Out: what is kept of it, without text, and what of the device alone can
//! already be seen to be wrong. Invariants: nothing of a device is passed over: a port, route or segment is either kept
//! or reported.

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
