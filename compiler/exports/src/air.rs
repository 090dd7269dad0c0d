//! NVIDIA Air: the JSON topology from which Air makes a simulation, also in the form that k8s-launch-kit reads.
//!
//! In: a plan, images, and whether names follow the contract of k8s-launch-kit. Out: `NAME.air.json`;
//! `names.csv` with both names of each device. Invariants: names are unique; a cable is listed with both ends
//! or not at all. With the contract, every number in a name follows from the position, so an absent node
//! renumbers nothing.
//!
//! Sources, read in November 2026: NVIDIA/k8s-launch-kit da2d0990,
//! `pkg/networkoperatorplugin/spectrumx/air_topology.go` (names, `network_pci`); NVIDIA/nv-air-sdk 1.3.1
//! (`format`, `name`, `content`, `ztp`); CumulusNetworks/docs, `content/nvidia-air-v2/Custom-Topology.md`
//! (nodes, their resources, interfaces of SONiC).

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use closc_artefacts::Family;
use closc_plan::Plan;
use closc_topology::{Link, Node, PortRef, Side, Switch, TierId};
use serde_json::{Map, Value, json};
use smol_str::{SmolStr, format_smolstr};

use crate::l8k::{self, Place};
use crate::{File, Refusal};

const FORMAT: &str = "NVIDIA Air";

/// Name of nodes in [`IMAGES`].
pub const NODE: &str = "node";

/// Names of operating systems, and of nodes, with the image of the examples in Air's documentation.
pub const IMAGES: &[(&str, &str)] = &[
    ("nvue", "cumulus-vx-5.16.1"),
    ("sonic", "sonic-vs-202305"),
    ("frr", "generic/ubuntu2404"),
    ("linux", "generic/ubuntu2404"),
    (NODE, "generic/ubuntu2404"),
];

/// Cores, MiB of memory and GB of disk of a switch and of a node, as in the examples.
const SWITCH: [u32; 3] = [2, 4096, 20];
const HOST: [u32; 3] = [2, 2048, 10];

/// Settings of a simulation.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether devices have the fabric's own names and plain interfaces, so that k8s-launch-kit does not read them.
    pub plain: bool,
    /// Model of the emulated NICs that k8s-launch-kit requires.
    pub nic_model: String,
    /// Images that replace those of [`IMAGES`], by name.
    pub images: BTreeMap<String, String>,
}

/// A simulation, checked and ready to be written.
pub struct Simulation<'p> {
    plan: &'p Plan,
    options: Options,
    /// Whether all nodes, and all T0s, keep their names.
    keeps_nodes: bool,
    keeps_t0s: bool,
    /// For each switch whose image numbers its interfaces, the cage and part of every port with a cable, in the order
    /// of the panel.
    numbered_ports: BTreeMap<Switch, Vec<(u16, u8)>>,
}

impl<'p> Simulation<'p> {
    /// Checks the fabric.
    ///
    /// # Errors
    ///
    /// Refuses operating systems without an image and names that are not unique. With the contract of
    /// k8s-launch-kit, also refuses T0s with several NICs of a node, and fabrics that [`l8k::fits`] refuses.
    pub fn new(plan: &'p Plan, family: Family, options: Options) -> Result<Self, Refusal> {
        let is_plain = options.plain;
        if !is_plain {
            l8k::fits(plan, family)?;
            one_rail_per_t0(plan)?;
        }
        let keeps_nodes = is_plain || plan.nodes().all(|node| follows_node(plan, node));
        let keeps_t0s = is_plain || t0s(plan).all(|t0| follows_t0(plan, t0));
        let simulation =
            Simulation { plan, options, keeps_nodes, keeps_t0s, numbered_ports: cabled_ports(plan) };
        simulation.check_images()?;
        simulation.check_names()?;
        Ok(simulation)
    }

    /// Returns the number of switches and nodes whose names differ from those in the fabric file.
    pub fn renamed_count(&self) -> usize {
        self.names().filter(|(own, name)| own != name).count()
    }

