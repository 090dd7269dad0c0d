//! Reads a whole tree: cable lists, then path tables, then switches and nodes, each file once.
//!
//! In: a tree. Out: [`Loaded`]: the fabric and what the readers found. Always: a file is read, held against the
//! manifest, parsed, reduced to what the proof needs, and dropped; two threads hold two files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;
use smol_str::SmolStr;

use crate::attach::{Context, attach};
use crate::check::files::{COMPLETE, DIGEST, KNOWN, PARSES, SETTINGS, digest};
use crate::check::nics::NicCables;
use crate::check::{hosts, load as balance, nics, tables};
use crate::finding::{Findings, Place, Violation};
use crate::model::bgp::{Process, Terms};
use crate::model::cabling::{Cabling, NodeId, SwitchId};
use crate::model::device::FaultKind;
use crate::model::fabric::Fabric;
use crate::model::group::Group;
use crate::model::qos::PortQos;
use crate::model::switch::{Facts, Node, Pairs, Pool, Switch};
use crate::read::manifest::Manifest;
use crate::read::p4_entries::Names;
use crate::read::path_table::Unreadable;
use crate::read::{ReadError, cables, frr, host, linux, p4, path_table, sonic, text};
use crate::report::ReadCounts;
use crate::tree::Tree;
use crate::{Options, VerifyError};

/// Everything that was read.
pub(crate) struct Loaded {
    pub(crate) fabric: Fabric,
    pub(crate) nics: NicCables,
    pub(crate) name: String,
    pub(crate) routing: String,
    pub(crate) read: ReadCounts,
    pub(crate) findings: Findings,
    pub(crate) not_proved: Vec<&'static str>,
    /// Whether switches choose the way by routes that are known.
    pub(crate) follows: bool,
}

/// Reads a tree.
pub(crate) fn load(tree: &dyn Tree, options: &Options) -> Result<Loaded, VerifyError> {
    let manifest = Manifest::read(tree)?;
    let files = Files {
        tree,
        manifest: &manifest,
        digests: options.digests,
        count: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    };
    let mut findings = Findings::default();
    let cabling = cabling(&files, &mut findings)?;
    let groups = groups(&files, &cabling, &mut findings)?;
    let layout = groups.first().map(|group| group.layout);
    if manifest.is_source_routed() && groups.is_empty() {
        let message = "hosts write the path, and there is no path table".to_owned();
        findings.broken(Violation::new(&COMPLETE, Place::file(crate::read::manifest::NAME), message));
    }
    let names = pipeline(&files, &mut findings)?;
    let mut fabric = Fabric {
        switches: vec![None; cabling.switches.len()],
        nodes: vec![None; cabling.nodes.len()],
        sprays: cabling
            .nodes
            .iter()
            .map(|name| {
                let path = Utf8Path::new("hosts").join(name.as_str()).join(host::ROUTES);
                manifest.files.contains_key(&path)
            })
            .collect(),
        layout,
        groups,
        facts: Vec::new(),
        cabling,
    };
    let nics = nics::find(&fabric, names.is_some(), &mut findings);
    let pools = (Pool::<Facts>::default(), Pool::<PortQos>::default(), Pool::<Pairs>::default());
    let (processes, terms) = (Pool::<Process>::default(), Pool::<Terms>::default());
    let positions = fabric.cabling.positions();
    let context = Context {
        cabling: &fabric.cabling,
        positions: &positions,
        layout: fabric.layout.as_ref(),
        facts: &pools.0,
        qos: &pools.1,
        pairs: &pools.2,
        nics: &nics,
        processes: &processes,
        terms: &terms,
        unnumbered: manifest.is_unnumbered(),
    };
    let (switches, found) = switches(&files, &context, names.as_ref())?;
    findings = findings.merge(found);
    let (nodes, found) = nodes(&files, &context)?;
    findings = findings.merge(found);
    fabric.switches = switches;
    fabric.nodes = nodes;
    fabric.facts = pools.0.finish();
    let found = sprays(&files, &fabric)?;
    findings = findings.merge(found).merge(rest(&files)?);
    let read = ReadCounts {
        files: files.count.into_inner(),
        bytes: files.bytes.into_inner(),
        switches: fabric.cabling.switches.len() as u64,
        nodes: fabric.nodes.iter().flatten().count() as u64,
        cables: fabric.cabling.cables.len() as u64,
        tables: fabric.groups.len() as u64,
        nics: fabric.groups.iter().map(|group| group.nics.len() as u64).sum(),
    };
    Ok(Loaded {
        fabric,
        nics,
        name: manifest.fabric.clone(),
        routing: manifest.routing.clone(),
        read,
        findings,
        not_proved: not_proved(&manifest),
        follows: !manifest.is_source_routed(),
    })
}

