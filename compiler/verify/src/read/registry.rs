//! The languages of switches that are known.

use super::room::Room;
use super::{frr, linux, p4, sonic};

/// All rooms. A switch speaks the first one whose main file it has.
pub(crate) const ROOMS: [&Room; 4] = [&sonic::ROOM, &frr::ROOM, &p4::ROOM, &linux::ROOM];

/// Returns the room of a switch that has some files.
pub(crate) fn room(has: impl Fn(&str) -> bool) -> Option<&'static Room> {
    ROOMS.into_iter().find(|room| has(room.main()))
}

/// Tells whether a file of a switch has this name in any language.
pub(crate) fn is_known(name: &str) -> bool {
    ROOMS.iter().any(|room| room.files.iter().any(|file| file.name == name))
}
