//! Files with which other programs configure switches.
//!
//! In: switches of a plan, a site's list of its hardware, and rendered configurations. Out: artefacts for
//! SONiC zero touch provisioning ([`ztp`]), for the DHCP servers that point to it ([`dhcp`]), and for Ansible
//! ([`ansible`]). Invariants: no I/O. A name from outside, such as a serial number, becomes part
//! of a path or a URL only if it is a plain file name.

pub mod ansible;
pub mod dhcp;
pub mod hardware;
pub mod site_text;
pub mod site_tree;
mod skeleton;
pub mod ztp;

use closc_render::Artefact;
use closc_sonic::{ConfigDb, Overlay, TargetError};
use serde::Serialize;
pub use skeleton::{open_value, skeleton};

/// Returns the initial configuration of a SONiC switch: closc's part, and the additions of the site.
///
/// # Errors
///
/// Rejects an overlay that sets a field of closc's part.
pub fn initial_config(device: &str, tree: &ConfigDb, site: &Overlay) -> Result<ConfigDb, TargetError> {
    // A new switch does not have a configuration that must be kept.
    Ok(closc_sonic::change(device, &ConfigDb::default(), tree, site, true)?.target)
}

/// Returns a JSON file, formatted for people.
fn json(path: &str, value: &impl Serialize) -> Artefact {
    let mut bytes = serde_json::to_vec_pretty(value).expect("text keys and no floats");
    bytes.push(b'\n');
    Artefact::new(path, bytes)
}
