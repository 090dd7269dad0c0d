//! infragraph: devices with ports, and one edge per cable, in its JSON.
//!
//! In: a plan and planes. Out: `infragraph.json`, an `Infrastructure`: kinds of devices, kinds of links, an
//! instance for each switch and node, and an edge for each cable. Invariants: instances have the names of the
//! plan. Ports of a switch, including spare ones, are numbered from 0, beginning with those towards the NICs.
//! Ports of a node are ordered by NIC, then by plane.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use closc_plan::Plan;
use closc_topology::{Link, PlaneId, PortRef, Side, Switch};
use serde_json::json;

use super::{delay_ns, links, speed};
use crate::{File, Refusal};

const FORMAT: &str = "infragraph";

/// Properties of a link type: Mb/s and ns.
type Kind = (u32, u64);

/// A graph, checked and ready to be written.
pub struct Graph<'p> {
    plan: &'p Plan,
    planes: Vec<PlaneId>,
    kinds: BTreeSet<Kind>,
}

impl<'p> Graph<'p> {
    /// Reads the planes.
    ///
    /// # Errors
    ///
    /// Rejects names that are invalid in infragraph.
    pub fn new(plan: &'p Plan, planes: Vec<PlaneId>) -> Result<Self, Refusal> {
        let of_planes = planes.iter().flat_map(|plane| plan.fabric().plane_switches(*plane));
        let switches = of_planes.map(|switch| plan.switch_name(switch));
        let nodes = plan.nodes().map(|node| plan.node_name(node));
        // Ends of edges are split at dots.
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if let Some(name) = switches.chain(nodes).find(|name| !is_name(name)) {
            let rule = "letters, digits, `-` and `_`";
            return Err(Refusal::Name { format: FORMAT, rule, name: name.to_string() });
        }
        let kinds = planes.iter().flat_map(|plane| links(plan, *plane)).map(|link| kind(plan, link));
        let kinds = kinds.collect();
        Ok(Graph { plan, planes, kinds })
    }

