//! Rules about single devices, cables and tables, and about all of a kind: one file per family of rules.

pub(crate) mod addresses;
pub(crate) mod agents;
pub(crate) mod bgp;
pub(crate) mod buffers;
pub(crate) mod cabling;
pub(crate) mod coordinates;
pub(crate) mod counts;
pub(crate) mod delay;
pub(crate) mod files;
pub(crate) mod hash;
pub(crate) mod hosts;
pub(crate) mod lanes;
pub(crate) mod library;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod network;
pub(crate) mod peers;
pub(crate) mod ports;
pub(crate) mod profile;
pub(crate) mod qos;
pub(crate) mod routes;
pub(crate) mod segments;
pub(crate) mod stated_qos;
pub(crate) mod system;
pub(crate) mod tables;
pub(crate) mod tools;
