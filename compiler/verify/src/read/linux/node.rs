//! Reads a node: `ip.batch`, `devices.batch`, `sysctl.conf`, and `routes.batch` if present.

use std::borrow::Cow;
use std::collections::HashMap;

use closc_artefacts::{Address, Family, Prefix};

use super::batch::{self, Action, Command, Line, Scope};
use super::place::SEGMENT_DEVICE;
use super::{place, surroundings, switch};
use crate::model::device::{Device, Port, Ports};
use crate::model::language::Language;
use crate::read::error::ReadError;

/// File of encapsulating routes to other nodes.
pub(crate) const ROUTES: &str = closc_artefacts::paths::ROUTES_BATCH;

/// The routing table of local addresses, in which decapsulated packets must be looked up.
const LOCAL_TABLE: &str = "255";

/// A complete node.
#[derive(Debug, Clone)]
pub(crate) struct Host<'a> {
    pub(crate) ports: Vec<Port<'a>>,
    /// Routes to first segments.
    pub(crate) first: Vec<FirstSegmentRoute<'a>>,
    /// Segments whose packets the node decapsulates.
    pub(crate) decapsulates: Vec<(Prefix, &'a str)>,
    /// Prefixes whose packets the node drops.
    pub(crate) blackholes: Vec<Prefix>,
    /// Inner addresses.
    pub(crate) inner: Vec<Prefix>,
    /// Source address of the outer header.
    pub(crate) source: Option<Address>,
    /// All routes, if switches choose the path.
    pub(crate) routes: Vec<NodeRoute<'a>>,
    /// Faults of single lines: file, text that is on the line, message.
    pub(crate) faults: Vec<(&'static str, String, String)>,
}

/// A route to a first segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FirstSegmentRoute<'a> {
    pub(crate) prefix: Prefix,
    pub(crate) text: &'a str,
    pub(crate) gateway: Option<Address>,
    pub(crate) port: &'a str,
    pub(crate) metric: u32,
}

/// A route of a node, if switches choose the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeRoute<'a> {
    pub(crate) prefix: Prefix,
    pub(crate) scope: Scope,
    /// Next hops; empty if the route drops.
    pub(crate) hops: Vec<batch::BatchHop<'a>>,
}

/// Reads a node. `source_routed` states whether hosts choose the path; otherwise all routes are kept.
pub(crate) fn read<'a>(
    language: &'static Language,
    file: &'a str,
    devices: &str,
    settings: &str,
    source_routed: bool,
) -> Result<Host<'a>, ReadError> {
    let mut device = Device::new(language);
    let mut ports = Ports::default();
    let mut host = Host {
        ports: Vec::new(),
        first: Vec::new(),
        decapsulates: Vec::new(),
        blackholes: Vec::new(),
        inner: Vec::new(),
        source: None,
        routes: Vec::new(),
        faults: Vec::new(),
    };
    let lines = batch::read(file)?;
    for message in surroundings::down_devices(&lines) {
        host.faults.push((place::FILE, "link set dev".to_owned(), message));
    }
    for line in lines {
        match line.1 {
            Command::Blackhole { prefix, scope, .. } if !source_routed => {
                host.routes.push(NodeRoute { prefix, scope, hops: Vec::new() });
            }
            Command::Route { prefix, scope, hops, .. } if !source_routed => {
                host.routes.push(NodeRoute { prefix, scope, hops });
            }
            _ => command(&mut host, &mut device, &mut ports, line)?,
        }
    }
    host.ports = ports.finish();
    host.inner = device.loopbacks;
    let family = host.inner.first().map_or(Family::V6, |inner| inner.family());
    host.faults.extend(surroundings::faults(devices, settings, false, family));
    let cabled = host.ports.iter().filter(|port| !port.addresses.is_empty());
    let deaf = surroundings::deaf(settings, cabled.map(|port| &*port.name), family);
    host.faults.extend(deaf);
    tables(&mut host, devices);
    Ok(host)
}

/// The priority of the rule that looks up the main table.
const MAIN_PRIORITY: u32 = 32_766;

