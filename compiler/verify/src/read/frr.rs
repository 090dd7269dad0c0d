//! Reads a switch that runs FRRouting: `frr.conf` for addresses, routes and segments, `ip.batch` for ports and
//! neighbours.
//!
//! Always: every line is understood or is an error, wherever routes are to be proved.

use std::borrow::Cow;

use ipnet::Ipv6Net;

use super::linux;
use super::sonic::parse;
use super::{ReadError, batch};
use crate::model::device::{Device, FaultKind, Hop, Os, Ports, Route, Segment, Via};

/// Addresses, routes and segments.
pub(crate) const FILE: &str = "frr.conf";
/// Which daemons run.
pub(crate) const DAEMONS: &str = "daemons";

/// FRR 10.5.0 installs no static segment (FRR issue 20092).
const BROKEN: &str = "10.5.0";

/// Reads a switch: its configuration, its ports, what is beside. Lines that are not known here are errors, unless
/// nothing is to be proved of routes.
pub(crate) fn read(
    [conf, file, devices, settings]: [&str; 4],
    strict: bool,
) -> Result<Device<'_>, ReadError> {
    let mut reader = Reader {
        device: Device::new(Os::Frr),
        ports: Ports::default(),
        context: Vec::new(),
        locators: Vec::new(),
    };
    for (at, line) in conf.lines().enumerate() {
        match reader.line(line.trim_ascii()) {
            Err(message) if strict => return Err(ReadError::at(at + 1, message)),
            Ok(()) | Err(_) => {}
        }
    }
    let Reader { mut device, mut ports, locators, .. } = reader;
    locator_faults(&mut device, &locators);
    let beside = |error: ReadError| error.beside(linux::FILE);
    for line in batch::read(file).map_err(beside)? {
        linux::port(&mut device, &mut ports, line).map_err(beside)?;
    }
    device.ports = ports.finish();
    linux::surroundings(&mut device, devices, settings, true);
    Ok(device)
}

struct Locator<'a> {
    name: &'a str,
    prefix: Option<Ipv6Net>,
    text: &'a str,
    usid: bool,
}

