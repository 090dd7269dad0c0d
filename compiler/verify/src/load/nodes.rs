//! Reads nodes and binds them to the cable lists. Routes to other nodes are passed on for one node at a time.

use camino::Utf8Path;
use rayon::prelude::*;

use super::files::{BUFFERS, Files, unreadable};
use crate::bind::binding::Context;
use crate::error::VerifyError;
use crate::finding::Findings;
use crate::model::cabling::NodeId;
use crate::model::fabric::Fabric;
use crate::model::switch::Node;
use crate::read::error::{ReadError, text};
use crate::read::language_reader::FILES_MAX;
use crate::read::linux;
use crate::read::linux::node::{self, Host, Spray};
use crate::read::linux::surroundings::{DEVICES, SETTINGS};
use crate::rules::files::PARSES;

/// A function that compares the routes of a node to other nodes with the path tables.
pub(crate) type RouteCheck = fn(&Fabric, NodeId, &[Spray<'_>], &mut Findings);

type Nodes = (Vec<Option<Node>>, Findings);

pub(crate) fn nodes(files: &Files<'_>, context: &Context<'_>) -> Result<Nodes, VerifyError> {
    if !files.has_nodes() {
        return Ok((vec![None; context.cabling.nodes.len()], Findings::default()));
    }
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
    buffers: &mut [Vec<u8>; FILES_MAX],
    findings: &mut Findings,
) -> Result<Option<Node>, VerifyError> {
    let name = &context.cabling.nodes[id.0 as usize];
    let folder = Utf8Path::new(closc_artefacts::paths::HOSTS).join(name.as_str());
    let path = folder.join(linux::place::FILE);
    let [first, second, third, ..] = buffers;
    if !files.read(&path, first, findings)? {
        return Ok(None);
    }
    for (file, into) in [(DEVICES, &mut *second), (SETTINGS, &mut *third)] {
        into.clear();
        files.read(&folder.join(file), into, findings)?;
    }
    findings.count_facts(&PARSES, 1);
    let host = read([first, second, third], context);
    match host {
        Ok(host) => Ok(Some(crate::bind::node::bind(context, id, &host, findings))),
        Err(error) => {
            unreadable(&path, &error, findings);
            Ok(None)
        }
    }
}

fn read<'a>(
    [ports, devices, settings]: [&'a Vec<u8>; 3],
    context: &Context<'_>,
) -> Result<Host<'a>, ReadError> {
    node::read(
        &linux::LANGUAGE,
        text(ports)?,
        text(devices)?,
        text(settings)?,
        context.routing.is_source_routed(),
    )
}

/// Reads the routes of nodes to other nodes. They are read last, because they are compared with the path tables.
pub(crate) fn sprays(files: &Files<'_>, fabric: &Fabric, judge: RouteCheck) -> Result<Findings, VerifyError> {
    if !files.has_nodes() {
        return Ok(Findings::default());
    }
    (0..fabric.cabling.nodes.len() as u32)
        .into_par_iter()
        .map(|id| {
            let mut findings = Findings::default();
            let path = Utf8Path::new(closc_artefacts::paths::HOSTS)
                .join(fabric.cabling.nodes[id as usize].as_str())
                .join(node::ROUTES);
            BUFFERS.with_borrow_mut(|[buffer, ..]| {
                if files.read(&path, buffer, &mut findings)? {
                    findings.count_facts(&PARSES, 1);
                    match text(buffer).and_then(node::read_routes) {
                        Ok(sprays) => judge(fabric, NodeId(id), &sprays, &mut findings),
                        Err(error) => unreadable(&path, &error, &mut findings),
                    }
                }
                Ok::<(), VerifyError>(())
            })?;
            Ok(findings)
        })
        .try_reduce(Findings::default, |a, b| Ok(a.merge(b)))
}
