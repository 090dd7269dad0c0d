//! Files of nodes for NIC drivers and collective libraries: read.

use camino::Utf8Path;
use closc_artefacts::paths::HOSTS;
use rayon::prelude::*;

use super::files::{BUFFERS, Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, NodeId};
use crate::model::place::Place;
use crate::model::tools::NodeTools;
use crate::read::error::{ReadError, text};
use crate::read::{nccl, nic_qos};
use crate::rules::files::{COMPLETE, PARSES};

type Tools = (Vec<NodeTools>, Findings);

/// Reads the files of all nodes. Either all nodes have a file, or none has.
pub(crate) fn tools(files: &Files<'_>, cabling: &Cabling) -> Result<Tools, VerifyError> {
    let path = |name: &str, file: &str| Utf8Path::new(HOSTS).join(name).join(file);
    let mut findings = Findings::default();
    let mut any = false;
    for file in [nic_qos::FILE, nccl::FILE, nccl::VCCL] {
        let has = |name: &str| files.manifest.files.contains_key(&path(name, file));
        let with = cabling.nodes.iter().filter(|name| has(name)).count();
        if with == 0 {
            continue;
        }
        any = true;
        findings.checked(&COMPLETE, cabling.nodes.len() as u64);
        for name in cabling.nodes.iter().filter(|name| !has(name)) {
            let message = format!("`{name}` has no `{file}`, and other nodes have");
            findings.broken(Violation::new(&COMPLETE, Place::file(path(name, file)), message));
        }
    }
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
    let has_topology = files.manifest.files.contains_key(&folder.join(nccl::TOPOLOGY));
    let tools = NodeTools {
        node,
        qos: one(files, &folder.join(nic_qos::FILE), nic_qos::read, &mut findings)?,
        nccl: one(files, &folder.join(nccl::FILE), nccl::read, &mut findings)?,
        vccl: one(files, &folder.join(nccl::VCCL), nccl::read, &mut findings)?,
        has_topology,
    };
    Ok((tools, findings))
}

fn one<T>(
    files: &Files<'_>,
    path: &Utf8Path,
    read: fn(&str) -> Result<T, ReadError>,
    findings: &mut Findings,
) -> Result<Option<T>, VerifyError> {
    BUFFERS.with_borrow_mut(|[buffer, ..]| {
        if !files.read(path, buffer, findings)? {
            return Ok(None);
        }
        findings.checked(&PARSES, 1);
        match text(buffer).and_then(read) {
            Ok(read) => Ok(Some(read)),
            Err(error) => {
                unreadable(path, &error, findings);
                Ok(None)
            }
        }
    })
}
