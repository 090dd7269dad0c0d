//! MAC addresses of NIC ports, the same in all files that set them.

use closc_plan::NicPortIntent;

/// Returns the MAC address to set on a port; empty if it keeps its own, because its T0 resolves neighbours.
pub(super) fn static_mac(port: &NicPortIntent) -> String {
    if port.is_static { port.mac.to_string() } else { String::new() }
}
