//! Servers of the whole fabric.

use std::net::IpAddr;

/// Servers in order, each once.
pub(super) fn servers(servers: &[IpAddr]) -> Vec<IpAddr> {
    let mut servers = servers.to_vec();
    servers.sort_unstable();
    servers.dedup();
    servers
}
