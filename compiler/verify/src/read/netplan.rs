//! Reads `netplan.yaml` of a node.

mod words;

use std::collections::BTreeMap;

use closc_artefacts::Prefix;
use serde::Deserialize;
use serde_json::Value;

use super::error::ReadError;
use super::value::parse;
use crate::model::device::Mac;
use crate::model::network::{Interface, MAIN, NodeNetwork, NodeRouteAction, TableRoute, TableRule};

pub(crate) use words::SITE;

pub(crate) const FILE: &str = "netplan.yaml";

/// Default metric of a route (`IP6_RT_PRIO_USER`).
pub(crate) const METRIC: u32 = 1024;

#[derive(Deserialize)]
struct File {
    network: Network,
}

#[derive(Deserialize)]
struct Network {
    version: u8,
    renderer: Option<String>,
    #[serde(default)]
    ethernets: BTreeMap<String, Ethernet>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Ethernet {
    r#match: Option<Match>,
    macaddress: Option<String>,
    mtu: Option<u32>,
    #[serde(default)]
    dhcp4: bool,
    #[serde(default)]
    dhcp6: bool,
    accept_ra: Option<bool>,
    link_local: Option<Vec<String>>,
    #[serde(default)]
    addresses: Vec<String>,
    #[serde(default)]
    routes: Vec<Route>,
    #[serde(default)]
    routing_policy: Vec<Policy>,
}

#[derive(Deserialize)]
struct Match {
    name: String,
}

#[derive(Deserialize)]
struct Route {
    to: String,
    via: Option<String>,
    r#type: Option<String>,
    metric: Option<u32>,
    table: Option<u32>,
}

#[derive(Deserialize)]
struct Policy {
    from: Option<String>,
    table: u32,
    priority: u32,
}

/// Reads the file.
pub(crate) fn read(text: &str) -> Result<NodeNetwork, ReadError> {
    let whole: Value = serde_saphyr::from_str(text).map_err(|error| parse_error(&error))?;
    words::check(text, &whole)?;
    let file: File = serde_saphyr::from_str(text).map_err(|error| parse_error(&error))?;
    if file.network.version != 2 {
        return Err(ReadError::new(format!("version {} of the language", file.network.version)));
    }
    let own = FILE.to_owned();
    let mut network = NodeNetwork { loopback: own.clone(), devices_file: own, ..NodeNetwork::default() };
    if let Some(other) = file.network.renderer.filter(|name| name != "networkd") {
        // The NetworkManager renderer does not support rules that select routing tables.
        let message = format!("`{other}` is not a setting of routes or rules");
        network.faults.push((FILE.to_owned(), "renderer:".to_owned(), message));
    }
    for (name, ethernet) in file.network.ethernets {
        let fits = ethernet.r#match.as_ref().is_none_or(|found| found.name == name);
        if !fits {
            return Err(ReadError::new(format!("`{name}` matches an interface with another name")));
        }
        let anchor = format!("    {name}:");
        if name == "lo" {
            network.dropped.extend(ethernet.routes.iter().map(route).collect::<Result<Vec<_>, _>>()?);
            if !ethernet.addresses.is_empty() || !ethernet.routing_policy.is_empty() {
                return Err(ReadError::new("`lo` has settings other than routes"));
            }
            continue;
        }
        network.interfaces.push(interface(name, anchor, &ethernet)?);
    }
    Ok(network)
}

fn parse_error(error: &serde_saphyr::Error) -> ReadError {
    let line = error.location().map(|at| at.line() as usize);
    ReadError { line, ..ReadError::new(error.to_string()) }
}

fn interface(name: String, anchor: String, ethernet: &Ethernet) -> Result<Interface, ReadError> {
    let others = [
        (ethernet.dhcp4 || ethernet.dhcp6, "DHCP"),
        (ethernet.accept_ra != Some(false), "router advertisements"),
        (ethernet.link_local.as_ref().is_none_or(|list| !list.is_empty()), "link-local addresses"),
    ];
    Ok(Interface {
        name,
        file: FILE.to_owned(),
        anchor,
        mtu: ethernet.mtu,
        mac: ethernet.macaddress.as_deref().map(value::<Mac>).transpose()?,
        open: others.into_iter().filter_map(|(open, what)| open.then_some(what)).collect(),
        addresses: ethernet.addresses.iter().map(|text| value(text)).collect::<Result<_, _>>()?,
        routes: ethernet.routes.iter().map(route).collect::<Result<_, _>>()?,
        rules: ethernet.routing_policy.iter().map(rule).collect::<Result<_, _>>()?,
    })
}

fn route(route: &Route) -> Result<TableRoute, ReadError> {
    let does = route_action(route.via.as_deref(), route.r#type.as_deref())?;
    Ok(TableRoute {
        to: destination(&route.to)?,
        action: does,
        metric: route.metric.unwrap_or(METRIC),
        table: route.table.unwrap_or(MAIN),
    })
}

fn rule(policy: &Policy) -> Result<TableRule, ReadError> {
    let from = policy.from.as_deref().map(destination).transpose()?;
    let family = from.map(Prefix::family);
    Ok(TableRule { from, family, out: None, table: policy.table, priority: policy.priority })
}

/// Returns the action of a route, from its next hop and its type.
pub(super) fn route_action(via: Option<&str>, kind: Option<&str>) -> Result<NodeRouteAction, ReadError> {
    match (via, kind.unwrap_or("unicast")) {
        (Some(via), "unicast") => Ok(NodeRouteAction::Via(value(via)?)),
        (None, "blackhole" | "unreachable") => Ok(NodeRouteAction::Drops),
        (None, "throw") => Ok(NodeRouteAction::Throws),
        (_, kind) => Err(ReadError::new(format!("a route of type `{kind}` with this next hop, or none"))),
    }
}

/// Parses a prefix. An address alone has full length; `default` has length 0.
pub(super) fn destination(text: &str) -> Result<Prefix, ReadError> {
    match text {
        "default" => Ok(Prefix::default()),
        _ if text.contains('/') => value(text),
        _ => value::<closc_artefacts::Address>(text).map(Prefix::from),
    }
}

/// Parses a value of a type.
pub(super) fn value<T: std::str::FromStr>(text: &str) -> Result<T, ReadError> {
    parse(text).map_err(ReadError::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_an_error() {
        let whole = |ethernet: &str| format!("network: {{version: 2, ethernets: {{nic0p0: {ethernet}}}}}");
        let network = read(&whole("{mtu: 9000, accept-ra: false, link-local: [], addresses: [fd00::a/127]}"));
        let network = network.expect("it is whole");
        assert_eq!(network.interfaces[0].mtu, Some(9000));
        assert!(network.interfaces[0].open.is_empty());
        for bad in [
            "{mtu: many}",
            "{addresses: [10.0.0.1/33]}",
            "{routes: [{to: \"fd00::/64\"}]}",
            "{routes: [{to: \"fd00::/64\", via: \"fd00::1\", type: throw}]}",
        ] {
            let error = read(&whole(bad)).expect_err(bad);
            assert!(!error.unknown, "{bad}: {error}");
        }
        for unknown in [
            "{mtu: 9000, ignore-carrier: true}",
            "{optional: true, set-name: nic9}",
            "{routes: [{to: \"fd00::/64\", via: \"fd00::1\", on-link: true}]}",
            "{routes: [{to: \"fd00::/64\", via: \"fd00::1\", weight: 20}]}",
            "{routing-policy: [{from: \"fd00::1\", table: 7, priority: 5, mark: 3}]}",
            "{match: {name: nic0p0, driver: mlx5_core}}",
        ] {
            let error = read(&whole(unknown)).expect_err(unknown);
            assert!(error.unknown && error.line == Some(1), "{unknown}: {error}");
        }
        for harmless in ["{optional: true}", "{wakeonlan: true, emit-lldp: true}", "{nameservers: {}}"] {
            assert_eq!(read(&whole(harmless)).map(|network| network.interfaces.len()), Ok(1), "{harmless}");
        }
        for (section, fits) in [("tunnels: {}", true), ("bridges: {br0: {interfaces: [nic0p0]}}", false)] {
            let text = format!("network:\n  version: 2\n  {section}\n");
            let line = read(&text).err().map(|error| (error.unknown, error.line));
            assert_eq!(line, (!fits).then_some((true, Some(3))), "{section}");
        }
        assert_eq!(read(&whole("{}")).expect("it is whole").interfaces[0].open.len(), 2);
    }
}
