//! `closc explain device FILE SWITCH`: what one switch is told, and where each number comes from.

use std::fmt::Write as _;

use camino::Utf8Path;
use closc_plan::{DeviceIntent, Target};
use serde::Serialize;

use crate::args::Args;
use crate::output::{self, Outcome};
use crate::{input, names};

#[derive(Serialize)]
struct Explanation {
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
    segments: Vec<String>,
    ports: Vec<Port>,
    routes: Vec<Route>,
}

#[derive(Serialize)]
struct Port {
    name: String,
    number: u16,
    speed: String,
    connected: Option<String>,
    cable: Option<String>,
    address: Option<String>,
}

#[derive(Serialize)]
struct Route {
    prefix: String,
    over: Vec<String>,
}

/// Explains a device.
pub fn run(args: &Args, file: &Utf8Path, switch: &str) -> anyhow::Result<Outcome> {
    let Some(input) = input::read(args, file)? else { return Ok(Outcome::Failed) };
    let intent = input.plan.device(names::switch(&input.plan, switch)?);
    output::result(args.format, &explanation(&intent), human)?;
    Ok(Outcome::Fine)
}

fn explanation(intent: &DeviceIntent<'_>) -> Explanation {
    let name = |port: usize| intent.ports[port].physical.name.to_string();
    let over = |target: &Target| match target {
        Target::Ports(hops) => hops.iter().map(|hop| name(hop.port)).collect(),
        Target::Blackhole => Vec::new(),
    };
    Explanation {
        switch: intent.name.to_string(),
        platform: intent.platform.title.clone(),
        os: intent.os.word(),
        plane: intent.switch.plane.0,
        tier: intent.switch.tier.word(),
        zone: intent.switch.zone.0,
        index: intent.switch.ordinal(),
        loopback: intent.system.loopback.to_string(),
        management: intent.system.management.map(|m| m.address.to_string()),
        mac: intent.system.mac.to_string(),
        segments: intent.srv6.iter().flat_map(|s| &s.locators).map(|l| l.prefix.to_string()).collect(),
        ports: intent.ports.iter().map(port).collect(),
        routes: intent
            .routes
            .iter()
            .map(|route| Route { prefix: route.prefix.to_string(), over: over(&route.target) })
            .collect(),
    }
}

fn port(port: &closc_plan::PortIntent) -> Port {
    let connection = port.connection.as_ref();
    Port {
        name: port.physical.name.to_string(),
        number: port.physical.number,
        speed: port.physical.speed.to_string(),
        connected: connection.map(|_| port.description.clone()),
        cable: connection.map(|c| format!("{} {}", c.cable.length, c.cable.medium)),
        address: connection.map(|c| c.address.to_string()),
    }
}

fn human(e: &Explanation) -> String {
    let mut text = format!("{}: {} number {} of plane {}", e.switch, e.tier, e.index, e.plane);
    let _ = writeln!(text, ", {} on {}", e.os, e.platform);
    let _ = writeln!(text, "  loopback {}, MAC {}", e.loopback, e.mac);
    if let Some(management) = &e.management {
        let _ = writeln!(text, "  management {management}");
    }
    let _ = writeln!(text, "  own segments: {}", e.segments.join(", "));
    let _ = writeln!(text, "\n{:<14} {:<6} {:<28} {:<14} address", "port", "speed", "connected to", "cable");
    for port in &e.ports {
        let (to, cable) = (port.connected.as_deref(), port.cable.as_deref());
        let address = port.address.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "{:<14} {:<6} {:<28} {:<14} {address}",
            port.name,
            port.speed,
            to.unwrap_or("- (shut)"),
            cable.unwrap_or("-")
        );
    }
    let _ = writeln!(text, "\n{:<26} over", "route");
    for route in &e.routes {
        let over = if route.over.is_empty() { "blackhole".to_owned() } else { route.over.join(", ") };
        let _ = writeln!(text, "{:<26} {over}", route.prefix);
    }
    text
}
