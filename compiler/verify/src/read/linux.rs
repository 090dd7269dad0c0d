//! The language module of the Linux kernel: `ip.batch`, `devices.batch` and `sysctl.conf` on switches and nodes,
//! `tc.batch` on switches, and `routes.batch` on nodes.

pub(crate) mod batch;
pub(crate) mod node;
pub(crate) mod place;
pub(crate) mod queues;
pub(crate) mod surroundings;
pub(crate) mod switch;

use super::error::ReadError;
use super::language_reader::{Files, LanguageReader, ReaderContext, RequiredFile, always};
use crate::model::device::Device;
use crate::model::fact::FactKind;
use crate::model::language::{Bounds, Language, NeighbourResolution, Quality, Spreading};
use crate::model::place::Target;

/// Maximum sum of weights in a group: the maximum weight in the kernel is 256.
const WIDTH: u64 = 256;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "linux",
    wire: [false, true, false],
    asks: NeighbourResolution::None,
    quality: Quality::Ports(Bounds::Lengths),
    spreading: Spreading::Weighted(WIDTH),
    place: find,
    ..Language::TEXT
};

/// The language module.
pub(crate) static ROOM: LanguageReader = LanguageReader {
    language: &LANGUAGE,
    files: &[
        RequiredFile { name: place::FILE, with: always },
        RequiredFile { name: surroundings::DEVICES, with: always },
        RequiredFile { name: surroundings::SETTINGS, with: always },
        RequiredFile { name: queues::FILE, with: always },
    ],
    pipeline: None,
    site: &[],
    read,
};

fn read<'a>(files: &Files<'a>, _: &ReaderContext<'_>) -> Result<Device<'a>, ReadError> {
    let [ports, devices, settings, queues] =
        [place::FILE, surroundings::DEVICES, surroundings::SETTINGS, queues::FILE]
            .map(|name| files.text(name));
    switch::read(&LANGUAGE, ports?, queues?, [devices?, settings?])
}

fn find(about: FactKind<'_>, _: bool) -> (&'static str, Target) {
    let (file, facts) = place::find(about);
    (file, facts.into())
}
