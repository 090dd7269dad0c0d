//! The room of FRRouting on Linux: `frr.conf` for addresses, routes, segments and BGP, `ip.batch` for ports and
//! neighbours, and what runs beside.

mod bgp;
pub(crate) mod conf;
mod daemons;
pub(crate) mod place;

use super::error::ReadError;
use super::linux::{self, surroundings};
use super::room::{Circumstances, Files, Room, Wanted, always};
use crate::model::about::About;
use crate::model::device::{Device, FaultKind};
use crate::model::language::{Asks, Language};

/// The language.
pub(crate) static LANGUAGE: Language =
    Language { name: "frr", wire: [false, true, false], asks: Asks::Nobody, place: find, ..Language::TEXT };

/// How it is read.
pub(crate) static ROOM: Room = Room {
    language: &LANGUAGE,
    files: &[
        Wanted { name: place::FILE, with: always },
        Wanted { name: linux::place::FILE, with: always },
        Wanted { name: surroundings::DEVICES, with: always },
        Wanted { name: surroundings::SETTINGS, with: always },
        Wanted { name: daemons::FILE, with: always },
    ],
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &Circumstances<'_>) -> Result<Device<'a>, ReadError> {
    let texts = [place::FILE, linux::place::FILE, surroundings::DEVICES, surroundings::SETTINGS];
    let [conf, ports, devices, settings] = texts.map(|name| files.text(name));
    let mut device = conf::read(&LANGUAGE, [conf?, ports?, devices?, settings?], circumstances.routing)?;
    let text = String::from_utf8_lossy(files.bytes(daemons::FILE));
    for message in daemons::faults(&text, circumstances.routing.speaks_bgp()) {
        device.fault(FaultKind::Setting, daemons::FILE, vec!["=yes".to_owned()], message);
    }
    Ok(device)
}

fn find(about: About<'_>, _: bool) -> (&'static str, Vec<String>) {
    place::needles(about)
}