/// What is left open where hosts do not write the path.
fn not_proved(manifest: &Manifest) -> Vec<&'static str> {
    if manifest.is_source_routed() {
        return Vec::new();
    }
    if manifest.is_static() {
        return vec![
            "what nodes are told in files other than `ip.batch`, apart from digests",
            "which address a NIC has, where no node is described: what most of its T0s say counts",
            "that packets of one flow take one way, and how evenly flows spread over the ways of a route",
        ];
    }
    vec![
        "what happens while sessions come up or go down: what is proved is where they end",
        "what nodes are told in files other than `ip.batch`, apart from digests",
        "which address a NIC has, where no node is described: what most of its T0s say counts",
        "that packets of one flow take one way, and how evenly flows spread over the ways of a route",
        "that shares fit the narrowest cable of a way: bandwidths that are announced add up",
    ]
}

/// Fills in the lines of violations, reading each file again once.
pub(crate) fn lines(tree: &dyn Tree, violations: &mut [Violation]) {
    let mut by_file: HashMap<Utf8PathBuf, Vec<&mut Place>> = HashMap::new();
    for violation in violations {
        let steps = violation.journey.iter_mut().filter_map(|step| step.place.as_mut());
        let places = std::iter::once(&mut violation.place).chain(&mut violation.others).chain(steps);
        for place in places.filter(|place| place.line.is_none()) {
            by_file.entry(place.file.clone()).or_default().push(place);
        }
    }
    let mut buffer = Vec::new();
    for (file, places) in by_file {
        if tree.read(&file, &mut buffer).is_ok() {
            for place in places {
                place.locate(&buffer);
            }
        }
    }
}

/// The files of a tree, read and counted.
struct Files<'a> {
    tree: &'a dyn Tree,
    manifest: &'a Manifest,
    digests: bool,
    count: AtomicU64,
    bytes: AtomicU64,
}

impl Files<'_> {
    /// Reads a file of the manifest into a buffer; nothing where it is not listed. One that is listed and missing
    /// is reported, and reads as empty.
    fn read(
        &self,
        path: &Utf8Path,
        into: &mut Vec<u8>,
        findings: &mut Findings,
    ) -> Result<bool, VerifyError> {
        let Some(entry) = self.manifest.files.get(path) else { return Ok(false) };
        if let Err(source) = self.tree.read(path, into) {
            if source.kind() != std::io::ErrorKind::NotFound {
                return Err(VerifyError::Read { path: path.to_owned(), source });
            }
            findings.checked(&DIGEST, 1);
            let message = format!("`{path}` is listed and missing");
            findings.broken(Violation::new(&DIGEST, Place::file(path), message));
            return Ok(false);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(into.len() as u64, Ordering::Relaxed);
        if self.digests {
            digest(path, into, entry, findings);
        }
        Ok(true)
    }
}

/// Reports a file that does not parse.
fn unreadable(path: &Utf8Path, error: &ReadError, findings: &mut Findings) {
    findings.checked(&PARSES, 1);
    let path = &error.file.map_or_else(|| path.to_owned(), |file| path.with_file_name(file));
    let place = error.line.map_or_else(|| Place::file(path), |line| Place::line(path, line));
    findings.broken(Violation::new(&PARSES, place, format!("`{path}`: {}", error.message)));
}

