//! Views for the templates of a Linux switch.

use closc_artefacts::{Family, Prefix};
use closc_plan::{DeviceIntent, Hop, PortIntent, Route, Target};
use serde::Serialize;

use super::queues::QueuesView;
use super::{Port, nodad};
use crate::RenderError;

/// A switch.
#[derive(Debug, Serialize)]
pub(super) struct View<'a> {
    name: String,
    fabric: String,
    /// With prefix length.
    loopback: String,
    /// Whether NICs and loopbacks have IPv4 addresses.
    is_ipv4: bool,
    /// The keyword that skips duplicate address detection.
    nodad: &'static str,
    /// Whether it hashes flows over several next hops.
    multipath: bool,
    ports: Vec<Port>,
    /// Own segments, /48; empty if routing does not use segments.
    segments: Vec<String>,
    routes: Vec<Line>,
    queues: Option<QueuesView<'a>>,
}

/// A route with next hops, or a blackhole.
#[derive(Debug, Serialize)]
struct Line {
    prefix: String,
    /// Empty for a blackhole.
    hops: Vec<NextHop>,
}

#[derive(Debug, Serialize)]
struct NextHop {
    gateway: String,
    port: String,
    weight: u16,
}

impl<'a> View<'a> {
    pub(super) fn of(intent: &'a DeviceIntent<'a>) -> Result<Self, RenderError> {
        Ok(View {
            name: intent.name.to_string(),
            fabric: intent.fabric.to_owned(),
            loopback: Prefix::from(intent.system.loopback).to_string(),
            is_ipv4: intent.system.loopback.family() == Family::V4,
            nodad: nodad(intent.system.loopback.family()),
            multipath: intent.srv6.is_none(),
            ports: intent.ports.iter().filter_map(|p| port(intent, p)).collect(),
            segments: intent
                .srv6
                .iter()
                .flat_map(|srv6| &srv6.locators)
                .map(|locator| locator.prefix.to_string())
                .collect(),
            routes: intent.routes.iter().map(|r| line(intent, r)).collect(),
            queues: QueuesView::of(intent)?,
        })
    }
}

fn port(intent: &DeviceIntent<'_>, port: &PortIntent) -> Option<Port> {
    let connection = port.connection.as_ref()?;
    Some(Port {
        name: port.physical.name.to_string(),
        mac: intent.system.mac.to_string(),
        mtu: port.mtu,
        address: connection.address.to_string(),
        peer: connection.peer.address().to_string(),
        peer_mac: connection.peer.mac().map(|mac| mac.to_string()),
        far: port.description.clone(),
    })
}

fn line(intent: &DeviceIntent<'_>, route: &Route) -> Line {
    let hops = match &route.target {
        Target::Ports(hops) => hops.iter().filter_map(|hop| next_hop(intent, hop)).collect(),
        Target::Blackhole => Vec::new(),
    };
    Line { prefix: route.prefix.to_string(), hops }
}

fn next_hop(intent: &DeviceIntent<'_>, hop: &Hop) -> Option<NextHop> {
    let port = intent.ports.get(hop.port)?;
    let connection = port.connection.as_ref()?;
    Some(NextHop {
        gateway: connection.peer.address().to_string(),
        port: port.physical.name.to_string(),
        weight: hop.weight,
    })
}
