//! Repairs: losses from before and during a repair do not count after it.
//!
//! In: an element whose verdict ended. Out: the cables whose probes may have been lost due to the fault or its repair.
//! Invariants: cables with another known fault keep their evidence, and dead cables stay dead. A cable near a repair is
//! named only for losses that occur some time later.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::PortUse;
use closc_plan::Plan;
use closc_topology::{Link, NicPort, Switch};

use crate::element::{Element, ends};

/// Maximum time between two reports of an agent. Sources that do not answer are retried after at most 30 s.
const REPORT_MS_MAX: u64 = 60_000;

/// Cables near a repair, with the time until which partial losses over them do not count.
#[derive(Debug, Default)]
pub(crate) struct Repairs(BTreeMap<Link, u64>);

impl Repairs {
    /// Records that partial losses over these cables do not count until a time.
    pub(crate) fn note(&mut self, links: &BTreeSet<Link>, until_ms: u64) {
        for link in links {
            let own = self.0.entry(*link).or_default();
            *own = until_ms.max(*own);
        }
    }

    /// Removes repairs that ended before the last report of every polled agent.
    pub(crate) fn forget(&mut self, now_ms: u64) {
        self.0.retain(|_, until_ms| *until_ms + REPORT_MS_MAX > now_ms);
    }

    /// Moves all times, because the clock was set.
    pub(crate) fn shift(&mut self, by_ms: i64) {
        self.0.values_mut().for_each(|until_ms| *until_ms = until_ms.saturating_add_signed(by_ms));
    }

    /// Returns whether a cable was still near a repair at the time of the previous report. Losses in the next report
    /// may date from that time.
    pub(crate) fn is_near(&self, link: Link, at_ms: u64) -> bool {
        self.0.get(&link).is_some_and(|until_ms| *until_ms > at_ms)
    }
}

/// Returns the cables of an element, and all cables of the switches at their ends. A restarting switch has links before
/// it has routes.
pub(crate) fn adjacent_links(plan: &Plan, element: Element) -> BTreeSet<Link> {
    let topology = plan.topology();
    let of_switch = |switch: Switch| {
        plan.fabric().ports(switch).filter_map(|port| match port.usage {
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
