//! The room of P4: the entries of a pipeline, and the pipeline's own files.

pub(crate) mod entries;
pub(crate) mod pipeline;
mod place;
mod switch;
pub(crate) mod textproto;

use super::error::{ReadError, text};
use super::room::{Circumstances, Files, Room, Wanted, always};
use crate::model::about::About;
use crate::model::device::Device;
use crate::model::language::{Asks, Language, Numbering, Spreading};

pub(crate) use place::FILE;

/// Members of a group by weight: BMv2's selector has 512.
const WIDTH: u64 = 512;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "p4",
    addresses: false,
    wire: [false; 3],
    asks: Asks::Nobody,
    classes: Numbering::Ranked,
    spreading: Spreading::Weighted(WIDTH),
    port: number,
    place: find,
    ..Language::TEXT
};

/// How it is read.
pub(crate) static ROOM: Room =
    Room { language: &LANGUAGE, files: &[Wanted { name: FILE, with: always }], read };

fn read<'a>(files: &Files<'a>, circumstances: &Circumstances<'_>) -> Result<Device<'a>, ReadError> {
    let Some(names) = circumstances.pipeline else {
        return Err(ReadError::whole(format!("`{}` is missing, so entries have no names", pipeline::INFO)));
    };
    switch::read(&LANGUAGE, text(files.bytes(FILE))?, names, circumstances.routing.is_source_routed())
}

/// Targets know ports by number only.
fn number(name: &str) -> &str {
    &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..]
}

fn find(about: About<'_>, _: bool) -> (&'static str, Vec<String>) {
    (FILE, place::needles(about))
}
