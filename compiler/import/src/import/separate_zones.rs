//! Rejects zones that are not connected by T2s or nodes.
//!
//! In: the positions of devices by name. Out: the error for such a network. Invariants: zones that are
//! connected by nodes are planes by NIC, which are valid.

use std::collections::BTreeSet;

use crate::network::{Fault, Level};
use crate::position::{Place, Positions};

/// Returns the error for a network whose zones are separate fabrics.
pub(super) fn fault(positions: &Positions) -> Option<Fault> {
    let zone = |place: &Place| match place {
        Place::Switch(switch) => Some(switch.zone),
        Place::Node(_) => None,
    };
    let zones = positions.places.iter().filter_map(zone).collect::<BTreeSet<_>>().len();
    let is_joined = positions.levels.contains(&Level::T2) || positions.nics.zones > 1;
    (zones > 1 && !is_joined).then(|| {
        let text = format!(
            "the names belong to {zones} zones that neither a T2 nor a node connects; help: import one zone \
             at a time, with `--nodes PATTERN`"
        );
        Fault { place: None, text }
    })
}
