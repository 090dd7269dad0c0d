//! Renders a plan into a tree in memory, manifest included, without the command line.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod damage;
pub(crate) mod fabrics;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Entry, Manifest, Memory, Routing, paths};
use closc_entries::{Pipeline, pipeline_files};
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_verify::Limits;

/// The limits of the hardware that the fabrics here are of.
pub(crate) fn limits() -> BTreeMap<String, Limits> {
    let tomahawk = Limits { segments: 256, routes: 6400, neighbours: 1024, buffer_bytes: 165_335_712 };
    BTreeMap::from([("Arista-7060X6-64PE-B-C512S2".to_owned(), tomahawk)])
}

/// The ports of all hardware, as the command line knows them.
pub(crate) fn ports() -> BTreeMap<String, BTreeSet<(String, String)>> {
    // Fabrics of tests are of this chip; the whole catalogue would be copied for each of thousands of trees.
    all_ports(&["th5-512x100g"])
}

/// The ports of the hardware of some platforms.
pub(crate) fn all_ports(platforms: &[&str]) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let catalogue = Catalogue::builtin();
    let mut known: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for platform in platforms.iter().filter_map(|id| catalogue.get(id)) {
        let Some(sonic) = &platform.sonic else { continue };
        let hwskus = std::iter::once(&sonic.hwsku).chain(sonic.hwskus.iter().map(|(_, hwsku)| hwsku));
        for hwsku in hwskus {
            known.entry(hwsku.clone()).or_default().extend(platform.ports().map(|port| {
                let lanes: Vec<String> = port.lanes.iter().map(u16::to_string).collect();
                let cage = format!("{} {} {}", port.alias, port.panel, port.subport);
                (port.name.to_string(), format!("{} {cage}", lanes.join(",")))
            }));
        }
    }
    known
}

/// Renders everything that the command line would write.
pub(crate) fn tree(plan: &Plan) -> Memory {
    closc_compile::memory(plan).expect("a valid fabric renders")
}

/// The digests of the pipelines that are shipped.
pub(crate) fn pipelines() -> BTreeMap<Utf8PathBuf, String> {
    let files = pipeline_files(Pipeline::fabric());
    files.into_iter().map(|file| (file.path.into(), blake3::hash(file.text.as_bytes()).to_string())).collect()
}

/// Writes the manifest anew, so that damage is found by what it does and not by its digest. What it states stays.
pub(crate) fn sign(memory: &mut Memory, fabric: &str, routing: &str) {
    let routing: Routing = serde_json::from_value(routing.into()).expect("a word of the language");
    let old = memory.files.remove(Utf8Path::new(paths::MANIFEST));
    let mut manifest = Manifest::new(fabric, routing);
    if let Some(old) = old.and_then(|bytes| Manifest::parse(&bytes).ok()) {
        (manifest.counts, manifest.profile) = (old.counts, old.profile);
    }
    manifest.files = memory.files.iter().map(|(path, bytes)| (path.clone(), Entry::of(bytes))).collect();
    memory.files.insert(paths::MANIFEST.into(), manifest.to_bytes());
}
