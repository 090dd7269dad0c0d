//! Reads a switch that is a Linux kernel: `ip.batch`, `devices.batch` and `sysctl.conf`.

use std::borrow::Cow;

use super::batch::{Action, Command, Line, Scope};
use super::{ReadError, batch};
use crate::model::device::{Device, FaultKind, Hop, Os, Ports, Route, Segment, Via};

/// Ports, addresses, neighbours, routes.
pub(crate) const FILE: &str = "ip.batch";
/// The device that segments are bound to.
pub(crate) const DEVICES: &str = "devices.batch";
/// Settings of the kernel.
pub(crate) const SETTINGS: &str = "sysctl.conf";

/// The device that segments are bound to: bound to `lo` the kernel rejects every packet, bound to a port the
/// segment goes away when the port goes down.
pub(crate) const SEGMENT_DEVICE: &str = "sr0";

/// Reads a switch.
pub(crate) fn read<'a>(file: &'a str, devices: &str, settings: &str) -> Result<Device<'a>, ReadError> {
    let mut device = Device::new(Os::Linux);
    let mut ports = Ports::default();
    for line in batch::read(file)? {
        command(&mut device, &mut ports, line)?;
    }
    device.ports = ports.finish();
    surroundings(&mut device, devices, settings, true);
    Ok(device)
}

fn command<'a>(device: &mut Device<'a>, ports: &mut Ports<'a>, line: Line<'a>) -> Result<(), ReadError> {
    match line.1 {
        Command::Segment { prefix, text, action, port } => {
            for message in segment_faults(text, &action, port) {
                device.fault(FaultKind::Segment, FILE, vec![format!("route replace {text} ")], message);
            }
            device.segments.push(Segment { prefix, text: Cow::Borrowed(text) });
        }
        Command::Blackhole { prefix, text, scope } => {
            plain(device, &scope, text);
            device.routes.push(Route { prefix, text: Cow::Borrowed(text), via: Via::Blackhole });
        }
        Command::Route { prefix, text, hops, scope } => {
            plain(device, &scope, text);
            let hop = |hop: &batch::BatchHop<'a>| Hop {
                port: ports.index(Cow::Borrowed(hop.port)),
                gateway: hop.gateway,
                mac: None,
                weight: hop.weight,
            };
            let mut hops: Vec<Hop> = hops.iter().map(hop).collect();
            let via = if hops.len() == 1 { Via::One(hops.remove(0)) } else { Via::Many(hops) };
            device.routes.push(Route { prefix, text: Cow::Borrowed(text), via });
        }
        other => self::port(device, ports, (line.0, other))?,
    }
    Ok(())
}

/// A switch has one table, in which a prefix has one route, for packets from anywhere.
fn plain(device: &mut Device<'_>, scope: &Scope, text: &str) {
    if *scope != Scope::default() {
        let message =
            format!("`{text}` has a source, a preferred address or a metric, as no route of a switch has");
        device.fault(FaultKind::Unknown, FILE, vec![format!("route replace {text} ")], message);
    }
}

/// Takes what is about ports, addresses and neighbours; anything else has no place in a switch.
pub(crate) fn port<'a>(
    device: &mut Device<'a>,
    ports: &mut Ports<'a>,
    (line, command): Line<'a>,
) -> Result<(), ReadError> {
    match command {
        Command::Up { port } | Command::Set { port, .. } if port == "lo" || port == SEGMENT_DEVICE => {}
        Command::Up { port } => {
            let port = ports.port(Cow::Borrowed(port));
            port.declared = true;
            port.up = true;
        }
        Command::Set { port, mac, mtu, link_local } => {
            let port = ports.port(Cow::Borrowed(port));
            port.declared = true;
            port.hello.link_local = link_local.unwrap_or(port.hello.link_local);
            port.mac = mac.or(port.mac);
            port.wire.mtu = mtu.or(port.wire.mtu);
        }
        Command::Address { address, port } if port == SEGMENT_DEVICE => device.loopbacks.push(address),
        Command::Address { address, port } => ports.port(Cow::Borrowed(port)).addresses.push(address),
        Command::Neighbour { address, mac, port } => {
            ports.port(Cow::Borrowed(port)).neighbours.push((address, mac));
        }
        Command::Add { .. }
        | Command::Segment { .. }
        | Command::Blackhole { .. }
        | Command::Route { .. }
        | Command::Source { .. }
        | Command::Member { .. }
        | Command::Group { .. }
        | Command::Encapsulate { .. } => {
            return Err(ReadError::at(line, "this command has no place here"));
        }
    }
    Ok(())
}

