//! The language module of Cumulus Linux. Its only file is `nvue.yaml`, in the form of `nv config replace`.

mod access;
mod adaptive;
mod bgp;
mod device;
mod fields;
mod interface;
mod place;
mod plain;
mod qos;
mod segments;
mod site;
mod system;
mod value;

use super::error::ReadError;
use super::language_reader::{Files, LanguageReader, ReaderContext, RequiredFile, always};
use crate::model::device::Device;
use crate::model::fact::FactKind;
use crate::model::language::{Bounds, Language, Quality, UnsupportedSetting};
use crate::model::place::Target;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "nvue",
    quality: Quality::Ports(Bounds::Shared),
    // `router.bgp.graceful-restart` has no key for this setting (NVUE's OpenAPI schemas of 5.13 to 5.18).
    unsaid: &[UnsupportedSetting::Forwarding],
    place: find,
    negotiates_copper_only: true,
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
    device::read(&LANGUAGE, files.text(place::FILE)?, circumstances.routing)
}

fn find(about: FactKind<'_>, _: bool) -> (&'static str, Target) {
    (place::FILE, place::facts(about).into())
}
