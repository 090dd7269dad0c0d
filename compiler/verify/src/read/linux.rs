//! The room of the Linux kernel: `ip.batch`, `devices.batch` and `sysctl.conf`, on switches and nodes.

pub(crate) mod batch;
pub(crate) mod node;
pub(crate) mod place;
pub(crate) mod surroundings;
pub(crate) mod switch;

use super::error::ReadError;
use super::room::{Circumstances, Files, Room, Wanted, always};
use crate::model::about::About;
use crate::model::device::Device;
use crate::model::language::{Asks, Language, Spreading};

/// Members of a group by weight: the kernel's weights end at 256.
const WIDTH: u64 = 256;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "linux",
    wire: [false, true, false],
    asks: Asks::Nobody,
    spreading: Spreading::Weighted(WIDTH),
    place: find,
    ..Language::TEXT
};

/// How it is read.
pub(crate) static ROOM: Room = Room {
    language: &LANGUAGE,
    files: &[
        Wanted { name: place::FILE, with: always },
        Wanted { name: surroundings::DEVICES, with: always },
        Wanted { name: surroundings::SETTINGS, with: always },
    ],
    read,
};

fn read<'a>(files: &Files<'a>, _: &Circumstances<'_>) -> Result<Device<'a>, ReadError> {
    let [ports, devices, settings] =
        [place::FILE, surroundings::DEVICES, surroundings::SETTINGS].map(|name| files.text(name));
    switch::read(&LANGUAGE, ports?, devices?, settings?)
}

fn find(about: About<'_>, _: bool) -> (&'static str, Vec<String>) {
    (place::FILE, place::needles(about))
}
