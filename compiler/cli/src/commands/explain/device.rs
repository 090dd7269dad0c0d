//! `closc explain device FILE SWITCH`: the configuration of one switch, and the source of each number.

mod bgp;
mod show;

use camino::Utf8Path;
use closc_plan::{DeviceIntent, NextHop, NextHops, Plan, Target};
use closc_topology::TierId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::output::{self, Document, Outcome};
use crate::{input, names};

/// Configuration of a switch.
pub(crate) const DEVICE: Document<Explanation> = Document::new("closc-device/1");

#[derive(Serialize, JsonSchema)]
pub(crate) struct Explanation {
    switch: String,
    platform: String,
    os: &'static str,
    plane: u8,
    tier: &'static str,
    zone: u16,
    index: u16,
    loopback: String,
    management: Option<String>,
    mac: String,
    /// Its rack position, if the file defines one.
    place: Option<Place>,
    segments: Vec<String>,
    ports: Vec<Port>,
    routes: Vec<Route>,
    bgp: Option<bgp::Bgp>,
}

#[derive(Serialize, JsonSchema)]
struct Place {
    rack: String,
    /// Its lowest rack unit; 1 is at the bottom.
    unit: u32,
    units: u16,
    /// `front` or `rear`.
    face: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct Port {
    name: String,
    number: u16,
    speed: String,
    connected: Option<String>,
    cable: Option<String>,
    address: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Route {
    prefix: String,
    /// Ports, in their order. If there are none, packets are dropped.
    over: Vec<Hop>,
    /// Ports that also reach the prefix but are not used.
    left_out: Vec<Hop>,
    /// Reason for the choice of ports, if it is not obvious.
    why: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct Hop {
    port: String,
    /// Its share of the traffic; 0 if the port is not used.
    weight: u16,
    /// Remaining share of the planned capacity through its neighbour, for example `1/2`.
    left: Option<String>,
}

/// Explains a device.
pub fn run(args: &Args, file: &Utf8Path, switch: &str) -> anyhow::Result<Outcome> {
    input::file_first(file, &[switch], "closc explain device FILE SWITCH")?;
    let Some(input) = input::read_again(args, file)? else { return Ok(Outcome::Failed) };
    let intent = input.plan.device(names::switch(&input.plan, switch)?);
    output::result(args.format, &DEVICE, &explanation(&input.plan, &intent), show::human)?;
    Ok(Outcome::Fine)
}

fn explanation(plan: &Plan, intent: &DeviceIntent<'_>) -> Explanation {
    let mut next_hops = intent.routing.has_static_groups().then(|| NextHops::new(plan, intent.switch.plane));
    Explanation {
        switch: intent.name.to_string(),
        platform: intent.platform.title.clone(),
        os: intent.os.keyword(),
        plane: intent.switch.plane.0,
        tier: intent.switch.tier.keyword(),
        zone: intent.switch.zone.0,
        index: intent.switch.ordinal(),
        loopback: intent.system.loopback.to_string(),
        management: intent.system.management.map(|m| m.address.to_string()),
        mac: intent.system.mac.to_string(),
        place: plan.topology().switch_place(intent.switch).map(|place| Place {
            rack: place.rack.to_string(),
            unit: place.unit,
            units: place.units,
            face: place.face.keyword(),
        }),
        segments: intent.srv6.iter().flat_map(|s| &s.locators).map(|l| l.prefix.to_string()).collect(),
        ports: intent.ports.iter().map(port).collect(),
        routes: intent.routes.iter().map(|route| explain_route(intent, route, next_hops.as_mut())).collect(),
        bgp: intent.bgp.as_ref().map(|bgp| bgp::explain(intent, bgp)),
    }
}

fn port(port: &closc_plan::PortIntent) -> Port {
    let connection = port.connection.as_ref();
    Port {
        name: port.physical.name.to_string(),
        number: port.physical.device,
        speed: port.physical.speed.to_string(),
        connected: connection.map(|_| port.description.clone()),
        cable: connection.map(|c| format!("{} {}", c.cable.length, c.cable.medium)),
        address: connection.map(|c| c.address.to_string()),
    }
}

/// Explains a route. If the weights of its group depend on the remaining capacity, the capacity is shown for each
/// next hop.
fn explain_route(
    intent: &DeviceIntent<'_>,
    route: &closc_plan::Route,
    next_hops: Option<&mut NextHops<'_>>,
) -> Route {
    let name = |port: usize| intent.ports[port].physical.name.to_string();
    let prefix = route.prefix.to_string();
    let Target::Ports(hops) = &route.target else {
        return Route { prefix, over: Vec::new(), left_out: Vec::new(), why: None };
    };
    if let Some((ways, drained)) = next_hops.and_then(|hops| hops.next_hops(intent.switch, route.prefix)) {
        let hop = |way: &NextHop| Hop {
            port: name(way.port),
            weight: way.weight,
            left: Some(format!("{}/{}", way.remaining.0, way.remaining.1)),
        };
        let (over, left_out): (Vec<&NextHop>, Vec<&NextHop>) = ways.iter().partition(|way| way.weight > 0);
        let why = if drained {
            Some("only drained paths are left")
        } else if left_out.iter().any(|way| way.remaining.0 > 0) {
            Some("the target does not support weights: without narrow paths the group carries more")
        } else {
            None
        };
        let hops = |ways: Vec<&NextHop>| ways.into_iter().map(hop).collect();
        return Route { prefix, over: hops(over), left_out: hops(left_out), why };
    }
    let is_pin = intent.routing.has_static_groups()
        && intent.switch.tier == TierId::T0
        && hops.iter().any(|hop| !intent.ports[hop.port].is_down());
    let over = hops.iter().map(|hop| Hop { port: name(hop.port), weight: hop.weight, left: None }).collect();
    Route { prefix, over, left_out: Vec::new(), why: is_pin.then_some("a pin") }
}
