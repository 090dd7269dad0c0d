//! Numbers of hosts and switches in a plane, for formats that have no names.
//!
//! In: a plan and a plane. Out: NICs from 0, then switches, in the order of the fabric. Invariants: a NIC has
//! a number if it has a cable in the plane. Numbers have no gaps for absent or drained elements, because
//! simulators reject gaps.

use std::io;

use closc_plan::Plan;
use closc_topology::{Link, Nic, PlaneId, Switch};

use super::links;
use crate::File;

/// Numbered hosts and switches of a plane.
pub(super) struct Numbers {
    /// In order.
    pub(super) hosts: Vec<Nic>,
    /// In order.
    pub(super) switches: Vec<Switch>,
}

impl Numbers {
    pub(super) fn of(plan: &Plan, plane: PlaneId) -> Numbers {
        let fabric = plan.fabric();
        let hosts = fabric.host_links(plane).filter(|link| !fabric.is_drained(*link));
        let nic = |link| match link {
            Link::Host(port) => Some(port.nic),
            Link::Fabric { .. } => None,
        };
        let drained = &plan.topology().exceptions.drained_switches;
        Numbers {
            hosts: hosts.filter_map(nic).collect(),
            switches: fabric.plane_switches(plane).filter(|switch| !drained.contains(switch)).collect(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.hosts.len() + self.switches.len()
    }

    pub(super) fn host(&self, nic: Nic) -> Option<usize> {
        self.hosts.binary_search(&nic).ok()
    }

    pub(super) fn switch(&self, switch: Switch) -> Option<usize> {
        // Plane by plane they are in the order of tiers, zones, indices, which is that of `Switch`.
        self.switches.binary_search(&switch).ok().map(|at| self.hosts.len() + at)
    }

    /// The two numbers of a cable, the lower end first.
    pub(super) fn ends(&self, plan: &Plan, link: Link) -> Option<(usize, usize)> {
        let lower = match link {
            Link::Host(port) => self.host(port.nic)?,
            Link::Fabric { lower, .. } => self.switch(lower)?,
        };
        let (upper, _) = plan.fabric().upper_end(link)?;
        Some((lower, self.switch(upper)?))
    }

    /// Calls `take` for each cable, with the numbers of its ends.
    pub(super) fn for_each_link(
        &self,
        plan: &Plan,
        plane: PlaneId,
        take: &mut dyn FnMut(Link, usize, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        links(plan, plane).try_for_each(|link| match self.ends(plan, link) {
            Some((lower, upper)) => take(link, lower, upper),
            None => Ok(()),
        })
    }
}

/// Returns the list of numbers with the names of NICs and switches.
pub(super) fn list<'a>(path: String, plan: &'a Plan, numbers: &'a Numbers) -> File<'a> {
    File::new(path, move |out| {
        let topology = plan.topology();
        writeln!(out, "number,kind,name")?;
        for (at, nic) in numbers.hosts.iter().enumerate() {
            let (node, number) = topology.node_of(*nic);
            writeln!(out, "{at},nic,{}", topology.naming.nic(node, number))?;
        }
        for (at, switch) in numbers.switches.iter().enumerate() {
            let number = numbers.hosts.len() + at;
            writeln!(out, "{number},{},{}", switch.tier.keyword(), plan.switch_name(*switch))?;
        }
        Ok(())
    })
}
