//! Reads the files of nodes for netplan and systemd-networkd.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use super::files::{BUFFERS, Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, NodeId};
use crate::model::network::NodeNetwork;
use crate::model::place::Place;
use crate::read::error::text;
use crate::read::{netplan, networkd};
use crate::rules::files::{COMPLETE, PARSES};

type Networks = (Vec<(NodeId, NodeNetwork)>, Findings);

/// Reads the files of all nodes. Files of a kind must exist for all nodes or for none.
pub(crate) fn networks(files: &Files<'_>, cabling: &Cabling) -> Result<Networks, VerifyError> {
    if !files.has_nodes() {
        return Ok((Vec::new(), Findings::default()));
    }
    let folder = |name: &str| Utf8Path::new(closc_artefacts::paths::HOSTS).join(name);
    let with = |has: &dyn Fn(&Utf8Path) -> bool| -> BTreeSet<usize> {
        let nodes = cabling.nodes.iter().enumerate();
        nodes.filter(|(_, name)| has(&folder(name))).map(|(at, _)| at).collect()
    };
    let planned = with(&|folder| files.manifest.files.contains_key(&folder.join(netplan::FILE)));
    let units = with(&|folder| files.manifest.files_below(&folder.join(networkd::FOLDER)).next().is_some());
    let mut findings = Findings::default();
    for (kind, nodes) in [(netplan::FILE, &planned), (networkd::FOLDER, &units)] {
        everywhere(cabling, kind, nodes, &mut findings);
    }
    if planned.is_empty() && units.is_empty() {
        return Ok((Vec::new(), findings));
    }
    let read: Vec<Networks> = planned
        .union(&units)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|at| node(files, cabling, NodeId(*at as u32)))
        .collect::<Result<_, VerifyError>>()?;
    let mut networks = Vec::new();
    for (own, found) in read {
        networks.extend(own);
        findings = findings.merge(found);
    }
    Ok((networks, findings))
}

fn everywhere(cabling: &Cabling, kind: &str, with: &BTreeSet<usize>, findings: &mut Findings) {
    if with.is_empty() {
        return;
    }
    findings.count_facts(&COMPLETE, cabling.nodes.len() as u64);
    for name in cabling.nodes.iter().enumerate().filter(|(at, _)| !with.contains(at)).map(|(_, n)| n) {
        let place = Place::file(Utf8Path::new(closc_artefacts::paths::HOSTS).join(name.as_str()).join(kind));
        let message = format!("`{name}` has no `{kind}`, but other nodes have");
        findings.report(Violation::new(&COMPLETE, place, message));
    }
}

fn node(files: &Files<'_>, cabling: &Cabling, id: NodeId) -> Result<Networks, VerifyError> {
    let mut findings = Findings::default();
    let folder = Utf8Path::new(closc_artefacts::paths::HOSTS).join(cabling.nodes[id.0 as usize].as_str());
    let units: Vec<Utf8PathBuf> =
        files.manifest.files_below(&folder.join(networkd::FOLDER)).map(Utf8Path::to_owned).collect();
    let mut networks = Vec::new();
    BUFFERS.with_borrow_mut(|[buffer, ..]| {
        let path = folder.join(netplan::FILE);
        if files.read(&path, buffer, &mut findings)? {
            findings.count_facts(&PARSES, 1);
            match text(buffer).and_then(netplan::read) {
                Ok(own) => networks.push((id, own)),
                Err(error) => unreadable(&path, &error, &mut findings),
            }
        }
        let mut own = NodeNetwork::default();
        let mut whole = !units.is_empty();
        for path in &units {
            if !files.read(path, buffer, &mut findings)? {
                continue;
            }
            findings.count_facts(&PARSES, 1);
            let file = path.strip_prefix(&folder).map_or(path.as_str(), Utf8Path::as_str);
            if let Err(error) = text(buffer).and_then(|text| networkd::read(&mut own, file, text)) {
                unreadable(path, &error, &mut findings);
                whole = false;
            }
        }
        if whole {
            networks.push((id, own));
        }
        Ok::<(), VerifyError>(())
    })?;
    Ok((networks, findings))
}
