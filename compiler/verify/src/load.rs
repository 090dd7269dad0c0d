//! Reads a complete tree: cable lists, then path tables, then switches and nodes.
//!
//! In: a tree. Out: [`TreeContents`]: the fabric, and the other results of the readers. Invariants: a file is read,
//! compared with the manifest, parsed, reduced to the data that the proof needs, and dropped. Each thread therefore
//! holds the files of only one device. Facts about several devices are judged later.

pub(crate) mod files;
mod networks;
mod nodes;
mod pipeline;
mod switches;
mod tables;
mod tools;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::manifest::StatedPart;
use closc_artefacts::{FILE_MAX, Files as Source, paths};
use smol_str::SmolStr;

use crate::bind::binding::Context;
use crate::bind::lanes::Lanes;
use crate::bind::nics::{self, NicCables};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::interface::TableSums;
use crate::model::bgp::{Process, Terms};
use crate::model::cabling::{Cabling, NodeId};
use crate::model::fabric::Fabric;
use crate::model::group::Group;
use crate::model::network::NodeNetwork;
use crate::model::pipeline::Pipelines;
use crate::model::place::Place;
use crate::model::qos::PortQos;
use crate::model::stated::{Counts, StatedValues};
use crate::model::switch::next_hops::Lists;
use crate::model::switch::{NamedValues, Pool};
use crate::model::tools::NodeTools;
use crate::options::Options;
use crate::read::cables;
use crate::read::linux::node::ROUTES;
use crate::read::manifest;
use crate::read::p4::SOURCES;
use crate::read::unjudged;
use crate::report::{ReadCounts, not_proved};
use crate::rules::files::{EXTRA, PIPELINE};
use crate::slice::Slice;
use files::Files;

/// All contents of a tree.
pub(crate) struct TreeContents {
    pub(crate) fabric: Fabric,
    /// Path tables that are inconsistent with the others.
    pub(crate) inconsistent_groups: Vec<Group>,
    /// Network settings of nodes for netplan and systemd-networkd.
    pub(crate) networks: Vec<(NodeId, NodeNetwork)>,
    /// Settings of NIC drivers and collective libraries.
    pub(crate) tools: Vec<NodeTools>,
    pub(crate) nics: NicCables,
    pub(crate) name: String,
    pub(crate) routing: String,
    pub(crate) read: ReadCounts,
    pub(crate) findings: Findings,
    /// Counts in the manifest.
    pub(crate) counts: Counts,
    /// Planes that the manifest states as absent.
    pub(crate) absent_planes: Vec<u8>,
    /// Values in the manifest about a part, if the complete part is judged.
    pub(crate) part: Option<StatedPart>,
    /// Sums of digests of path tables, if hosts choose the path.
    pub(crate) sums: Option<TableSums>,
    /// Values in the manifest about the fabric.
    pub(crate) stated_values: Option<StatedValues>,
    pub(crate) not_proved: Vec<&'static str>,
    /// Whether switches choose the path.
    pub(crate) follows: bool,
}

/// Returns the counts of files, devices and cables read.
fn read_counts(files: Files<'_>, fabric: &Fabric) -> ReadCounts {
    ReadCounts {
        files: files.count.into_inner(),
        bytes: files.bytes.into_inner(),
        switches: fabric.cabling.switches.len() as u64,
        nodes: fabric.nodes.iter().flatten().count() as u64,
        cables: fabric.cabling.cables().len() as u64,
        tables: fabric.judged_groups().count() as u64,
        nics: fabric.judged_groups().map(|group| group.nics.len() as u64).sum(),
    }
}

/// Reads a tree. There are too many routes between nodes to keep, so `judge` is called with those of one node at a
/// time.
pub(crate) fn load(
    tree: &dyn Source,
    other_trees: &[&dyn Source],
    options: &Options,
    judge: nodes::RouteCheck,
) -> Result<TreeContents, VerifyError> {
    let (manifest, slice) = manifest::read(tree, &options.selection)?;
    let files = Files::new(tree, &manifest, options.digests);
    let mut findings = Findings::default();
    let cabling = cabling(&files, &slice, &mut findings)?;
    let (mut groups, apart) = tables::groups(&files, &slice, &cabling, &mut findings)?;
    let sums = tables::add_other_tables(&files, (other_trees, &slice), &cabling, &mut groups, &mut findings)?;
    tables::check_tables_exist(manifest.routing, &groups, &mut findings);
    let names = pipeline::pipelines(&files, &mut findings)?;
    let has_nodes = files.has_nodes();
    let sprays = |name: &SmolStr| has_nodes && manifest.files.contains_key(&paths::host(name, ROUTES));
    let mut fabric = Fabric {
        switches: vec![None; cabling.switches.len()],
        nodes: vec![None; cabling.nodes.len()],
        tables: Vec::new(),
        sprays: cabling.nodes.iter().map(sprays).collect(),
        layout: groups.first().map(|group| group.layout),
        groups,
        facts: Vec::new(),
        cabling,
        slice,
    };
    let sources = names.values().any(|names| names.has_table(SOURCES));
    let nics = nics::find(&fabric, sources, &mut findings);
    devices(&files, &mut fabric, &nics, &names, &mut findings)?;
    let found = nodes::sprays(&files, &fabric, judge)?;
    let (networks, of_networks) = networks::networks(&files, &fabric.cabling)?;
    let (tools, of_tools) = tools::tools(&files, &fabric.cabling)?;
    findings =
        findings.merge(found).merge(of_networks).merge(of_tools).merge(rest(&files, &fabric, options)?);
    let read = read_counts(files, &fabric);
    Ok(TreeContents {
        counts: manifest.counts,
        absent_planes: manifest.absent_planes.clone(),
        part: manifest.part.clone().filter(|_| fabric.slice.is_all()),
        sums,
        stated_values: manifest.profile.clone(),
        fabric,
        inconsistent_groups: apart,
        networks,
        tools,
        nics,
        name: manifest.fabric.clone(),
        routing: manifest.routing.keyword().to_owned(),
        read,
        findings,
        not_proved: not_proved(manifest.routing),
        follows: !manifest.routing.is_source_routed(),
    })
}

