//! The language module of SONiC: `config_db.json`, and the `frr.conf` next to it if the fabric uses BGP.

mod access;
pub(crate) mod config;
mod counters;
mod harmless;
pub(crate) mod metadata;
mod peers;
pub(crate) mod place;
mod qos;
mod services;
mod site;
mod sources;

use closc_artefacts::Routing;

use super::error::ReadError;
use super::frr;
use super::language_reader::{Files, LanguageReader, ReaderContext, RequiredFile, always};
use crate::model::device::{Device, FaultKind};
use crate::model::fact::FactKind;
use crate::model::language::{Language, LinkLocal, NeighbourResolution, Quality};
use crate::model::place::{Fact, Target};

/// The language.
pub(crate) static LANGUAGE: Language = Language {
    name: "sonic",
    states_peers: true,
    asks: NeighbourResolution::Nics,
    quality: Quality::Whole,
    link_local: LinkLocal::Forwards,
    seed: Some(seed),
    place: find,
    ..Language::TEXT
};

/// The language module.
pub(crate) static ROOM: LanguageReader = LanguageReader {
    language: &LANGUAGE,
    files: &[
        RequiredFile { name: place::FILE, with: always },
        RequiredFile { name: frr::place::FILE, with: Routing::speaks_bgp },
    ],
    pipeline: None,
    site: site::SITE,
    read,
};

fn read<'a>(files: &Files<'a>, circumstances: &ReaderContext<'_>) -> Result<Device<'a>, ReadError> {
    let mut device =
        config::read(&LANGUAGE, files.bytes(place::FILE), circumstances.tables, circumstances.isolates)?;
    if let (Some(asn), false) = (device.asn, circumstances.routing.speaks_bgp()) {
        let message = format!("`bgp_asn` is {asn}, so SONiC starts BGP");
        let fact = Fact::Path(vec!["DEVICE_METADATA".into(), "localhost".into(), "bgp_asn".into()]);
        device.fault(FaultKind::Setting, place::FILE, fact, message);
    }
    if circumstances.routing.speaks_bgp() {
        if !device.routes.is_empty() {
            let message = "routes are in the configuration instead of `frr.conf`, so BGP would announce them";
            let table = Fact::table("STATIC_ROUTE");
            device.fault(FaultKind::Unknown, place::FILE, table, message.to_owned());
        }
        frr::conf::read_sonic(files.text(frr::place::FILE)?, &mut device, circumstances.routing)?;
    }
    Ok(device)
}

/// Returns the hash seed that SONiC's `switch.json.j2` assigns to a switch type.
fn seed(kind: &str) -> Option<u8> {
    match kind {
        "ToRRouter" => Some(0),
        "LeafRouter" => Some(10),
        kind if kind.contains("SpineRouter") => Some(25),
        _ => None,
    }
}

/// Returns the location of a subject. With BGP, routes and all BGP settings are in `frr.conf`.
fn find(about: FactKind<'_>, routed_by_frr: bool) -> (&'static str, Target) {
    let routing = match about {
        FactKind::Balance
        | FactKind::Bgp
        | FactKind::Terms(..)
        | FactKind::Session(_)
        | FactKind::Network(_)
        | FactKind::Filters => true,
        FactKind::Route(_) | FactKind::Blackhole(_) | FactKind::Routes => routed_by_frr,
        _ => false,
    };
    if routing {
        let (file, facts) = frr::place::facts(about);
        return (file, facts.into());
    }
    (place::FILE, place::facts(about).into())
}
