//! Resolves names that users type: NICs, nodes, switches, cables, planes.
//!
//! In: text. Out: the coordinate of an existing element, or an error with the expected form.

use anyhow::{Context as _, bail};
use closc_plan::{Path, Plan};
use closc_topology::naming::LINK_SEPARATOR;
use closc_topology::{Link, Nic, NicPort, Node, PlaneId, Switch};

/// Finds a NIC by its name, or by the name of its node, with `rail` as the number of the NIC in the node.
pub fn nic(plan: &Plan, name: &str, rail: u8) -> anyhow::Result<Nic> {
    let topology = plan.topology();
    let (node, number) = topology
        .naming
        .parse_nic(name)
        .or_else(|| topology.naming.parse_node(name).map(|node| (node, rail)))
        .with_context(|| format!("no NIC `{name}` in this fabric; names look like `{}`", example(plan)))?;
    let nic = topology.nic_of(node, number);
    if number < topology.hosts.nics_per_node && topology.exceptions.absent_nics.contains(&nic) {
        bail!("`{name}` is in `exceptions.absent`");
    }
    if number >= topology.hosts.nics_per_node || !plan.fabric().has_nic(nic) {
        bail!("NIC `{name}` is not in this fabric; the first is `{}`", example(plan));
    }
    Ok(nic)
}

fn example(plan: &Plan) -> String {
    let topology = plan.topology();
    plan.fabric().nics().next().map_or_else(String::new, |nic| {
        let (node, number) = topology.node_of(nic);
        topology.naming.nic(node, number)
    })
}

/// Finds a node by its name.
pub fn node(plan: &Plan, name: &str) -> anyhow::Result<Node> {
    let topology = plan.topology();
    let there = |node: &Node| plan.fabric().has_node(*node);
    topology.naming.parse_node(name).filter(there).with_context(|| {
        let first = plan.nodes().next().map(|node| topology.naming.node(node)).unwrap_or_default();
        format!("`{name}` is not a node of this fabric; the first is `{first}`")
    })
}

/// Returns whether the fabric file declares a switch absent.
fn is_absent(plan: &Plan, switch: Switch) -> bool {
    plan.topology().exceptions.absent_switches.contains(&switch)
}

/// Finds a switch by its name.
pub fn switch(plan: &Plan, name: &str) -> anyhow::Result<Switch> {
    let naming = &plan.topology().naming;
    let there = |switch: &Switch| plan.fabric().has_switch(*switch);
    if naming.parse_switch(name).is_some_and(|switch| is_absent(plan, switch)) {
        bail!("`{name}` is in `exceptions.absent`");
    }
    naming.parse_switch(name).filter(there).with_context(|| {
        let help = match plan.topology().nearest_name(name) {
            Some(Ok(near)) if naming.parse_switch(&near).is_some_and(|near| there(&near)) => {
                format!("did you mean `{near}`?")
            }
            _ => {
                let first = plan.switches().next().map(|switch| naming.switch(switch));
                format!("the first is `{}`", first.unwrap_or_default())
            }
        };
        format!("`{name}` is not a switch of this fabric; {help}")
    })
}

/// Finds a cable of the fabric: a NIC port, `LOWER--UPPER`, or `LOWER--UPPER#2` for the second parallel one.
pub fn link(plan: &Plan, name: &str) -> Option<Link> {
    let topology = plan.topology();
    let naming = &topology.naming;
    let link = match name.split_once(LINK_SEPARATOR) {
        None => {
            let (node, number, plane) = naming.parse_nic_port(name)?;
            Link::Host(NicPort { plane, nic: topology.nic_of(node, number) })
        }
        Some((lower, rest)) => {
            let (upper, number) = rest.split_once('#').unwrap_or((rest, "1"));
            let lower = naming.parse_switch(lower)?;
            let parallel = number.parse::<u16>().ok()?.checked_sub(1)?;
            let up = topology.uplink(lower, naming.parse_switch(upper)?, parallel)?;
            Link::Fabric { lower, up }
        }
    };
    plan.fabric().has_link(link).then_some(link)
}

/// Finds a plane by its number.
pub fn plane(plan: &Plan, number: u8) -> anyhow::Result<PlaneId> {
    match plan.topology().planes {
        1 if number > 0 => bail!("plane {number} does not exist; there is 1 plane, number 0"),
        planes if number >= planes => {
            bail!("plane {number} does not exist; there are {planes} planes, from 0 to {}", planes - 1)
        }
        _ => Ok(PlaneId(number)),
    }
}

fn first_port(plan: &Plan, node: Node) -> String {
    plan.topology().naming.nic_port(node, 0, PlaneId(0))
}

fn nic_port(plan: &Plan, nic: Nic) -> String {
    let (node, number) = plan.topology().node_of(nic);
    plan.topology().naming.nic_port(node, number, PlaneId(0))
}

/// An element that paths can avoid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AvoidedElement {
    /// A plane.
    Plane(PlaneId),
    /// A switch.
    Switch(Switch),
    /// A cable.
    Link(Link),
}

impl AvoidedElement {
    /// Reads `plane 3`, `plane=3`, a switch or a cable.
    pub fn parse(plan: &Plan, name: &str) -> anyhow::Result<AvoidedElement> {
        if let Some(plane) = name.strip_prefix("plane").map(|rest| rest.trim_start_matches([' ', '='])) {
            let number: u8 = plane.parse().with_context(|| format!("`{name}` is not a plane"))?;
            return Ok(AvoidedElement::Plane(self::plane(plan, number)?));
        }
        let found = switch(plan, name);
        if let Ok(switch) = found {
            return Ok(AvoidedElement::Switch(switch));
        }
        if plan.topology().naming.parse_switch(name).is_some_and(|own| is_absent(plan, own)) {
            return found.map(AvoidedElement::Switch);
        }
        if let Some(link) = link(plan, name) {
            return Ok(AvoidedElement::Link(link));
        }
        if name.contains('[') {
            bail!("`{name}` is a range of names: give one name at a time");
        }
        if let Ok(node) = node(plan, name) {
            bail!("`{name}` is a node: give its NIC ports, such as `{}`", first_port(plan, node));
        }
        if let Ok(nic) = nic(plan, name, 0) {
            bail!("`{name}` is a NIC: give its ports, such as `{}`", nic_port(plan, nic));
        }
        let help = match plan.topology().nearest_name(name) {
            Some(Ok(meant)) if meant != name => format!("did you mean `{meant}`?"),
            Some(Err(why)) => why,
            Some(Ok(_)) | None => {
                let first = plan.switches().next().map(|first| plan.topology().naming.switch(first));
                format!("names look like `{}`, `plane 0`", first.unwrap_or_default())
            }
        };
        bail!("no plane, switch or cable `{name}` in this fabric; {help}")
    }

    /// Returns whether a path uses the element.
    pub fn is_on(self, path: &Path) -> bool {
        match self {
            AvoidedElement::Plane(plane) => path.plane == plane,
            AvoidedElement::Switch(switch) => path.hops.iter().any(|hop| hop.switch == switch),
            AvoidedElement::Link(link) => path.first == link || path.hops.iter().any(|hop| hop.link == link),
        }
    }
}