/// Reads switches and nodes, and binds them to the cable lists.
fn devices(
    files: &Files<'_>,
    fabric: &mut Fabric,
    nics: &NicCables,
    names: &Pipelines,
    findings: &mut Findings,
) -> Result<(), VerifyError> {
    let pools = (Pool::with_absent(), Pool::<PortQos>::default(), Pool::<NamedValues>::default());
    let (processes, terms) = (Pool::<Process>::default(), Pool::<Terms>::default());
    let own_macs = switches::factory_macs(files, &fabric.cabling);
    let context = Context {
        factory_macs: &own_macs,
        isolates: files.manifest.profile.as_ref().is_some_and(|stated| stated.isolation),
        cabling: &fabric.cabling,
        positions: &fabric.cabling.positions(),
        layout: fabric.layout.as_ref(),
        facts: &pools.0,
        qos: &pools.1,
        pairs: &pools.2,
        lanes: &Lanes::default(),
        nics,
        processes: &processes,
        terms: &terms,
        next_hops: &Lists::default(),
        routing: files.manifest.routing,
        uncabled_switches: &files.manifest.uncabled,
    };
    let (switches, of_switches) = switches::switches(files, &context, names)?;
    let (nodes, of_nodes) = nodes::nodes(files, &context)?;
    *findings = std::mem::take(findings).merge(of_switches).merge(of_nodes);
    (fabric.switches, fabric.nodes) = (switches, nodes);
    fabric.facts = pools.0.finish();
    Ok(())
}

fn cabling(files: &Files<'_>, slice: &Slice, findings: &mut Findings) -> Result<Cabling, VerifyError> {
    let judged =
        |path: &&Utf8Path| slice.is_whole() || paths::plane_of(path).is_some_and(|p| slice.has_plane(p));
    let folders = files.manifest.folders(paths::SWITCHES);
    let mut switches: Vec<SmolStr> = folders.keys().map(|name| SmolStr::from(*name)).collect();
    if !slice.is_all() {
        // A switch is judged if it has a cable in a judged plane. A switch without cables is judged if the manifest
        // places it in such a plane. Switches without a position belong to the first plane.
        let named = names_in(files, |path| judged(&path))?;
        let elsewhere =
            if slice.has_plane(0) { names_in(files, |path| !judged(&path))? } else { HashSet::new() };
        let is_lone = |name: &SmolStr| match files.manifest.uncabled.get(name.as_str()) {
            Some(plane) => slice.has_plane(*plane),
            None => slice.has_plane(0) && !elsewhere.contains(name),
        };
        switches.retain(|name| named.contains(name) || is_lone(name));
    }
    let mut hosts: Vec<&str> = Vec::new();
    if slice.is_whole() {
        hosts.extend(files.manifest.folders(paths::HOSTS).into_keys());
    }
    let mut lists = cables::Lists::new(switches, &hosts, files.manifest.profile.as_ref());
    let mut bytes = Vec::new();
    for path in files.manifest.files_in(paths::CABLES, "csv").filter(judged) {
        bytes.clear();
        if files.read(path, &mut bytes, findings)? {
            lists.read(path, &bytes, findings);
        }
    }
    drop(bytes);
    Ok(lists.finish())
}

/// Reads the names in cable lists. Files, bytes and findings are counted when the lists are judged.
fn names_in(files: &Files<'_>, wanted: impl Fn(&Utf8Path) -> bool) -> Result<HashSet<SmolStr>, VerifyError> {
    let apart = Files::new(files.tree, files.manifest, false);
    let mut names: HashSet<SmolStr> = HashSet::new();
    let mut bytes = Vec::new();
    for path in files.manifest.files_in(paths::CABLES, "csv").filter(|path| wanted(path)) {
        bytes.clear();
        if apart.read(path, &mut bytes, &mut Findings::default())? {
            let devices = cables::device_names(&bytes).filter(|name| !names.contains(*name));
            let new: Vec<SmolStr> = devices.map(SmolStr::from).collect();
            names.extend(new);
        }
    }
    Ok(names)
}

