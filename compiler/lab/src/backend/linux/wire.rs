//! Cables: veth pairs between namespaces.
//!
//! Invariants: a cable is moved by removing the pair and creating another one with the same names elsewhere. If a
//! port were set down instead, the kernel would remove the routes of only that end.

use std::fmt::Write as _;

use super::command::ip_batch;
use crate::LabError;

/// One end of a pair: namespace and interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plug {
    pub(crate) namespace: String,
    pub(crate) interface: String,
}

/// Creates veth pairs in one batch.
pub(crate) fn plug(pairs: &[(Plug, Plug)]) -> Result<(), LabError> {
    let mut batch = String::new();
    for (a, b) in pairs {
        let _ = writeln!(
            batch,
            "link add name {} netns {} type veth peer name {} netns {}",
            a.interface, a.namespace, b.interface, b.namespace
        );
    }
    ip_batch(&batch, "this machine")
}

/// Removes the pair that an interface of the calling thread's namespace belongs to; a missing pair is not an error.
pub(crate) fn unplug(interface: &str, device: &str) -> Result<(), LabError> {
    if nix::net::if_::if_nametoindex(interface).is_err() {
        return Ok(());
    }
    ip_batch(&format!("link del dev {interface}\n"), device)
}

/// Maximum MTU of a veth pair.
pub(crate) const MTU: u32 = 65535;

/// Sets interfaces of the calling thread's namespace up, without IPv6, for a program that sends and receives raw
/// frames.
pub(crate) fn raise_all(interfaces: &[&str], device: &str) -> Result<(), LabError> {
    silence()?;
    let mut batch = String::from("link set dev lo up\n");
    for interface in interfaces {
        // Existing interfaces keep their own setting when the default changes.
        let path = format!("/proc/sys/net/ipv6/conf/{interface}/disable_ipv6");
        std::fs::write(&path, "1").map_err(LabError::io(format!("write `{path}`")))?;
        let _ = writeln!(batch, "link set dev {interface} mtu {MTU} up");
    }
    ip_batch(&batch, device)
}

/// Disables IPv6 on all current and future interfaces of the calling thread's namespace.
pub(crate) fn silence() -> Result<(), LabError> {
    for which in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6");
        std::fs::write(&path, "1").map_err(LabError::io(format!("write `{path}`")))?;
    }
    Ok(())
}

/// Sets an interface of the calling thread's namespace up without IPv6, so it sends nothing by itself.
pub(crate) fn raise(interface: &str) -> Result<(), LabError> {
    let path = format!("/proc/sys/net/ipv6/conf/{interface}/disable_ipv6");
    std::fs::write(&path, "1").map_err(LabError::io(format!("write `{path}`")))?;
    ip_batch(&format!("link set dev {interface} mtu {MTU} up\n"), "a cut cable")
}
