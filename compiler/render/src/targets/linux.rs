//! The Linux kernel as a switch or host: its own SRv6, configured by `ip -batch` files and sysctls.
//!
//! In: a [`DeviceIntent`] or a [`HostIntent`]. Out: for each device
//!
//! - `sysctl.conf`, applied first;
//! - `devices.batch`, the device for segments. It is run with `ip -force`, because creating a device that exists is
//!   an error in `ip`;
//! - `ip.batch`, everything else. It has only `replace` commands, so running it again has no effect;
//! - for switches `tc.batch`, the queues of their ports;
//! - for nodes of small fabrics `routes.batch`, one encapsulating route for each NIC of other nodes. It is a separate
//!   file because the kernel rejects next hops over ports without a carrier, so it is applied after both ends of every
//!   cable are up.
//!
//! Invariants: ports without a cable are omitted, so that a batch does not fail on a port that does not exist.

mod host;
pub(super) mod queues;
mod routes;
mod switch;

use camino::Utf8PathBuf;
use closc_artefacts::{Family, paths};
use closc_plan::{DeviceIntent, HostIntent};
use serde::Serialize;

use super::Target;
use crate::{Artefact, RenderError, Templates};

pub use routes::host_routes;

/// The Linux kernel as a switch.
pub struct Linux;

impl Target for Linux {
    fn device(&self, intent: &DeviceIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let view = switch::View::of(intent)?;
        let files = [
            (paths::SYSCTL_CONF, "linux/switch.sysctl.j2"),
            (paths::DEVICES_BATCH, "linux/devices.batch.j2"),
            (paths::IP_BATCH, "linux/switch.batch.j2"),
            (paths::TC_BATCH, "linux/tc.batch.j2"),
        ];
        render_all(paths::switch, &intent.name, &files, &view, templates)
    }
}

/// Renders all files of one node except its path table and its routes to other nodes.
pub fn host(intent: &HostIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
    let view = host::View::of(intent);
    let files = [
        (paths::SYSCTL_CONF, "linux/host.sysctl.j2"),
        (paths::DEVICES_BATCH, "linux/host_devices.batch.j2"),
        (paths::IP_BATCH, "linux/host.batch.j2"),
    ];
    render_all(paths::host, &intent.name, &files, &view, templates)
}

/// Renders the kernel settings of a node, which do not depend on the tool that configures its ports.
pub(super) fn host_sysctl(intent: &HostIntent<'_>, templates: &Templates) -> Result<Artefact, RenderError> {
    let text = templates.render("linux/host.sysctl.j2", &intent.name, &host::View::of(intent))?;
    Ok(Artefact::new(paths::host(&intent.name, paths::SYSCTL_CONF), text))
}

fn render_all<V: Serialize>(
    place: fn(&str, &str) -> Utf8PathBuf,
    device: &str,
    files: &[(&str, &str)],
    view: &V,
    templates: &Templates,
) -> Result<Vec<Artefact>, RenderError> {
    files
        .iter()
        .map(|(file, template)| {
            let text = templates.render(template, device, view)?;
            Ok(Artefact::new(place(device, file), text))
        })
        .collect()
}

/// Returns the keyword that skips duplicate address detection; IPv4 has none.
fn nodad(family: Family) -> &'static str {
    match family {
        Family::V4 => "",
        Family::V6 => " nodad",
    }
}

/// A port with a cable, for the templates.
#[derive(Debug, Serialize)]
struct Port {
    /// Interface.
    name: String,
    /// Own MAC address; empty if a NIC keeps its own.
    mac: String,
    /// MTU.
    mtu: u16,
    /// Own address with prefix length.
    address: String,
    /// Address at the other end.
    peer: String,
    /// MAC address at the other end.
    peer_mac: Option<String>,
    /// The other end, for a comment.
    far: String,
}