/// What keeps an own segment from being a uN.
fn segment_faults(text: &str, action: &Action<'_>, port: &str) -> Vec<String> {
    let mut faults = Vec::new();
    match action {
        Action::Un { block: "32", node: "16" } => {}
        Action::Un { block, node } => {
            faults
                .push(format!("segment `{text}` cuts addresses at {block} + {node} bits and not at 32 + 16"));
        }
        Action::Decapsulate { .. } => {
            faults.push(format!("segment `{text}` decapsulates, which is for NICs"));
        }
        Action::Other(other) => faults.push(format!("segment `{text}` is `{other}` and no uN")),
    }
    if port != SEGMENT_DEVICE {
        faults.push(format!("segment `{text}` is bound to `{port}` and not to `{SEGMENT_DEVICE}`"));
    }
    faults
}

/// Checks what stands in the files beside: the device of the segments, and that a switch forwards and a node
/// does not.
pub(crate) fn surroundings(device: &mut Device<'_>, devices: &str, settings: &str, forwards: bool) {
    for message in surrounding_faults(devices, settings, forwards) {
        let (file, needle, text) = message;
        device.fault(FaultKind::Setting, file, vec![needle], text);
    }
}

/// The same, as file, text to look for and message.
pub(crate) fn surrounding_faults(
    devices: &str,
    settings: &str,
    forwards: bool,
) -> Vec<(&'static str, String, String)> {
    let mut faults = Vec::new();
    let made = match batch::read(devices) {
        Ok(lines) => {
            lines.iter().any(|(_, command)| matches!(command, Command::Add { device: SEGMENT_DEVICE }))
        }
        Err(error) => {
            faults.push((DEVICES, String::new(), error.message));
            true
        }
    };
    if !made {
        let text = format!("`{SEGMENT_DEVICE}`, to which segments are bound, is not made");
        faults.push((DEVICES, "link add".to_owned(), text));
    }
    for (key, value) in NEEDED.into_iter().chain((!forwards).then_some(SPREAD)) {
        let wanted = if key == FORWARDING { forwarding(forwards) } else { value };
        let found = setting(settings, key);
        if found != Some(wanted) {
            let found = found.unwrap_or("not set");
            faults.push((SETTINGS, key.to_owned(), format!("`{key}` is {found} and must be {wanted}")));
        }
    }
    faults.extend(lines(settings).filter_map(|(key, value)| {
        let message = match known(key, forwards) {
            Some(wanted) if wanted == value => return None,
            Some(wanted) => format!("`{key}` is {value} and must be {wanted}"),
            None => format!("`{key}` is no setting that the proof knows"),
        };
        Some((SETTINGS, key.to_owned(), message))
    }));
    faults
}

/// Whether a device forwards.
const FORWARDING: &str = "net.ipv6.conf.all.forwarding";

/// Settings that must be there, with their values.
const NEEDED: [(&str, &str); 3] =
    [("net.ipv6.conf.all.disable_ipv6", "0"), (FORWARDING, ""), ("net.ipv6.conf.all.keep_addr_on_down", "1")];

/// What a node needs besides: groups of next hops hash ports too.
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
fn lines(settings: &str) -> impl DoubleEndedIterator<Item = (&str, &str)> {
    settings
        .lines()
        .filter_map(|line| line.split('#').next()?.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
}

fn setting<'a>(settings: &'a str, key: &str) -> Option<&'a str> {
    lines(settings).rfind(|(name, _)| *name == key).map(|(_, value)| value)
}
