//! Reads a switch that runs FRRouting: `frr.conf` for addresses, routes, segments and BGP, `ip.batch` for ports and
//! neighbours. Also reads the `frr.conf` of SONiC switches.
//!
//! Invariants: every line is understood or a fault. BGP commands are understood only if the fabric uses BGP.

use std::borrow::Cow;

use closc_artefacts::Prefix;
use closc_artefacts::Routing;
use hashbrown::HashMap;

use super::bgp::{BgpReader, Node, Refusal};
use super::place::FILE;
use crate::model::device::{Device, FaultKind, Hop, Port, Ports, Route, Segment, Via};
use crate::model::language::Language;
use crate::model::place::{Fact, Step};
use crate::read::error::ReadError;
use crate::read::linux::place::FILE as PORTS;
use crate::read::linux::{batch, queues, surroundings, switch};
use crate::read::text_routes::TextRoutes;
use crate::read::value::{self, parse};

/// FRR 10.5.0 does not install static segments (FRR issue 20092).
const BROKEN: &str = "10.5.0";

/// Reads a switch: `frr.conf`, `ip.batch` and `tc.batch`, then `devices.batch` and `sysctl.conf`.
pub(crate) fn read<'a>(
    language: &'static Language,
    ([conf, file, queues], [devices, settings]): ([&'a str; 3], [&str; 2]),
    routing: Routing,
) -> Result<Device<'a>, ReadError> {
    let (mut device, mut ports, _) = configuration(conf, language, routing, Host::Linux)?;
    let beside = |error: ReadError| error.with_file(PORTS);
    let lines = batch::read(file).map_err(beside)?;
    switch::down(&mut device, &lines);
    for line in lines {
        switch::port(&mut device, &mut ports, line).map_err(beside)?;
    }
    queues::read(queues, &mut device, &mut ports)?;
    device.ports = ports.finish();
    surroundings::surroundings(&mut device, devices, settings, true);
    Ok(device)
}

/// Reads the `frr.conf` of a SONiC switch into the device.
pub(crate) fn read_sonic<'a>(
    conf: &'a str,
    device: &mut Device<'a>,
    routing: Routing,
) -> Result<(), ReadError> {
    let (mut routing, ports, manager) =
        configuration(conf, device.language, routing, Host::Sonic).map_err(|error| error.with_file(FILE))?;
    manager_faults(&mut routing, &manager);
    let named = ports.finish();
    let places: Vec<Option<u16>> = {
        let all = device.ports.iter().enumerate();
        let by_name: HashMap<&str, u16> = all.map(|(at, port)| (&*port.name, at as u16)).collect();
        named.iter().map(|port| by_name.get(&*port.name).copied()).collect()
    };
    for (port, place) in named.into_iter().zip(&places) {
        if let Some(place) = place {
            join(&mut device.ports[usize::from(*place)], port);
        } else {
            let message =
                format!("port `{}` is not in the other configuration file of the switch", port.name);
            device.fault(FaultKind::Dangling, FILE, vec![format!(" {}", port.name)], message);
        }
    }
    let moved = |hop: &Hop| Some(Hop { port: places[usize::from(hop.port)]?, ..*hop });
    for route in routing.routes {
        let via = match route.via {
            Via::Blackhole => Some(Via::Blackhole),
            Via::One(hop) => moved(&hop).map(Via::One),
            Via::Many(hops) => hops.iter().map(moved).collect::<Option<_>>().map(Via::Many),
        };
        device.routes.extend(via.map(|via| Route { via, ..route }));
    }
    if routing.hostname != device.hostname {
        let name = routing.hostname.as_deref().unwrap_or_default();
        let message = format!("`{FILE}` is of `{name}`");
        device.fault(FaultKind::Identity, FILE, vec!["hostname".to_owned()], message);
    }
    device.routes_in_frr = true;
    device.loopbacks.extend(routing.loopbacks);
    device.segments.extend(routing.segments);
    device.faults.extend(routing.faults);
    device.bgp = routing.bgp;
    Ok(())
}

/// Merges the port settings of two files.
fn join<'a>(port: &mut Port<'a>, more: Port<'a>) {
    port.addresses.extend(more.addresses);
    port.description = port.description.take().or(more.description);
    port.discovery.advertises |= more.discovery.advertises;
}

fn configuration<'a>(
    conf: &'a str,
    language: &'static Language,
    routing: Routing,
    host: Host,
) -> Result<(Device<'a>, Ports<'a>, ForwardingManager), ReadError> {
    let mut reader = Reader {
        device: Device::new(language),
        ports: Ports::default(),
        context: Vec::new(),
        locators: Vec::new(),
        bgp: BgpReader { multipath_max: host.multipath_max(), ..BgpReader::default() },
        routing,
        left: false,
        routes: TextRoutes::default(),
        host,
        manager: ForwardingManager::default(),
    };
    for (at, line) in conf.lines().enumerate() {
        let line = line.trim_ascii();
        match reader.in_any_node(line) {
            Err(Refusal::Value(message)) => return Err(ReadError::at(at + 1, message)),
            Err(Refusal::Left) => {
                let message = format!("`{line}` follows a superfluous `exit`, so FRR does not read it");
                reader.device.fault(FaultKind::Unknown, FILE, vec![line.to_owned()], message);
                break;
            }
            Err(Refusal::Unknown) => {
                let message = format!("`{line}` is not a command that the proof models");
                reader.device.fault(FaultKind::Unknown, FILE, vec![line.to_owned()], message);
            }
            Ok(()) => {}
        }
    }
    let Reader { mut device, ports, locators, bgp, routes, manager, .. } = reader;
    device.routes = routes.list;
    locator_faults(&mut device, &locators);
    bgp.names.store_in(&mut device, FILE);
    Ok((device, ports, manager))
}

