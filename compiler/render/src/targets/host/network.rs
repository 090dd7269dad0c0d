//! Addresses, tables and rules of the ports, for netplan and for systemd-networkd.
//!
//! In: the intent of a node. Out: `netplan.yaml`, or units below `networkd/`. Invariants: both have the same settings,
//! except those that netplan does not support: the names of interfaces, and rules by outgoing interface.
//!
//! The address of a NIC is on each of its ports, the same in every plane. If hosts write the path (SRv6), the first
//! segment of a path identifies T0 and plane, so routes to first segments choose the port. If switches choose the
//! path, every port has a table with a route to all NICs. A `throw` route excludes NICs that only other planes reach.
//! Traffic from the port's own address and traffic bound to the port use that table. Traffic from the NIC's address
//! uses the tables of its ports, plane by plane.

use closc_artefacts::Prefix;
use closc_plan::{HostIntent, NicIntent, NicPortIntent, NicRoute};
use serde::Serialize;

use super::Files;
use crate::targets::mac::static_mac;
use crate::{Artefact, RenderError};

#[derive(Serialize)]
struct View {
    name: String,
    fabric: String,
    ports: Vec<Port>,
    /// Blocks of the segments; empty if routing does not use segments.
    blocks: Vec<String>,
    /// Whether any port has a rule.
    has_rules: bool,
}

#[derive(Serialize)]
struct Port {
    /// Interface and RDMA device.
    name: String,
    /// The T0 and its port, for a comment in the file.
    far: String,
    /// MAC address to set; empty to keep the port's own.
    mac: String,
    mtu: u16,
    /// PCI address; empty if unknown.
    pci: String,
    /// Whether it negotiates, as its T0 does: `yes` or `no`. Empty to keep the default.
    negotiation: &'static str,
    speed: String,
    /// The port's own address with its prefix length, and the NIC's address.
    addresses: Vec<String>,
    routes: Vec<Route>,
    rules: Vec<Rule>,
    /// Table and priority, which are equal, of the rule by outgoing interface. 0 without such a rule.
    bound: u16,
    /// The family of that rule.
    family: &'static str,
}

#[derive(Serialize)]
struct Route {
    to: String,
    /// Empty if the table has no next hop for the prefix.
    via: String,
    /// Type of a route without a next hop: continue with the next table, or unreachable.
    otherwise: &'static str,
    metric: u16,
    /// 0 for the main table.
    table: u16,
}

#[derive(Serialize)]
struct Rule {
    from: String,
    table: u16,
    priority: u16,
}

/// Default metric of `ip` routes.
const METRIC: u16 = 1024;

/// Rules by NIC address come after rules by port address. The priority of a port's rule is the number of its table.
const AFTER_PORTS: u16 = 8000;

pub(super) fn netplan(files: &Files<'_>) -> Result<Vec<Artefact>, RenderError> {
    Ok(vec![files.text("netplan.yaml", "netplan.yaml.j2", &view(files.intent))?])
}

pub(super) fn networkd(files: &Files<'_>) -> Result<Vec<Artefact>, RenderError> {
    let view = view(files.intent);
    let mut units = Vec::new();
    for port in &view.ports {
        let unit = |ending: &str| format!("networkd/50-closc-{}.{ending}", port.name);
        if !port.pci.is_empty() {
            units.push(files.text(&unit("link"), "port.link.j2", port)?);
        }
        units.push(files.text(&unit("network"), "port.network.j2", port)?);
    }
    if !view.blocks.is_empty() {
        units.push(files.text("networkd/50-closc-lo.network", "lo.network.j2", &view)?);
    }
    if view.ports.iter().any(|port| !port.pci.is_empty()) {
        units.push(files.text("networkd/60-closc-rdma.rules", "rdma.rules.j2", &view)?);
    }
    Ok(units)
}

fn view(intent: &HostIntent<'_>) -> View {
    let ports: Vec<Port> =
        intent.nics.iter().flat_map(|nic| nic.ports.iter().map(move |p| port(intent, nic, p))).collect();
    View {
        name: intent.name.to_string(),
        fabric: intent.fabric.to_owned(),
        blocks: intent.blocks.iter().map(ToString::to_string).collect(),
        has_rules: ports.iter().any(|port| !port.rules.is_empty()),
        ports,
    }
}

fn port(intent: &HostIntent<'_>, nic: &NicIntent, port: &NicPortIntent) -> Port {
    let via = port.gateway.to_string();
    let (routes, rules, bound) = if let Some(segment) = port.first_segment {
        let metric = METRIC + u16::from(nic.number);
        (vec![Route { to: segment.to_string(), via, otherwise: "", metric, table: 0 }], Vec::new(), 0)
    } else {
        let at = nic.ports.iter().position(|other| other.plane == port.plane);
        let route = |route: &NicRoute| {
            let leads = at.is_some_and(|at| route.ports.contains(&at));
            let via = if leads { via.clone() } else { String::new() };
            let otherwise = if route.ports.is_empty() { "unreachable" } else { "throw" };
            Route { to: route.prefix.to_string(), via, otherwise, metric: METRIC, table: port.table }
        };
        (nic.routes.iter().map(route).collect(), rules(nic, port), port.table)
    };
    Port {
        name: port.interface.to_string(),
        far: format!("{} {}", port.t0, port.t0_port),
        mac: static_mac(port),
        mtu: intent.mtu,
        pci: port.pci.map(|pci| pci.to_string()).unwrap_or_default(),
        negotiation: port.negotiates.map_or("", |negotiates| if negotiates { "yes" } else { "no" }),
        speed: port.speed.to_string(),
        addresses: vec![port.address.to_string(), Prefix::from(nic.address).to_string()],
        routes,
        rules,
        bound,
        family: nic.address.family().config_keyword(),
    }
}

fn rules(nic: &NicIntent, port: &NicPortIntent) -> Vec<Rule> {
    let table = port.table;
    vec![
        Rule { from: Prefix::from(port.address.addr()).to_string(), table, priority: table },
        Rule { from: Prefix::from(nic.address).to_string(), table, priority: AFTER_PORTS + table },
    ]
}
