//! V1307: compares backup ports and NCCL's topology of nodes with the cables, slots and ports.
//!
//! In: the files of nodes. Out: violations. Invariants: names, planes and T0s come from the cable lists, slots from the
//! systemd-networkd units of the node, speeds from the ports of T0s. `hosts.slots` is one list for all nodes, and no
//! other file contains the GPUs. Nodes whose GPUs differ from most nodes are therefore reported.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::paths::HOSTS;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, Kind, NodeId};
use crate::model::fabric::Fabric;
use crate::model::library::{BackupPair, Backups, PairedPort, Pairing, SharedComponent};
use crate::model::network::{GivenName, NodeNetwork};
use crate::model::place::Place;
use crate::model::tools::NodeTools;
use crate::read::library::{BACKUPS, TOPOLOGY};
use crate::rules::hosts::LIBRARY;

/// A NIC port with a cable: its NIC, the adapter of the NIC, its plane, its T0, and its speed if known.
#[derive(Debug, Clone, Copy)]
struct Port<'a> {
    nic: u8,
    adapter: u8,
    plane: u8,
    t0: &'a str,
    mbps: Option<u32>,
}

type Ports<'a> = BTreeMap<&'a str, Port<'a>>;

/// Checks the files of all nodes. `per_adapter` is the number of NICs on an adapter.
pub(crate) fn check(
    fabric: &Fabric,
    per_adapter: u8,
    (tools, networks): (&[NodeTools], &[(NodeId, NodeNetwork)]),
    findings: &mut Findings,
) {
    let has_t1 = fabric.cabling.cables().any(|cable| cable.kind != Kind::NicT0);
    let units: BTreeMap<u32, &[GivenName]> = networks
        .iter()
        .filter(|(_, network)| !network.names.is_empty())
        .map(|(node, network)| (node.0, network.names.as_slice()))
        .collect();
    let usual = usual(tools);
    for tools in tools {
        let name = fabric.cabling.nodes[tools.node.0 as usize].as_str();
        let ports = ports(fabric, per_adapter.max(1), tools);
        let mut broken = |file: &str, line: Option<usize>, message: String| {
            let path = format!("{HOSTS}/{name}/{file}");
            let place =
                line.map_or_else(|| Place::file(path.clone()), |line| Place::line(path.clone(), line));
            findings.report(Violation::new(&LIBRARY, place, format!("`{name}`: {message}")));
        };
        if let Some(own) = &tools.backups {
            if own.node != name {
                broken(BACKUPS, None, "it is the file of another node".to_owned());
            }
            for message in backups(&ports, own, has_t1) {
                broken(BACKUPS, None, message);
            }
        }
        let is_named = tools.nccl.as_ref().is_some_and(|settings| settings.contains_key("NCCL_TOPO_FILE"));
        if is_named && !tools.has_topology {
            broken(TOPOLOGY, None, "the file of `NCCL_TOPO_FILE` is missing".to_owned());
        }
        if let Some(own) = &tools.topology {
            let names = units.get(&tools.node.0).copied().unwrap_or_default();
            for (line, message) in topology(&ports, names, own).into_iter().chain(unusual(own, &usual)) {
                broken(TOPOLOGY, line, message);
            }
        }
    }
}

/// Returns the ports of a node. If the file of a T0 has no port speed, it is taken from `delay.json`.
fn ports<'f>(fabric: &'f Fabric, per_adapter: u8, tools: &NodeTools) -> Ports<'f> {
    let cabling = &fabric.cabling;
    let stated = tools.delay.as_ref().map(|delay| delay.port_mbps);
    let port = |cable: Cable| {
        let name = cabling.names.text(cable.lower.port);
        let nic: u8 = name.strip_prefix("nic")?.split_once('p')?.0.parse().ok()?;
        let mbps = fabric.facts(cable.upper).and_then(|facts| facts.wire.speed).or(stated);
        Some((
            name,
            Port {
                nic,
                adapter: nic / per_adapter,
                plane: cable.plane,
                t0: cabling.party(cable.upper.party),
                mbps,
            },
        ))
    };
    cabling.at_node(tools.node).iter().filter_map(|plug| port(cabling.cable(plug.cable()))).collect()
}