    /// Returns the files.
    pub fn files(&self) -> Vec<File<'_>> {
        vec![
            File::new(format!("{}.air.json", self.plan.name()), |out| self.write(out)),
            File::new("names.csv", |out| {
                writeln!(out, "fabric,air")?;
                self.names().try_for_each(|(own, name)| writeln!(out, "{own},{name}"))
            }),
        ]
    }

    fn check_images(&self) -> Result<(), Refusal> {
        let without =
            self.plan.switches().find(|switch| self.image(self.plan.os(*switch).keyword()).is_none());
        without.map_or(Ok(()), |switch| {
            let os = self.plan.os(switch).keyword();
            Err(Refusal::Unknown {
                format: FORMAT,
                subject: format!("known image for `{os}`, which {} runs", self.plan.switch_name(switch)),
                help: "name one of your organization with `--image OS=IMAGE`",
            })
        })
    }

    fn check_names(&self) -> Result<(), Refusal> {
        let mut seen = BTreeSet::new();
        match self.names().find(|(_, name)| !seen.insert(name.clone())) {
            Some((_, name)) => {
                Err(Refusal::Name { format: FORMAT, rule: "different device names", name: name.to_string() })
            }
            None => Ok(()),
        }
    }

    /// Returns the names in the fabric file and in the simulation, of switches and then of nodes.
    fn names(&self) -> impl Iterator<Item = (SmolStr, SmolStr)> + '_ {
        let plan = self.plan;
        let switches = plan.switches().map(|switch| (plan.switch_name(switch), self.switch_name(switch)));
        switches.chain(plan.nodes().map(|node| (plan.node_name(node), self.node_name(node))))
    }

    fn switch_name(&self, switch: Switch) -> SmolStr {
        if switch.tier != TierId::T0 || self.keeps_t0s {
            return self.plan.switch_name(switch);
        }
        let Place { pod, su } = Place::of_t0(self.plan.topology(), switch);
        let pod = self.pod_prefix(pod);
        format_smolstr!("leaf-p{}-{pod}su{:03}-r{}", switch.plane.0 + 1, su + 1, rail(self.plan, switch))
    }

    fn node_name(&self, node: Node) -> SmolStr {
        if self.keeps_nodes {
            return self.plan.node_name(node);
        }
        let Place { pod, su } = Place::of_node(self.plan.topology(), node);
        let pod = self.pod_prefix(pod);
        format_smolstr!("{pod}su{:02}-h{:02}", su + 1, node.index + 1)
    }

    /// Returns the part of a name that k8s-launch-kit requires in fabrics with pods.
    fn pod_prefix(&self, pod: u16) -> String {
        if l8k::has_pods(self.plan) { format!("pod{:02}-", pod + 1) } else { String::new() }
    }

    fn image(&self, name: &str) -> Option<&str> {
        let usual = || IMAGES.iter().find(|(own, _)| *own == name).map(|(_, image)| *image);
        self.options.images.get(name).map(String::as_str).or_else(usual)
    }

    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{{\n\"format\": \"JSON\",\n\"name\": {},\n\"ztp\": null,", json!(self.plan.name()))?;
        write!(out, "\"content\": {{\n\"nodes\": {{")?;
        let switches = self.plan.switches().map(|switch| {
            let image = self.image(self.plan.os(switch).keyword());
            (self.switch_name(switch), machine(image, SWITCH))
        });
        let nodes = self.plan.nodes().map(|node| (self.node_name(node), self.node()));
        let mut comma = "";
        for (name, values) in switches.chain(nodes) {
            write!(out, "{comma}\n{}: {}", json!(name), Value::Object(values))?;
            comma = ",";
        }
        write!(out, "\n}},\n\"links\": [")?;
        l8k::rows(out, self.host_links().chain(self.switch_links()))?;
        writeln!(out, "\n]\n}}\n}}")
    }

    /// Returns a node. Only with `network_pci` does k8s-launch-kit find the rails.
    fn node(&self) -> Map<String, Value> {
        let topology = self.plan.topology();
        let mut values = machine(self.image(NODE), HOST);
        if !self.options.plain {
            let nic = json!({
                "model": self.options.nic_model, "emulation_type": "NIC_ETHERNET",
                "number_of_ports": topology.planes,
            });
            let nics = (1..=topology.hosts.nics_per_node).map(|rail| (format!("rail{rail}"), nic.clone()));
            values.insert("model".to_owned(), json!("host"));
            values.insert("emulation_type".to_owned(), json!("HOST"));
            values.insert("network_pci".to_owned(), Value::Object(nics.collect()));
        }
        values
    }

    fn host_links(&self) -> impl Iterator<Item = Value> + '_ {
        l8k::host_cables(self.plan).filter_map(|(node, number, port)| {
            let link = Link::Host(port);
            let interface = self.plan.cable_ends(link).lower.1;
            let mut host = json!({ "node": self.node_name(node), "interface": interface });
            if !self.options.plain {
                let rail = number + 1;
                host["interface"] = json!(format!("rail{rail}p{}", port.plane.0 + 1));
                host["network_pci"] = json!(format!("rail{rail}"));
            }
            let [_, upper] = ends(self.plan, link);
            Some(json!([host, self.end(upper?)]))
        })
    }

    fn switch_links(&self) -> impl Iterator<Item = Value> + '_ {
        self.plan.fabric().links().filter_map(|link| match ends(self.plan, link) {
            [Some(lower), Some(upper)] => Some(json!([self.end(lower), self.end(upper)])),
            _ => None,
        })
    }

    fn end(&self, (switch, port): (Switch, PortRef)) -> Value {
        let place = || place(self.plan, switch, port);
        let at = self.numbered_ports.get(&switch).and_then(|ports| ports.binary_search(&place()).ok());
        let interface = match at {
            Some(at) => format_smolstr!("eth{}", at + 1),
            None => self.plan.port_name(switch, port),
        };
        json!({ "node": self.switch_name(switch), "interface": interface })
    }
}

