//! The language module of P4: table entries and the files of the pipeline.

pub(crate) mod entries;
mod place;
pub(crate) mod request;
mod switch;
pub(crate) mod textproto;
pub(crate) mod tna;

use super::error::{ReadError, text};
use super::language_reader::{Files, LanguageReader, Pipeline, ReaderContext, RequiredFile, always};
use crate::model::device::Device;
use crate::model::fact::FactKind;
use crate::model::language::{Language, NeighbourResolution, Numbering, Spreading};
use crate::model::place::Target;

use place::FILE;
use switch::Dialect;

/// The pipeline.
static PIPELINE: Pipeline = Pipeline { info: "p4/fabric.p4info.txtpb", tables: &TABLES };

/// Required tables: a pipeline without them is unknown to the verifier.
const TABLES: [&str; 4] = ["ingress.port_role", "ingress.my_sid", "ingress.ipv6_route", "ingress.nexthop"];

/// The table with the source check for packets from NICs.
pub(crate) const SOURCES: &str = "ingress.nic_source";

/// Properties in which entries of this pipeline differ from those of similar pipelines.
static DIALECT: Dialect =
    Dialect { language: &LANGUAGE, file: FILE, needles: place::needles, thresholds: switch::thresholds };

/// Maximum sum of weights in a group: BMv2's selector has 512 members.
const WIDTH: u64 = 512;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "p4",
    addresses: false,
    wire: [false; 3],
    asks: NeighbourResolution::None,
    classes: Numbering::Ranked,
    spreading: Spreading::Weighted(WIDTH),
    port: number,
    place: find,
    ..Language::TEXT
};

/// The language module.
pub(crate) static ROOM: LanguageReader = LanguageReader {
    language: &LANGUAGE,
    files: &[RequiredFile { name: FILE, with: always }],
    pipeline: Some(&PIPELINE),
    site: &[],
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &ReaderContext<'_>) -> Result<Device<'a>, ReadError> {
    let names = circumstances.pipeline(&PIPELINE)?;
    switch::read(&DIALECT, text(files.bytes(FILE))?, names, circumstances.routing.is_source_routed())
}

/// Returns the number at the end of a port name, because targets identify ports only by number.
fn number(name: &str) -> &str {
    &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..]
}

fn find(about: FactKind<'_>, _: bool) -> (&'static str, Target) {
    (FILE, place::needles(about).into())
}
