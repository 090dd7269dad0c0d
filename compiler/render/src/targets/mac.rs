//! MAC addresses of NIC ports, said alike by everything that sets them up.

use closc_plan::NicPortIntent;

/// Returns the MAC address that a port takes; empty text where it keeps its own, as its T0 resolves neighbours.
pub(super) fn own_mac(port: &NicPortIntent) -> String {
    if port.is_static { port.mac.to_string() } else { String::new() }
}