/// Checks that every port has a backup, and that the backup uses a different NIC and plane where possible.
fn backups(ports: &Ports<'_>, own: &Backups, has_t1: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let mut powers: BTreeMap<u8, &Option<String>> = BTreeMap::new();
    for port in own.pairs.iter().flat_map(|pair| [&pair.primary, &pair.backup]) {
        faults.extend(position(ports, port));
        if powers.insert(port.nic, &port.power).is_some_and(|other| *other != port.power) {
            faults.push(format!("NIC {} has two power domains", port.nic));
        }
    }
    let first: BTreeSet<&str> = own.pairs.iter().map(|pair| pair.primary.name.as_str()).collect();
    if first.len() != own.pairs.len() {
        faults.push("a port has two backups".to_owned());
    }
    let replaced = |(name, port): &(&&str, &Port<'_>)| {
        let others = || ports.iter().filter(|(other, _)| other != name);
        others().any(|(_, to)| has_t1 || port.nic == to.nic || meet(ports, port.nic, to.nic) == Some(true))
    };
    for (name, _) in ports.iter().filter(replaced).filter(|(name, _)| !first.contains(**name)) {
        faults.push(format!("port `{name}` has no backup"));
    }
    faults.extend(own.pairs.iter().filter_map(|pair| shared_components_fault(pair, ports, has_t1)));
    if has_t1 {
        faults.extend(steps(ports, own));
    }
    faults
}

fn position(ports: &Ports<'_>, port: &PairedPort) -> Option<String> {
    let Some(known) = ports.get(port.name.as_str()) else {
        return Some(format!("`{}` is not a port with a cable", port.name));
    };
    let differs = (port.nic, port.plane, port.t0.as_str()) != (known.nic, known.plane, known.t0);
    differs.then(|| {
        let Port { nic, plane, t0, .. } = known;
        format!("`{}` is the port of NIC {nic} in plane {plane} at `{t0}`", port.name)
    })
}

/// Returns whether two NICs have the same T0 in the first plane that both use; `None` without such a plane.
fn meet(ports: &Ports<'_>, one: u8, other: u8) -> Option<bool> {
    let of = |nic: u8| ports.values().filter(move |port| port.nic == nic);
    of(one).find_map(|port| {
        let beside = of(other).find(|beside| beside.plane == port.plane)?;
        Some(beside.t0 == port.t0)
    })
}

/// Compares the components that a pair shares with the listed ones.
fn shared_components_fault(pair: &BackupPair, ports: &Ports<'_>, has_t1: bool) -> Option<String> {
    let (from, to) = (&pair.primary, &pair.backup);
    if from.name == to.name {
        return Some(format!("port `{}` is its own backup", from.name));
    }
    if !has_t1 && from.nic != to.nic && meet(ports, from.nic, to.nic) == Some(false) {
        return Some(format!("`{}` does not reach the peers of `{}`", to.name, from.name));
    }
    let [one, other] = [from, to].map(|port| ports.get(port.name.as_str()).map(|known| known.adapter));
    let wanted = [
        (from.t0 == to.t0, SharedComponent::T0),
        (from.plane == to.plane, SharedComponent::Plane),
        (from.nic == to.nic || one.is_some() && one == other, SharedComponent::Transceiver),
        (from.power.is_some() && from.power == to.power, SharedComponent::Power),
    ];
    let is_domain =
        |part: &&SharedComponent| matches!(part, SharedComponent::Domain(name) if !name.is_empty());
    let domains = pair.shares.iter().filter(is_domain);
    let wanted: Vec<&SharedComponent> =
        wanted.iter().filter_map(|(same, part)| same.then_some(part)).chain(domains).collect();
    let differs = !wanted.iter().copied().eq(&pair.shares);
    differs.then(|| format!("`{}` and `{}` share other components than listed", from.name, to.name))
}

