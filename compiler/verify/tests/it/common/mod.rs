//! Renders a plan into a tree in memory, manifest included, without the command line.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod damage;
pub(crate) mod fabrics;

use std::collections::BTreeMap;

use camino::Utf8Path;
use closc_artefacts::{Entry, Manifest, Memory, Routing, paths};
use closc_plan::Plan;
use closc_platform::{Catalogue, Hardware};

/// The hardware of these fabrics.
pub(crate) fn hardware() -> BTreeMap<String, Hardware> {
    let catalogue = Catalogue::builtin();
    Hardware::by_hwsku(catalogue.get("th5-512x100g"))
}

/// Renders everything that the command line would write.
pub(crate) fn tree(plan: &Plan) -> Memory {
    closc_compile::compile_in_memory(plan).expect("a valid fabric renders")
}

/// Updates the digests in the manifest and keeps its other values, so that damage is found by its effect.
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
