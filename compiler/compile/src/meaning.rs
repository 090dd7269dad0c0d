//! The meaning of a fabric as bytes: of the complete fabric, of its numbers only, or of each exception.
//!
//! In: a plan. Out: digests and serialised forms. Invariants: the format of values is specified. It does not
//! depend on comments, anchors or the order of keys in the file. Every field is included automatically.

use std::sync::Arc;

use closc_plan::{ExceptionKind, Plan, Subject};
use closc_topology::{Exceptions, HostOutput, Switch, Topology};
use serde::Serialize;

/// Returns the digest of the meaning of a fabric file. It does not depend on comments, anchors or the order
/// of keys.
pub fn plan_digest(plan: &Plan) -> blake3::Hash {
    digest(plan.topology())
}

/// Digests the topology without exceptions, single pins, racks, and failure domains that do not affect
/// artefacts.
pub(crate) fn numbers(plan: &Plan) -> blake3::Hash {
    let mut topology = plan.topology().clone();
    // If the file has a list of isolated ports, every switch has a table for them.
    let has_isolation = topology.exceptions.has_isolation;
    topology.exceptions = Exceptions { has_isolation, ..Exceptions::default() };
    topology.ecmp.pins = Arc::default();
    // Failure domains affect only the backups of NIC ports.
    if !topology.hosts.outputs.contains(&HostOutput::Nccl) {
        topology.domains.clear();
    }
    // Racks of devices do not affect artefacts.
    topology.racks = None;
    digest(&topology)
}

/// Digests a topology with all of its fields.
fn digest(topology: &Topology) -> blake3::Hash {
    blake3::hash(&form(topology))
}

/// Returns every exception of a plan with its complete serialised form.
pub(crate) fn exceptions(plan: &Plan) -> impl Iterator<Item = (ExceptionKind, Vec<u8>)> {
    let Exceptions {
        absent_switches,
        absent_nics,
        absent_links,
        drained_switches,
        drained_planes,
        drained_links,
        has_isolation: _,
        isolated_links,
        cables,
        switches,
    } = &plan.topology().exceptions;
    let absent = absent_switches
        .iter()
        .map(|switch| Subject::Switch(*switch))
        .chain(absent_nics.iter().map(|nic| Subject::Nic(*nic)))
        .chain(absent_links.iter().map(|link| Subject::Link(*link)))
        .map(ExceptionKind::Absent);
    let drained = drained_switches
        .iter()
        .map(|switch| Subject::Switch(*switch))
        .chain(drained_planes.iter().map(|plane| Subject::Plane(*plane)))
        .chain(drained_links.iter().map(|link| Subject::Link(*link)))
        .map(ExceptionKind::Drained);
    let isolated = isolated_links.iter().map(|link| ExceptionKind::Isolated(*link));
    let plain = absent.chain(drained).chain(isolated).map(|exception| (exception, form(&exception)));
    let cables = cables.iter().map(|(link, cable)| {
        let exception = ExceptionKind::Cable(*link);
        (exception, form(&(exception, cable)))
    });
    let switches = switches.iter().map(|(switch, (platform, os))| {
        let exception = ExceptionKind::Device(*switch);
        (exception, form(&(exception, &**platform, os)))
    });
    plain.chain(cables).chain(switches)
}

/// Returns the serialised pins of every switch that has pins.
pub(crate) fn pins(plan: &Plan) -> impl Iterator<Item = (Switch, Vec<u8>)> {
    plan.topology().ecmp.pins.iter().map(|(switch, pins)| (*switch, form(pins)))
}

/// Returns the bytes that are digested: the values in sequence, in a specified format. They contain no names
/// of fields or types, and do not depend on `Debug` output.
pub(crate) fn form(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("sequences and maps of a topology know their lengths")
}
