//! Arista EOS: one `eos.conf` for each switch.
//!
//! In: a [`DeviceIntent`]. Out: the configuration in the order of `show running-config`. Invariants: every port of the
//! switch is named, those without a cable shut; a route names its port; management is in a VRF of its own, so that no
//! default route is in the fabric's; ports of one kind share a QoS profile.

mod qos;

use std::net::IpAddr;

use closc_artefacts::paths;
use closc_plan::{Connection, DeviceIntent, Hop, Management, PortIntent, Target as Via};
use closc_platform::PortNaming;
use serde::Serialize;

use self::qos::{ClassView, MemoryView, ProfileView, Qos};
use super::Target;
use crate::{Artefact, RenderError, Templates};

/// Serial speed from which Ethernet needs a Reed-Solomon code (802.3 clause 91 for 25G lanes, clause 119 for PAM4).
const RS_LANE_MBPS: u32 = 25_000;

/// The EOS target.
pub(super) struct Eos;

impl Target for Eos {
    fn device(&self, intent: &DeviceIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let text = templates.render("eos/eos.conf.j2", &intent.name, &View::of(intent)?)?;
        Ok(vec![Artefact::new(paths::switch(&intent.name, paths::EOS_CONF), text)])
    }
}

/// A switch, as the templates see it.
#[derive(Debug, Serialize)]
struct View<'a> {
    name: &'a str,
    fabric: &'a str,
    /// The words before a server that is reached over the management port.
    vrf: &'static str,
    management: Option<ManagementView>,
    syslog: Vec<IpAddr>,
    ntp: Vec<IpAddr>,
    contact: Option<&'a str>,
    location: Option<&'a str>,
    memory: Option<MemoryView>,
    profiles: Vec<ProfileView>,
    classes: Vec<ClassView>,
    ports: Vec<PortView<'a>>,
    loopback: String,
    routes: Vec<RouteView<'a>>,
}

/// The management port.
#[derive(Debug, Serialize)]
struct ManagementView {
    /// That of a chassis moves with the active supervisor.
    port: &'static str,
    /// The word of the address family.
    family: &'static str,
    address: String,
    /// The prefix of every address.
    default: &'static str,
    gateway: String,
}

/// A port.
#[derive(Debug, Serialize)]
struct PortView<'a> {
    name: &'a str,
    description: &'a str,
    mtu: u16,
    speed: String,
    correction: &'static str,
    /// Absent: the port is shut.
    link: Option<LinkView>,
}

/// What is plugged into a port.
#[derive(Debug, Serialize)]
struct LinkView {
    address: String,
    profile: Option<String>,
}

/// A static route; no next hops: a blackhole.
#[derive(Debug, Serialize)]
struct RouteView<'a> {
    prefix: String,
    hops: Vec<HopView<'a>>,
}

/// A next hop.
#[derive(Debug, Serialize)]
struct HopView<'a> {
    gateway: String,
    port: &'a str,
}

impl<'a> View<'a> {
    fn of(intent: &'a DeviceIntent<'a>) -> Result<Self, RenderError> {
        let Qos { memory, profiles, classes, names } = Qos::of(intent)?;
        let system = &intent.system;
        let mut order: Vec<usize> = (0..intent.ports.len()).collect();
        order.sort_by_cached_key(|at| by_numbers(&intent.ports[*at].physical.name));
        let port = |at: usize| PortView::of(&intent.ports[at], names[at].clone());
        let mut routes: Vec<RouteView<'a>> = Vec::new();
        let mut sorted: Vec<_> = intent.routes.iter().collect();
        sorted.sort_by_key(|route| route.prefix);
        for route in sorted {
            let hops = match &route.target {
                Via::Ports(hops) => hops.iter().filter_map(|hop| HopView::of(intent, *hop)).collect(),
                Via::Blackhole => Vec::new(),
            };
            routes.push(RouteView { prefix: route.prefix.to_string(), hops });
        }
        Ok(View {
            name: &intent.name,
            fabric: intent.fabric,
            vrf: if system.management.is_some() { "vrf MGMT " } else { "" },
            management: system
                .management
                .as_ref()
                .map(|own| ManagementView::of(own, intent.platform.panel.naming)),
            syslog: servers(&system.services.syslog),
            ntp: servers(&system.services.ntp),
            contact: system.services.snmp_contact.as_deref(),
            location: system.services.snmp_location.as_deref(),
            ports: order.into_iter().map(port).collect(),
            loopback: format!("{}/128", system.loopback),
            memory,
            profiles,
            classes,
            routes,
        })
    }
}

/// Servers, each once.
fn servers(servers: &[IpAddr]) -> Vec<IpAddr> {
    let mut servers = servers.to_vec();
    servers.sort_unstable();
    servers.dedup();
    servers
}

/// The numbers of a name, so that names sort as EOS lists them: `Ethernet2/1` before `Ethernet10/1`.
fn by_numbers(name: &str) -> Vec<u32> {
    name.split(|sign: char| !sign.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

impl ManagementView {
    fn of(management: &Management, naming: PortNaming) -> Self {
        let (family, default) = match management.gateway {
            IpAddr::V4(_) => ("ip", "0.0.0.0/0"),
            IpAddr::V6(_) => ("ipv6", "::/0"),
        };
        ManagementView {
            port: if matches!(naming, PortNaming::Chassis { .. }) { "Management0" } else { "Management1" },
            family,
            address: management.address.to_string(),
            default,
            gateway: management.gateway.to_string(),
        }
    }
}

impl<'a> PortView<'a> {
    fn of(port: &'a PortIntent, profile: Option<String>) -> Self {
        let physical = &port.physical;
        let lanes = physical.lanes.len().max(1);
        let coded = physical.speed.mbps() / u32::try_from(lanes).unwrap_or(u32::MAX) >= RS_LANE_MBPS;
        let link = |connection: &Connection| LinkView { address: connection.address.to_string(), profile };
        PortView {
            name: &physical.name,
            description: &port.description,
            mtu: port.mtu,
            speed: format!("{}g-{lanes}", physical.speed.mbps() / 1_000),
            correction: if coded {
                "error-correction encoding reed-solomon"
            } else {
                "no error-correction encoding"
            },
            link: port.connection.as_ref().map(link),
        }
    }
}

impl<'a> HopView<'a> {
    fn of(intent: &'a DeviceIntent<'a>, hop: Hop) -> Option<Self> {
        let port = intent.ports.get(hop.port)?;
        let gateway = port.connection.as_ref()?.peer.address().to_string();
        Some(HopView { gateway, port: &port.physical.name })
    }
}

#[cfg(test)]
mod tests {
    use super::by_numbers;

    #[test]
    fn ports_are_in_the_order_of_the_panel() {
        let mut names = ["Ethernet10/1", "Ethernet2/5", "Ethernet2/1", "Ethernet3/10/1", "Ethernet3/9/1"];
        names.sort_by_cached_key(|name| by_numbers(name));
        assert_eq!(names, ["Ethernet2/1", "Ethernet2/5", "Ethernet3/9/1", "Ethernet3/10/1", "Ethernet10/1"]);
    }
}
