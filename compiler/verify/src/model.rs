//! Contents of the artefacts, independent of their language.
//!
//! `device` is a complete switch, borrowed from its file and dropped with it; `switch` is the data kept afterwards.
//! `language` describes the capabilities of a configuration language, and `fact` the subject of a violation. `pipeline`
//! contains the names of P4 tables, `bgp` the BGP settings of switches and devices, and `cabling` the cables. `group`
//! is a path table. `choice` is the treatment of classes of destinations where switches choose the next hop. `fabric`
//! combines all of them.

pub(crate) mod bgp;
pub(crate) mod cabling;
pub(crate) mod choice;
pub(crate) mod destinations;
pub(crate) mod device;
pub(crate) mod fabric;
pub(crate) mod fact;
pub(crate) mod group;
pub(crate) mod language;
pub(crate) mod library;
pub(crate) mod names;
pub(crate) mod network;
pub(crate) mod peer;
pub(crate) mod pipeline;
pub(crate) mod place;
pub(crate) mod qos;
pub(crate) mod segment;
pub(crate) mod stated;
pub(crate) mod switch;
pub(crate) mod tools;
