//! The room of P4: the entries of a pipeline, and the pipeline's own files.

pub(crate) mod entries;
mod place;
mod switch;
pub(crate) mod textproto;
pub(crate) mod tna;

use super::error::{ReadError, text};
use super::room::{Circumstances, Files, Pipeline, Room, Wanted, always};
use crate::model::about::About;
use crate::model::device::Device;
use crate::model::language::{Asks, Language, Numbering, Spreading};

use place::FILE;
use switch::Dialect;

/// The pipeline.
static PIPELINE: Pipeline = Pipeline { info: "p4/fabric.p4info.txtpb", tables: &TABLES };

/// Tables without which a pipeline is another one than the proof knows.
const TABLES: [&str; 4] = ["ingress.port_role", "ingress.my_sid", "ingress.ipv6_route", "ingress.nexthop"];

/// The table by which a switch checks where packets of NICs come from.
pub(crate) const SOURCES: &str = "ingress.nic_source";

/// Difference of its entries from others with the same tables.
static DIALECT: Dialect =
    Dialect { language: &LANGUAGE, file: FILE, needles: place::needles, thresholds: switch::thresholds };

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

/// Reading.
pub(crate) static ROOM: Room = Room {
    language: &LANGUAGE,
    files: &[Wanted { name: FILE, with: always }],
    pipeline: Some(&PIPELINE),
    site: &[],
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &Circumstances<'_>) -> Result<Device<'a>, ReadError> {
    let names = circumstances.pipeline(&PIPELINE)?;
    switch::read(&DIALECT, text(files.bytes(FILE))?, names, circumstances.routing.is_source_routed())
}

/// Targets know ports by number only.
fn number(name: &str) -> &str {
    &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..]
}

fn find(about: About<'_>, _: bool) -> (&'static str, Vec<String>) {
    (FILE, place::needles(about))
}