/// The system that receives the routes of FRR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Host {
    /// The kernel.
    Linux,
    /// SONiC, whose `fpmsyncd` listens on the loopback address.
    Sonic,
}

impl Host {
    /// Returns the maximum number of next hops in the FRR build of the system: 256 in Debian, 514 in SONiC
    /// (sonic-buildimage, src/sonic-frr/patch/0016).
    fn multipath_max(self) -> u16 {
        match self {
            Self::Linux => 256,
            Self::Sonic => 514,
        }
    }
}

/// The connection of zebra to the forwarding plane manager (FPM), which programs the ASIC.
#[derive(Debug, Default)]
struct ForwardingManager {
    /// Whether the address of the manager is configured. Otherwise zebra does not connect.
    has_address: bool,
    /// Whether routes include their next hops, as `fpmsyncd` requires.
    has_whole_routes: bool,
}

/// Checks the settings of the connection. If `no fpm use-next-hop-groups` is missing, SONiC's `docker_init.sh` appends
/// this line and `fpm address 127.0.0.1`, so the file would change at each start.
fn manager_faults(device: &mut Device<'_>, manager: &ForwardingManager) {
    for (there, line, why) in [
        (
            manager.has_whole_routes,
            "no fpm use-next-hop-groups",
            "SONiC appends it whenever the container starts",
        ),
        (manager.has_address, "fpm address 127.0.0.1", "without it no route reaches the chip"),
    ] {
        if !there {
            let message = format!("`{line}` is not set: {why}");
            device.fault(FaultKind::Setting, FILE, vec!["fpm ".to_owned(), "hostname ".to_owned()], message);
        }
    }
}

struct Locator<'a> {
    name: &'a str,
    prefix: Option<Prefix>,
    text: &'a str,
    usid: bool,
}

