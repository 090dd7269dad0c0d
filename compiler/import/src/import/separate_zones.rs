//! Rejects zones that neither T2s nor nodes connect.
//!
//! In: the places of devices by name. Out: the fault of such a network. Invariants: zones that nodes connect are
//! planes by NIC, which are not separate.

use std::collections::BTreeSet;

use crate::network::{Fault, Level};
use crate::position::{Place, Positions};

/// Returns the fault of a network whose zones are separate fabrics.
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
