//! The language module of FRRouting on Linux: `frr.conf` for addresses, routes, segments and BGP, `ip.batch` for ports
//! and neighbours, `tc.batch` for queues, `devices.batch` and `sysctl.conf` for the kernel, and `daemons`.

mod bgp;
pub(crate) mod conf;
mod daemons;
pub(crate) mod place;

use super::error::ReadError;
use super::linux::{self, surroundings};
use super::room::{Circumstances, Files, Room, Wanted, always};
use crate::model::about::About;
use crate::model::device::{Device, FaultKind};
use crate::model::language::{Asks, Bounds, Language, Quality};
use crate::model::place::Target;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "frr",
    wire: [false, true, false],
    asks: Asks::None,
    quality: Quality::Ports(Bounds::Lengths),
    place: find,
    ..Language::TEXT
};

/// The language module.
pub(crate) static ROOM: Room = Room {
    language: &LANGUAGE,
    files: &[
        Wanted { name: place::FILE, with: always },
        Wanted { name: linux::place::FILE, with: always },
        Wanted { name: surroundings::DEVICES, with: always },
        Wanted { name: surroundings::SETTINGS, with: always },
        Wanted { name: daemons::FILE, with: always },
        Wanted { name: linux::queues::FILE, with: always },
    ],
    pipeline: None,
    site: &[],
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &Circumstances<'_>) -> Result<Device<'a>, ReadError> {
    let names = [place::FILE, linux::place::FILE, linux::queues::FILE];
    let [conf, ports, queues] = names.map(|name| files.text(name));
    let [devices, settings] = [surroundings::DEVICES, surroundings::SETTINGS].map(|name| files.text(name));
    let texts = ([conf?, ports?, queues?], [devices?, settings?]);
    let mut device = conf::read(&LANGUAGE, texts, circumstances.routing)?;
    let text = String::from_utf8_lossy(files.bytes(daemons::FILE));
    for message in daemons::faults(&text, circumstances.routing.speaks_bgp()) {
        device.fault(FaultKind::Setting, daemons::FILE, vec!["=yes".to_owned()], message);
    }
    Ok(device)
}

fn find(about: About<'_>, _: bool) -> (&'static str, Target) {
    let (file, facts) = place::facts(about);
    (file, facts.into())
}
