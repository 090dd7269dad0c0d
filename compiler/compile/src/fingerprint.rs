//! Fingerprints of units: a unit is rendered again if its fingerprint has changed.
//!
//! Invariants: a unit with the same fingerprint in two plans renders to the same bytes. A fingerprint covers
//! the version of the program, the templates, and the topology without its exceptions and single pins. It
//! also covers the exceptions and pins that touch the unit, by the rule of [`closc_plan::touch`], which
//! `closc diff` uses too.

use std::collections::BTreeMap;

use closc_plan::{ArtefactSet, Plan, touch};

use crate::Unit;
use crate::meaning::{exceptions, form, numbers, pins};

/// Digest of everything that a unit is rendered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint(pub [u8; 16]);

/// Computes fingerprints.
pub struct Fingerprints {
    common: blake3::Hash,
    hashers: BTreeMap<ArtefactSet, blake3::Hasher>,
}

impl Fingerprints {
    /// Computes the fingerprints for a plan and the digest of the templates.
    pub fn new(plan: &Plan, templates: blake3::Hash) -> Self {
        let mut touched: BTreeMap<ArtefactSet, blake3::Hasher> = BTreeMap::new();
        let mut add = |at: ArtefactSet, form: &[u8]| {
            touched.entry(at).or_default().update(form);
        };
        for (exception, form) in exceptions(plan) {
            touch(exception, plan.fabric(), &mut |at| add(at, &form));
        }
        for (switch, form) in pins(plan) {
            add(ArtefactSet::Switch(switch), &form);
        }
        // The delays follow from the first present T0 of each zone. Every path table and node file contains
        // one of them.
        let delays = form(&plan.zone_delays());
        add(ArtefactSet::Tables, &delays);
        if plan.nodes_state_delays() {
            add(ArtefactSet::Hosts, &delays);
        }
        Fingerprints { common: common(plan, templates), hashers: touched }
    }

    /// Returns the digest of everything except exceptions and single pins.
    pub fn common(&self) -> blake3::Hash {
        self.common
    }

    /// Returns the fingerprint of a unit.
    pub fn of(&self, unit: Unit) -> Fingerprint {
        let places: &[ArtefactSet] = match unit {
            Unit::Switch(switch) => &[ArtefactSet::Switch(switch), ArtefactSet::Plane(switch.plane)],
            Unit::Host(node) => &[ArtefactSet::Host(node), ArtefactSet::Hosts],
            Unit::Group(zone, group) => &[ArtefactSet::Table(zone, group), ArtefactSet::Tables],
            Unit::Cables(plane) | Unit::ZoneCables(plane, _) => &[ArtefactSet::List(plane)],
            Unit::Pipelines => &[],
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.common.as_bytes());
        for place in places {
            let own = self.hashers.get(place).map(blake3::Hasher::finalize);
            hasher.update(own.as_ref().map_or(&[0; 32], |own| own.as_bytes()));
        }
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Fingerprint(short)
    }
}

/// Digests the program's version, the templates and the topology, in the form of [`numbers`].
fn common(plan: &Plan, templates: blake3::Hash) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.update(templates.as_bytes());
    hasher.update(numbers(plan).as_bytes());
    hasher.finalize()
}