/// Checks that each port backs up at most one other, and that a backup uses a different adapter, NIC and plane where
/// there are several. Applies only if every NIC has a port in every plane.
fn steps(ports: &Ports<'_>, own: &Backups) -> Option<String> {
    let nics: BTreeSet<u8> = ports.values().map(|port| port.nic).collect();
    let planes: BTreeSet<u8> = ports.values().map(|port| port.plane).collect();
    let is_full = ports.len() == nics.len() * planes.len()
        && nics.iter().copied().eq(0..nics.len() as u8)
        && planes.iter().copied().eq(0..planes.len() as u8);
    if !is_full {
        return None;
    }
    let backups: BTreeSet<&str> = own.pairs.iter().map(|pair| pair.backup.name.as_str()).collect();
    if backups.len() != own.pairs.len() {
        return Some("a port is the backup of two".to_owned());
    }
    let adapters: BTreeSet<u8> = ports.values().map(|port| port.adapter).collect();
    let adapter = |port: &PairedPort| ports.get(port.name.as_str()).map(|known| known.adapter);
    let near = own.pairs.iter().find(|pair| {
        nics.len() > 1 && pair.primary.nic == pair.backup.nic
            || adapters.len() > 1 && adapter(&pair.primary) == adapter(&pair.backup)
            || planes.len() > 1 && pair.primary.plane == pair.backup.plane
    });
    near.map(|pair| {
        let (from, to) = (&pair.primary.name, &pair.backup.name);
        format!("the backup of `{from}` is `{to}`; expected a port of another adapter, NIC and plane")
    })
}

type Faults = Vec<(Option<usize>, String)>;

/// Checks addresses and links. NICs are compared with the slots in systemd-networkd units, if the node has any.
fn topology(ports: &Ports<'_>, names: &[GivenName], own: &[Pairing]) -> Faults {
    let mut slots: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
    for (port, bus) in names.iter().filter_map(|given| Some((ports.get(&*given.name)?, bus(&given.pci)?))) {
        slots.entry(port.nic).or_default().insert(bus);
    }
    let (mut faults, mut seen) = (Faults::new(), BTreeSet::new());
    for pairing in own {
        let mut fault = |message: String| faults.push((Some(pairing.line), message));
        let devices = || pairing.nics.iter().chain([&pairing.gpu]);
        for address in devices().chain([&pairing.switch]).filter(|address| !seen.insert((*address).clone())) {
            fault(format!("PCI device `{address}` appears twice"));
        }
        // If a real device has this address, NCCL reads the topology of the machine above it.
        if !pairing.switch.starts_with("ffff:ff:") || bus(&pairing.switch).is_none() {
            fault(format!(
                "`{}` can be the address of a device; expected one on bus `ffff:ff`",
                pairing.switch
            ));
        }
        if bus(&pairing.gpu).is_none() || slots.values().flatten().any(|nic| *nic == pairing.gpu) {
            fault(format!("`{}` is not the PCI address of a GPU", pairing.gpu));
        }
        let own: BTreeSet<&String> = pairing.nics.iter().collect();
        let below: BTreeSet<u8> = slots
            .iter()
            .filter(|(_, buses)| buses.iter().any(|bus| own.contains(bus)))
            .map(|(nic, _)| *nic)
            .collect();
        let expected: BTreeSet<&String> = below.iter().flat_map(|nic| &slots[nic]).collect();
        let is_bus = |nic: &&String| bus(nic).as_ref() == Some(*nic);
        if own.is_empty() || !own.iter().all(is_bus) || !slots.is_empty() && own != expected {
            fault(format!("the NICs of GPU `{}` are not complete NICs of the node", pairing.gpu));
        }
        let speed = link_speed(ports, &below);
        let wrong = |speed: &str| speed != pairing.link_speed;
        if speed.map_or_else(|| SPEEDS.iter().all(|(_, speed)| wrong(speed)), wrong) {
            fault(format!("the links of GPU `{}` have {}", pairing.gpu, pairing.link_speed));
        }
    }
    faults
}