/// Returns a virtual machine.
fn machine(image: Option<&str>, [cpu, memory, storage]: [u32; 3]) -> Map<String, Value> {
    let values =
        [("os", json!(image)), ("cpu", json!(cpu)), ("memory", json!(memory)), ("storage", json!(storage))];
    values.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// Returns the ports of SONiC switches that have a cable.
fn cabled_ports(plan: &Plan) -> BTreeMap<Switch, Vec<(u16, u8)>> {
    let mut ports: BTreeMap<Switch, Vec<(u16, u8)>> = BTreeMap::new();
    for link in plan.fabric().links() {
        for (switch, port) in ends(plan, link).into_iter().flatten() {
            if plan.os(switch).has_hwskus() {
                ports.entry(switch).or_default().push(place(plan, switch, port));
            }
        }
    }
    for ports in ports.values_mut() {
        ports.sort_unstable();
    }
    ports
}

/// Returns the switch ports at the lower and at the upper end of a cable.
fn ends(plan: &Plan, link: Link) -> [Option<(Switch, PortRef)>; 2] {
    let lower = match link {
        Link::Host(_) => None,
        Link::Fabric { lower, up } => Some((lower, PortRef { side: Side::Up, index: up })),
    };
    [lower, plan.fabric().upper_end(link)]
}

fn place(plan: &Plan, switch: Switch, port: PortRef) -> (u16, u8) {
    let slot = plan.topology().slot(switch, port);
    (slot.cage, slot.part)
}

fn t0s(plan: &Plan) -> impl Iterator<Item = Switch> + '_ {
    plan.switches().filter(|switch| switch.tier == TierId::T0)
}

/// Returns the rail of a T0, from 1.
fn rail(plan: &Plan, t0: Switch) -> u8 {
    l8k::rails(plan.topology(), t0).first().map_or(1, |rail| rail + 1)
}

fn one_rail_per_t0(plan: &Plan) -> Result<(), Refusal> {
    let hosts = &plan.topology().hosts;
    if hosts.nics_per_node == hosts.rails {
        return Ok(());
    }
    let rails = if hosts.rails == 1 { "1 rail".to_owned() } else { format!("{} rails", hosts.rails) };
    Err(Refusal::Uneven {
        format: "the format of k8s-launch-kit (air_topology.go)",
        subject: "NIC of a node per T0".to_owned(),
        values: format!("{} NICs of a node on {rails}", hosts.nics_per_node),
        help: "use `closc export l8k` or `--plain`, which have no such limit",
    })
}

/// Returns whether k8s-launch-kit reads the position of a node from its name.
fn follows_node(plan: &Plan, node: Node) -> bool {
    let name = plan.node_name(node);
    let Place { pod, su } = Place::of_node(plan.topology(), node);
    has(&name, "su", Some(su))
        && has(&name, "h", Some(node.index))
        && has(&name, "pod", pod_number(plan, pod))
}

/// Returns whether k8s-launch-kit reads the position of a T0 from its name.
fn follows_t0(plan: &Plan, t0: Switch) -> bool {
    let name = plan.switch_name(t0);
    let Place { pod, su } = Place::of_t0(plan.topology(), t0);
    name.to_ascii_lowercase().starts_with("leaf-")
        && has(&name, "p", Some(u16::from(t0.plane.0)))
        && has(&name, "su", Some(su))
        && has(&name, "r", Some(u16::from(rail(plan, t0)) - 1))
        && has(&name, "pod", pod_number(plan, pod))
}

fn pod_number(plan: &Plan, pod: u16) -> Option<u16> {
    l8k::has_pods(plan).then_some(pod)
}

/// Returns whether exactly one of the parts between hyphens is the prefix with this number. With `None`, none
/// of them may be the prefix with a number. Numbers in names count from 1.
fn has(name: &str, prefix: &str, number: Option<u16>) -> bool {
    let digits = |part: &'_ str| -> Option<u16> {
        let digits = part.strip_prefix(prefix)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(0))
    };
    let found: Vec<u16> = name.split('-').filter_map(digits).collect();
    found == number.map(|number| number + 1).into_iter().collect::<Vec<_>>()
}
