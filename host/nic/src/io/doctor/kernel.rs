//! Required kernel state: privileges, settings, ports as planned, and the rules and routes of the TUN device.
//!
//! In: the table, the NIC, its ports. Out: a [`Check`] per item. Invariants: a problem is reported with the command
//! that fixes it; nothing is changed.

use std::net::Ipv6Addr;

use closc_paths::Table;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Check;
use crate::agent::segments;
use crate::io::ports::NextHop;
use crate::io::setup::{self, OWN_PREFERENCE, OWN_ROUTES, PREFERENCE, ROUTES};
use crate::io::sys;

/// Length of the outer IPv6 header.
const OUTER: u32 = 40;
/// `CAP_NET_ADMIN` and `CAP_NET_RAW` of `linux/capability.h`.
const CAPABILITIES: [(&str, u32); 2] = [("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13)];

#[derive(Debug, Deserialize)]
struct Rule {
    priority: u32,
    #[serde(default)]
    src: String,
    #[serde(default)]
    dst: String,
    #[serde(default)]
    dstlen: u8,
    #[serde(default)]
    table: String,
}

#[derive(Debug, Deserialize)]
struct Route {
    dst: String,
    dev: Option<String>,
    #[serde(default)]
    metric: u32,
}

#[derive(Debug, Default, Deserialize)]
struct Link {
    #[serde(default)]
    mtu: u32,
    #[serde(default)]
    flags: Vec<String>,
}

impl Link {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }
}

/// Returns the parsed output of `ip`; empty if it prints nothing or fails.
fn query_ip<T: DeserializeOwned>(args: &[&str]) -> Vec<T> {
    let args: Vec<&str> = ["-j"].iter().chain(args).copied().collect();
    setup::ip(&args, "").ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn link(device: &str) -> Option<Link> {
    query_ip::<Link>(&["link", "show", "dev", device]).into_iter().next()
}

/// Creates a check. `wrong` contains a problem and the command that fixes it; `good` is the text without a problem.
fn check(what: &str, wrong: Option<(String, String)>, good: &str) -> Check {
    let (good, said) = match wrong {
        None => (true, good.to_owned()),
        Some((why, fix)) => (false, format!("{why}: `{fix}`")),
    };
    Check { what: what.to_owned(), good, said }
}

/// Checks the privileges to start an agent, and kernel settings.
pub(super) fn machine(agent_runs: bool) -> Vec<Check> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    let lacks = CAPABILITIES.iter().find(|(_, bit)| effective >> bit & 1 == 0 && !agent_runs);
    let lacks = lacks
        .map(|(name, _)| (format!("an agent cannot be started without {name}"), "sudo closc-nic".to_owned()));
    let set = |name: &str| std::fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok();
    let forwards = "net.ipv6.conf.all.forwarding";
    let wrong = set(forwards).filter(|value| value.trim() != "0").map(|_| {
        let why = "IP forwarding is on, so the kernel also forwards the packets that the agent receives";
        (why.to_owned(), format!("sysctl -w {forwards}=0"))
    });
    vec![
        check("capabilities", lacks, "CAP_NET_ADMIN and CAP_NET_RAW, or a running agent"),
        check("forwarding", wrong, "off"),
    ]
}

/// Checks the port of a plane.
pub(super) fn port(table: &Table<'_>, plane: u8, hop: Option<&NextHop>, name: Option<&str>) -> Check {
    let what = format!("plane {plane}");
    let device = hop.map(|hop| hop.device.as_str()).or(name);
    let batch = "ip -batch ip.batch".to_owned();
    let Some(device) = device else {
        let why =
            "no route to the T0; routes are removed when a port goes down, and `ip.batch` adds them again";
        return check(&what, Some((why.to_owned(), batch)), "");
    };
    let disabled = format!("net.ipv6.conf.{device}.disable_ipv6");
    let is_disabled = std::fs::read_to_string(format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6"))
        .is_ok_and(|value| value.trim() == "1");
    let most = u32::from(table.header().mtu) + OUTER;
    let wrong = match link(device) {
        None => Some((format!("port {device} does not exist"), "ip link show".to_owned())),
        Some(link) if !link.has("UP") => {
            Some((format!("port {device} is down"), format!("ip link set dev {device} up")))
        }
        Some(link) if !link.has("LOWER_UP") => Some((
            format!("port {device} has no carrier: check its cable and the T0"),
            format!("ethtool {device}"),
        )),
        Some(link) if link.mtu < most => {
            let why =
                format!("port {device} has an MTU of {} bytes; packets of this fabric have {most}", link.mtu);
            Some((why, format!("ip link set dev {device} mtu {most}")))
        }
        Some(_) if is_disabled => {
            Some((format!("port {device} has no IPv6"), format!("sysctl -w {disabled}=0")))
        }
        Some(_) if hop.is_none() => Some((format!("port {device} has no route to its T0"), batch)),
        Some(_) if hop.is_some_and(|hop| hop.neighbour.is_none()) => {
            Some((format!("the MAC address of the T0 at port {device} is unknown"), batch))
        }
        Some(_) => None,
    };
    check(&what, wrong, &format!("port {device} up, neighbour known, MTU of {most} or more"))
}

/// Checks the kernel state that an agent with a TUN device needs.
pub(super) fn tun(table: &Table<'_>, downlink: u16, nic: Ipv6Addr) -> Vec<Check> {
    let own = segments(table, downlink).into_iter().map(|segment| {
        let address = Ipv6Addr::from(u128::from(segment.block) << 96 | u128::from(segment.usid) << 80);
        let prefix = format!("{address}/48");
        let routes = query_ip::<Route>(&["-6", "route", "show", "exact", &prefix]);
        let device = routes.into_iter().find(|route| route.metric == 1).and_then(|route| route.dev);
        (prefix, device)
    });
    let own: Vec<(String, Option<String>)> = own.collect();
    let rules = query_ip::<Rule>(&["-6", "rule", "show"]);
    let pool = setup::pool(table);
    let is_ours = |rule: &&Rule| format!("{}/{}", rule.dst, rule.dstlen) == pool;
    let from = rules
        .iter()
        .filter(is_ours)
        .find(|rule| rule.priority == OWN_PREFERENCE && rule.src == nic.to_string());
    let Some(device) = own.iter().find_map(|(_, device)| device.as_deref()) else {
        let wrong = from.map(|rule| {
            let why = format!(
                "the rule of {nic} leads to table {}, but there is no TUN device: the agent was killed",
                rule.table
            );
            (why, format!("closc-nic clean --table TABLE --nic {nic}"))
        });
        return vec![check("TUN device", wrong, "none: the kernel receives the packets of this NIC")];
    };
    let mtu = setup::inner_mtu(table);
    let link = link(device).unwrap_or_default();
    let wrong = (link.mtu as usize != mtu || !link.has("UP")).then(|| {
        let why = format!(
            "{device} has an MTU of {} bytes or is down; packets of the node have up to {mtu}",
            link.mtu
        );
        (why, format!("ip link set dev {device} mtu {mtu} up"))
    });
    let mut out = vec![check("TUN device", wrong, &format!("{device}, MTU of {mtu}"))];
    let missing = own.iter().find(|(_, other)| other.as_deref() != Some(device));
    let wrong = missing.map(|(prefix, _)| {
        let why = format!("the kernel also receives {prefix}, so packets arrive twice");
        (why, format!("ip -6 route append {prefix} dev {device} metric 1"))
    });
    out.push(check("own segments", wrong, &format!("{} lead to {device}", own.len())));
    out.extend(led(&rules, &pool, device, nic));
    out
}

/// Checks the rules and routes that direct packets to a TUN device.
fn led(rules: &[Rule], pool: &str, device: &str, nic: Ipv6Addr) -> Vec<Check> {
    let index = sys::interface_index(device).unwrap_or(0).unsigned_abs();
    let routes = (OWN_ROUTES + index).to_string();
    let is_ours = |rule: &&Rule| format!("{}/{}", rule.dst, rule.dstlen) == pool;
    let own = nic.to_string();
    let mut of_nic =
        rules.iter().filter(is_ours).filter(|rule| rule.priority == OWN_PREFERENCE && rule.src == own);
    let mut out = Vec::new();
    let wrong = (!of_nic.any(|rule| rule.table == routes)).then(|| {
        let why = format!("packets from {nic} do not go to {device}: their rule is missing");
        (why, format!("ip -6 rule add pref {OWN_PREFERENCE} from {nic} to {pool} lookup {routes}"))
    });
    out.push(check("rule of the NIC", wrong, &format!("pref {OWN_PREFERENCE}, table {routes}")));
    let leads = |table: &str| {
        let all = query_ip::<Route>(&["-6", "route", "show", "table", table]);
        all.iter().any(|route| route.dst == pool && route.dev.as_deref() == Some(device))
    };
    let wrong = (!leads(&routes)).then(|| {
        let why = format!("table {routes} does not lead to {device}");
        (why, format!("ip -6 route replace {pool} dev {device} src {nic} table {routes}"))
    });
    out.push(check("route of the NIC", wrong, &format!("table {routes} leads to {device}")));
    let shared = ROUTES.to_string();
    let any = rules.iter().filter(is_ours).any(|rule| rule.priority == PREFERENCE && rule.table == shared);
    let wrong = (!any).then(|| {
        let why = "packets without a source do not go to an agent: their rule is missing".to_owned();
        (why, format!("ip -6 rule add pref {PREFERENCE} to {pool} lookup {ROUTES}"))
    });
    out.push(check("rule of the node", wrong, &format!("pref {PREFERENCE}, table {ROUTES}")));
    let wrong = (!leads(&shared)).then(|| {
        let why = format!("table {ROUTES} does not lead to {device}");
        (why, format!("ip -6 route append {pool} dev {device} src {nic} table {ROUTES} metric {index}"))
    });
    out.push(check("route of the node", wrong, &format!("table {ROUTES} leads to {device}")));
    out
}
