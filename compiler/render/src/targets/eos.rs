//! Arista EOS: one `eos.conf` for each switch.
//!
//! In: a [`DeviceIntent`]. Out: the configuration in the order of `show running-config`. Invariants: every port of
//! the switch is listed, and those without a cable are shut down. A route names its port. Management is in its own
//! VRF, so that the fabric has no default route. Ports of one kind share a QoS profile. Neighbours of one side share
//! a peer group; those over drained cables are in another one.

mod qos;

use std::net::IpAddr;

use closc_artefacts::{Family, Prefix, paths};
use closc_plan::{BalanceIntent, Connection, DeviceIntent, Management, PortIntent};
use closc_platform::{Balance, PortNaming};
use serde::Serialize;

use self::qos::{ClassView, MemoryView, ProfileView, Qos};
use super::Target;
use super::bgp::BgpView;
use super::order::natural;
use super::routes::{RouteView, routes};
use super::servers::servers;
use super::wire::needs_code;
use crate::{Artefact, RenderError, Templates};

/// The EOS target.
pub(super) struct Eos;

impl Target for Eos {
    fn device(&self, intent: &DeviceIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let text = templates.render("eos/eos.conf.j2", &intent.name, &View::of(intent)?)?;
        Ok(vec![Artefact::new(paths::switch(&intent.name, paths::EOS_CONF), text)])
    }
}

/// A switch, for the templates.
#[derive(Debug, Serialize)]
struct View<'a> {
    name: &'a str,
    fabric: &'a str,
    /// Keywords before a server that is reachable over the management port.
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
    /// The family of addresses, as a keyword of commands.
    command: &'static str,
    /// Whether NICs and loopbacks have IPv4 addresses.
    is_ipv4: bool,
    routes: Vec<RouteView<'a>>,
    bgp: Option<BgpView<'a>>,
    /// Size of the flow sets of dynamic load balancing; absent if the switch does not use it.
    flow_set: Option<u32>,
}

/// The management port.
#[derive(Debug, Serialize)]
struct ManagementView {
    /// On a chassis, it is the port that follows the active supervisor.
    port: &'static str,
    /// The keyword of the address family.
    family: &'static str,
    address: String,
    /// The prefix of the default route.
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
    /// If absent, the port is shut down.
    link: Option<LinkView>,
}

/// Connection of a port.
#[derive(Debug, Serialize)]
struct LinkView {
    /// With prefix length; absent if both ends use link-local addresses.
    address: Option<String>,
    profile: Option<String>,
}

/// Number of groups with the smallest flow sets, and number of sizes of flow sets. Each size has half as many groups
/// as the previous one, with twice as many entries (pyavd 6.4, `flow_set_size`: 1 is 128 groups of 256 entries, 7 is
/// 2 of 16384).
const FLOW_SETS: (u64, u32) = (128, 7);

/// Returns the largest size of flow sets that leaves enough groups, or the smallest size if none does.
fn flow_set(intent: &DeviceIntent<'_>) -> Option<u32> {
    let BalanceIntent { kind, groups } = intent.balance?;
    match kind {
        Balance::Flowlet => {}
        // Checks reject adaptive routing and spraying on this system.
        Balance::Hash | Balance::Adaptive | Balance::Spray => return None,
    }
    let (most, sizes) = FLOW_SETS;
    (1..=sizes).rev().find(|size| most >> (size - 1) >= groups).or(Some(1))
}

impl<'a> View<'a> {
    fn of(intent: &'a DeviceIntent<'a>) -> Result<Self, RenderError> {
        let Qos { memory, profiles, classes, names } = Qos::of(intent)?;
        let system = &intent.system;
        let mut order: Vec<usize> = (0..intent.ports.len()).collect();
        let name = |at: usize| &*intent.ports[at].physical.name;
        order.sort_by(|one, other| natural(name(*one), name(*other)));
        let port = |at: usize| PortView::of(&intent.ports[at], names[at].clone());
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
            loopback: Prefix::from(system.loopback).to_string(),
            command: system.loopback.family().keyword(),
            is_ipv4: system.loopback.family() == Family::V4,
            memory,
            profiles,
            classes,
            routes: routes(intent),
            bgp: BgpView::of(intent),
            flow_set: flow_set(intent),
        })
    }
}

impl ManagementView {
    fn of(management: &Management, naming: PortNaming) -> Self {
        let (family, default) = match management.gateway {
            IpAddr::V4(_) => ("ip", "0.0.0.0/0"),
            IpAddr::V6(_) => ("ipv6", "::/0"),
        };
        ManagementView {
            port: naming.eos_management(),
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
        let link = |connection: &Connection| LinkView {
            address: (!connection.unnumbered).then(|| connection.address.to_string()),
            profile,
        };
        PortView {
            name: &physical.name,
            description: &port.description,
            mtu: port.mtu,
            speed: format!("{}g-{lanes}", physical.speed.mbps() / 1_000),
            correction: if needs_code(port) {
                "error-correction encoding reed-solomon"
            } else {
                "no error-correction encoding"
            },
            link: port.connection.as_ref().map(link),
        }
    }
}