fn cabling(files: &Files<'_>, findings: &mut Findings) -> Result<Cabling, VerifyError> {
    let mut lists = Vec::new();
    for path in files.manifest.files_in("cables", "csv") {
        let mut bytes = Vec::new();
        if files.read(path, &mut bytes, findings)? {
            lists.push((path.to_owned(), bytes));
        }
    }
    let switches = files.manifest.folders("switches");
    let hosts: Vec<&str> = files.manifest.folders("hosts").into_keys().collect();
    Ok(cables::read(&lists, switches.keys().map(|name| SmolStr::from(*name)).collect(), &hosts, findings))
}

fn groups(files: &Files<'_>, cabling: &Cabling, findings: &mut Findings) -> Result<Vec<Group>, VerifyError> {
    let paths: Vec<&Utf8Path> = files.manifest.files_in("path-tables", "json").collect();
    for binary in files.manifest.files_in("path-tables", "bin") {
        let beside = binary.with_extension("json");
        if !files.manifest.files.contains_key(&beside) {
            let message = format!("`{binary}` has no `{beside}` beside it");
            findings.broken(Violation::new(&COMPLETE, Place::file(beside), message));
        }
    }
    let read: Vec<(Option<Group>, Findings)> = paths
        .par_iter()
        .map(|path| {
            let mut findings = Findings::default();
            let group = group(files, path, cabling, &mut findings)?;
            if let Some(group) = &group {
                tables::check(group, &mut findings);
                balance::check(group, &mut findings);
            }
            Ok((group, findings))
        })
        .collect::<Result<_, VerifyError>>()?;
    let mut groups = Vec::with_capacity(read.len());
    for (group, found) in read {
        groups.extend(group);
        *findings = std::mem::take(findings).merge(found);
    }
    groups.sort_by_key(|group| (group.zone, group.group));
    if let Some(first) = common(&groups) {
        let (zones, count) = (first.table().header().zones, first.table().header().groups);
        for group in &groups {
            tables::agree(first, group, findings);
        }
        let wanted = usize::from(zones) * usize::from(count);
        findings.expect(groups.len() == wanted, &tables::HEADER, || {
            let message = format!("there are {} path tables and {wanted} groups", groups.len());
            Violation::new(&tables::HEADER, first.place(&["\"group\":"]), message)
        });
        // A table that disagrees on the numbers of the fabric cannot be composed with the others.
        let header = *first.table().header();
        let layout = first.layout;
        let fits = |group: &Group| {
            let own = *group.table().header();
            group.layout == layout
                && (own.planes, own.zones, own.groups) == (header.planes, header.zones, header.groups)
                && (own.t0_uplinks, own.t1_uplinks) == (header.t0_uplinks, header.t1_uplinks)
                && (own.parallel0, own.parallel1) == (header.parallel0, header.parallel1)
                && group.planes.len() == usize::from(header.planes)
                && group.zone < header.zones
                && group.group < header.groups
        };
        groups.retain(fits);
        for plane in 0..header.planes {
            let list = Utf8PathBuf::from(format!("cables/plane-{plane}.csv"));
            if !files.manifest.files.contains_key(&list) {
                let message = format!("there is no list of the cables of plane {plane}");
                findings.broken(Violation::new(&COMPLETE, Place::file(list), message));
            }
        }
    }
    groups.dedup_by_key(|group| (group.zone, group.group));
    Ok(groups)
}

/// The first of the tables that most agree with.
fn common(groups: &[Group]) -> Option<&Group> {
    let key = |group: &Group| {
        let h = *group.table().header();
        let numbers =
            [h.planes.into(), h.zones, h.groups, h.t0_uplinks, h.t1_uplinks, h.parallel0, h.parallel1];
        (numbers, format!("{:?}", group.layout))
    };
    let mut votes: std::collections::BTreeMap<_, (usize, usize)> = std::collections::BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        votes.entry(key(group)).or_insert((0, at)).0 += 1;
    }
    votes.into_values().max_by_key(|(count, _)| *count).map(|(_, at)| &groups[at])
}

