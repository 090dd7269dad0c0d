//! Reads a Linux switch: `ip.batch`, `tc.batch`, `devices.batch` and `sysctl.conf`.

use std::borrow::Cow;

use super::batch::{Action, Command, Line, Scope};
use super::{batch, queues, surroundings};
use crate::model::device::{Device, FaultKind, Hop, Ports, Route, Segment, Via};
use crate::model::language::Language;
use crate::read::error::ReadError;
use crate::read::linux::place::FILE;
use crate::read::linux::place::SEGMENT_DEVICE;

/// Reads a switch.
pub(crate) fn read<'a>(
    language: &'static Language,
    file: &'a str,
    queues: &'a str,
    [devices, settings]: [&str; 2],
) -> Result<Device<'a>, ReadError> {
    let mut device = Device::new(language);
    let mut ports = Ports::default();
    let lines = batch::read(file)?;
    down(&mut device, &lines);
    for line in lines {
        command(&mut device, &mut ports, line)?;
    }
    queues::read(queues, &mut device, &mut ports)?;
    device.ports = ports.finish();
    surroundings::surroundings(&mut device, devices, settings, true);
    Ok(device)
}

/// Reports required devices that stay down.
pub(crate) fn down(device: &mut Device<'_>, lines: &[Line<'_>]) {
    for message in surroundings::down_devices(lines) {
        device.fault(FaultKind::Setting, FILE, vec!["link set dev".to_owned()], message);
    }
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

/// Checks that a switch uses a single routing table, with one route per prefix for packets from any source.
fn plain(device: &mut Device<'_>, scope: &Scope, text: &str) {
    if *scope != Scope::default() {
        let message = format!(
            "`{text}` has a source, a preferred address or a metric, which routes of a switch do not have"
        );
        device.fault(FaultKind::Unknown, FILE, vec![format!("route replace {text} ")], message);
    }
}

/// Processes commands for ports, addresses and neighbours, on switches and nodes. Any other command is an error.
pub(crate) fn port<'a>(
    device: &mut Device<'a>,
    ports: &mut Ports<'a>,
    (line, command): Line<'a>,
) -> Result<(), ReadError> {
    match command {
        Command::Up { port } | Command::Set { port, mac: None, mtu: None, .. }
            if port == "lo" || port == SEGMENT_DEVICE => {}
        Command::Up { port } => {
            let port = ports.port(Cow::Borrowed(port));
            (port.declared, port.commanded) = (true, true);
            port.up = true;
        }
        Command::Set { port, mac, mtu, link_local } => {
            let port = ports.port(Cow::Borrowed(port));
            (port.declared, port.commanded) = (true, true);
            port.discovery.link_local = link_local.unwrap_or(port.discovery.link_local);
            port.mac = mac.or(port.mac);
            port.wire.mtu = mtu.or(port.wire.mtu);
        }
        Command::Address { address, port } if port == SEGMENT_DEVICE => device.loopbacks.push(address),
        Command::Address { address, port } => ports.port(Cow::Borrowed(port)).addresses.push(address),
        Command::Neighbour { address, mac, port } => {
            ports.port(Cow::Borrowed(port)).neighbours.push((address, mac));
        }
        Command::Add { .. }
        | Command::Rule { .. }
        | Command::Segment { .. }
        | Command::Blackhole { .. }
        | Command::Route { .. }
        | Command::Source { .. }
        | Command::Member { .. }
        | Command::Group { .. }
        | Command::Encapsulate { .. } => {
            return Err(ReadError::at(line, "this command is not expected here"));
        }
    }
    Ok(())
}

/// Reasons why a segment is not a uN.
fn segment_faults(text: &str, action: &Action<'_>, port: &str) -> Vec<String> {
    let mut faults = Vec::new();
    match action {
        Action::Un { block: "32", node: "16" } => {}
        Action::Un { block, node } => {
            faults.push(format!("segment `{text}` has {block} + {node} bits; expected 32 + 16"));
        }
        Action::Decapsulate { .. } => {
            faults.push(format!("segment `{text}` decapsulates, which only segments of NICs do"));
        }
        Action::Other(other) => faults.push(format!("segment `{text}` is `{other}`; expected uN")),
    }
    if port != SEGMENT_DEVICE {
        faults.push(format!("segment `{text}` is bound to `{port}`; expected `{SEGMENT_DEVICE}`"));
    }
    faults
}
