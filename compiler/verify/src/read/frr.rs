//! The language module of FRRouting on Linux: `frr.conf` for addresses, routes, segments and BGP, `ip.batch` for ports
//! and neighbours, `tc.batch` for queues, `devices.batch` and `sysctl.conf` for the kernel, and `daemons`.

mod bgp;
pub(crate) mod conf;
mod daemons;
pub(crate) mod place;

use super::error::ReadError;
use super::language_reader::{Files, LanguageReader, ReaderContext, RequiredFile, always};
use super::linux::{self, surroundings};
use crate::model::device::{Device, FaultKind};
use crate::model::fact::FactKind;
use crate::model::language::{Bounds, Language, NeighbourResolution, Quality};
use crate::model::place::Target;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "frr",
    wire: [false, true, false],
    asks: NeighbourResolution::None,
    quality: Quality::Ports(Bounds::Lengths),
    place: find,
    ..Language::TEXT
};

/// The language module.
pub(crate) static ROOM: LanguageReader = LanguageReader {
    language: &LANGUAGE,
    files: &[
        RequiredFile { name: place::FILE, with: always },
        RequiredFile { name: linux::place::FILE, with: always },
        RequiredFile { name: surroundings::DEVICES, with: always },
        RequiredFile { name: surroundings::SETTINGS, with: always },
        RequiredFile { name: daemons::FILE, with: always },
        RequiredFile { name: linux::queues::FILE, with: always },
    ],
    pipeline: None,
    site: &[],
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &ReaderContext<'_>) -> Result<Device<'a>, ReadError> {
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

fn find(about: FactKind<'_>, _: bool) -> (&'static str, Target) {
    let (file, facts) = place::facts(about);
    (file, facts.into())
}
