//! Removals due to smaller counts of the new plan. One wave moves traffic away from removed elements in all
//! planes.
//!
//! In: added and removed elements. Out: [`Removals`]. Invariants: elements that an exception declares absent are not
//! included, because they are removed by the wave that drains them and count towards its share. Cables at a removed
//! switch or NIC are not listed separately.

use std::collections::BTreeSet;
use std::sync::Arc;

use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_topology::{Link, Nic, PlaneId, Switch};

use super::step::Step;
use super::{Wave, bare_wave, ends, traffic_steps};
use crate::change::{Change, Exception, ExceptionTarget, Toggle};
use crate::compare::Difference;
use crate::impact::{PairChange, impact};
use crate::mode::Place;
use crate::population::{Population, is_drained};

/// Removed switches, cables and NICs.
pub(super) struct Removals {
    pub(super) places: BTreeSet<Place>,
    nics: BTreeSet<Nic>,
}

impl Removals {
    pub(super) fn of(population: &Population, difference: &Difference, old: &Plan) -> Removals {
        let fabric = old.fabric();
        let exceptions = &old.topology().exceptions;
        let mut declared = BTreeSet::new();
        for change in &difference.changes {
            match change {
                Change::Exception(Exception::Absent(Toggle::On, ExceptionTarget::Switch(switch))) => {
                    declared.insert(Place::Switch(*switch));
                }
                Change::Exception(Exception::Absent(Toggle::On, ExceptionTarget::Link(link))) => {
                    declared.insert(Place::Link(*link));
                }
                _ => {}
            }
        }
        let switches: BTreeSet<Switch> = population.switches.removed.iter().copied().collect();
        let nics: BTreeSet<Nic> = population.nics.removed.iter().copied().collect();
        let links = population.cables.removed.iter().filter(|link| {
            let with_nic = matches!(link, Link::Host(port) if nics.contains(&port.nic));
            let with_switch = ends(fabric, **link).iter().any(|end| switches.contains(end));
            !with_nic && !with_switch && !fabric.is_drained(**link)
        });
        let links = links.copied().map(Place::Link);
        let switches = switches.iter().filter(|switch| !is_drained(exceptions, **switch));
        let places = switches.copied().map(Place::Switch).chain(links);
        Removals { places: places.filter(|place| !declared.contains(place)).collect(), nics }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.nics.is_empty()
    }

    /// Returns a fabric without the removed NICs.
    pub(super) fn remove_nics(&self, fabric: Fabric) -> Fabric {
        if self.nics.is_empty() {
            return fabric;
        }
        let mut topology = fabric.topology().clone();
        topology.exceptions.absent_nics.extend(&self.nics);
        Fabric::new(Arc::new(topology))
    }

    /// Returns whether pairs with a path in both fabrics lack a path between this wave and the end of the
    /// rollout.
    pub(super) fn cuts_off(&self, old: &Fabric, base: &Fabric, new: &Fabric) -> bool {
        let revived = |from: &Fabric| -> u64 {
            let has = |row: &&PairChange| {
                row.old.is_some_and(|share| share.usable == 0)
                    && row.new.is_some_and(|share| share.usable > 0)
            };
            impact(from, new).iter().filter(has).map(|row| row.pairs).sum()
        };
        !self.places.is_empty() && revived(base) > revived(old)
    }

    /// Returns the wave in which traffic leaves removed elements: hosts get tables that deny them, or
    /// switches route around them.
    pub(super) fn wave(&self, old: &Plan) -> Wave {
        let mut steps = Vec::new();
        if !self.nics.is_empty() {
            steps.push(Step::StopNics { nics: self.nics.len() });
        }
        let planes: BTreeSet<PlaneId> = self.places.iter().map(|place| place.plane()).collect();
        for plane in planes {
            let (leave, _) = traffic_steps(old, plane);
            steps.push(leave(self.places.iter().filter(|place| place.plane() == plane).count()));
        }
        if !self.places.is_empty() {
            steps.extend([Step::WaitIdle, Step::Verify]);
        }
        let places: Vec<Place> = self.places.iter().copied().collect();
        Wave { drained: places.clone(), removed_places: places, ..bare_wave(None, steps) }
    }
}
