//! Which switches, NICs and cables come, go or move.
//!
//! In: two fabrics. Out: coordinates, in order. Invariants: where the numbers of both are the same, only what exceptions
//! name is looked at; a fabric that grows is walked once.

use std::collections::BTreeSet;

use closc_fabric::{Fabric, PortUse};
use closc_topology::{Exceptions, Link, Nic, NicPort, Switch, TierId, Topology};

/// What one side has and the other has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta<T> {
    /// What only the new side has.
    pub added: Vec<T>,
    /// What only the old side has.
    pub removed: Vec<T>,
}

/// Switches, NICs and cables that come, go or move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    /// Switches.
    pub switches: Delta<Switch>,
    /// NICs.
    pub nics: Delta<Nic>,
    /// Cables.
    pub cables: Delta<Link>,
    /// Cables of both sides whose upper end is at another port.
    pub moved: Vec<Link>,
}

impl Population {
    /// Compares two fabrics.
    pub fn between(old: &Fabric, new: &Fabric) -> Population {
        if numbers(old.topology()) == numbers(new.topology()) { touched(old, new) } else { walked(old, new) }
    }

    /// Tells whether something comes, or comes to another port.
    pub fn grows(&self) -> bool {
        let cables = self.cables.added.len() + self.moved.len();
        !self.switches.added.is_empty() || !self.nics.added.is_empty() || cables > 0
    }

    /// Tells whether something goes, or goes to another port.
    pub fn shrinks(&self) -> bool {
        let cables = self.cables.removed.len() + self.moved.len();
        !self.switches.removed.is_empty() || !self.nics.removed.is_empty() || cables > 0
    }

    /// Tells whether nothing comes, goes or moves.
    pub fn is_same(&self) -> bool {
        self.switches.is_empty() && self.nics.is_empty() && self.cables.is_empty() && self.moved.is_empty()
    }
}

impl<T> Delta<T> {
    /// Tells whether nothing comes or goes.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// Every number that decides who exists and who is connected with whom.
fn numbers(topology: &Topology) -> impl PartialEq + use<> {
    let counts = [
        u16::from(topology.planes),
        topology.zones,
        topology.hosts.groups,
        topology.t0.up.count,
        topology.t0.parallel,
        topology.hosts.per_group,
        topology.t1_count,
        topology.t1.up.count,
        topology.t1.parallel,
        topology.count(TierId::T2),
    ];
    (counts, topology.t2.as_ref().map(|t2| (t2.wiring, t2.zone_ports, t2.rows)))
}

/// Fabrics of the same numbers differ only around what an exception declares absent.
fn touched(old: &Fabric, new: &Fabric) -> Population {
    let (before, after) = (&old.topology().exceptions, &new.topology().exceptions);
    let switches: BTreeSet<Switch> =
        before.absent_switches.symmetric_difference(&after.absent_switches).copied().collect();
    let nics: BTreeSet<Nic> = before.absent_nics.symmetric_difference(&after.absent_nics).copied().collect();
    let mut links: BTreeSet<Link> =
        before.absent_links.symmetric_difference(&after.absent_links).copied().collect();
    for switch in &switches {
        let ports = new.ports(*switch);
        links.extend(ports.filter_map(|port| match port.used {
            PortUse::Link { link, .. } | PortUse::Absent { link } => Some(link),
            PortUse::Spare => None,
        }));
    }
    for nic in &nics {
        links.extend(new.topology().plane_ids().map(|plane| Link::Host(NicPort { plane, nic: *nic })));
    }
    Population {
        switches: delta(&switches, |s| old.has_switch(*s), |s| new.has_switch(*s)),
        nics: delta(&nics, |n| old.has_nic(*n), |n| new.has_nic(*n)),
        cables: delta(&links, |l| old.has_link(*l), |l| new.has_link(*l)),
        moved: Vec::new(),
    }
}

fn delta<T: Copy>(all: &BTreeSet<T>, old: impl Fn(&T) -> bool, new: impl Fn(&T) -> bool) -> Delta<T> {
    let there = |item: &&T| (old(item), new(item));
    Delta {
        added: all.iter().filter(|item| there(item) == (false, true)).copied().collect(),
        removed: all.iter().filter(|item| there(item) == (true, false)).copied().collect(),
    }
}

/// Fabrics of different numbers are walked.
fn walked(old: &Fabric, new: &Fabric) -> Population {
    let removed_links = old.links().filter(|link| !new.has_link(*link)).collect();
    let mut cables = Delta { added: Vec::new(), removed: removed_links };
    let mut moved = Vec::new();
    for link in new.links() {
        if !old.has_link(link) {
            cables.added.push(link);
        } else if old.upper_end(link) != new.upper_end(link) {
            moved.push(link);
        }
    }
    Population {
        switches: Delta {
            added: new.switches().filter(|switch| !old.has_switch(*switch)).collect(),
            removed: old.switches().filter(|switch| !new.has_switch(*switch)).collect(),
        },
        nics: Delta {
            added: new.nics().filter(|nic| !old.has_nic(*nic)).collect(),
            removed: old.nics().filter(|nic| !new.has_nic(*nic)).collect(),
        },
        cables,
        moved,
    }
}

/// Tells whether a switch carries no traffic, by itself or with its plane.
pub(crate) fn is_drained(exceptions: &Exceptions, switch: Switch) -> bool {
    exceptions.drained_switches.contains(&switch) || exceptions.drained_planes.contains(&switch.plane)
}
