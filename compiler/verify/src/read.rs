//! Readers, one for each kind of artefact. None of them knows how the artefact was made.
//!
//! Nodes are read in `linux`, and as they are set up by tools of their own in `netplan` and `networkd`.
//! A language of switches is one room, declared and listed here. What a room must offer is in `room`.

pub(crate) mod bgp;
pub(crate) mod cables;
pub(crate) mod eos;
pub(crate) mod error;
pub(crate) mod frr;
pub(crate) mod json;
pub(crate) mod linux;
pub(crate) mod manifest;
mod media;
pub(crate) mod nccl;
pub(crate) mod netplan;
pub(crate) mod networkd;
pub(crate) mod nic_qos;
pub(crate) mod nvue;
pub(crate) mod p4;
pub(crate) mod path_table;
pub(crate) mod pins;
pub(crate) mod room;
pub(crate) mod sections;
pub(crate) mod sonic;
pub(crate) mod text_routes;
pub(crate) mod unjudged;
pub(crate) mod value;

use room::{Pipeline, Room};

/// All languages of switches. A switch speaks the first one whose main file it has.
const ROOMS: [&Room; 8] =
    [&pins::ROOM, &sonic::ROOM, &frr::ROOM, &p4::ROOM, &p4::tna::ROOM, &linux::ROOM, &eos::ROOM, &nvue::ROOM];

/// Returns the room of a switch that has some files.
pub(crate) fn room_of(has: impl Fn(&str) -> bool) -> Option<&'static Room> {
    ROOMS.into_iter().find(|room| has(room.main()))
}

/// Returns the pipelines of languages that have one, each with the main file of the language.
pub(crate) fn pipelines() -> impl Iterator<Item = (&'static Pipeline, &'static str)> {
    ROOMS.into_iter().filter_map(|room| Some((room.pipeline?, room.main())))
}

/// Tells whether a file of a switch has this name in any language.
pub(crate) fn is_known(name: &str) -> bool {
    ROOMS.iter().any(|room| room.files.iter().any(|file| file.name == name))
}
