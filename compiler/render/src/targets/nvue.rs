//! NVIDIA Cumulus Linux: one `nvue.yaml` for each switch, for `nv config replace`.
//!
//! In: a [`DeviceIntent`]. Out: one list entry `set` with interfaces, queues, segments, static routes and BGP.
//! Invariants: every port of the switch is listed, and those without a cable are shut down. A number that is used as
//! a key is a string, as in NVUE's own schema. Management is in the VRF `mgmt`, so that the fabric has no default
//! route.

mod panel;
mod qos;

use std::net::IpAddr;

use closc_artefacts::{Prefix, paths};
use closc_plan::{DeviceIntent, Management};
use closc_platform::{Balance, Release};
use serde::Serialize;

use self::panel::{CageView, PortView};
use self::qos::QosView;
use super::Target;
use super::bgp::BgpView;
use super::routes::{RouteView, routes};
use super::servers::servers;
use crate::{Artefact, RenderError, Templates};

/// From this release on, addresses are below their family, and VRFs and time servers are under other keys.
const BY_FAMILY: Release = Release::version(5, 15);

/// The NVUE target.
pub(super) struct Nvue;

impl Target for Nvue {
    fn device(&self, intent: &DeviceIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let text = templates.render("nvue/nvue.yaml.j2", &intent.name, &View::of(intent)?)?;
        Ok(vec![Artefact::new(paths::switch(&intent.name, paths::NVUE_YAML), text)])
    }
}

/// A switch, for the templates.
#[derive(Debug, Serialize)]
struct View<'a> {
    name: &'a str,
    fabric: &'a str,
    release: String,
    /// Whether addresses are below their family.
    by_family: bool,
    /// The VRF of servers.
    vrf: &'static str,
    management: Option<ManagementView>,
    syslog: Vec<IpAddr>,
    ntp: Vec<IpAddr>,
    /// In double quotes, for YAML.
    contact: Option<String>,
    location: Option<String>,
    cages: Vec<CageView>,
    ports: Vec<PortView<'a>>,
    loopback: String,
    /// The key of the family of addresses.
    family: &'static str,
    qos: QosView,
    locators: Vec<LocatorView>,
    routes: Vec<RouteView<'a>>,
    bgp: Option<BgpView<'a>>,
    /// The line that enables adaptive routing; absent if the switch does not use it.
    adaptive: Option<&'static str>,
}

/// The management port.
#[derive(Debug, Serialize)]
struct ManagementView {
    /// The key of the address family.
    family: &'static str,
    address: String,
    gateway: String,
}

/// An own segment.
#[derive(Debug, Serialize)]
struct LocatorView {
    name: String,
    prefix: String,
    block_bits: u8,
    node_bits: u8,
}

impl<'a> View<'a> {
    fn of(intent: &'a DeviceIntent<'a>) -> Result<Self, RenderError> {
        let system = &intent.system;
        let qos = QosView::of(intent)?;
        let release = intent.release.unwrap_or(BY_FAMILY);
        Ok(View {
            name: &intent.name,
            fabric: intent.fabric,
            release: release.to_string(),
            by_family: release >= BY_FAMILY,
            vrf: if system.management.is_some() { "mgmt" } else { "default" },
            management: system.management.as_ref().map(ManagementView::of),
            syslog: servers(&system.services.syslog),
            ntp: servers(&system.services.ntp),
            contact: system.services.snmp_contact.as_deref().map(quote),
            location: system.services.snmp_location.as_deref().map(quote),
            cages: panel::cages(intent),
            ports: panel::ports(intent, &qos),
            loopback: Prefix::from(system.loopback).to_string(),
            family: system.loopback.family().config_keyword(),
            qos,
            locators: locators(intent),
            routes: routes(intent),
            bgp: BgpView::of(intent),
            adaptive: adaptive(intent, release),
        })
    }
}

/// Returns the line that enables adaptive routing on the switch or a port, in the syntax of a release.
fn adaptive(intent: &DeviceIntent<'_>, release: Release) -> Option<&'static str> {
    let switched_on = if release >= BY_FAMILY { "state: enabled" } else { "enable: 'on'" };
    match intent.balance?.kind {
        Balance::Adaptive => Some(switched_on),
        // Checks reject flowlets and spraying on this system.
        Balance::Hash | Balance::Flowlet | Balance::Spray => None,
    }
}

/// Returns text in double quotes, because every JSON string is a YAML string.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn locators(intent: &DeviceIntent<'_>) -> Vec<LocatorView> {
    let Some(srv6) = &intent.srv6 else { return Vec::new() };
    let block_bits = srv6.block.prefix_len();
    let view = |(at, locator): (usize, &closc_plan::Locator)| LocatorView {
        name: format!("LOC{at}"),
        prefix: locator.prefix.to_string(),
        block_bits,
        node_bits: locator.prefix.prefix_len().saturating_sub(block_bits),
    };
    srv6.locators.iter().enumerate().map(view).collect()
}

impl ManagementView {
    fn of(management: &Management) -> Self {
        ManagementView {
            family: match management.gateway {
                IpAddr::V4(_) => "ipv4",
                IpAddr::V6(_) => "ipv6",
            },
            address: management.address.to_string(),
            gateway: management.gateway.to_string(),
        }
    }
}
