//! Files next to `ip.batch`: the device to which segments are bound, and kernel settings.

use std::borrow::Cow;

use closc_artefacts::Family;

use super::batch::{self, Command, Line};
use super::place::SEGMENT_DEVICE;
use crate::model::device::{Device, FaultKind, Via};

/// File that creates the device to which segments are bound.
pub(crate) const DEVICES: &str = closc_artefacts::paths::DEVICES_BATCH;
/// File of kernel settings.
pub(crate) const SETTINGS: &str = closc_artefacts::paths::SYSCTL_CONF;

/// Checks the files next to `ip.batch`: the device to which segments are bound, and that a switch forwards packets and
/// a node does not.
pub(crate) fn surroundings(device: &mut Device<'_>, devices: &str, settings: &str, forwards: bool) {
    // If the kernel chooses among next hops, it must also hash ports; otherwise all flows between two NICs use the same
    // path.
    let chooses = device.bgp.is_some() || device.routes.iter().any(|route| matches!(route.via, Via::Many(_)));
    let family = device.loopbacks.first().map_or(Family::V6, |loopback| loopback.family());
    let (spread, value) = spread(family);
    if chooses && setting(settings, spread) != Some(value) {
        let text = format!("`{spread}` is not {value}");
        device.fault(FaultKind::Setting, SETTINGS, vec![spread.to_owned()], text);
    }
    let ports = device.ports.iter().filter(|port| port.up).map(|port| &*port.name);
    let unchecked = reverse_path_faults(settings, ports, family);
    let all = faults(devices, settings, forwards, family).into_iter().chain(unchecked);
    for message in all.collect::<Vec<_>>() {
        let (file, needle, text) = message;
        device.fault(FaultKind::Setting, file, vec![needle], text);
    }
}

/// Returns a message for each of two devices that is not set up: `lo`, which has the kernel's own routes, and the
/// device of segments. The kernel ignores routes of devices that are down.
pub(crate) fn down_devices(commands: &[Line<'_>]) -> Vec<String> {
    let up = |name: &str| {
        commands.iter().any(|(_, command)| matches!(command, Command::Up { port } if *port == name))
    };
    ["lo", SEGMENT_DEVICE]
        .into_iter()
        .filter(|name| !up(name))
        .map(|name| format!("`{name}` is not set up"))
        .collect()
}

/// Checks settings that every port of a node needs, because the kernel reads them per port. By default, only devices
/// that forward packets ignore router advertisements and redirects (`ipv6_accept_ra` and `ndisc_redirect_rcv`).
pub(crate) fn deaf<'a>(
    settings: &str,
    ports: impl Iterator<Item = &'a str> + Clone,
    family: Family,
) -> Vec<(&'static str, String, String)> {
    let sources = reverse_path_faults(settings, ports.clone(), family);
    let wanted = ports.flat_map(|port| {
        ["accept_ra", "accept_redirects"].map(|name| format!("net.ipv6.conf.{port}.{name}"))
    });
    let missing = wanted.filter(|key| setting(settings, key) != Some("0"));
    missing
        .map(|key| (SETTINGS, key.clone(), format!("`{key}` is not 0, so other devices can change routes")))
        .chain(sources)
        .collect()
}

/// Reports reverse-path filtering of IPv4, which would drop packets: those of one NIC arrive over every plane. The
/// kernel uses the larger of the port's own setting and that of `all`.
fn reverse_path_faults<'a>(
    settings: &str,
    ports: impl Iterator<Item = &'a str>,
    family: Family,
) -> Vec<(&'static str, String, String)> {
    let ports = ports.chain(["all"]).filter(|_| family == Family::V4);
    let wanted = ports.map(|port| format!("net.ipv4.conf.{port}.rp_filter"));
    let missing = wanted.filter(|key| setting(settings, key) != Some("0"));
    missing
        .map(|key| {
            (
                SETTINGS,
                key.clone(),
                format!("`{key}` is not 0, so packets can be dropped because of their source"),
            )
        })
        .collect()
}

/// Kinds of devices that support segments and addresses, because IPv6 is enabled while they are up. CAN devices and
/// devices without a port do not support IPv6 (`addrconf_notify`), and devices in a VRF use another routing table.
const CARRIERS: [&str; 2] = ["bridge", "dummy"];

/// Returns the fault of created devices: text that is on the line, and message. Exactly one device must be created, to
/// which segments are bound.
///
/// Rules by source address belong to nodes with IPv4 addresses, and are read with the node.
fn device_fault(devices: &str, rules: bool) -> Option<(String, String)> {
    let lines = match batch::read(devices) {
        Ok(lines) => lines,
        Err(error) => return Some((String::new(), error.message)),
    };
    let mut found = false;
    for (_, command) in &lines {
        match command {
            Command::Add { device: SEGMENT_DEVICE, kind } if CARRIERS.contains(kind) => found = true,
            Command::Add { device: SEGMENT_DEVICE, kind } => {
                let message = format!(
                    "`{SEGMENT_DEVICE}` is created as `{kind}`, but segments can only be bound to a {}",
                    CARRIERS.join(" or ")
                );
                return Some((format!("type {kind}"), message));
            }
            Command::Add { device, .. } => {
                return Some((format!(" {device} "), format!("`{device}` is created, but not used")));
            }
            Command::Rule { .. } if rules => {}
            _ => {
                return Some((
                    String::new(),
                    format!("the command does more than create `{SEGMENT_DEVICE}`"),
                ));
            }
        }
    }
    (!found).then(|| {
        ("link add".to_owned(), format!("`{SEGMENT_DEVICE}`, to which segments are bound, is not created"))
    })
}

