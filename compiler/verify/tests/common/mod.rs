//! Renders a plan into a tree in memory, manifest included, without the command line.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod damage;
pub(crate) mod fabrics;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Entry, Manifest, Memory, Routing, cables::HEADER, paths};
use closc_entries::{Pipeline, entries_file, pipeline_files};
use closc_plan::Plan;
use closc_render::{Artefact, Templates, path_table, targets};
use closc_topology::{HostOs, Link, NicPort, PlaneId, TierId};
use closc_verify::Limits;

/// The limits of the hardware that the fabrics here are of.
pub(crate) fn limits() -> BTreeMap<String, Limits> {
    let tomahawk = Limits { segments: 256, routes: 6400, neighbours: 1024, buffer_bytes: 165_335_712 };
    BTreeMap::from([("Arista-7060X6-64PE-B-C512S2".to_owned(), tomahawk)])
}

/// Renders everything that the command line would write.
pub(crate) fn tree(plan: &Plan) -> Memory {
    let templates = Templates::shipped();
    let topology = plan.topology();
    let mut artefacts: Vec<Artefact> = Vec::new();
    let mut p4 = false;
    for switch in plan.switches() {
        let intent = plan.device(switch);
        if let Some(target) = targets::target(intent.os) {
            artefacts.extend(target.device(&intent, &templates).expect("the switch renders"));
        } else {
            let file = entries_file(Pipeline::fabric(), &intent).expect("the entries render");
            artefacts.push(Artefact::new(file.path, file.text));
            p4 = true;
        }
    }
    if p4 {
        artefacts.extend(pipeline_files(Pipeline::fabric()).map(|file| Artefact::new(file.path, file.text)));
    }
    if topology.hosts.os == HostOs::Linux {
        for node in plan.nodes() {
            artefacts.extend(targets::host(&plan.host(node), &templates).expect("the node renders"));
            let routes = targets::linux::host_routes(plan, node, &templates);
            artefacts.extend(routes.expect("the routes render"));
        }
    }
    for (zone, group) in plan.groups().filter(|_| plan.is_source_routed()) {
        artefacts.extend(path_table::render(&plan.path_table(zone, group)));
    }
    artefacts.extend(topology.plane_ids().map(|plane| cables(plan, plane)));
    let mut memory = Memory::default();
    memory.files.extend(artefacts.into_iter().map(|artefact| (artefact.path, artefact.bytes)));
    let routing = serde_json::from_value(topology.routing.word().into()).expect("a word of the language");
    let mut manifest = Manifest::new(topology.name.to_string(), routing);
    manifest.counts = plan.fabric().counts();
    manifest.profile = Some(plan.stated().expect("the profile fits the hardware"));
    memory.files.insert(paths::MANIFEST.into(), manifest.to_bytes());
    sign(&mut memory, &topology.name, topology.routing.word());
    memory
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

/// The cable list of a plane, as installers get it.
fn cables(plan: &Plan, plane: PlaneId) -> Artefact {
    let fabric = plan.fabric();
    let mut text = String::from(HEADER);
    let hosts = fabric.nics().map(|nic| Link::Host(NicPort { plane, nic }));
    let switches = fabric.plane_switches(plane).flat_map(|lower| {
        let count = plan.topology().tier(lower.tier).map_or(0, |tier| tier.up.count);
        (0..count).map(move |up| Link::Fabric { lower, up })
    });
    for link in hosts.chain(switches).filter(|link| fabric.has_link(*link)) {
        let ends = plan.cable_ends(link);
        let cable = fabric.cable(link);
        let kind = match link {
            Link::Host(_) => "nic-t0",
            Link::Fabric { lower, .. } if lower.tier == TierId::T0 => "t0-t1",
            Link::Fabric { .. } => "t1-t2",
        };
        let state = if fabric.is_drained(link) { "drained" } else { "up" };
        let ((lower, lower_port), (upper, upper_port)) = (ends.lower, ends.upper);
        let _ = writeln!(
            text,
            "{plane},{kind},{lower},{lower_port},{upper},{upper_port},{},{},{state}",
            cable.length, cable.medium
        );
    }
    Artefact::new(format!("cables/plane-{plane}.csv"), text)
}
