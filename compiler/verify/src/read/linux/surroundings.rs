//! Files beside `ip.batch`: the device of the segments, and settings of the kernel.

use std::borrow::Cow;

use super::batch::{self, Command, Line};
use super::place::SEGMENT_DEVICE;
use crate::model::device::{Device, FaultKind, Via};

/// The device that segments are bound to.
pub(crate) const DEVICES: &str = closc_artefacts::paths::DEVICES_BATCH;
/// Settings of the kernel.
pub(crate) const SETTINGS: &str = closc_artefacts::paths::SYSCTL_CONF;

/// Checks what is in the files beside: the device of the segments, and that a switch forwards and a node
/// does not.
pub(crate) fn surroundings(device: &mut Device<'_>, devices: &str, settings: &str, forwards: bool) {
    // Where the kernel chooses among ways it must hash ports too, or all flows of two NICs take one.
    let chooses = device.bgp.is_some() || device.routes.iter().any(|route| matches!(route.via, Via::Many(_)));
    if chooses && setting(settings, SPREAD.0) != Some(SPREAD.1) {
        let text = format!("`{}` is not {}", SPREAD.0, SPREAD.1);
        device.fault(FaultKind::Setting, SETTINGS, vec![SPREAD.0.to_owned()], text);
    }
    for message in faults(devices, settings, forwards) {
        let (file, needle, text) = message;
        device.fault(FaultKind::Setting, file, vec![needle], text);
    }
}

/// Missing routes to the kernel itself and its segments: routes of a device that is down are not taken.
pub(crate) fn own_devices(commands: &[Line<'_>]) -> Vec<String> {
    let up = |name: &str| {
        commands.iter().any(|(_, command)| matches!(command, Command::Up { port } if *port == name))
    };
    ["lo", SEGMENT_DEVICE]
        .into_iter()
        .filter(|name| !up(name))
        .map(|name| format!("`{name}` stays down"))
        .collect()
}

/// Settings that a node's ports need themselves: the kernel reads each port's own setting, and only a device that forwards takes
/// neither whatever it is (`ipv6_accept_ra` and `ndisc_redirect_rcv`).
pub(crate) fn deaf<'a>(
    settings: &str,
    ports: impl Iterator<Item = &'a str>,
) -> Vec<(&'static str, String, String)> {
    let wanted = ports.flat_map(|port| {
        ["accept_ra", "accept_redirects"].map(|name| format!("net.ipv6.conf.{port}.{name}"))
    });
    let missing = wanted.filter(|key| setting(settings, key) != Some("0"));
    missing
        .map(|key| (SETTINGS, key.clone(), format!("`{key}` is not 0, so that others may change routes")))
        .collect()
}

/// Kinds of devices that take segments and addresses: IPv6 is on where they are up, whatever is plugged in. One for CAN or
/// without a port has none (`addrconf_notify`), and what is in a VRF is routed by another table.
const CARRIERS: [&str; 2] = ["bridge", "dummy"];

/// Errors of created devices: one, to which segments are bound. Text to look for and message.
fn made(devices: &str) -> Option<(String, String)> {
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
                    "`{SEGMENT_DEVICE}` is made as `{kind}`, and segments can be bound to a {} only",
                    CARRIERS.join(" or ")
                );
                return Some((format!("type {kind}"), message));
            }
            Command::Add { device, .. } => {
                return Some((format!(" {device} "), format!("`{device}` is made, which nothing needs")));
            }
            _ => return Some((String::new(), format!("more is done than that `{SEGMENT_DEVICE}` is made"))),
        }
    }
    (!found).then(|| {
        ("link add".to_owned(), format!("`{SEGMENT_DEVICE}`, to which segments are bound, is not made"))
    })
}

/// The same, as file, text to look for and message.
pub(crate) fn faults(devices: &str, settings: &str, forwards: bool) -> Vec<(&'static str, String, String)> {
    let made = made(devices).map(|(needle, message)| (DEVICES, needle, message));
    made.into_iter().chain(kernel(settings, forwards)).collect()
}

/// Errors of the settings of a node whose ports another program sets up: there are files for it beside, or none.
pub(crate) fn of_node<'a>(
    settings: &str,
    ports: impl Iterator<Item = &'a str>,
) -> Vec<(&'static str, String, String)> {
    let mut faults = kernel(settings, false);
    faults.extend(deaf(settings, ports));
    faults
}

/// Errors of kernel settings, as file, text to look for and message.
fn kernel(settings: &str, forwards: bool) -> Vec<(&'static str, String, String)> {
    let mut faults = Vec::new();
    for (key, value) in NEEDED.into_iter().chain((!forwards).then_some(SPREAD)) {
        let wanted = if key == FORWARDING { forwarding(forwards) } else { value };
        let found = setting(settings, key);
        if found != Some(wanted) {
            let found = found.unwrap_or("not set");
            faults.push((SETTINGS, key.to_owned(), format!("`{key}` is {found} and must be {wanted}")));
        }
    }
    faults.extend(lines(settings).filter_map(|(key, value)| {
        let message = match known(&key, forwards) {
            Some(wanted) if wanted == value => return None,
            Some(wanted) => format!("`{key}` is {value} and must be {wanted}"),
            None => format!("`{key}` is not a setting that the proof knows"),
        };
        Some((SETTINGS, key.into_owned(), message))
    }));
    let is_setting = |line: &&str| line.is_empty() || line.starts_with(['#', ';']) || line.contains('=');
    faults.extend(settings.lines().map(str::trim).filter(|line| !is_setting(line)).map(|line| {
        let message = format!("`{line}` sets nothing");
        (SETTINGS, line.to_owned(), message)
    }));
    faults
}

/// Whether a device forwards.
const FORWARDING: &str = "net.ipv6.conf.all.forwarding";

/// Settings that must be there, with their values.
const NEEDED: [(&str, &str); 3] =
    [("net.ipv6.conf.all.disable_ipv6", "0"), (FORWARDING, ""), ("net.ipv6.conf.all.keep_addr_on_down", "1")];

/// Additional needs of a node: groups of next hops hash ports too.
const SPREAD: (&str, &str) = ("net.ipv6.fib_multipath_hash_policy", "1");

fn forwarding(forwards: bool) -> &'static str {
    if forwards { "1" } else { "0" }
}

/// Returns the value that a setting may have; nothing for one that nobody here knows.
fn known(key: &str, forwards: bool) -> Option<&'static str> {
    if key == SPREAD.0 {
        return Some(SPREAD.1);
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

/// The settings of a file.
fn lines(settings: &str) -> impl DoubleEndedIterator<Item = (Cow<'_, str>, &str)> {
    settings
        .lines()
        .filter_map(|line| line.split(['#', ';']).next()?.split_once('='))
        .map(|(key, value)| (dotted(key.trim().trim_start_matches('-')), value.trim()))
}

/// Returns a key with dots: where the first separator is a slash, slashes and dots have changed places (sysctl.d(5)).
fn dotted(key: &str) -> Cow<'_, str> {
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
