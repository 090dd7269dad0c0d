//! k8s-launch-kit (`l8k`): the topology file from which NVIDIA's tool computes the address pools of Spectrum-X workers.
//!
//! In: a plan, and the IP version of the pools. Out: `topology.json`. Invariants: a fabric with more rails,
//! nodes, units, zones or planes than the tool has addresses for is refused. The cables of a node are
//! consecutive, because the tool numbers the nodes of a unit in the order of their first cables.
//!
//! Sources, read in November 2026: NVIDIA/k8s-launch-kit 5027cad7, `pkg/networkoperatorplugin/spectrumx/addressing.go`
//! (format, bits of addresses); 0713a6aa, `docs/reference/configuration.md` (planes); 48b262b1,
//! `docs/user/spectrum-x.md` (roles and types).

use std::io;

use closc_artefacts::Family;
use closc_plan::Plan;
use closc_topology::{Link, NicPort, Node, Switch, TierId, Topology, ZoneId};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::{File, Refusal};

const FORMAT: &str = "k8s-launch-kit";

/// Alternative for a fabric that exceeds a limit.
const HELP: &str = "`closc export kubernetes` writes pools with the addresses of the fabric, for any size";

/// Returns the IP version of the fabric's own NIC addresses.
pub fn address_family(plan: &Plan) -> Family {
    plan.topology().addresses.hosts.family()
}

/// A position in the terms of the tool, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Zones that share their nodes.
    pub(crate) pod: u16,
    /// Unit of the zone.
    pub(crate) su: u16,
}

impl Place {
    /// Returns the position of a node.
    pub(crate) fn of_node(topology: &Topology, node: Node) -> Self {
        Place { pod: pod(topology, node.zone), su: node.unit }
    }

    /// Returns the position of a T0.
    pub(crate) fn of_t0(topology: &Topology, t0: Switch) -> Self {
        Place { pod: pod(topology, t0.zone), su: t0.index / topology.rails_in_zone() }
    }
}

fn pod(topology: &Topology, zone: ZoneId) -> u16 {
    zone.0 / u16::from(topology.hosts.zones_per_node)
}

/// Returns whether the fabric has three tiers. Only then does the tool's scheme have pods.
pub fn has_pods(plan: &Plan) -> bool {
    plan.topology().t2.is_some()
}

/// Returns the NICs of a node that a T0 serves, by number. Each is a rail.
pub(crate) fn rails(topology: &Topology, t0: Switch) -> Vec<u8> {
    let node = Node { zone: topology.node_zone(t0.zone), unit: Place::of_t0(topology, t0).su, index: 0 };
    let is_served = |number: &u8| {
        let nic = topology.nic_of(node, *number);
        (nic.zone, nic.group) == (t0.zone, t0.index)
    };
    (0..topology.hosts.nics_per_node).filter(is_served).collect()
}

/// Returns the cables of nodes: node by node, NIC by NIC, plane by plane. Absent cables are missing.
pub(crate) fn host_cables(plan: &Plan) -> impl Iterator<Item = (Node, u8, NicPort)> + '_ {
    ports(plan).filter(|(_, _, port)| plan.fabric().has_link(Link::Host(*port)))
}

/// Returns the NIC ports that nodes have or could have in the planes that are built.
fn ports(plan: &Plan) -> impl Iterator<Item = (Node, u8, NicPort)> + '_ {
    let topology = plan.topology();
    plan.nodes().flat_map(move |node| {
        (0..topology.hosts.nics_per_node).flat_map(move |number| {
            let nic = topology.nic_of(node, number);
            plan.planes().map(move |plane| (node, number, NicPort { plane, nic }))
        })
    })
}

/// Returns the number of NIC ports without a cable, and the first ones by name. The tool rejects their nodes.
pub fn uncabled_ports(plan: &Plan, shown: usize) -> (u64, Vec<String>) {
    let (mut count, mut names) = (0, Vec::new());
    for (node, number, port) in ports(plan) {
        if !plan.fabric().has_link(Link::Host(port)) {
            count += 1;
            if names.len() < shown {
                names.push(plan.topology().naming.nic_port(node, number, port.plane));
            }
        }
    }
    (count, names)
}