/// Returns faults of both files: file, text that is on the line, and message.
pub(crate) fn faults(
    devices: &str,
    settings: &str,
    forwards: bool,
    family: Family,
) -> Vec<(&'static str, String, String)> {
    let rules = !forwards && family == Family::V4;
    let made = device_fault(devices, rules).map(|(needle, message)| (DEVICES, needle, message));
    made.into_iter().chain(kernel(settings, forwards, family)).collect()
}

/// Returns faults of the kernel settings of a node whose ports another program configures.
pub(crate) fn of_node<'a>(
    settings: &str,
    ports: impl Iterator<Item = &'a str> + Clone,
    family: Family,
) -> Vec<(&'static str, String, String)> {
    let mut faults = kernel(settings, false, family);
    faults.extend(deaf(settings, ports, family));
    faults
}

/// Returns faults of kernel settings: file, text that is on the line, and message.
fn kernel(settings: &str, forwards: bool, family: Family) -> Vec<(&'static str, String, String)> {
    let mut faults = Vec::new();
    let of_ipv4 = (family == Family::V4).then_some((FORWARDING_IPV4, ""));
    let needed = NEEDED.into_iter().chain(of_ipv4).chain((!forwards).then_some(spread(family)));
    for (key, value) in needed {
        let wanted = if [FORWARDING, FORWARDING_IPV4].contains(&key) { forwarding(forwards) } else { value };
        let found = setting(settings, key);
        if found != Some(wanted) {
            let found = found.unwrap_or("not set");
            faults.push((SETTINGS, key.to_owned(), format!("`{key}` is {found}; expected {wanted}")));
        }
    }
    faults.extend(lines(settings).filter_map(|(key, value)| {
        let message = match allowed_value(&key, forwards) {
            Some(wanted) if wanted == value => return None,
            Some(wanted) => format!("`{key}` is {value}; expected {wanted}"),
            None => format!("`{key}` is not a setting that the proof models"),
        };
        Some((SETTINGS, key.into_owned(), message))
    }));
    let is_setting = |line: &&str| line.is_empty() || line.starts_with(['#', ';']) || line.contains('=');
    faults.extend(settings.lines().map(str::trim).filter(|line| !is_setting(line)).map(|line| {
        let message = format!("`{line}` is not an assignment");
        (SETTINGS, line.to_owned(), message)
    }));
    faults
}

/// Setting that enables forwarding.
const FORWARDING: &str = "net.ipv6.conf.all.forwarding";
const FORWARDING_IPV4: &str = "net.ipv4.ip_forward";

/// Required settings with their values.
const NEEDED: [(&str, &str); 3] =
    [("net.ipv6.conf.all.disable_ipv6", "0"), (FORWARDING, ""), ("net.ipv6.conf.all.keep_addr_on_down", "1")];

/// Returns the setting that includes ports in the hash over next hops, for an address family. Nodes always need it.
fn spread(family: Family) -> (&'static str, &'static str) {
    match family {
        Family::V4 => ("net.ipv4.fib_multipath_hash_policy", "1"),
        Family::V6 => ("net.ipv6.fib_multipath_hash_policy", "1"),
    }
}

fn forwarding(forwards: bool) -> &'static str {
    if forwards { "1" } else { "0" }
}

/// Returns the allowed value of a setting; `None` for an unknown one.
fn allowed_value(key: &str, forwards: bool) -> Option<&'static str> {
    if let Some((_, value)) = [Family::V4, Family::V6].map(spread).into_iter().find(|(name, _)| *name == key)
    {
        return Some(value);
    }
    if key == FORWARDING_IPV4 {
        return Some(forwarding(forwards));
    }
    if let Some((_, name)) = key.strip_prefix("net.ipv4.conf.").and_then(|rest| rest.rsplit_once('.')) {
        return ["rp_filter", "accept_redirects", "send_redirects"].contains(&name).then_some("0");
    }
    if key == "net.ipv6.seg6_flowlabel" {
        return Some("0");
    }
    let (_, name) = key.strip_prefix("net.ipv6.conf.")?.rsplit_once('.')?;
    Some(match name {
        "forwarding" => forwarding(forwards),
        "keep_addr_on_down" | "addr_gen_mode" | "mldv2_unsolicited_report_interval" => "1",
        "disable_ipv6"
        | "accept_ra"
        | "autoconf"
        | "accept_redirects"
        | "accept_dad"
        | "router_solicitations" => "0",
        _ => return None,
    })
}

/// Returns the settings in a file.
fn lines(settings: &str) -> impl DoubleEndedIterator<Item = (Cow<'_, str>, &str)> {
    settings
        .lines()
        .filter_map(|line| line.split(['#', ';']).next()?.split_once('='))
        .map(|(key, value)| (dotted_key(key.trim().trim_start_matches('-')), value.trim()))
}

/// Returns a key with dots: if the first separator is a slash, slashes and dots are exchanged (sysctl.d(5)).
fn dotted_key(key: &str) -> Cow<'_, str> {
    match key.find(['.', '/']) {
        Some(at) if key[at..].starts_with('/') => {
            let swap = |c| match c {
                '/' => '.',
                '.' => '/',
                other => other,
            };
            Cow::Owned(key.chars().map(swap).collect())
        }
        _ => Cow::Borrowed(key),
    }
}

fn setting<'a>(settings: &'a str, key: &str) -> Option<&'a str> {
    lines(settings).rfind(|(name, _)| *name == key).map(|(_, value)| value)
}