/// Returns whether a file is judged when certain planes or tables are selected. Files outside the folders of switches,
/// cable lists and tables are always judged.
fn is_judged(path: &Utf8Path, fabric: &Fabric) -> bool {
    if fabric.slice.is_all() {
        return true;
    }
    let mut parts = path.iter();
    match (parts.next(), parts.next()) {
        (Some(paths::SWITCHES), Some(name)) => fabric.cabling.switch_named(name).is_some(),
        (Some(paths::CABLES), _) => paths::plane_of(path).is_some_and(|plane| fabric.slice.has_plane(plane)),
        (Some(paths::PATH_TABLES), _) => fabric.slice.has_table(path),
        _ => true,
    }
}

/// Checks files without a reader. Their digests are compared with the manifest, and those of pipelines also with the
/// shipped ones. All other files, files missing from the manifest, and empty folders are reported.
fn rest(files: &Files<'_>, fabric: &Fabric, options: &Options) -> Result<Findings, VerifyError> {
    let mut findings = Findings::default();
    let mut buffer = Vec::new();
    let open = |path: &&Utf8PathBuf| !files.was_read(path) && is_judged(path, fabric);
    for path in files.manifest.files.keys().filter(open) {
        files.read(path, &mut buffer, &mut findings)?;
        if options.pipelines.contains_key(path) {
            continue;
        }
        findings.count_facts(&EXTRA, 1);
        if let Some(kind) = unjudged::kind(path) {
            findings.not_judged(kind);
        } else {
            let message = format!("`{path}` is not read by any program");
            findings.report(Violation::new(&EXTRA, Place::file(path), message));
        }
    }
    pipelines(files, options, &mut findings);
    let listed = files.tree.list().unwrap_or_default();
    for path in listed.into_iter().filter(|path| is_judged(path, fabric)) {
        findings.count_facts(&EXTRA, 1);
        let is_head = path == paths::MANIFEST || path == paths::SIGNATURE;
        if !is_head && !files.manifest.files.contains_key(&path) {
            let message = format!("`{path}` is not in `{}`", paths::MANIFEST);
            findings.report(Violation::new(&EXTRA, Place::file(path), message));
        }
    }
    let empty = files.tree.empty_folders().unwrap_or_default();
    for path in empty.into_iter().filter(|path| is_judged(path, fabric)) {
        findings.count_facts(&EXTRA, 1);
        let message = format!("`{path}` is a folder without files");
        findings.report(Violation::new(&EXTRA, Place::file(path), message));
    }
    Ok(findings)
}

/// Checks that the files of each pipeline are known and belong to the same pipeline.
fn pipelines(files: &Files<'_>, options: &Options, findings: &mut Findings) {
    // Names of files of a pipeline begin with its name.
    let of = |path: &Utf8Path| path.file_name().and_then(|name| name.split('.').next()).map(str::to_owned);
    // A file that is the same for several port widths belongs to all of them.
    let mut widths: BTreeMap<Option<String>, BTreeSet<usize>> = BTreeMap::new();
    for (path, meant) in &options.pipelines {
        let Some(entry) = files.manifest.files.get(path) else {
            let there = |other: &Utf8PathBuf| files.manifest.files.contains_key(other);
            let is_beside = options.pipelines.keys().any(|other| of(other) == of(path) && there(other));
            findings.expect(!is_beside, &PIPELINE, || {
                let message = format!("`{path}` is missing, but other files of the pipeline exist");
                Violation::new(&PIPELINE, Place::file(path), message)
            });
            continue;
        };
        let digests = meant(path);
        // The reader of a file reports if the file cannot be read.
        let mut bytes = Vec::new();
        let is_read = !files.digests && files.tree.read_within(path, FILE_MAX, &mut bytes).is_ok();
        let found = if is_read { blake3::hash(&bytes).to_hex().to_string() } else { entry.blake3.clone() };
        let of_widths = (0..).zip(digests.iter()).filter(|(_, digest)| found == **digest);
        let which: BTreeSet<usize> = of_widths.map(|(width, _)| width).collect();
        findings.expect(!which.is_empty(), &PIPELINE, || {
            let message = format!("`{path}` is not the file of this release of closc");
            Violation::new(&PIPELINE, Place::file(path), message)
        });
        if which.is_empty() {
            continue;
        }
        let Some(common) = widths.get_mut(&of(path)) else {
            widths.insert(of(path), which);
            continue;
        };
        common.retain(|width| which.contains(width));
        findings.expect(!common.is_empty(), &PIPELINE, || {
            let message = format!("`{path}` is for another port width than the other files of the pipeline");
            Violation::new(&PIPELINE, Place::file(path), message)
        });
    }
}