/// Returns the first node whose number in the tool is lower than its own, because nodes before it in its unit
/// have no cable. The addresses of the node change when these cables are added.
pub fn renumbered_node(plan: &Plan) -> Option<SmolStr> {
    let mut last: Option<(Node, u16)> = None;
    for (node, _, _) in host_cables(plan) {
        let counted = match last {
            Some((before, counted)) if before == node => counted,
            Some((before, counted)) if (before.zone, before.unit) == (node.zone, node.unit) => counted + 1,
            _ => 0,
        };
        if counted != node.index {
            return Some(plan.node_name(node));
        }
        last = Some((node, counted));
    }
    None
}

/// The width of a field, as a limit.
struct Limit {
    subject: [&'static str; 2],
    maximum: [u64; 2],
}

impl Limit {
    fn check(&self, family: Family, count: u64, counted: impl FnOnce() -> String) -> Result<(), Refusal> {
        let at = usize::from(family == Family::V6);
        let most = self.maximum[at];
        if count <= most {
            return Ok(());
        }
        Err(Refusal::TooMany {
            format: FORMAT,
            subject: self.subject[at],
            arithmetic: counted(),
            count,
            maximum: most,
            help: HELP,
        })
    }
}

const RAILS: Limit = Limit {
    subject: [
        "rails (3 bits of an IPv4 address, addressing.go)",
        "rails (8 bits of an IPv6 address, addressing.go)",
    ],
    maximum: [8, 256],
};
const NODES: Limit = Limit {
    subject: [
        "nodes per unit (7 bits of an IPv4 address, addressing.go)",
        "nodes per unit (8 bits of an IPv6 address, addressing.go)",
    ],
    maximum: [128, 256],
};
const UNITS: Limit = Limit {
    subject: [
        "units (6 bits of an IPv4 address, addressing.go)",
        "units (8 bits of an IPv6 address, addressing.go)",
    ],
    maximum: [64, 256],
};
/// With three tiers and one plane, IPv4 addresses have two more bits for the unit.
const UNITS_ONE_PLANE: Limit = Limit {
    subject: ["units per zone (8 bits of an IPv4 address, addressing.go)", UNITS.subject[1]],
    maximum: [256, 256],
};
const PODS: Limit = Limit {
    subject: [
        "zones (5 bits of an IPv4 address, addressing.go)",
        "zones (8 bits of an IPv6 address, addressing.go)",
    ],
    maximum: [32, 256],
};

/// Checks whether the tool has an address for every NIC port.
///
/// # Errors
///
/// Refuses more rails, nodes, units or zones than the tool's addresses have bits for, and numbers of planes
/// that it rejects.
pub fn fits(plan: &Plan, family: Family) -> Result<(), Refusal> {
    let built = check_planes(plan)?;
    let rails = plan.topology().hosts.nics_per_node;
    RAILS.check(family, u64::from(rails), || format!("NICs 0 to {} of a node", rails - 1))?;
    let (mut pods, mut units, mut nodes) = (0, 0, 0);
    for node in plan.nodes() {
        let place = Place::of_node(plan.topology(), node);
        pods = pods.max(place.pod + 1);
        units = units.max(place.su + 1);
        nodes = nodes.max(node.index + 1);
    }
    NODES.check(family, u64::from(nodes), || format!("nodes 1 to {nodes} of a unit"))?;
    let limit = if has_pods(plan) && built == 1 { &UNITS_ONE_PLANE } else { &UNITS };
    limit.check(family, u64::from(units), || format!("units 1 to {units}"))?;
    let zones_per_node = plan.topology().hosts.zones_per_node;
    PODS.check(family, u64::from(pods), || match zones_per_node {
        1 => format!("zones 0 to {}", pods - 1),
        _ => format!("{} zones / {zones_per_node} per node", plan.topology().zones),
    })
}

/// Checks the planes that are built, and returns their number.
fn check_planes(plan: &Plan) -> Result<usize, Refusal> {
    let planes: Vec<_> = plan.planes().collect();
    let refused = |rule, arithmetic| Err(Refusal::Number { format: FORMAT, rule, arithmetic, help: HELP });
    if let Some(gap) = (0..).zip(&planes).find_map(|(at, plane)| (plane.0 != at).then_some(at)) {
        return refused("planes without gaps from plane 0 on", format!("plane {gap} is absent"));
    }
    match planes.len() {
        1 | 2 | 4 => Ok(planes.len()),
        count => {
            let rule = "1, 2 or 4 planes (`numberOfPlanes`, configuration.md)";
            refused(rule, format!("there are {count}"))
        }
    }
}

/// A topology file, checked and ready to be written.
pub struct LaunchKit<'p> {
    plan: &'p Plan,
}

