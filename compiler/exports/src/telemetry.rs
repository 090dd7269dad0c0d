//! Collectors of counters: Prometheus, gNMIc, sFlow collectors.
//!
//! In: a plan, and the hosts or addresses of its devices. Out: lists of targets, subscriptions, an overlay.
//! Invariants: labels are properties from the plan, so a query by plane or tier needs no list of names. Only
//! counters that the fabric enables are requested. Files do not contain credentials.

use std::net::SocketAddr;

use closc_plan::Plan;
use closc_platform::telemetry::Need;
use closc_topology::{Node, Switch, TierId, ZoneId};
use serde_json::{Map, Value, json};
use smol_str::{SmolStr, format_smolstr};

use crate::Refusal;

pub mod gnmic;
pub mod prometheus;
pub mod sflow;

/// Device names or addresses that collectors use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetNames {
    /// DNS domain of their names. Without one, switches have their management addresses as targets, and nodes their
    /// names.
    pub domain: Option<String>,
}

impl TargetNames {
    /// Returns the host of a switch: a name or an address.
    ///
    /// # Errors
    ///
    /// Rejects a switch that has neither.
    fn switch(&self, plan: &Plan, switch: Switch) -> Result<String, Refusal> {
        if let Some(domain) = &self.domain {
            return Ok(format!("{}.{domain}", plan.switch_name(switch)));
        }
        let host = plan.addresses().management(switch).map(|address| address.addr().to_string());
        host.ok_or_else(|| Refusal::Unknown {
            format: "telemetry",
            subject: format!("address of {}", plan.switch_name(switch)),
            help: "set `addresses.management` or `addresses.management_list`, or use DNS names (`--domain`)",
        })
    }

    /// Returns the host of a node.
    fn node(&self, plan: &Plan, node: Node) -> String {
        let name = plan.node_name(node);
        match &self.domain {
            Some(domain) => format!("{name}.{domain}"),
            None => name.to_string(),
        }
    }
}

/// Returns a host with a port, as a URL writes them (RFC 3986 3.2.2).
fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Returns the labels of a switch: its properties in the plan.
fn switch_labels(plan: &Plan, switch: Switch) -> Map<String, Value> {
    let topology = plan.topology();
    let (platform, os) = topology.hardware(switch);
    let mut labels = Map::new();
    labels.insert("fabric".to_owned(), json!(plan.name()));
    labels.insert("device".to_owned(), json!(plan.switch_name(switch)));
    labels.insert("tier".to_owned(), json!(switch.tier.keyword()));
    labels.insert("plane".to_owned(), json!(format_smolstr!("{}", switch.plane.0)));
    let is_zoned = switch.tier < TierId::T2;
    if is_zoned {
        labels.insert("zone".to_owned(), json!(format_smolstr!("{}", switch.zone.0)));
    }
    let site = if is_zoned {
        site(plan, switch.zone)
    } else {
        topology.t2_site().map(|at| &topology.sites[at].name)
    };
    labels.extend(site.map(|site| ("site".to_owned(), json!(site))));
    labels.insert("platform".to_owned(), json!(platform.id));
    labels.insert("os".to_owned(), json!(os.keyword()));
    labels
}

/// Returns the labels of a node: its properties in the plan.
fn node_labels(plan: &Plan, node: Node) -> Map<String, Value> {
    let mut labels = Map::new();
    labels.insert("fabric".to_owned(), json!(plan.name()));
    labels.insert("device".to_owned(), json!(plan.node_name(node)));
    labels.insert("tier".to_owned(), json!("node"));
    labels.insert("zone".to_owned(), json!(format_smolstr!("{}", node.zone.0)));
    labels.extend(site(plan, node.zone).map(|site| ("site".to_owned(), json!(site))));
    labels
}

/// Returns the site of a zone, if the file has sites.
fn site(plan: &Plan, zone: ZoneId) -> Option<&SmolStr> {
    plan.topology().sites.iter().find(|site| site.zones.contains(&zone)).map(|site| &site.name)
}

/// Returns whether a fabric has the feature that a counter needs.
fn has(plan: &Plan, need: Need) -> bool {
    let topology = plan.topology();
    match need {
        Need::Lossless => topology.qos.is_lossless(),
        Need::Watchdog => topology.qos.watchdog().is_some(),
        Need::Trimming => topology.qos.trimming().is_some(),
        Need::Segments => topology.routing.is_source_routed(),
    }
}

/// Address at which gNMIc serves the counters: its default port, on loopback.
const GNMIC: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9804);
