//! Readers, one for each kind of artefact. None of them knows how the artefact was made.
//!
//! Nodes are read in `linux`, and as they are set up by tools of their own in `netplan` and `networkd`.
//! A language of switches is one room: `frr`, `linux`, `p4`, `sonic`. What a room must offer is in `room`, and the list
//! of all of them in `registry`.

pub(crate) mod cables;
pub(crate) mod error;
pub(crate) mod frr;
pub(crate) mod json;
pub(crate) mod linux;
pub(crate) mod manifest;
mod media;
pub(crate) mod netplan;
pub(crate) mod networkd;
pub(crate) mod p4;
pub(crate) mod path_table;
pub(crate) mod registry;
pub(crate) mod room;
pub(crate) mod sonic;
pub(crate) mod unjudged;
pub(crate) mod value;
