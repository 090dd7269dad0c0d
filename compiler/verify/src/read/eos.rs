//! The room of Arista EOS: `eos.conf` for everything.

mod conf;
mod place;
mod qos;

use super::error::ReadError;
use super::room::{Circumstances, Files, Room, Wanted, always};
use crate::model::about::About;
use crate::model::device::Device;
use crate::model::language::{Asks, Bounds, Language, LinkLocal, Numbering, Quality, Spreading, same_name};

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "eos",
    addresses: true,
    wire: [true, true, true],
    states_peers: false,
    asks: Asks::Everybody,
    quality: Quality::Ports(Bounds::Each),
    link_local: LinkLocal::Talks,
    classes: Numbering::Stated,
    spreading: Spreading::Even,
    seed: None,
    port: same_name,
    place: find,
};

/// How it is read.
pub(crate) static ROOM: Room =
    Room { language: &LANGUAGE, files: &[Wanted { name: place::FILE, with: always }], read };

fn read<'a>(files: &Files<'a>, _: &Circumstances<'_>) -> Result<Device<'a>, ReadError> {
    conf::read(&LANGUAGE, files.text(place::FILE)?)
}

fn find(about: About<'_>, _: bool) -> (&'static str, Vec<String>) {
    (place::FILE, place::needles(about))
}
