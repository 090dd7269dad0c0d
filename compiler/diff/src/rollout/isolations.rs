//! Waves in which hosts stop using cables that become isolated.
//!
//! In: a difference and the old plan. Out: [`Isolations`]. Invariants: these waves come first and do not
//! change switches. So hosts have stopped using a cable before a switch gets its access list, in whichever
//! wave that switch is configured. The end of an isolation does not need a wave, because the last wave
//! changes switches before hosts get their tables.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::PlaneId;

use super::step::Step;
use super::{Wave, bare_wave};
use crate::change::{Change, Exception, Toggle};
use crate::compare::Difference;
use crate::mode::Place;

/// Cables that become isolated and that hosts still use, by plane.
pub(super) struct Isolations {
    planes: BTreeMap<PlaneId, Vec<Place>>,
}

impl Isolations {
    /// Finds the cables.
    pub(super) fn of(difference: &Difference, old: &Plan) -> Isolations {
        let mut planes: BTreeMap<PlaneId, Vec<Place>> = BTreeMap::new();
        for change in &difference.changes {
            if let Change::Exception(Exception::Isolated(Toggle::On, link)) = change
                && !old.fabric().is_drained(*link)
            {
                planes.entry(link.plane()).or_default().push(Place::Link(*link));
            }
        }
        Isolations { planes }
    }

    /// Returns the cables.
    pub(super) fn places(&self) -> BTreeSet<Place> {
        self.planes.values().flatten().copied().collect()
    }

    /// Returns one wave per plane.
    pub(super) fn waves(&self, old: &Plan) -> impl Iterator<Item = Wave> {
        let tables = old.groups().count();
        self.planes.iter().map(move |(plane, places)| {
            let leave = Step::DenyPaths { plane: *plane, places: places.len(), tables };
            let (drained, gone) = (places.clone(), places.clone());
            Wave { drained, removed_places: gone, ..bare_wave(Some(*plane), vec![leave, Step::WaitIdle]) }
        })
    }
}