/// Returns the address of the first function on the bus of a PCI address; `None` if the address is invalid.
fn bus(pci: &str) -> Option<String> {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let parts: Vec<&str> = pci.split([':', '.']).collect();
    let [domain, bus, device, function] = parts.as_slice() else { return None };
    let lengths = [domain.len(), bus.len(), device.len(), function.len()];
    let is_valid = lengths == [4, 2, 2, 1] && parts.iter().all(|part| is_hex(part)) && *function < "8";
    is_valid.then(|| format!("{domain}:{bus}:00.0"))
}

/// PCI Express generations: the network speed in Mb/s that 16 lanes can carry, and the rate of one lane.
const SPEEDS: [(u64, &str); 4] = [
    (100_000, "8.0 GT/s PCIe"),
    (200_000, "16.0 GT/s PCIe"),
    (400_000, "32.0 GT/s PCIe"),
    (u64::MAX, "64.0 GT/s PCIe"),
];

/// Returns the oldest generation that is fast enough for these NICs; `None` if the speed of a port is
/// unknown, or no generation is fast enough.
fn link_speed(ports: &Ports<'_>, nics: &BTreeSet<u8>) -> Option<&'static str> {
    let below = ports.values().filter(|port| nics.contains(&port.nic));
    let speeds: Vec<u64> = below.map(|port| port.mbps.map(u64::from)).collect::<Option<_>>()?;
    let sum = speeds.iter().sum::<u64>();
    SPEEDS.into_iter().find(|(most, _)| sum > 0 && sum <= *most).map(|(_, speed)| speed)
}

/// GPU of a NIC, and the NUMA node of the GPU.
type GpuPlace<'a> = (&'a str, u8);

/// Returns the most frequent GPU of each NIC; `None` where two are equally frequent.
fn usual(tools: &[NodeTools]) -> BTreeMap<&str, Option<GpuPlace<'_>>> {
    let mut counts: BTreeMap<&str, BTreeMap<GpuPlace<'_>, usize>> = BTreeMap::new();
    for pairing in tools.iter().filter_map(|tools| tools.topology.as_ref()).flatten() {
        for nic in &pairing.nics {
            *counts.entry(nic).or_default().entry((&pairing.gpu, pairing.numa)).or_default() += 1;
        }
    }
    let mut usual = BTreeMap::new();
    for (nic, places) in counts {
        let most = places.values().max().copied();
        let mut found = places.into_iter().filter(|(_, count)| Some(*count) == most);
        let first = found.next().map(|(place, _)| place);
        usual.insert(nic, first.filter(|_| found.next().is_none()));
    }
    usual
}

/// Returns the NICs whose GPU is not the most frequent one of the NIC, or for which two are equally frequent.
fn unusual<'a>(
    pairings: &'a [Pairing],
    usual: &'a BTreeMap<&str, Option<GpuPlace<'_>>>,
) -> impl Iterator<Item = (Option<usize>, String)> + 'a {
    pairings.iter().flat_map(move |pairing| {
        let differs = |nic: &&String| {
            usual.get(nic.as_str()).is_some_and(|place| *place != Some((pairing.gpu.as_str(), pairing.numa)))
        };
        pairing.nics.iter().filter(differs).map(move |nic| {
            let Pairing { gpu, numa, .. } = pairing;
            let message =
                format!("NIC `{nic}` is beside GPU `{gpu}` on NUMA node {numa}, unlike on other nodes");
            (Some(pairing.line), message)
        })
    })
}
