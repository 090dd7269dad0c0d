//! Files with which other programs bring configurations to switches.
//!
//! In: what a plan says of switches, what a site knows of its hardware, configurations that were rendered. Out: artefacts for
//! the zero touch provisioning of SONiC ([`ztp`]), the DHCP servers that point to it ([`dhcp`]), and Ansible
//! ([`ansible`]). Invariants: text in, files out; a name of a stranger, such as a serial number, is a plain file name
//! before it becomes a path or a URL.

pub mod ansible;
pub mod dhcp;
pub mod hardware;
pub mod site_tree;
pub mod ztp;

use closc_render::Artefact;
use closc_sonic::{ConfigDb, Overlay, TargetError};
use serde::Serialize;

/// Returns what a SONiC switch is to start with: closc's part and what the site adds to it.
///
/// # Errors
///
/// Refuses an overlay that sets what is closc's.
pub fn whole(device: &str, tree: &ConfigDb, site: &Overlay) -> Result<ConfigDb, TargetError> {
    // A switch out of the box holds nothing that has to stay.
    Ok(closc_sonic::change(device, &ConfigDb::default(), tree, site, true)?.wanted)
}

/// A file of JSON, as people read it.
fn json(path: &str, value: &impl Serialize) -> Artefact {
    let mut bytes = serde_json::to_vec_pretty(value).expect("text keys and no floats");
    bytes.push(b'\n');
    Artefact::new(path, bytes)
}
