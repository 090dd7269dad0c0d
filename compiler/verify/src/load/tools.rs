//! Reads files of nodes for NIC drivers and collective libraries.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Family;
use closc_artefacts::node_delay::{self, NodeDelay};
use closc_artefacts::paths::{DELAY, HOSTS};
use rayon::prelude::*;

use super::files::{BUFFERS, Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, NodeId};
use crate::model::place::Place;
use crate::model::tools::NodeTools;
use crate::read::error::{ReadError, text};
use crate::read::linux::place::FILE as BATCH;
use crate::read::linux::surroundings::{self, SETTINGS};
use crate::read::{library, nccl, nic_qos};
use crate::rules::files::{COMPLETE, PARSES};

type Tools = (Vec<NodeTools>, Findings);

/// Reads the files of all nodes. Each file must exist for all nodes or for none.
pub(crate) fn tools(files: &Files<'_>, cabling: &Cabling) -> Result<Tools, VerifyError> {
    let path = |name: &str, file: &str| Utf8Path::new(HOSTS).join(name).join(file);
    let mut findings = Findings::default();
    let mut any = false;
    if !files.has_nodes() {
        return Ok((Vec::new(), findings));
    }
    for file in [nic_qos::FILE, DELAY, nccl::FILE, nccl::VCCL, library::BACKUPS, SETTINGS] {
        let has = |name: &str| files.manifest.files.contains_key(&path(name, file));
        // Nodes with NIC settings also need kernel settings and delays. Nodes with NCCL settings also need backup
        // ports.
        let beside = match file {
            SETTINGS | DELAY => nic_qos::FILE,
            library::BACKUPS => nccl::FILE,
            _ => file,
        };
        let comes = |name: &str| has(name) || files.manifest.files.contains_key(&path(name, beside));
        if !cabling.nodes.iter().any(|name| comes(name)) {
            continue;
        }
        any = true;
        findings.count_facts(&COMPLETE, cabling.nodes.len() as u64);
        for name in cabling.nodes.iter().filter(|name| !has(name)) {
            let message = format!("`{name}` has no `{file}`, which nodes of this fabric have");
            findings.report(Violation::new(&COMPLETE, Place::file(path(name, file)), message));
        }
    }
    any |= cabling.nodes.iter().any(|name| !agents(files, name).is_empty());
    if !any {
        return Ok((Vec::new(), findings));
    }
    let nodes = (0..cabling.nodes.len() as u32).into_par_iter();
    let read: Vec<(NodeTools, Findings)> =
        nodes.map(|at| node(files, cabling, NodeId(at))).collect::<Result<_, VerifyError>>()?;
    let mut all = Vec::with_capacity(read.len());
    for (tools, found) in read {
        all.push(tools);
        findings = findings.merge(found);
    }
    Ok((all, findings))
}

fn node(files: &Files<'_>, cabling: &Cabling, node: NodeId) -> Result<(NodeTools, Findings), VerifyError> {
    let mut findings = Findings::default();
    let folder = Utf8Path::new(HOSTS).join(cabling.nodes[node.0 as usize].as_str());
    let topology = folder.join(library::TOPOLOGY);
    let mut settings = BTreeMap::new();
    for (number, path) in agents(files, &cabling.nodes[node.0 as usize]) {
        settings.insert(number, one(files, &path, nccl::read, &mut findings)?);
    }
    let tools = NodeTools {
        node,
        qos: one(files, &folder.join(nic_qos::FILE), nic_qos::read, &mut findings)?,
        delay: one(files, &folder.join(DELAY), node_delay, &mut findings)?,
        nccl: one(files, &folder.join(nccl::FILE), nccl::read, &mut findings)?,
        vccl: one(files, &folder.join(nccl::VCCL), nccl::read, &mut findings)?,
        has_topology: files.manifest.files.contains_key(&topology),
        topology: one(files, &topology, library::topology, &mut findings)?,
        backups: one(files, &folder.join(library::BACKUPS), library::backups, &mut findings)?,
        agents: settings,
        kernel: kernel(files, cabling, node, &folder, &mut findings)?,
    };
    Ok((tools, findings))
}

/// Returns the files with settings of the agents of a node, by NIC number.
fn agents(files: &Files<'_>, name: &str) -> Vec<(u8, Utf8PathBuf)> {
    let folder = Utf8Path::new(HOSTS).join(name).join("closc");
    let one = |path: &Utf8Path| {
        let number = path.file_name()?.strip_prefix("nic")?.strip_suffix(".env")?;
        Some((number.parse().ok()?, path.to_owned()))
    };
    files.manifest.files_below(&folder).filter_map(one).collect()
}

fn node_delay(text: &str) -> Result<NodeDelay, ReadError> {
    let delay: NodeDelay = serde_json::from_str(text)?;
    if delay.format != node_delay::FORMAT {
        return Err(ReadError::new(format!("delays of format `{}` are not supported", delay.format)));
    }
    Ok(delay)
}

/// Returns the faults of kernel settings; `None` if the file does not exist, or is read with `ip.batch`.
fn kernel(
    files: &Files<'_>,
    cabling: &Cabling,
    node: NodeId,
    folder: &Utf8Path,
    findings: &mut Findings,
) -> Result<Option<Vec<(String, String)>>, VerifyError> {
    if files.manifest.files.contains_key(&folder.join(BATCH)) {
        return Ok(None);
    }
    let addresses = files.manifest.profile.as_ref().and_then(|stated| stated.addresses.as_ref());
    let family = addresses.map_or(Family::V6, |pools| pools.links.family());
    let read = |settings: &str| {
        let plugs = cabling.at_node(node).iter();
        let ports = plugs.map(|plug| cabling.names.text(cabling.cable(plug.cable()).lower.port));
        let faults = surroundings::of_node(settings, ports, family);
        Ok(faults.into_iter().map(|(_, needle, message)| (needle, message)).collect())
    };
    one(files, &folder.join(SETTINGS), read, findings)
}

fn one<T>(
    files: &Files<'_>,
    path: &Utf8Path,
    read: impl Fn(&str) -> Result<T, ReadError>,
    findings: &mut Findings,
) -> Result<Option<T>, VerifyError> {
    BUFFERS.with_borrow_mut(|[buffer, ..]| {
        if !files.read(path, buffer, findings)? {
            return Ok(None);
        }
        findings.count_facts(&PARSES, 1);
        match text(buffer).and_then(&read) {
            Ok(read) => Ok(Some(read)),
            Err(error) => {
                unreadable(path, &error, findings);
                Ok(None)
            }
        }
    })
}
