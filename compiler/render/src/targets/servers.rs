//! Servers that all switches use.

use std::net::IpAddr;

/// Returns servers in order, without duplicates.
pub(super) fn servers(servers: &[IpAddr]) -> Vec<IpAddr> {
    let mut servers = servers.to_vec();
    servers.sort_unstable();
    servers.dedup();
    servers
}
