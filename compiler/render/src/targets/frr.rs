//! FRRouting 10 on any Linux.
//!
//! In: a [`DeviceIntent`]. Out: for each switch
//!
//! - `sysctl.conf` and `devices.batch`, as for the Linux target;
//! - `ip.batch`, with the ports and static neighbours, which FRR does not set, and `tc.batch`, with their queues;
//! - `frr.conf`, with addresses, routes, segments and BGP. Routes and interfaces are in the order of
//!   `show running-config`. Segments are not in that order, because that command prints them before the locators that
//!   they need;
//! - `daemons`, the list of FRR's daemons to run.
//!
//! Invariants: only ports with a cable are listed. A route names its port. Locators come before their segments. The
//! ends of an unnumbered cable discover each other with router advertisements, so the kernel assigns their link-local
//! addresses.

use closc_artefacts::{Family, Prefix, Routing, paths};
use closc_plan::{Connection, DeviceIntent, Locator, Peer, PortIntent, Srv6Intent};
use closc_platform::Release;
use serde::Serialize;

use super::Target;
use super::bgp::BgpView;
use super::linux::queues::QueuesView;
use super::order::natural;
use super::routes::{RouteView, routes};
use crate::{Artefact, RenderError, Templates};

/// The FRRouting target.
pub struct Frr;

/// Files of a switch and their templates.
const FILES: [(&str, &str); 6] = [
    (paths::DAEMONS, "frr/daemons.j2"),
    (paths::DEVICES_BATCH, "linux/devices.batch.j2"),
    (paths::FRR_CONF, "frr/frr.conf.j2"),
    (paths::IP_BATCH, "frr/ip.batch.j2"),
    (paths::SYSCTL_CONF, "linux/switch.sysctl.j2"),
    (paths::TC_BATCH, "linux/tc.batch.j2"),
];

impl Target for Frr {
    fn device(&self, intent: &DeviceIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let view = View::of(intent)?;
        let render = |(file, template): (&str, &str)| {
            let text = templates.render(template, &intent.name, &view)?;
            Ok(Artefact::new(paths::switch(&intent.name, file), text))
        };
        FILES.into_iter().map(render).collect()
    }
}

/// A switch, for the templates.
#[derive(Debug, Serialize)]
pub(super) struct View<'a> {
    name: &'a str,
    fabric: &'a str,
    /// The FRRouting version, for the first line of `frr.conf`.
    release: String,
    /// Whether the BGP and BFD daemons run: `yes` or `no`, for the file `daemons`.
    bgpd: &'static str,
    /// Whether it hashes flows over several next hops.
    multipath: bool,
    /// Whether NICs and loopbacks have IPv4 addresses.
    is_ipv4: bool,
    /// Ports with a cable, for the configuration of the kernel.
    ports: Vec<PortView<'a>>,
    interfaces: Vec<InterfaceView<'a>>,
    routes: Vec<RouteView<'a>>,
    locators: Vec<LocatorView>,
    bgp: Option<BgpView<'a>>,
    queues: Option<QueuesView<'a>>,
}

/// An interface with its address.
#[derive(Debug, Serialize)]
struct InterfaceView<'a> {
    name: &'a str,
    /// Absent for the loopback.
    description: Option<&'a str>,
    /// With the prefix length; absent on unnumbered ports.
    address: Option<String>,
    /// The address family, as a keyword in commands.
    command: &'static str,
}

/// A port with a cable, for the configuration of the kernel.
#[derive(Debug, Serialize)]
struct PortView<'a> {
    name: &'a str,
    mac: String,
    mtu: u16,
    /// Address at the other end.
    peer: String,
    /// MAC address at the other end, if known.
    peer_mac: Option<String>,
    /// The other end, for a comment.
    far: &'a str,
    /// Mode of the kernel for link-local addresses; `none` if the port has other addresses.
    link_local: &'static str,
    is_unnumbered: bool,
}

/// A locator and its segment.
#[derive(Debug, Serialize)]
struct LocatorView {
    name: String,
    prefix: String,
    block_bits: u8,
    node_bits: u8,
}

/// Returns the FRRouting version on a switch.
fn frr_release(intent: &DeviceIntent<'_>) -> Option<Release> {
    let release = intent.release?;
    Some(intent.os.releases().map_or(release, |releases| releases.frr(release)))
}

impl<'a> View<'a> {
    pub(super) fn of(intent: &'a DeviceIntent<'a>) -> Result<Self, RenderError> {
        let linked = |port: &'a PortIntent| Some(PortView::of(intent, port, port.connection.as_ref()?));
        Ok(View {
            name: &intent.name,
            fabric: intent.fabric,
            release: frr_release(intent).map(|release| release.to_string()).unwrap_or_default(),
            bgpd: bgpd(intent.routing),
            multipath: intent.srv6.is_none(),
            is_ipv4: intent.system.loopback.family() == Family::V4,
            ports: intent.ports.iter().filter_map(linked).collect(),
            interfaces: interfaces(intent),
            routes: routes(intent),
            locators: intent.srv6.as_ref().map(locators).unwrap_or_default(),
            bgp: BgpView::of(intent),
            queues: QueuesView::of(intent)?,
        })
    }
}

/// Returns `yes` if bgpd runs, otherwise `no`: static routes need only staticd, which always runs.
fn bgpd(routing: Routing) -> &'static str {
    match routing {
        Routing::Srv6Static | Routing::EcmpStatic => "no",
        Routing::BgpUnnumbered => "yes",
    }
}

/// Returns the loopback and the ports with a cable, in natural order of their names.
fn interfaces<'a>(intent: &'a DeviceIntent<'a>) -> Vec<InterfaceView<'a>> {
    let command = intent.system.loopback.family().keyword();
    let loopback = Some(Prefix::from(intent.system.loopback).to_string());
    let mut interfaces = vec![InterfaceView { name: "lo", description: None, address: loopback, command }];
    interfaces.extend(intent.ports.iter().filter_map(|port| {
        let connection = port.connection.as_ref()?;
        let address = (!connection.unnumbered).then(|| connection.address.to_string());
        let (name, description) = (&port.physical.name, Some(&*port.description));
        Some(InterfaceView { name, description, address, command })
    }));
    interfaces.sort_by(|one, other| natural(one.name, other.name));
    interfaces
}

impl<'a> PortView<'a> {
    fn of(intent: &DeviceIntent<'_>, port: &'a PortIntent, connection: &'a Connection) -> Self {
        PortView {
            name: &port.physical.name,
            mac: intent.system.mac.to_string(),
            mtu: port.mtu,
            peer: connection.peer.address().to_string(),
            peer_mac: connection.peer.mac().map(|mac| mac.to_string()),
            far: match &connection.peer {
                Peer::Switch(_) => &port.description,
                Peer::Nic(peer) => &peer.name,
            },
            link_local: if connection.unnumbered { "eui64" } else { "none" },
            is_unnumbered: connection.unnumbered,
        }
    }
}

/// Returns locators with the names that SONiC uses: `loc1`, and one more for each parallel link.
fn locators(srv6: &Srv6Intent) -> Vec<LocatorView> {
    let view = |(at, locator): (usize, &Locator)| LocatorView {
        name: format!("loc{}", at + 1),
        prefix: locator.prefix.to_string(),
        block_bits: srv6.block.prefix_len(),
        node_bits: locator.prefix.prefix_len() - srv6.block.prefix_len(),
    };
    srv6.locators.iter().enumerate().map(view).collect()
}