struct Reader<'a> {
    device: Device<'a>,
    ports: Ports<'a>,
    /// The nodes of the command tree that are open.
    context: Vec<Context<'a>>,
    locators: Vec<Locator<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context<'a> {
    Interface(&'a str),
    SegmentRouting,
    Srv6,
    Locators,
    Locator,
    Segments,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('!') {
            return Ok(());
        }
        if let Some(text) = line.strip_prefix("description ") {
            let Some(Context::Interface(name)) = self.context.last() else {
                return Err(format!("`{line}` stands outside an interface"));
            };
            self.ports.port(Cow::Borrowed(name)).description = Some(Cow::Borrowed(text));
            return Ok(());
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match (self.context.last().copied(), words.as_slice()) {
            (_, ["exit" | "end"]) => {
                self.context.pop();
            }
            (None, words) => self.top(words)?,
            (Some(Context::Interface(name)), ["ipv6", "address", address]) => {
                let address: Ipv6Net = parse(address)?;
                if name == "lo" {
                    self.device.loopbacks.push(address);
                } else {
                    self.ports.port(Cow::Borrowed(name)).addresses.push(address);
                }
            }
            (Some(Context::SegmentRouting), ["srv6"]) => self.context.push(Context::Srv6),
            (Some(Context::Srv6), ["locators"]) => self.context.push(Context::Locators),
            (Some(Context::Srv6), ["static-sids"]) => self.context.push(Context::Segments),
            (Some(Context::Locators), ["locator", name]) => {
                self.locators.push(Locator { name, prefix: None, text: "", usid: false });
                self.context.push(Context::Locator);
            }
            (Some(Context::Locator), words) => self.locator(words)?,
            (Some(Context::Segments), ["sid", prefix, "locator", locator, "behavior", rest @ ..]) => {
                self.segment(prefix, locator, rest)?;
            }
            _ => return Err(format!("`{line}` is none of the commands that the proof knows")),
        }
        Ok(())
    }

    fn top(&mut self, words: &[&'a str]) -> Result<(), String> {
        match words {
            ["frr", "version", version] => {
                if *version == BROKEN {
                    let message = format!("FRR {BROKEN} installs no static segment");
                    self.device.fault(FaultKind::Setting, FILE, vec!["frr version".to_owned()], message);
                }
            }
            ["frr", "defaults", _] | ["service", "integrated-vtysh-config"] => {}
            ["hostname", name] => self.device.hostname = Some(Cow::Borrowed(name)),
            ["interface", name] => self.context.push(Context::Interface(name)),
            ["segment-routing"] => self.context.push(Context::SegmentRouting),
            ["ipv6", "route", prefix, "blackhole"] => self.route(prefix, None)?,
            ["ipv6", "route", prefix, gateway, port] => {
                let hop = Hop {
                    port: self.ports.index(Cow::Borrowed(port)),
                    gateway: Some(parse(gateway)?),
                    mac: None,
                    weight: 1,
                };
                self.route(prefix, Some(hop))?;
            }
            _ => return Err(format!("`{}` is none of the commands that the proof knows", words.join(" "))),
        }
        Ok(())
    }

    /// Adds a route; further lines of one prefix are further next hops.
    fn route(&mut self, text: &'a str, hop: Option<Hop>) -> Result<(), String> {
        let prefix: Ipv6Net = parse(text)?;
        let via = hop.map_or(Via::Blackhole, Via::One);
        if let (Some(hop), Some(last)) = (hop, self.device.routes.last_mut())
            && last.prefix == prefix
        {
            match &mut last.via {
                Via::One(first) => last.via = Via::Many(vec![*first, hop]),
                Via::Many(hops) => hops.push(hop),
                Via::Blackhole => return Err(format!("`{text}` is a blackhole and leads over a port")),
            }
            return Ok(());
        }
        self.device.routes.push(Route { prefix, text: Cow::Borrowed(text), via });
        Ok(())
    }

    fn locator(&mut self, words: &[&'a str]) -> Result<(), String> {
        let Some(locator) = self.locators.last_mut() else { return Err("no locator is open".to_owned()) };
        match words {
            ["behavior", "usid"] => locator.usid = true,
            ["prefix", prefix, "block-len", block, "node-len", node, "func-bits", function] => {
                locator.prefix = Some(parse(prefix)?);
                locator.text = prefix;
                if (*block, *node, *function) != ("32", "16", "0") {
                    let message = format!(
                        "locator `{}` cuts addresses at {block} + {node} + {function} bits and not at 32 + 16 + 0",
                        locator.name
                    );
                    let needles = vec![format!("locator {}", locator.name), "prefix".to_owned()];
                    self.device.fault(FaultKind::Segment, FILE, needles, message);
                }
            }
            _ => return Err(format!("`{}` is no part of a locator that the proof knows", words.join(" "))),
        }
        Ok(())
    }

    fn segment(&mut self, text: &'a str, locator: &str, behaviour: &[&str]) -> Result<(), String> {
        let prefix: Ipv6Net = parse(text)?;
        let mut faults = Vec::new();
        if behaviour != ["uN"] {
            faults.push(format!("segment `{text}` is `{}` and not `uN`", behaviour.join(" ")));
        }
        match self.locators.iter().find(|known| known.name == locator) {
            // staticd loses a segment that comes before its locator.
            None => {
                faults.push(format!("segment `{text}` comes before its locator `{locator}`, or has none"));
            }
            Some(known) if known.prefix != Some(prefix) => {
                faults.push(format!("segment `{text}` is not in its locator `{locator}`, `{}`", known.text));
            }
            Some(_) => {}
        }
        for message in faults {
            let needles = vec!["static-sids".to_owned(), format!("sid {text} ")];
            self.device.fault(FaultKind::Segment, FILE, needles, message);
        }
        self.device.segments.push(Segment { prefix, text: Cow::Borrowed(text) });
        Ok(())
    }
}

fn locator_faults(device: &mut Device<'_>, locators: &[Locator<'_>]) {
    for locator in locators {
        let needles = vec![format!("locator {}", locator.name)];
        if !locator.usid {
            let message = format!("locator `{}` is not of behavior `usid`", locator.name);
            device.fault(FaultKind::Segment, FILE, needles.clone(), message);
        }
        if !device.segments.iter().any(|segment| Some(segment.prefix) == locator.prefix) {
            let message = format!("locator `{}` has no segment", locator.name);
            device.fault(FaultKind::Segment, FILE, needles, message);
        }
    }
}

/// Checks which daemons run: a routing protocol would bring routes that nothing proves.
pub(crate) fn daemon_faults(daemons: &str) -> Vec<String> {
    daemons
        .lines()
        .filter_map(|line| line.split('#').next()?.trim_ascii().strip_suffix("=yes"))
        .filter(|daemon| !matches!(*daemon, "vtysh_enable" | "zebra" | "staticd" | "mgmtd"))
        .map(|daemon| format!("`{daemon}` runs, and would bring routes that nothing proves"))
        .collect()
}
