//! The language module of Arista EOS, with `eos.conf` as its only file.

mod bgp;
mod conf;
mod place;
mod qos;
mod site;

use super::error::ReadError;
use super::language_reader::{Files, LanguageReader, ReaderContext, RequiredFile, always};
use crate::model::device::Device;
use crate::model::fact::FactKind;
use crate::model::language::{Bounds, Language, Quality, UnsupportedSetting};
use crate::model::place::Target;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "eos",
    quality: Quality::Ports(Bounds::Each),
    // EOS has no published commands for these settings (Arista EOS User Manual, BGP; pyavd's schema of `router_bgp`).
    unsaid: &[UnsupportedSetting::Connects, UnsupportedSetting::Forwarding, UnsupportedSetting::Bandwidths],
    place: find,
    ..Language::TEXT
};

/// The language module.
pub(crate) static ROOM: LanguageReader = LanguageReader {
    language: &LANGUAGE,
    files: &[RequiredFile { name: place::FILE, with: always }],
    pipeline: None,
    site: site::SITE,
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &ReaderContext<'_>) -> Result<Device<'a>, ReadError> {
    conf::read(&LANGUAGE, files.text(place::FILE)?, circumstances.routing)
}

fn find(about: FactKind<'_>, _: bool) -> (&'static str, Target) {
    (place::FILE, place::facts(about).into())
}
