//! When a unit has to be rendered again.
//!
//! Invariants: two units of equal fingerprint render to the same bytes. A fingerprint covers the program's version, the
//! templates, the whole topology without its exceptions and single pins, and those of them that touch the unit, by the
//! rule of [`closc_plan::touch`], which `closc diff` goes by too.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_plan::{Excepted, Plan, Subject, Touch, touch};
use closc_topology::{Exceptions, Topology};
use serde::Serialize;

use crate::Unit;

/// Names what a unit is rendered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint(pub [u8; 16]);

/// Computes fingerprints.
pub struct Fingerprints {
    common: blake3::Hash,
    touched: BTreeMap<Touch, blake3::Hasher>,
}

impl Fingerprints {
    /// Takes a plan and the digest of the templates.
    pub fn new(plan: &Plan, templates: blake3::Hash) -> Self {
        let mut touched: BTreeMap<Touch, blake3::Hasher> = BTreeMap::new();
        let mut add = |at: Touch, form: &[u8]| {
            touched.entry(at).or_default().update(form);
        };
        for (exception, form) in exceptions(plan) {
            touch(exception, plan.fabric(), &mut |at| add(at, &form));
        }
        for (switch, pins) in plan.topology().ecmp.pins.iter() {
            add(Touch::Switch(*switch), &form(pins));
        }
        // It follows from the first T0 that is there, and every table states it.
        add(Touch::Tables, &form(&plan.target_delay()));
        Fingerprints { common: common(plan, templates), touched }
    }

    /// Returns the digest of everything but exceptions.
    pub fn common(&self) -> blake3::Hash {
        self.common
    }

    /// Returns the fingerprint of a unit.
    pub fn of(&self, unit: Unit) -> Fingerprint {
        let places: &[Touch] = match unit {
            Unit::Switch(switch) => &[Touch::Switch(switch), Touch::Plane(switch.plane)],
            Unit::Host(node) => &[Touch::Host(node), Touch::Hosts],
            Unit::Group(zone, group) => &[Touch::Table(zone, group), Touch::Tables],
            Unit::Cables(plane) => &[Touch::List(plane)],
            Unit::Pipelines => &[],
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.common.as_bytes());
        for place in places {
            let own = self.touched.get(place).map(blake3::Hasher::finalize);
            hasher.update(own.as_ref().map_or(&[0; 32], |own| own.as_bytes()));
        }
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Fingerprint(short)
    }
}

/// Every exception of a plan, with a form that says all of it.
fn exceptions(plan: &Plan) -> impl Iterator<Item = (Excepted, Vec<u8>)> {
    let Exceptions {
        absent_switches,
        absent_nics,
        absent_links,
        drained_switches,
        drained_planes,
        drained_links,
        cables,
        switches,
    } = &plan.topology().exceptions;
    let absent = absent_switches
        .iter()
        .map(|switch| Subject::Switch(*switch))
        .chain(absent_nics.iter().map(|nic| Subject::Nic(*nic)))
        .chain(absent_links.iter().map(|link| Subject::Link(*link)))
        .map(Excepted::Absent);
    let drained = drained_switches
        .iter()
        .map(|switch| Subject::Switch(*switch))
        .chain(drained_planes.iter().map(|plane| Subject::Plane(*plane)))
        .chain(drained_links.iter().map(|link| Subject::Link(*link)))
        .map(Excepted::Drained);
    let plain = absent.chain(drained).map(|exception| (exception, form(&exception)));
    let cables = cables.iter().map(|(link, cable)| {
        let exception = Excepted::Cable(*link);
        (exception, form(&(exception, cable)))
    });
    let switches = switches.iter().map(|(switch, (platform, os))| {
        let exception = Excepted::Device(*switch);
        (exception, form(&(exception, &**platform, os)))
    });
    plain.chain(cables).chain(switches)
}

/// Returns the digest of what a fabric file means, whatever the order of its keys, its comments and its anchors.
pub fn meaning(plan: &Plan) -> blake3::Hash {
    digest(plan.topology())
}

/// Digests the program's version, the templates and the topology without exceptions and single pins.
fn common(plan: &Plan, templates: blake3::Hash) -> blake3::Hash {
    let mut topology = plan.topology().clone();
    topology.exceptions = Exceptions::default();
    topology.ecmp.pins = Arc::default();
    // What fails together is in no artefact.
    topology.domains.clear();
    let mut hasher = blake3::Hasher::new();
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.update(templates.as_bytes());
    hasher.update(digest(&topology).as_bytes());
    hasher.finalize()
}

/// Digests a topology: every field takes part without being listed here.
fn digest(topology: &Topology) -> blake3::Hash {
    blake3::hash(&form(topology))
}

/// Returns the bytes that digests are of: values one after the other, in a format that is specified. Names of fields and
/// types are not in it, nor how a compiler writes values for people.
fn form(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("sequences and maps of a topology know their lengths")
}
