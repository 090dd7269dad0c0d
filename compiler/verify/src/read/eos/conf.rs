//! Reads a switch with EOS: ports, addresses and routes. Commands for queues are passed to [`super::qos`], those for
//! BGP to [`super::bgp`].
//!
//! In: the text. Out: a [`Device`]. Invariants: every line is understood, listed as a setting of the site, or a fault.
//! BGP commands are understood only if the fabric uses BGP. A command that does not exist in the current mode belongs
//! to an enclosing mode, as on the switch, regardless of indentation.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use closc_artefacts::{Family, Routing};
use closc_platform::Balance;
use ipnet::IpNet;

use super::bgp::{BgpReader, Node};
use super::place::FILE;
use super::qos::{Mode, QosReader, Refusal};
use super::site::{self, SiteMode};
use crate::model::device::{Device, DeviceBalance, FaultKind, Hop, Port, Ports};
use crate::model::language::Language;
use crate::model::place::Target;
use crate::read::error::ReadError;
use crate::read::text_routes::TextRoutes;
use crate::read::undefined;
use crate::read::value::{self, parse};

/// Dynamic load balancing: whether it is enabled, and the maximum number of next-hop groups.
#[derive(Default)]
struct Flowlets {
    is_on: bool,
    groups: u64,
}

impl Flowlets {
    /// Reads the words after `ip hardware fib`.
    fn read(&mut self, words: &[&str]) -> Result<(), Refusal> {
        match words {
            ["load-balance", "distribution", "dynamic"] => self.is_on = true,
            ["load-balance", "distribution", "dynamic", "flow-set-size", size] => {
                // pyavd 6.4: size 1 is 128 groups of 256 entries, size 7 is 2 groups of 16384.
                let size = parse::<u32>(size)?;
                if !(1..=7).contains(&size) {
                    return Err(Refusal::Value(format!(
                        "flow set size {size} is out of range; expected 1 to 7"
                    )));
                }
                self.groups = 128 >> (size - 1);
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    /// Returns the load balancing of the switch, if it is enabled.
    fn finish(self) -> Option<DeviceBalance> {
        self.is_on.then_some(DeviceBalance { kind: Balance::Flowlet, groups: Some(self.groups) })
    }
}

/// An open mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context<'a> {
    /// `interface` for a front-panel port.
    Port(&'a str),
    /// `interface Loopback`.
    Loopback,
    /// `interface Management`.
    Management,
    /// `vrf instance`.
    Vrf,
    /// A mode for site settings.
    Site(SiteMode),
    /// A mode for queues.
    Qos(Mode<'a>),
    /// A mode for BGP.
    Bgp(Node<'a>),
}

struct Reader<'a> {
    device: Device<'a>,
    ports: Ports<'a>,
    context: Vec<Context<'a>>,
    qos: QosReader<'a>,
    bgp: BgpReader<'a>,
    routing: Routing,
    /// Ports without router advertisements.
    quiet: Vec<u16>,
    /// Routed ports.
    routed_ports: Vec<u16>,
    routes: TextRoutes<'a>,
    vrfs: Vec<&'a str>,
    management: Management<'a>,
    forwards: bool,
    forwards_ipv4: Ipv4Forwarding,
    flowlets: Flowlets,
    /// Whether the routing model is `multi-agent`.
    multi_agent: bool,
    /// The banner that is being read.
    banner: Option<&'static str>,
}

/// Whether IPv4 is forwarded: through ports with IPv4 addresses, and through ports with only IPv6 addresses.
#[derive(Default)]
struct Ipv4Forwarding {
    by_addresses: bool,
    over_ipv6: bool,
}

/// The management port.
#[derive(Default)]
struct Management<'a> {
    shut: bool,
    vrf: Option<&'a str>,
    addresses: Vec<IpNet>,
    gateways: Vec<(&'a str, IpAddr)>,
}

/// Reads a file.
pub(super) fn read<'a>(
    language: &'static Language,
    text: &'a str,
    routing: Routing,
) -> Result<Device<'a>, ReadError> {
    let mut reader = Reader {
        device: Device::new(language),
        ports: Ports::default(),
        context: Vec::new(),
        qos: QosReader::default(),
        bgp: BgpReader::default(),
        routing,
        quiet: Vec::new(),
        routed_ports: Vec::new(),
        routes: TextRoutes::default(),
        vrfs: Vec::new(),
        management: Management::default(),
        forwards: false,
        forwards_ipv4: Ipv4Forwarding::default(),
        flowlets: Flowlets::default(),
        multi_agent: false,
        banner: None,
    };
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_ascii();
        match reader.in_any_mode(line) {
            Ok(()) => {}
            Err(Refusal::Value(message)) => return Err(ReadError::at(at + 1, message)),
            Err(Refusal::Unknown) => {
                let message = format!("`{line}` is not a command that the proof models");
                reader.device.fault(FaultKind::Unknown, FILE, vec![line.to_owned()], message);
            }
        }
    }
    Ok(reader.finish())
}

impl<'a> Reader<'a> {
    /// Processes a line in the current mode, or in an enclosing one.
    fn in_any_mode(&mut self, line: &'a str) -> Result<(), Refusal> {
        if self.banner.is_some() {
            self.banner = self.banner.filter(|_| line != "EOF");
            return Ok(());
        }
        if line.is_empty() || line.starts_with('!') {
            return Ok(());
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let open = self.context.clone();
        loop {
            let taken = match self.context.last() {
                Some(mode) => self.inside(*mode, line, &words),
                None => self.top(&words),
            };
            if taken != Err(Refusal::Unknown) {
                return taken;
            }
            if self.context.pop().is_none() {
                self.context = open;
                return taken;
            }
        }
    }

    fn inside(&mut self, mode: Context<'a>, line: &'a str, words: &[&'a str]) -> Result<(), Refusal> {
        if words == ["exit"] {
            self.context.pop();
            return Ok(());
        }
        match mode {
            Context::Port(name) => self.port(name, line, words),
            Context::Loopback => match words {
                ["description", ..] | ["no", "shutdown"] | ["ipv6", "enable"] => Ok(()),
                [command @ ("ip" | "ipv6"), "address", address] => {
                    let family = value::family(command).ok_or(Refusal::Unknown)?;
                    self.device.loopbacks.push(value::prefix(family, address)?);
                    Ok(())
                }
                _ => Err(Refusal::Unknown),
            },
            Context::Management => self.management(words),
            Context::Qos(mode) => {
                let opened = self.qos.inside(mode, words)?;
                self.context.extend(opened.map(Context::Qos));
                Ok(())
            }
            Context::Bgp(node) => {
                let opened = self.bgp.inside(node, words)?;
                self.context.extend(opened.map(Context::Bgp));
                Ok(())
            }
            Context::Vrf => match words {
                ["description", ..] => Ok(()),
                _ => Err(Refusal::Unknown),
            },
            Context::Site(mode) => {
                if mode.has(words) {
                    Ok(())
                } else {
                    Err(Refusal::Unknown)
                }
            }
        }
    }

    fn port(&mut self, name: &'a str, line: &'a str, words: &[&'a str]) -> Result<(), Refusal> {
        let index = self.ports.index(Cow::Borrowed(name));
        let port = self.ports.port(Cow::Borrowed(name));
        match words {
            ["description", ..] => {
                let text = line.strip_prefix("description").unwrap_or_default().trim_ascii();
                port.description = Some(Cow::Borrowed(text));
            }
            ["shutdown"] => port.up = false,
            ["no", "shutdown"] => port.up = true,
            ["mtu", bytes] => port.wire.mtu = Some(parse(bytes)?),
            ["speed", speed] | ["speed", "auto", speed] => {
                port.wire.negotiates = Some(words.len() == 3);
                let (gigabits, lanes) = speed.split_once("g-").ok_or(Refusal::Unknown)?;
                port.wire.speed = Some(parse::<u32>(gigabits)?.saturating_mul(1_000));
                port.lane_count = Some(parse(lanes)?);
            }
            ["error-correction", "encoding", "reed-solomon"] => port.wire.fec = Some(true),
            ["no", "error-correction", "encoding"] => port.wire.fec = Some(false),
            ["no", "switchport"] => self.routed_ports.push(index),
            ["switchport"] => self.routed_ports.retain(|routed| *routed != index),
            // A port with a link-local address sends router advertisements unless they are disabled.
            ["ipv6", "enable"] => {
                port.discovery.link_local = true;
                port.discovery.advertises = true;
            }
            ["ipv6", "nd", "ra", "disabled"] | ["ipv6", "nd", "ra", "disabled", "all"] => {
                self.quiet.push(index);
            }
            [command @ ("ip" | "ipv6"), "address", address] => {
                let family = value::family(command).ok_or(Refusal::Unknown)?;
                port.addresses.push(value::prefix(family, address)?);
            }
            ["service-profile", profile] => self.qos.attach(index, profile),
            ["sflow", ..] | ["no", "sflow", ..] => self.not_judged("sflow"),
            ["queue-monitor", "length", ..] | ["no", "queue-monitor", "length", ..] => {
                self.not_judged("queue-monitor length");
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn management(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        match words {
            ["description", ..] => {}
            ["shutdown"] => self.management.shut = true,
            ["no", "shutdown"] => self.management.shut = false,
            ["vrf", name] => self.management.vrf = Some(name),
            ["ip" | "ipv6", "address", address] => self.management.addresses.push(parse(address)?),
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn top(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        match words {
            ["service", "routing", "protocols", "model", "multi-agent"] => self.multi_agent = true,
            ["lldp", "run" | "timer" | "management-address", ..] | ["no", "ip", "routing", "vrf", _] => {}
            ["ip", "routing"] => self.forwards_ipv4.by_addresses = true,
            ["ip", "routing", "ipv6", "interfaces"] => {
                self.forwards_ipv4 = Ipv4Forwarding { by_addresses: true, over_ipv6: true };
            }
            ["ip", "hardware", "fib", rest @ ..] => self.flowlets.read(rest)?,
            ["end" | "exit"] => self.context.clear(),
            ["no", "lldp", "run"] => {
                let message = "LLDP is off, so cables cannot be compared with the plan".to_owned();
                let needles = vec!["no lldp run".to_owned()];
                self.device.fault(FaultKind::Setting, FILE, needles, message);
            }
            ["hostname", name] => self.device.hostname = Some(Cow::Borrowed(name)),
            ["ipv6", "unicast-routing"] => self.forwards = true,
            ["no", "ipv6", "unicast-routing"] => self.forwards = false,
            ["vrf", "instance", name] => {
                self.vrfs.push(name);
                self.context.push(Context::Vrf);
            }
            ["interface", name] => self.interface(name)?,
            ["ip" | "ipv6", "route", "vrf", vrf, "0.0.0.0/0" | "::/0", gateway] => {
                self.management.gateways.push((vrf, parse(gateway)?));
            }
            [command @ ("ip" | "ipv6"), "route", prefix, "Null0"] => self.route(command, prefix, None)?,
            [command @ ("ip" | "ipv6"), "route", prefix, port, gateway]
            | [command @ ("ip" | "ipv6"), "route", prefix, port, gateway, "1"] => {
                let hop = Hop {
                    port: self.ports.index(Cow::Borrowed(port)),
                    gateway: Some(parse(gateway)?),
                    mac: None,
                    weight: 1,
                };
                self.route(command, prefix, Some(hop))?;
            }
            words => {
                if let Some(own) = site::top(words) {
                    self.not_judged(own.prefix);
                    self.context.extend(own.mode.map(Context::Site));
                    self.banner = own.is_text.then_some(own.prefix);
                    return Ok(());
                }
                if self.routing.speaks_bgp() {
                    match self.bgp.top(words) {
                        Err(Refusal::Unknown) => {}
                        taken => {
                            self.context.extend(taken?.map(Context::Bgp));
                            return Ok(());
                        }
                    }
                }
                let opened = self.qos.top(words)?;
                self.context.extend(opened.map(Context::Qos));
            }
        }
        Ok(())
    }

    fn interface(&mut self, name: &'a str) -> Result<(), Refusal> {
        let numbered = |kind: &str| {
            let number = name.strip_prefix(kind).unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        let context = if is_port(name) {
            let port = self.ports.port(Cow::Borrowed(name));
            // A port is enabled unless it is shut down.
            port.up |= !port.declared;
            port.declared = true;
            Context::Port(name)
        } else if numbered("Loopback") {
            Context::Loopback
        } else if numbered("Management") {
            Context::Management
        } else {
            return Err(Refusal::Unknown);
        };
        self.context.push(context);
        Ok(())
    }

    fn not_judged(&mut self, command: &str) {
        let named = format!("`{command}` in `{FILE}`");
        if !self.device.not_judged.contains(&named) {
            self.device.not_judged.push(named);
        }
    }

    fn route(&mut self, command: &str, text: &'a str, hop: Option<Hop>) -> Result<(), Refusal> {
        let family = value::family(command).ok_or(Refusal::Unknown)?;
        Ok(self.routes.add(value::prefix(family, text)?, Cow::Borrowed(text), hop)?)
    }

    /// Returns a fault if the switch has an IPv4 loopback and the command that enables IPv4 forwarding is missing.
    fn forwards_no_ipv4(&self) -> Option<(FaultKind, Target, String)> {
        let is_ipv4 = self.device.loopbacks.iter().any(|own| own.family() == Family::V4);
        let (wanted, forwards) = if self.routing.speaks_bgp() {
            ("ip routing ipv6 interfaces", self.forwards_ipv4.over_ipv6)
        } else {
            ("ip routing", self.forwards_ipv4.by_addresses)
        };
        let message = format!("IPv4 is not forwarded: `{wanted}` is missing");
        (is_ipv4 && !forwards).then_some((FaultKind::Setting, Target::File, message))
    }

    fn finish(mut self) -> Device<'a> {
        let mut faults: Vec<(FaultKind, Target, String)> = Vec::new();
        if !self.forwards {
            let message = "IPv6 is not forwarded: `ipv6 unicast-routing` is missing".to_owned();
            faults.push((FaultKind::Setting, Target::File, message));
        }
        faults.extend(self.forwards_no_ipv4());
        if !self.multi_agent {
            let message = "the routing model is not `multi-agent`".to_owned();
            faults.push((
                FaultKind::Setting,
                vec!["service routing protocols model".to_owned()].into(),
                message,
            ));
        }
        if self.device.hostname.is_none() {
            faults.push((FaultKind::Identity, Target::File, "the switch has no `hostname`".to_owned()));
        }
        if let Some(banner) = self.banner {
            let message = format!("the text of `{banner}` has no end, so it contains everything after it");
            faults.push((FaultKind::Unknown, vec![banner.to_owned()].into(), message));
        }
        let mut ports = self.ports.finish();
        let unused = |(at, port): (usize, &Port<'_>)| {
            let is_used = !port.addresses.is_empty() || port.discovery.link_local;
            (is_used && !self.routed_ports.contains(&(at as u16))).then(|| switched(port))
        };
        faults.extend(ports.iter().enumerate().filter_map(unused));
        for quiet in self.quiet {
            ports[usize::from(quiet)].discovery.advertises = false;
        }
        self.bgp.finish(&mut self.device);
        let (config, dangling) = self.qos.finish(&mut ports);
        self.device.qos = config.map(Arc::new);
        self.device.ports = ports;
        self.device.routes = self.routes.list;
        self.device.balance = self.flowlets.finish();
        for (target, message) in dangling {
            faults.push((FaultKind::Dangling, target, message));
        }
        let Management { shut, vrf, addresses, gateways } = self.management;
        for lost in vrf.into_iter().chain(gateways.iter().map(|(vrf, _)| *vrf)) {
            if !self.vrfs.contains(&lost) {
                let message = format!("VRF `{lost}` is referenced but not defined");
                faults.push((FaultKind::Dangling, undefined::target("VRF", lost), message));
            }
        }
        let gateway = |address: &IpNet| {
            let of_vrf = |(own, gateway): &&(&str, IpAddr)| {
                Some(*own) == vrf && gateway.is_ipv4() == matches!(address, IpNet::V4(_))
            };
            gateways.iter().find(of_vrf).map(|(_, gateway)| *gateway)
        };
        let up = addresses.iter().filter(|_| !shut);
        self.device.management = up.map(|address| (*address, gateway(address))).collect();
        for (kind, target, message) in faults {
            self.device.fault(kind, FILE, target, message);
        }
        self.device
    }
}

/// Returns the fault of a port that has an address but is not routed.
fn switched(port: &Port<'_>) -> (FaultKind, Target, String) {
    let needles = vec![format!("interface {}", port.name)];
    let message = format!("port `{}` is a switched port, so its address is not used", port.name);
    (FaultKind::Setting, needles.into(), message)
}

/// Returns whether a name is that of a single port. EOS also accepts lists and ranges, such as `Ethernet1/1,2/1-4`.
fn is_port(name: &str) -> bool {
    let number = name.strip_prefix("Ethernet").unwrap_or_default();
    number.split('/').all(|part| !part.is_empty() && part.bytes().all(|sign| sign.is_ascii_digit()))
}
