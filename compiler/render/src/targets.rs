//! The registry of targets, one line per target.

use closc_plan::{DeviceIntent, HostIntent};
use closc_platform::Os;
use closc_topology::HostOs;

use crate::{Artefact, RenderError, Templates};

mod bgp;
mod eos;
pub mod frr;
pub mod host;
pub mod linux;
mod mac;
mod nvue;
mod order;
mod percents;
mod pins;
mod routes;
mod servers;
pub mod sonic;
mod text;
mod wire;

/// A switch operating system for which artefacts are rendered.
pub trait Target: Sync {
    /// Renders all files of one switch.
    fn device(&self, intent: &DeviceIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError>;
}

/// Returns the target of an operating system. `None` for P4, whose switches have only table entries; the crate of
/// pipelines writes these.
pub fn target(os: Os) -> Option<&'static dyn Target> {
    match os {
        Os::Sonic => Some(&sonic::Sonic),
        Os::Pins => Some(&pins::Pins),
        Os::Frr => Some(&frr::Frr),
        Os::Linux => Some(&linux::Linux),
        Os::P4 => None,
        Os::Eos => Some(&eos::Eos),
        Os::Nvue => Some(&nvue::Nvue),
    }
}

/// Renders all files of one node except its path table and its routes to other nodes.
pub fn host(intent: &HostIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
    let mut artefacts = match intent.os {
        HostOs::Linux => linux::host(intent, templates)?,
        HostOs::None => Vec::new(),
    };
    for output in intent.outputs {
        let more = host::render(intent, *output, templates)?;
        // Kernel settings do not depend on the tool that configures the ports.
        artefacts.extend(
            more.into_iter()
                .filter(|new| artefacts.iter().all(|old| old.path != new.path))
                .collect::<Vec<_>>(),
        );
    }
    Ok(artefacts)
}
