//! The language module of SONiC hardware with P4Runtime (PINS): `pins.txtpb` contains routes as entries of the pipeline
//! `sai`. The `config_db.json` next to it contains all other settings, including own segments. Packets to own segments
//! are then forwarded by these routes.

mod entries;
mod place;
mod ports;

use super::error::{ReadError, text};
use super::language_reader::{Files, LanguageReader, Pipeline, ReaderContext, RequiredFile, always};
use super::sonic;
use crate::model::device::{Device, FaultKind};
use crate::model::fact::FactKind;
use crate::model::language::{
    Language, LinkLocal, NeighbourResolution, Numbering, Quality, Spreading, same_name,
};
use crate::model::place::{Fact, Target};

pub(crate) use place::FILE;

/// The pipeline.
static PIPELINE: Pipeline = Pipeline {
    info: "p4/sai.p4info.txtpb",
    tables: &[
        "ingress.l3_admit.l3_admit_table",
        "ingress.routing_lookup.ipv6_table",
        "ingress.routing_resolution.wcmp_group_table",
        "ingress.routing_resolution.nexthop_table",
        "ingress.routing_resolution.router_interface_table",
        "ingress.routing_resolution.neighbor_table",
    ],
};

/// Maximum sum of weights in a group: `max_group_size` in the P4Info.
const WIDTH: u64 = 512;

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "pins",
    os: None,
    addresses: false,
    wire: [true, true, true],
    negotiates_copper_only: false,
    states_peers: true,
    asks: NeighbourResolution::None,
    quality: Quality::Whole,
    link_local: LinkLocal::Talks,
    classes: Numbering::Stated,
    spreading: Spreading::Weighted(WIDTH),
    seed: sonic::LANGUAGE.seed,
    unsaid: &[],
    port: same_name,
    place: find,
};

/// The language module.
pub(crate) static ROOM: LanguageReader = LanguageReader {
    language: &LANGUAGE,
    files: &[
        RequiredFile { name: FILE, with: always },
        RequiredFile { name: sonic::place::FILE, with: always },
    ],
    pipeline: Some(&PIPELINE),
    site: &[],
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &ReaderContext<'_>) -> Result<Device<'a>, ReadError> {
    let names = circumstances.pipeline(&PIPELINE)?;
    let beside = |error: ReadError| error.with_file(sonic::place::FILE);
    let bytes = files.bytes(sonic::place::FILE);
    let mut device = sonic::config::read(&LANGUAGE, bytes, circumstances.tables, false).map_err(beside)?;
    let numbers = ports::numbers(bytes, &mut device).map_err(beside)?;
    second_router(&mut device);
    entries::read(text(files.bytes(FILE))?, names, &numbers, &mut device)?;
    Ok(device)
}

/// Reports routing settings in CONFIG_DB. A controller writes routes, interfaces and neighbours, and each port must
/// have only one router interface.
fn second_router(device: &mut Device<'_>) {
    let mut found = Vec::new();
    if !device.routes.is_empty() {
        found.push(("STATIC_ROUTE", "routes"));
        device.routes.clear();
    }
    if device.ports.iter().any(|port| !port.addresses.is_empty() || port.discovery.link_local) {
        found.push(("INTERFACE", "addresses of ports"));
    }
    if device.ports.iter().any(|port| !port.neighbours.is_empty()) {
        found.push(("NEIGH", "neighbours"));
    }
    for (table, what) in found {
        let message = format!("{what} are in table `{table}`, but a controller writes them");
        device.fault(FaultKind::Unknown, sonic::place::FILE, Fact::table(table), message);
    }
}

/// Returns the location of a subject. Routes are in the table entries.
fn find(about: FactKind<'_>, _: bool) -> (&'static str, Target) {
    match place::needles(about) {
        Some(needles) => (FILE, needles.into()),
        None => (sonic::place::FILE, sonic::place::facts(about).into()),
    }
}