/// Sets the source of each route to that of the rule that looks up its table. A table without a rule is never looked
/// up, which is a fault.
fn tables(host: &mut Host<'_>, devices: &str) {
    let lines = batch::read(devices).unwrap_or_default();
    let rules: Vec<(Prefix, u32)> = lines
        .into_iter()
        .filter_map(|(_, command)| match command {
            Command::Rule { from, table, priority } if priority < MAIN_PRIORITY => Some((from, table)),
            _ => None,
        })
        .collect();
    let mut faults = Vec::new();
    for route in &mut host.routes {
        let Some(table) = route.scope.table.take() else { continue };
        let sources: Vec<Prefix> =
            rules.iter().filter(|(_, asked)| *asked == table).map(|(from, _)| *from).collect();
        match sources[..] {
            [from] if route.scope.from.is_none() => route.scope.from = Some(from),
            _ => {
                let message = format!("table {table} is selected by {} rules; expected one", sources.len());
                faults.push((surroundings::DEVICES, format!(" table {table} "), message));
            }
        }
    }
    faults.dedup();
    host.faults.extend(faults);
}

fn command<'a>(
    host: &mut Host<'a>,
    device: &mut Device<'a>,
    ports: &mut Ports<'a>,
    (number, line): Line<'a>,
) -> Result<(), ReadError> {
    match line {
        Command::Segment { prefix, text, action, port } => {
            if action != (Action::Decapsulate { table: LOCAL_TABLE }) || port != SEGMENT_DEVICE {
                let message =
                    format!("segment `{text}` does not decapsulate into the table of local addresses");
                host.faults.push((place::FILE, format!("route replace {text} "), message));
            }
            host.decapsulates.push((prefix, text));
        }
        Command::Blackhole { prefix, scope, .. } if scope == Scope::default() => host.blackholes.push(prefix),
        Command::Route { prefix, text, hops, scope } => {
            let [hop] = hops.as_slice() else {
                return Err(ReadError::at(number, format!("`{text}` has {} next hops", hops.len())));
            };
            if (Scope { metric: scope.metric, ..Scope::default() }) != scope {
                return Err(ReadError::at(number, format!("`{text}` has a source of its own")));
            }
            host.first.push(FirstSegmentRoute {
                prefix,
                text,
                gateway: hop.gateway,
                port: hop.port,
                metric: scope.metric,
            });
        }
        Command::Source { address } => host.source = Some(address),
        other => switch::port(device, ports, (number, other))?,
    }
    Ok(())
}

/// A route to a NIC of another node, over a group of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spray<'a> {
    /// Line of the route.
    pub(crate) line: usize,
    /// Inner address of the remote NIC.
    pub(crate) to: Prefix,
    /// Inner source address.
    pub(crate) source: Option<Address>,
    /// MTU inside the outer header.
    pub(crate) mtu: Option<u32>,
    /// Paths with their weights.
    pub(crate) members: Vec<Member<'a>>,
}

/// A path of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    /// Line of the path.
    pub(crate) line: usize,
    /// Outer destination address.
    pub(crate) segments: Address,
    /// The T0's address on the cable.
    pub(crate) gateway: Address,
    /// The port.
    pub(crate) port: Cow<'a, str>,
    /// Share of the traffic.
    pub(crate) weight: u32,
}

/// Reads `routes.batch`. Each route uses the final state of its group.
pub(crate) fn read_routes(text: &str) -> Result<Vec<Spray<'_>>, ReadError> {
    let mut members: HashMap<u32, Member<'_>> = HashMap::new();
    let mut groups: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
    let mut routes = Vec::new();
    let lost = |line, what: &str, id: u32| ReadError::at(line, format!("{what} {id} is not defined above"));
    for (line, command) in batch::read(text)? {
        match command {
            Command::Member { id, segments, gateway, port } => {
                members.insert(id, Member { line, segments, gateway, port: Cow::Borrowed(port), weight: 1 });
            }
            Command::Group { id, members } => {
                groups.insert(id, members);
            }
            Command::Encapsulate { prefix, id, source, mtu } => {
                if !groups.contains_key(&id) {
                    return Err(lost(line, "group", id));
                }
                routes.push((id, Spray { line, to: prefix, source, mtu, members: Vec::new() }));
            }
            _ => return Err(ReadError::at(line, "this command is not expected here")),
        }
    }
    let whole = |(id, spray): (u32, Spray<'_>)| {
        let member = |(id, weight): &(u32, u32)| {
            let member = members.get(id).ok_or_else(|| lost(spray.line, "next hop", *id))?;
            Ok(Member { weight: *weight, ..member.clone() })
        };
        let members = groups[&id].iter().map(member).collect::<Result<_, ReadError>>()?;
        Ok(Spray { members, ..spray })
    };
    routes.into_iter().map(whole).collect()
}
