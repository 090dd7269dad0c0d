//! The routes that the kernels of devices have.
//!
//! In: namespaces. Out: [`Routes`] of each. Invariants: what is asked is the kernel, not a file, so that what daemons
//! and batch files came to is what is known.

use std::net::Ipv6Addr;

use ipnet::Ipv6Net;
use serde::Deserialize;

use super::command::ip_output;
use super::namespace::{Namespace, each};
use crate::LabError;
use crate::backend::{Forwarding, Routes};

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    r#type: Option<String>,
    dst: String,
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    dev: Option<String>,
    #[serde(default)]
    metric: Option<u32>,
    #[serde(default)]
    nexthops: Vec<Hop>,
}

#[derive(Debug, Deserialize)]
struct Hop {
    dev: Option<String>,
    #[serde(default)]
    weight: Option<u32>,
    #[serde(default)]
    flags: Vec<String>,
}

impl Hop {
    /// Tells whether the kernel passes it over: its port is down, and other next hops of the route are not.
    fn is_dead(&self) -> bool {
        self.flags.iter().any(|flag| flag == "dead")
    }
}

/// Asks the kernels of all namespaces.
pub(crate) fn read(namespaces: &[Namespace], jobs: usize) -> Result<Vec<Routes>, LabError> {
    each(namespaces, jobs, |at| {
        let device = &namespaces[at].device;
        let text = ip_output(&["-6", "-j", "route", "show", "table", "main"], device)?;
        parse(&text).map_err(|message| LabError::Command {
            command: "ip -6 -j route show".to_owned(),
            device: device.clone(),
            message,
        })
    })
}

fn parse(text: &str) -> Result<Routes, String> {
    if text.trim().is_empty() {
        return Ok(Routes::default());
    }
    let lines: Vec<Line> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut all = Vec::with_capacity(lines.len());
    for line in lines {
        let metric = line.metric.unwrap_or(0);
        let to = prefix(&line.dst)?;
        let from = line.from.as_deref().map(prefix).transpose()?;
        let drops = line.r#type.as_deref().is_some_and(|kind| kind != "unicast");
        let alive = line.nexthops.into_iter().filter(|hop| !hop.is_dead());
        let mut hops: Vec<(String, u32)> =
            alive.filter_map(|hop| Some((hop.dev?, hop.weight.unwrap_or(1)))).collect();
        if hops.is_empty() && !drops {
            hops.extend(line.dev.map(|dev| (dev, 1)));
        }
        all.push((metric, Forwarding { to, from, hops }));
    }
    Ok(Routes::new(all))
}

fn prefix(text: &str) -> Result<Ipv6Net, String> {
    let text = if text == "default" { "::/0" } else { text };
    let whole = || text.parse::<Ipv6Addr>().map(Ipv6Net::from);
    text.parse().or_else(|_| whole()).map_err(|_| format!("`{text}` is not a prefix"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_route_is_taken() {
        let routes = parse(
            r#"[{"dst":"fd00:1::1","dev":"sr0","metric":256},
                {"dst":"fd00:1::/48","from":"fd00:1::1","nexthops":[{"gateway":"fd00::b","dev":"nic0p0","weight":1,"flags":[]},
                    {"gateway":"fd00::c","dev":"nic0p1","weight":3,"flags":[]},
                    {"gateway":"fd00::d","dev":"nic0p2","weight":1,"flags":["dead","linkdown"]}],"metric":1024},
                {"type":"blackhole","dst":"fd00:1::/48","dev":"lo","metric":4096},
                {"dst":"fd00:1::/48","via":{"family":"inet6","host":"fe80::1"},"dev":"eth1","metric":1024},
                {"type":"unreachable","dst":"default","dev":"lo","metric":4294967295}]"#,
        )
        .unwrap();
        let to = |from: &str, to: &str| {
            let (_, route) = routes.of(from.parse().unwrap(), to.parse().unwrap()).unwrap();
            route.hops.iter().map(|(port, weight)| format!("{port}*{weight}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(to("fd00:1::1", "fd00:1::2"), "nic0p0*1 nic0p1*3");
        assert_eq!(to("fd00:1::9", "fd00:1::2"), "eth1*1");
        assert_eq!(to("fd00:1::9", "fd00:1::1"), "sr0*1");
        assert_eq!(to("fd00:1::9", "fd00:2::1"), "");
    }
}