fn group(
    files: &Files<'_>,
    path: &Utf8Path,
    cabling: &Cabling,
    findings: &mut Findings,
) -> Result<Option<Group>, VerifyError> {
    let (mut json, mut binary) = (Vec::new(), Vec::new());
    let beside = path.with_extension("bin");
    if !files.read(path, &mut json, findings)? {
        return Ok(None);
    }
    if !files.read(&beside, &mut binary, findings)? {
        let message = format!("`{path}` has no binary beside it");
        findings.broken(Violation::new(&COMPLETE, Place::file(path), message));
        return Ok(None);
    }
    findings.checked(&PARSES, 2);
    match path_table::read((path, &beside), &json, binary, &files.manifest.fabric, cabling, findings) {
        Ok(group) => Ok(Some(group)),
        Err(Unreadable { binary, error }) => {
            unreadable(if binary { &beside } else { path }, &error, findings);
            Ok(None)
        }
    }
}

/// The names of the P4 pipeline, where the tree has one.
fn pipeline(files: &Files<'_>, findings: &mut Findings) -> Result<Option<Names>, VerifyError> {
    let mut bytes = Vec::new();
    let path = Utf8Path::new(p4::INFO);
    if !files.read(path, &mut bytes, findings)? {
        let entries = |path: &Utf8Path| path.file_name() == Some(p4::FILE);
        if files.manifest.files.keys().any(|path| entries(path)) {
            let message = format!("there are entries and no `{path}`, which gives them names");
            findings.broken(Violation::new(&COMPLETE, Place::file(path), message));
        }
        return Ok(None);
    }
    match text(&bytes).and_then(Names::read) {
        Ok(names) => {
            findings.checked(&KNOWN, p4::TABLES.len() as u64);
            for table in p4::TABLES.iter().filter(|table| !names.has_table(table)) {
                let message = format!("`{path}`: the pipeline has no table `{table}`");
                findings.broken(Violation::new(&KNOWN, Place::file(path), message));
            }
            Ok(Some(names))
        }
        Err(error) => {
            unreadable(path, &error, findings);
            Ok(None)
        }
    }
}

thread_local! {
    /// Buffers of a thread, so that files are not read into new memory each time.
    static BUFFERS: RefCell<[Vec<u8>; 4]> = const { RefCell::new([Vec::new(), Vec::new(), Vec::new(), Vec::new()]) };
}

type Switches = (Vec<Option<Switch>>, Findings);

fn switches(
    files: &Files<'_>,
    context: &Context<'_>,
    names: Option<&Names>,
) -> Result<Switches, VerifyError> {
    let read: Vec<(Option<Switch>, Findings)> = (0..context.cabling.switches.len() as u32)
        .into_par_iter()
        .map(|id| {
            let mut findings = Findings::default();
            let switch = BUFFERS.with_borrow_mut(|buffers| {
                switch(files, context, names, SwitchId(id), buffers, &mut findings)
            })?;
            Ok((switch, findings))
        })
        .collect::<Result<_, VerifyError>>()?;
    let mut all = Findings::default();
    let mut switches = Vec::with_capacity(read.len());
    for (switch, findings) in read {
        switches.push(switch);
        all = all.merge(findings);
    }
    Ok((switches, all))
}

