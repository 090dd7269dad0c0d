//! Statements of the artefacts, in any language.
//!
//! `device` is one switch in full, borrowed from its file and dropped when the file is; `switch` is what is kept
//! of it; `language` is what its language can say, and `about` what a violation on it is about; `pipeline` is what P4 tables are called; `bgp` is what both hold
//! of BGP; `cabling` is who is connected with whom; `group` is a path table; `choice` is what switches do with classes of
//! destinations where they choose the next hop; `fabric` is all of it together.

pub(crate) mod about;
pub(crate) mod bgp;
pub(crate) mod cabling;
pub(crate) mod choice;
pub(crate) mod destinations;
pub(crate) mod device;
pub(crate) mod fabric;
pub(crate) mod group;
pub(crate) mod language;
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