impl<'p> LaunchKit<'p> {
    /// Checks the fabric.
    ///
    /// # Errors
    ///
    /// As [`fits`].
    pub fn new(plan: &'p Plan, family: Family) -> Result<Self, Refusal> {
        fits(plan, family)?;
        Ok(LaunchKit { plan })
    }

    /// Returns the file.
    pub fn file(&self) -> File<'_> {
        File::new("topology.json", |out| {
            write!(out, "{{\n\"nodes\": [")?;
            self.nodes(out)?;
            write!(out, "\n],\n\"links\": [")?;
            self.links(out)?;
            writeln!(out, "\n]\n}}")
        })
    }

    fn nodes(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let plan = self.plan;
        let switches = plan.switches().map(|switch| {
            json!({ "name": plan.switch_name(switch), "role": role(switch.tier), "type": plan.os(switch).keyword() })
        });
        let nodes = plan
            .nodes()
            .map(|node| json!({ "name": plan.node_name(node), "role": "host", "type": "default" }));
        rows(out, switches.chain(nodes))
    }

    fn links(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let plan = self.plan;
        let topology = plan.topology();
        let hosts = host_cables(plan).map(|(node, number, port)| {
            let ends = plan.cable_ends(Link::Host(port));
            let place = Place::of_node(topology, node);
            let host = json!({ "role": "host", "rail": number, "pod": place.pod, "su": place.su });
            let leaf = self.attributes(port.nic.t0(port.plane));
            json!([endpoint(&ends.upper, &leaf), endpoint(&ends.lower, &host)])
        });
        let others = plan.fabric().links().filter_map(|link| {
            let Link::Fabric { lower, .. } = link else { return None };
            let (upper, _) = plan.fabric().upper_end(link)?;
            let ends = plan.cable_ends(link);
            Some(json!([
                endpoint(&ends.upper, &self.attributes(upper)),
                endpoint(&ends.lower, &self.attributes(lower))
            ]))
        });
        rows(out, hosts.chain(others))
    }

    fn attributes(&self, switch: Switch) -> Value {
        let topology = self.plan.topology();
        let mut values = Map::new();
        let mut insert = |key: &str, value: Value| values.insert(key.to_owned(), value);
        insert("role", json!(role(switch.tier)));
        insert("plane", json!(switch.plane.0));
        match switch.tier {
            TierId::T0 => {
                let place = Place::of_t0(topology, switch);
                insert("pod", json!(place.pod));
                insert("su", json!(place.su));
                insert("rail_group", json!(rails(topology, switch)));
            }
            TierId::T1 => _ = insert("pod", json!(pod(topology, switch.zone))),
            TierId::T2 => {}
        }
        Value::Object(values)
    }
}

/// Returns the role of a tier. The tool knows `leaf`, and skips cables without a node.
fn role(tier: TierId) -> &'static str {
    match tier {
        TierId::T0 => "leaf",
        TierId::T1 => "spine",
        TierId::T2 => "superspine",
    }
}

fn endpoint((node, interface): &(SmolStr, SmolStr), attributes: &Value) -> Value {
    json!({ "node": node, "interface": interface, "attributes": attributes })
}

/// Writes the items of a list, one per line.
pub(crate) fn rows(out: &mut dyn io::Write, items: impl Iterator<Item = Value>) -> io::Result<()> {
    let mut comma = "";
    for item in items {
        write!(out, "{comma}\n{item}")?;
        comma = ",";
    }
    Ok(())
}
