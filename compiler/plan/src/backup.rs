//! Backup port of each NIC port.
//!
//! In: the intent of a node. Out: a [`BackupPair`] for each port. Invariants: the backup is a port of another NIC if
//! another NIC has a path to the same peers. It shares as few components as possible with its port. The components,
//! heaviest first: T0, plane, transceiver, power domain, declared domains. On a node without absent ports, all ports
//! have their backups at the same offset, so no port backs up two others.

use std::collections::BTreeSet;

use closc_topology::PlaneId;
use serde::Serialize;
use smol_str::SmolStr;

use crate::intent::{HostIntent, NicIntent, NicPortIntent};

/// A port and its backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupPair {
    /// The port in use.
    pub primary: PortName,
    /// The port that takes over.
    pub backup: PortName,
    /// Components that both ports depend on.
    pub shares: BTreeSet<SharedComponent>,
}

/// A NIC port with its name and position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortName {
    /// Interface and RDMA device, for example `nic0p3`.
    pub name: SmolStr,
    /// Number of the NIC in the node, from 0.
    pub nic: u8,
    /// Plane.
    pub plane: u8,
    /// The T0 at the other end.
    pub t0: SmolStr,
    /// Power domain of the NIC, if the fabric file names one.
    pub power: Option<SmolStr>,
}

/// A component that two ports can share, in order of weight, the heaviest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedComponent {
    /// The T0 at the other end.
    T0,
    /// The plane.
    Plane,
    /// The transceiver. All ports of a NIC count as sharing it, and so do those of an adapter.
    Transceiver,
    /// The power domain of the NICs.
    Power,
    /// A declared domain of the fabric file, by name.
    Domain(SmolStr),
}

/// A port with its NIC.
type NodePort<'a> = (&'a NicIntent, &'a NicPortIntent);

impl HostIntent<'_> {
    /// Returns the backup of every port, in the order of NICs and planes. A node with a single port has none, and
    /// neither does the only port in an island.
    pub fn backups(&self) -> Vec<BackupPair> {
        let ports: Vec<NodePort<'_>> =
            self.nics.iter().flat_map(|nic| nic.ports.iter().map(move |port| (nic, port))).collect();
        let find = |step: Step, from: NodePort<'_>| {
            let (number, plane) = step.from(from);
            let mut to = ports.iter().copied();
            to.find(|(nic, port)| nic.number == number && port.plane == plane)
                .filter(|to| self.replaces(from, *to))
        };
        // Choose the step with the fewest missing backup ports. Among those, choose the one whose pairs share least.
        let best = Step::all(&ports).into_iter().min_by_key(|step| {
            let of = |from: &NodePort<'_>| find(*step, *from).map(|to| weight(&shared_components(*from, to)));
            let weights: Vec<u32> = ports.iter().filter_map(of).collect();
            (ports.len() - weights.len(), weights.iter().sum::<u32>())
        });
        let pair = |from: &NodePort<'_>| {
            let by_step = best.and_then(|step| find(step, *from));
            let to = by_step.or_else(|| {
                let others: Vec<NodePort<'_>> =
                    ports.iter().copied().filter(|to| self.replaces(*from, *to)).collect();
                nearest(&others, *from)
            })?;
            Some(BackupPair { primary: name(*from), backup: name(to), shares: shared_components(*from, to) })
        };
        ports.iter().filter_map(pair).collect()
    }

    /// Returns whether a port has a path to the peers of another.
    fn replaces(&self, from: NodePort<'_>, to: NodePort<'_>) -> bool {
        let group = |at: NodePort<'_>| (at.0.nic.zone, at.0.nic.group);
        self.island.holds(group(from), group(to))
    }
}

/// Offset from a port to its backup: a number of adapters, of NICs on an adapter, and of planes, modulo their counts.
#[derive(Debug, Clone, Copy)]
struct Step {
    adapters: u16,
    nics: u16,
    planes: u16,
    by: (u16, u16, u16),
}

impl Step {
    /// Returns every step except the zero step, in order of adapters, then NICs, then planes. On the same adapter,
    /// other NICs come first, because they are on other T0s.
    fn all(ports: &[NodePort<'_>]) -> Vec<Step> {
        let count = |number: fn(&NodePort<'_>) -> u8| {
            ports.iter().map(|port| u16::from(number(port)) + 1).max().unwrap_or(0)
        };
        let adapters = count(|(nic, _)| nic.adapter);
        let nics = count(|(nic, _)| nic.in_adapter);
        let planes = count(|(_, port)| port.plane.0);
        // Offset 0 comes last.
        let of_adapter = |a| (1..=nics).flat_map(move |n| (0..planes).map(move |p| (a, n % nics, p)));
        let steps = (0..adapters).flat_map(of_adapter).filter(|by| *by != (0, 0, 0));
        steps.map(|by| Step { adapters, nics, planes, by }).collect()
    }

    fn from(self, (nic, port): NodePort<'_>) -> (u8, PlaneId) {
        let adapter = (u16::from(nic.adapter) + self.by.0) % self.adapters;
        let number = adapter * self.nics + (u16::from(nic.in_adapter) + self.by.1) % self.nics;
        let plane = (u16::from(port.plane.0) + self.by.2) % self.planes;
        (u8::try_from(number).unwrap_or(u8::MAX), PlaneId(u8::try_from(plane).unwrap_or(u8::MAX)))
    }
}

/// Returns the port that shares least with a port whose regular backup is absent.
fn nearest<'a>(ports: &[NodePort<'a>], from: NodePort<'_>) -> Option<NodePort<'a>> {
    let others = ports.iter().filter(|(nic, port)| (nic.number, port.plane) != (from.0.number, from.1.plane));
    others.copied().min_by_key(|to| weight(&shared_components(from, *to)))
}

fn shared_components(
    (nic, port): NodePort<'_>,
    (other_nic, other): NodePort<'_>,
) -> BTreeSet<SharedComponent> {
    let power = |nic: &NicIntent| nic.slot.as_ref().and_then(|slot| slot.power.clone());
    let found = [
        (port.t0 == other.t0, SharedComponent::T0),
        (port.plane == other.plane, SharedComponent::Plane),
        (nic.adapter == other_nic.adapter, SharedComponent::Transceiver),
        (power(nic).is_some() && power(nic) == power(other_nic), SharedComponent::Power),
    ];
    let domains = port.domains.intersection(&other.domains).cloned().map(SharedComponent::Domain);
    found.into_iter().filter_map(|(same, what)| same.then_some(what)).chain(domains).collect()
}

/// Returns the weight of shared components. One heavy component outweighs all lighter ones together.
fn weight(shares: &BTreeSet<SharedComponent>) -> u32 {
    let of = |shared: &SharedComponent| match shared {
        SharedComponent::T0 => 8 << 8,
        SharedComponent::Plane => 4 << 8,
        SharedComponent::Transceiver => 2 << 8,
        SharedComponent::Power => 1 << 8,
        SharedComponent::Domain(_) => 1,
    };
    shares.iter().map(of).sum()
}

fn name((nic, port): NodePort<'_>) -> PortName {
    PortName {
        name: port.interface.clone(),
        nic: nic.number,
        plane: port.plane.0,
        t0: port.t0.clone(),
        power: nic.slot.as_ref().and_then(|slot| slot.power.clone()),
    }
}