struct Reader<'a> {
    device: Device<'a>,
    ports: Ports<'a>,
    /// The nodes of the command tree that are open.
    context: Vec<Context<'a>>,
    locators: Vec<Locator<'a>>,
    bgp: BgpReader<'a>,
    routing: Routing,
    /// Whether the configuration mode was left.
    left: bool,
    routes: TextRoutes<'a>,
    host: Host,
    manager: ForwardingManager,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context<'a> {
    Interface(&'a str),
    SegmentRouting,
    Srv6,
    Locators,
    Locator,
    Segments,
    Bgp(Node<'a>),
}

impl<'a> Reader<'a> {
    /// Processes a line in the current node; a command that does not exist there belongs to an enclosing one, as in
    /// vtysh.
    fn in_any_node(&mut self, line: &'a str) -> Result<(), Refusal> {
        let open = self.context.clone();
        loop {
            let taken = self.line(line);
            if taken != Err(Refusal::Unknown) || self.context.pop().is_none() {
                if taken == Err(Refusal::Unknown) {
                    self.context = open;
                }
                return taken;
            }
        }
    }

    fn line(&mut self, line: &'a str) -> Result<(), Refusal> {
        if line.is_empty() || line.starts_with('!') {
            return Ok(());
        }
        if let (Some(text), Some(Context::Interface(name))) =
            (line.strip_prefix("description "), self.context.last())
        {
            self.ports.port(Cow::Borrowed(name)).description = Some(Cow::Borrowed(text));
            return Ok(());
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if self.left && words != ["end"] {
            return Err(Refusal::Left);
        }
        match (self.context.last().copied(), words.as_slice()) {
            // At the top level, `exit` leaves the configuration mode, so vtysh rejects the next command and stops
            // (observed with FRR 8.4.4). In a file, `end` does not leave it.
            (open, ["exit"]) => {
                self.left |= open.is_none();
                self.context.pop();
            }
            (Some(Context::Bgp(Node::Family)), ["exit-address-family"]) => {
                self.context.pop();
            }
            (_, ["end"]) => self.context.clear(),
            (None, words) => self.top(words)?,
            // On SONiC, addresses are in CONFIG_DB.
            (Some(Context::Interface(name)), [command @ ("ip" | "ipv6"), "address", address])
                if self.host == Host::Linux =>
            {
                self.address(name, command, address)?;
            }
            (Some(Context::Interface(name)), ["no", "ipv6", "nd", "suppress-ra"]) => {
                self.ports.port(Cow::Borrowed(name)).discovery.advertises = true;
            }
            (Some(Context::Interface(_)), ["ipv6", "nd", "ra-interval", seconds]) => {
                parse::<u16>(seconds)?;
            }
            (Some(Context::Bgp(node)), words) => {
                let opened = self.bgp.inside(node, words)?;
                self.context.extend(opened.map(Context::Bgp));
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
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn address(&mut self, name: &'a str, command: &str, text: &str) -> Result<(), Refusal> {
        let address = value::prefix(value::family(command).ok_or(Refusal::Unknown)?, text)?;
        if name == "lo" {
            self.device.loopbacks.push(address);
        } else {
            self.ports.port(Cow::Borrowed(name)).addresses.push(address);
        }
        Ok(())
    }

    fn top(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        match words {
            ["frr", "version", version] => {
                if *version == BROKEN {
                    let message = format!("FRR {BROKEN} does not install static segments");
                    self.device.fault(FaultKind::Setting, FILE, vec!["frr version".to_owned()], message);
                }
            }
            // With `no zebra nexthop kernel enable`, zebra passes next hops to the kernel instead of their IDs, which
            // is equivalent.
            ["frr", "defaults", _]
            | ["service", "integrated-vtysh-config"]
            | ["log", "syslog", "informational"]
            | ["Building", "configuration..."]
            | ["Current", "configuration:"]
            | ["ip" | "ipv6", "forwarding"]
            | ["no", "zebra", "nexthop", "kernel", "enable"] => {}
            ["no", "fpm", "use-next-hop-groups"] if self.host == Host::Sonic => {
                self.manager.has_whole_routes = true;
            }
            ["fpm", "address", "127.0.0.1"] if self.host == Host::Sonic => self.manager.has_address = true,
            ["hostname", name] => self.device.hostname = Some(Cow::Borrowed(name)),
            ["interface", name] => self.context.push(Context::Interface(name)),
            ["segment-routing"] if self.host == Host::Linux => self.context.push(Context::SegmentRouting),
            [command @ ("ip" | "ipv6"), "route", prefix, "blackhole" | "Null0"] => {
                self.route(command, prefix, None)?;
            }
            [command @ ("ip" | "ipv6"), "route", prefix, gateway, port]
            | [command @ ("ip" | "ipv6"), "route", prefix, gateway, port, "1"] => {
                let hop = Hop {
                    port: self.ports.index(Cow::Borrowed(port)),
                    gateway: Some(parse(gateway)?),
                    mac: None,
                    weight: 1,
                };
                self.route(command, prefix, Some(hop))?;
            }
            words if self.routing.speaks_bgp() => {
                let opened = self.bgp.top(words)?;
                self.context.extend(opened.map(Context::Bgp));
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn route(&mut self, command: &str, text: &'a str, hop: Option<Hop>) -> Result<(), Refusal> {
        let family = value::family(command).ok_or(Refusal::Unknown)?;
        Ok(self.routes.add(value::prefix(family, text)?, Cow::Borrowed(text), hop)?)
    }

    fn locator(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        let Some(locator) = self.locators.last_mut() else { return Err(Refusal::Unknown) };
        match words {
            ["behavior", "usid"] => locator.usid = true,
            ["prefix", prefix, "block-len", block, "node-len", node, "func-bits", function] => {
                locator.prefix = Some(parse(prefix)?);
                locator.text = prefix;
                if (*block, *node, *function) != ("32", "16", "0") {
                    let message = format!(
                        "locator `{}` has {block} + {node} + {function} bits; expected 32 + 16 + 0",
                        locator.name
                    );
                    let needles = vec![format!("locator {}", locator.name), "prefix".to_owned()];
                    self.device.fault(FaultKind::Segment, FILE, needles, message);
                }
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn segment(&mut self, text: &'a str, locator: &str, behaviour: &[&str]) -> Result<(), String> {
        let prefix: Prefix = parse(text)?;
        let mut faults = Vec::new();
        if behaviour != ["uN"] {
            faults.push(format!("segment `{text}` is `{}`; expected `uN`", behaviour.join(" ")));
        }
        match self.locators.iter().find(|known| known.name == locator) {
            // staticd loses a segment that precedes its locator.
            None => {
                faults.push(format!("segment `{text}` comes before its locator `{locator}`, or has none"));
            }
            Some(known) if known.prefix != Some(prefix) => {
                faults.push(format!("segment `{text}` is not in its locator `{locator}`, `{}`", known.text));
            }
            Some(_) => {}
        }
        for message in faults {
            let below = |steps: Vec<Step>| {
                Fact::Path(["segment-routing".into(), "srv6".into()].into_iter().chain(steps).collect())
            };
            let own = below(vec!["static-sids".into(), Step::start(format!("sid {text} "))]);
            // The locator may be missing under its name, but exist under another one.
            let known =
                self.locators.iter().filter(|known| known.prefix == Some(prefix) || known.name == locator);
            let known = known.flat_map(|known| {
                let head = || vec!["locators".into(), format!("locator {}", known.name).as_str().into()];
                [below(head()), below(head().into_iter().chain([Step::start("prefix ")]).collect())]
            });
            let facts: Vec<Fact> = std::iter::once(own).chain(known).collect();
            self.device.fault(FaultKind::Segment, FILE, facts, message);
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