fn switch(
    files: &Files<'_>,
    context: &Context<'_>,
    names: Option<&Names>,
    id: SwitchId,
    buffers: &mut [Vec<u8>; 4],
    findings: &mut Findings,
) -> Result<Option<Switch>, VerifyError> {
    let name = context.cabling.switch(id);
    let folder = Utf8Path::new("switches").join(name);
    let has = |file: &str| files.manifest.files.contains_key(&folder.join(file));
    let main = [sonic::FILE, frr::FILE, p4::FILE, linux::FILE].into_iter().find(|file| has(file));
    if main == Some(linux::FILE) && has(frr::DAEMONS) {
        let message = format!("`{name}` has the files of FRRouting and no `{}`", frr::FILE);
        findings.broken(Violation::new(&COMPLETE, Place::file(folder.join(frr::FILE)), message));
    }
    let bgp = files.manifest.is_unnumbered();
    if main == Some(sonic::FILE) && has(frr::FILE) != bgp {
        let what =
            if bgp { "nothing of BGP" } else { "an `frr.conf` that its configuration does not speak of" };
        let message = format!("`{name}` has {what}");
        findings.broken(Violation::new(&COMPLETE, Place::file(folder.join(frr::FILE)), message));
    }
    let Some(main) = main else {
        findings.checked(&COMPLETE, 1);
        let message = format!("`{name}` has no configuration of a kind that is known");
        findings.broken(Violation::new(&COMPLETE, Place::file(folder), message));
        return Ok(None);
    };
    let path = folder.join(main);
    let [first, second, third, fourth] = buffers;
    if !files.read(&path, first, findings)? {
        return Ok(None);
    }
    findings.checked(&COMPLETE, 1);
    findings.checked(&PARSES, 1);
    let beside = |file: &str, into: &mut Vec<u8>, findings: &mut Findings| {
        into.clear();
        files.read(&folder.join(file), into, findings)
    };
    let scope = frr::Scope { bgp, strict: bgp || files.manifest.is_static() };
    let device = match main {
        sonic::FILE => {
            let routed = bgp && beside(frr::FILE, second, findings)?;
            sonic::read(first).and_then(|mut device| {
                if routed {
                    frr::beside(text(second)?, &mut device, scope)?;
                }
                Ok(device)
            })
        }
        p4::FILE => match names {
            Some(names) => {
                text(first).and_then(|text| p4::read(text, names, files.manifest.is_source_routed()))
            }
            None => Err(ReadError::whole(format!("`{}` is missing, so entries have no names", p4::INFO))),
        },
        frr::FILE => {
            beside(linux::FILE, second, findings)?;
            beside(linux::DEVICES, third, findings)?;
            beside(frr::DAEMONS, fourth, findings)?;
            daemons(&folder.join(frr::DAEMONS), fourth, files.manifest, findings);
            beside(linux::SETTINGS, fourth, findings)?;
            texts([first, second, third, fourth]).and_then(|texts| frr::read(texts, scope))
        }
        _ => {
            beside(linux::DEVICES, second, findings)?;
            beside(linux::SETTINGS, third, findings)?;
            texts([first, second, third])
                .and_then(|[ports, devices, settings]| linux::read(ports, devices, settings))
        }
    };
    match device {
        Ok(mut device) => {
            if !scope.strict {
                let known = |kind| matches!(kind, FaultKind::Dangling | FaultKind::Qos);
                device.faults.retain(|fault| known(fault.kind));
            }
            Ok(Some(attach(context, id, device, findings)))
        }
        Err(error) => {
            unreadable(&path, &error, findings);
            Ok(None)
        }
    }
}

fn texts<const N: usize>(buffers: [&mut Vec<u8>; N]) -> Result<[&str; N], ReadError> {
    let mut all = [""; N];
    for (slot, bytes) in all.iter_mut().zip(buffers) {
        *slot = text(bytes)?;
    }
    Ok(all)
}

fn daemons(path: &Utf8Path, bytes: &[u8], manifest: &Manifest, findings: &mut Findings) {
    if !manifest.is_static() && !manifest.is_unnumbered() {
        return;
    }
    findings.checked(&SETTINGS, 1);
    for message in frr::daemon_faults(&String::from_utf8_lossy(bytes), manifest.is_unnumbered()) {
        let place = Place::text(path, vec!["=yes".to_owned()]);
        findings.broken(Violation::new(&SETTINGS, place, format!("`{path}`: {message}")));
    }
}

