//! Repairs: evidence from before and during a repair does not count after it.
//!
//! In: the element that a verdict ended of. Out: the cables whose probes the fault or its repair may have lost. Invariants: a cable
//! that something else is known to be wrong with keeps its evidence; what is dead stays dead; only time and new losses name a cable
//! near a repair.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::PortUse;
use closc_plan::Plan;
use closc_topology::{Link, NicPort, Switch};

use crate::element::{Element, ends};

/// The longest time between two reports of an agent: sources that do not answer are polled after 30 s.
const REPORT_MS_MAX: u64 = 60_000;

/// Cables near a repair, and until when some lost probes over them do not count.
#[derive(Debug, Default)]
pub(crate) struct Repairs(BTreeMap<Link, u64>);

impl Repairs {
    /// Notes that some lost probes over these cables do not count for a while.
    pub(crate) fn note(&mut self, links: &BTreeSet<Link>, until_ms: u64) {
        for link in links {
            let own = self.0.entry(*link).or_default();
            *own = until_ms.max(*own);
        }
    }

    /// Forgets repairs that were over before the last report of any agent that is polled.
    pub(crate) fn forget(&mut self, now_ms: u64) {
        self.0.retain(|_, until_ms| *until_ms + REPORT_MS_MAX > now_ms);
    }

    /// Tells whether a cable is near a repair that was not over at a time: that of the report before, as the losses of the next one
    /// may be of then.
    pub(crate) fn is_near(&self, link: Link, at_ms: u64) -> bool {
        self.0.get(&link).is_some_and(|until_ms| *until_ms > at_ms)
    }
}

/// The cables that probes over an element may have taken, and those of the switches at its ends: a switch that starts anew has links
/// before it has routes.
pub(crate) fn near(plan: &Plan, element: Element) -> BTreeSet<Link> {
    let topology = plan.topology();
    let of_switch = |switch: Switch| {
        plan.fabric().ports(switch).filter_map(|port| match port.used {
            PortUse::Link { link, .. } => Some(link),
            PortUse::Absent { .. } | PortUse::Spare => None,
        })
    };
    let of_cable = |link: Link| {
        let switches = ends(topology, link).into_iter().flatten();
        switches.filter(|switch| plan.fabric().has_switch(*switch)).flat_map(of_switch).chain([link])
    };
    match element {
        Element::Plane(plane) => plan.fabric().links().filter(|link| link.plane() == plane).collect(),
        Element::Switch(switch) => of_switch(switch).flat_map(of_cable).collect(),
        Element::Nic(nic) => {
            let ports = topology.plane_ids().map(|plane| Link::Host(NicPort { plane, nic }));
            ports.filter(|link| plan.fabric().has_link(*link)).flat_map(of_cable).collect()
        }
        Element::Port(port) => of_cable(Link::Host(port)).collect(),
        Element::Cable(link) => of_cable(link).collect(),
    }
}
