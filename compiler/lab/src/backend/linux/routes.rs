//! Routes of devices, as read from their kernels.
//!
//! In: namespaces. Out: [`Routes`] of each. Invariants: routes are read from the kernel, not from files, so they
//! include the effect of daemons.

use closc_artefacts::{Address, Family, Prefix};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::command::ip_output;
use super::namespace::{Namespace, run_in_namespaces};
use crate::LabError;
use crate::backend::{Forwarding, Routes};

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    r#type: Option<String>,
    dst: String,
    #[serde(default)]
    from: Option<String>,
    /// The table of an IPv4 route; `None` for the main table.
    #[serde(default)]
    table: Option<String>,
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
    /// Returns whether the kernel skips this next hop, because its port is down.
    fn is_dead(&self) -> bool {
        self.flags.iter().any(|flag| flag == "dead")
    }
}

/// Reads the routes of all namespaces.
pub(crate) fn read(namespaces: &[Namespace], jobs: usize) -> Result<Vec<Routes>, LabError> {
    run_in_namespaces(namespaces, jobs, |at| {
        let device = &namespaces[at].device;
        let ask = |arguments: &[&str]| ip_output(arguments, device);
        let v6 = ask(&["-6", "-j", "route", "show", "table", "main"])?;
        let v4 = ask(&["-4", "-j", "route", "show", "table", "all"])?;
        let rules = ask(&["-4", "-j", "rule", "show"])?;
        parse(&v6, &v4, &rules).map_err(|message| LabError::Command {
            command: "ip -j route show".to_owned(),
            device: device.clone(),
            message,
        })
    })
}

/// An IPv4 rule: the sources for which a table is consulted.
#[derive(Debug, Deserialize)]
struct Rule {
    #[serde(default)]
    src: Option<String>,
    #[serde(default)]
    srclen: Option<u8>,
    table: String,
}

/// Parses JSON output of `ip`. Empty output is an empty list.
fn parse_ip_json<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    let text = if text.trim().is_empty() { "[]" } else { text };
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn parse(v6: &str, v4: &str, rules: &str) -> Result<Routes, String> {
    let rules: Vec<Rule> = parse_ip_json(rules)?;
    let mut all = Vec::new();
    take(parse_ip_json(v6)?, Family::V6, &[], &mut all)?;
    take(parse_ip_json(v4)?, Family::V4, &rules, &mut all)?;
    Ok(Routes::new(all))
}

/// Returns the source prefix of the rule that consults an IPv4 table. `None` if there is none, or if it applies to
/// all sources.
fn source(table: &str, rules: &[Rule]) -> Result<Option<Prefix>, String> {
    let Some(rule) = rules.iter().find(|rule| rule.table == table) else { return Ok(None) };
    let Some(src) = rule.src.as_deref().filter(|src| *src != "all") else { return Ok(None) };
    let text = rule.srclen.map_or_else(|| src.to_owned(), |length| format!("{src}/{length}"));
    prefix(&text, Family::V4).map(Some)
}

/// Adds the routes of a family, except those to the device itself.
fn take(
    lines: Vec<Line>,
    family: Family,
    rules: &[Rule],
    all: &mut Vec<(u32, Forwarding)>,
) -> Result<(), String> {
    for line in lines {
        let metric = line.metric.unwrap_or(0);
        let to = prefix(&line.dst, family)?;
        let from = match line.table.as_deref() {
            Some("local" | "default") => continue,
            None | Some("main") => line.from.as_deref().map(|from| prefix(from, family)).transpose()?,
            Some(table) => match source(table, rules)? {
                Some(from) => Some(from),
                None => continue,
            },
        };
        let drops = line.r#type.as_deref().is_some_and(|kind| kind != "unicast");
        let alive = line.nexthops.into_iter().filter(|hop| !hop.is_dead());
        let mut hops: Vec<(String, u32)> =
            alive.filter_map(|hop| Some((hop.dev?, hop.weight.unwrap_or(1)))).collect();
        if hops.is_empty() && !drops {
            hops.extend(line.dev.map(|dev| (dev, 1)));
        }
        all.push((metric, Forwarding { to, from, hops }));
    }
    Ok(())
}

fn prefix(text: &str, family: Family) -> Result<Prefix, String> {
    let text = match (text, family) {
        ("default", Family::V4) => "0.0.0.0/0",
        ("default", Family::V6) => "::/0",
        (text, _) => text,
    };
    let whole = || text.parse::<Address>().map(Prefix::from);
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
            r#"[{"dst":"10.0.0.0/8","table":"500","dev":"nic0p0","gateway":"100.64.0.1"},
                {"dst":"10.1.0.0/16","via":{"family":"inet6","host":"fe80::1"},"dev":"eth2","metric":20},
                {"type":"local","dst":"10.0.0.1","table":"local","dev":"sr0"}]"#,
            r#"[{"priority":0,"src":"all","table":"local"},{"priority":500,"src":"10.0.0.1","table":"500"}]"#,
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
        assert_eq!(to("10.0.0.1", "10.2.0.1"), "nic0p0*1");
        assert_eq!(to("10.0.0.2", "10.1.0.1"), "eth2*1");
    }
}