type Nodes = (Vec<Option<Node>>, Findings);

fn nodes(files: &Files<'_>, context: &Context<'_>) -> Result<Nodes, VerifyError> {
    let read: Vec<(Option<Node>, Findings)> = (0..context.cabling.nodes.len() as u32)
        .into_par_iter()
        .map(|id| {
            let mut findings = Findings::default();
            let node = BUFFERS
                .with_borrow_mut(|buffers| node(files, context, NodeId(id), buffers, &mut findings))?;
            Ok((node, findings))
        })
        .collect::<Result<_, VerifyError>>()?;
    let mut all = Findings::default();
    let mut nodes = Vec::with_capacity(read.len());
    for (node, findings) in read {
        nodes.push(node);
        all = all.merge(findings);
    }
    Ok((nodes, all))
}

fn node(
    files: &Files<'_>,
    context: &Context<'_>,
    id: NodeId,
    buffers: &mut [Vec<u8>; 4],
    findings: &mut Findings,
) -> Result<Option<Node>, VerifyError> {
    let name = &context.cabling.nodes[id.0 as usize];
    let folder = Utf8Path::new("hosts").join(name.as_str());
    let path = folder.join(linux::FILE);
    let [first, second, third, _] = buffers;
    if !files.read(&path, first, findings)? {
        return Ok(None);
    }
    for (file, into) in [(linux::DEVICES, &mut *second), (linux::SETTINGS, &mut *third)] {
        into.clear();
        files.read(&folder.join(file), into, findings)?;
    }
    findings.checked(&PARSES, 1);
    let host = texts([first, second, third]).and_then(|[ports, devices, settings]| {
        host::read(ports, devices, settings, files.manifest.is_source_routed())
    });
    match host {
        Ok(host) => {
            let (cabling, layout) = (context.cabling, context.layout);
            Ok(Some(hosts::attach(cabling, layout, context.facts, id, &host, findings)))
        }
        Err(error) => {
            unreadable(&path, &error, findings);
            Ok(None)
        }
    }
}

/// Routes of nodes to other nodes, which are held against the tables and so come last.
fn sprays(files: &Files<'_>, fabric: &Fabric) -> Result<Findings, VerifyError> {
    (0..fabric.cabling.nodes.len() as u32)
        .into_par_iter()
        .map(|id| {
            let mut findings = Findings::default();
            let path =
                Utf8Path::new("hosts").join(fabric.cabling.nodes[id as usize].as_str()).join(host::ROUTES);
            BUFFERS.with_borrow_mut(|[buffer, ..]| {
                if files.read(&path, buffer, &mut findings)? {
                    findings.checked(&PARSES, 1);
                    match text(buffer).and_then(host::read_routes) {
                        Ok(sprays) => hosts::routes(fabric, NodeId(id), &sprays, &mut findings),
                        Err(error) => unreadable(&path, &error, &mut findings),
                    }
                }
                Ok::<(), VerifyError>(())
            })?;
            Ok(findings)
        })
        .try_reduce(Findings::default, |a, b| Ok(a.merge(b)))
}

/// Files that no reader asked for: their digests are held against the manifest all the same.
fn rest(files: &Files<'_>) -> Result<Findings, VerifyError> {
    let mut findings = Findings::default();
    let mut buffer = Vec::new();
    let read_by = |path: &Utf8Path| {
        let known =
            [sonic::FILE, frr::FILE, frr::DAEMONS, p4::FILE, linux::FILE, linux::DEVICES, linux::SETTINGS];
        let in_folder = path.starts_with("switches") || path.starts_with("hosts");
        let named = path.file_name().is_some_and(|name| known.contains(&name) || name == host::ROUTES);
        let listed = path.starts_with("cables") || path.starts_with("path-tables") || path == p4::INFO;
        listed || in_folder && named
    };
    for path in files.manifest.files.keys().filter(|path| !read_by(path)) {
        files.read(path, &mut buffer, &mut findings)?;
    }
    Ok(findings)
}