    /// Returns the file.
    pub fn file(&self) -> File<'_> {
        File::new("infragraph.json", |out| self.write(out))
    }

    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let description = format!("by closc; {} planes", self.planes.len());
        write!(
            out,
            "{{\n\"name\": {},\n\"description\": {},\n",
            json!(self.plan.name()),
            json!(description)
        )?;
        self.devices(out)?;
        let kinds = self.kinds.iter().map(|(mbps, ns)| {
            let physical = json!({
                "bandwidth": { "choice": "gigabits_per_second", "gigabits_per_second": f64::from(*mbps) / 1000.0 },
                "latency": { "choice": "ns", "ns": ns },
            });
            json!({ "name": link_name((*mbps, *ns)), "physical": physical })
        });
        list(out, "links", kinds)?;
        let fabric = self.plan.fabric();
        let switches = self.planes.iter().flat_map(|plane| fabric.plane_switches(*plane)).map(|switch| {
            json!({ "name": self.plan.switch_name(switch), "device": self.device(switch), "count": 1 })
        });
        let nodes = self
            .plan
            .nodes()
            .map(|node| json!({ "name": self.plan.node_name(node), "device": NODE, "count": 1 }));
        list(out, "instances", switches.chain(nodes))?;
        let edges = self.planes.iter().flat_map(|plane| links(self.plan, *plane));
        rows(out, "edges", edges.map(|link| self.edge(link)))?;
        writeln!(out, "}}")
    }

    /// Writes the kinds of devices: switches by platform and ports, and nodes.
    fn devices(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let fabric = self.plan.fabric();
        let mut kinds: BTreeMap<String, (u32, String)> = BTreeMap::new();
        for switch in self.planes.iter().flat_map(|plane| fabric.plane_switches(*plane)) {
            kinds.entry(self.device(switch)).or_insert_with(|| {
                let platform = &self.plan.topology().hardware(switch).0.id;
                (ports(self.plan, switch), format!("{} of platform {platform}", switch.tier.label()))
            });
        }
        let switches = kinds.into_iter().map(|(name, (ports, description))| {
            json!({
                "name": name,
                "description": description,
                "components": [
                    { "name": "asic", "count": 1, "choice": "switch" },
                    { "name": "port", "count": ports, "choice": "port" },
                ],
                "links": [{ "name": "internal" }],
                "edges": [{
                    "ep1": { "component": "asic[0]" },
                    "ep2": { "component": format!("port[0:{ports}]") },
                    "scheme": "many2many",
                    "link": "internal",
                }],
            })
        });
        list(out, "devices", switches.chain([self.node()]))
    }

    /// The device that describes every node.
    fn node(&self) -> serde_json::Value {
        let topology = self.plan.topology();
        // The ports of an adapter with several NICs are consecutive.
        let adapters = topology.hosts.nics_per_node / topology.hosts.nics_per_adapter.max(1);
        let (nics, planes) = (u32::from(adapters), u32::from(topology.adapter_ports()));
        let edges: Vec<_> = (0..nics)
            .map(|nic| {
                let ports = format!("port[{}:{}]", nic * planes, (nic + 1) * planes);
                json!({
                    "ep1": { "component": format!("nic[{nic}]") },
                    "ep2": { "component": ports },
                    "scheme": "many2many",
                    "link": "internal",
                })
            })
            .collect();
        json!({
            "name": NODE,
            "description": "a node: its NICs and their ports, one per plane",
            "components": [
                { "name": "nic", "count": nics, "choice": "nic" },
                { "name": "port", "count": nics * planes, "choice": "port" },
            ],
            "links": [{ "name": "internal" }],
            "edges": edges,
        })
    }

    fn device(&self, switch: Switch) -> String {
        let platform = &self.plan.topology().hardware(switch).0.id;
        format!("{}-{platform}-{}", switch.tier.keyword(), ports(self.plan, switch)).replace('.', "_")
    }

    fn edge(&self, link: Link) -> serde_json::Value {
        let end = |name: &str, port: u32| json!({ "instance": format!("{name}[0]"), "component": format!("port[{port}]") });
        let topology = self.plan.topology();
        let lower = match link {
            Link::Host(port) => {
                let (node, number) = topology.node_of(port.nic);
                let at = u32::from(number) * u32::from(topology.planes) + u32::from(port.plane.0);
                end(&self.plan.node_name(node), at)
            }
            Link::Fabric { lower, up } => {
                let at = PortRef { side: Side::Up, index: up };
                end(&self.plan.switch_name(lower), port_number(self.plan, lower, at))
            }
        };
        let (switch, port) = self.plan.fabric().upper_end(link).expect("a cable that is there has two ends");
        let upper = end(&self.plan.switch_name(switch), port_number(self.plan, switch, port));
        json!({ "ep1": lower, "ep2": upper, "scheme": "one2one", "link": link_name(kind(self.plan, link)) })
    }
}

/// The name of the device that describes nodes.
const NODE: &str = "node";

fn kind(plan: &Plan, link: Link) -> Kind {
    (speed(plan, link).mbps(), delay_ns(plan, link))
}

fn link_name((mbps, ns): Kind) -> String {
    format!("{mbps}Mbps-{ns}ns")
}

/// Returns the number of ports of a switch that have a use or are spare.
fn ports(plan: &Plan, switch: Switch) -> u32 {
    let [down, up] = plan.topology().blocks(switch);
    [down, up].iter().map(|block| u32::from(block.count) + u32::from(block.spare)).sum()
}

/// The number of a port, those towards the NICs first.
fn port_number(plan: &Plan, switch: Switch, port: PortRef) -> u32 {
    let [down, _] = plan.topology().blocks(switch);
    match port.side {
        Side::Down => u32::from(port.index),
        Side::Up => u32::from(down.count) + u32::from(down.spare) + u32::from(port.index),
    }
}

/// Writes a list, followed by a comma.
fn list(
    out: &mut dyn io::Write,
    name: &str,
    items: impl Iterator<Item = serde_json::Value>,
) -> io::Result<()> {
    rows(out, name, items)?;
    writeln!(out, ",")
}

/// Writes a list, one item per line.
fn rows(
    out: &mut dyn io::Write,
    name: &str,
    items: impl Iterator<Item = serde_json::Value>,
) -> io::Result<()> {
    write!(out, "\"{name}\": [")?;
    for (at, item) in items.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}\n{item}")?;
    }
    write!(out, "\n]")
}
