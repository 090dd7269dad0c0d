//! Reads `interface`: cages, ports, the loopback and the management port.
//!
//! In: interfaces, one at a time. Out: ports, and their profiles. Invariants: a port of a split cage must be one that
//! the split creates. All interfaces use the address syntax of the same release.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use closc_artefacts::Prefix;
use ipnet::IpNet;

use super::adaptive::{self, AdaptiveRouting};
use super::fields::{Fields, Path};
use super::place::{FILE, fact, path};
use super::value::Value;
use crate::model::device::{Device, FaultKind, Ports};
use crate::read::error::ReadError;

/// Serial lanes of a cage.
const LANES: u32 = 8;

/// Settings of a port, apart from its addresses.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PortSettings {
    pub(super) marks: Option<String>,
    pub(super) scheduler: Option<String>,
    pub(super) remark: Option<String>,
    pub(super) pauses: Option<String>,
    pub(super) watched: bool,
    pub(super) trims: Vec<u8>,
}

/// Interfaces that were read.
#[derive(Default)]
pub(super) struct Panel {
    ports: Ports<'static>,
    /// Ports and lanes of split cages; `None` for a disabled cage.
    cages: BTreeMap<String, Option<(u32, u8)>>,
    port_settings: BTreeMap<u16, PortSettings>,
    /// Examples of settings in the syntax before 5.15 (addresses below `ip`), and in the later syntax (below their
    /// address family).
    dialects: [Option<String>; 2],
}

/// Addresses, gateways and VRF of an interface.
#[derive(Default)]
struct Addresses {
    networks: Vec<IpNet>,
    gateways: Vec<IpAddr>,
    vrf: Option<String>,
}

impl Panel {
    /// Returns the index of a port.
    pub(super) fn index(&mut self, name: &str) -> u16 {
        self.ports.index(Cow::Owned(name.to_owned()))
    }

    /// Records that a port is a BGP neighbour. FRR then sends router advertisements, so both ends find each other
    /// (Basic BGP Configuration, BGP Unnumbered).
    pub(super) fn talks(&mut self, name: &str) {
        let port = self.ports.port_named(name);
        port.discovery.link_local = true;
        port.discovery.advertises = true;
    }

    /// Records which releases accept the syntax of a setting.
    pub(super) fn note_dialect(&mut self, name: &str, adaptive: AdaptiveRouting) {
        self.dialects[usize::from(!adaptive.is_old)].get_or_insert_with(|| name.to_owned());
    }

    /// Reads an interface.
    pub(super) fn interface(
        &mut self,
        name: &str,
        value: &Value<'_>,
        device: &mut Device<'_>,
    ) -> Result<(), ReadError> {
        let mut own = Fields::of(Path::new("interface").to(name), Some(value))?;
        let kind = own.text("type")?;
        let meant = match name {
            "lo" => "loopback",
            "eth0" => "eth",
            _ => "swp",
        };
        if kind != Some(meant) || meant == "swp" && !is_port(name) {
            let message = match kind {
                None => format!("interface `{name}` has no `type`; expected `{meant}`"),
                Some(_) => format!("interface `{name}` is not one that the proof models"),
            };
            device.fault(FaultKind::Unknown, FILE, fact(&["interface", name, "type"]), message);
            return Ok(());
        }
        if meant == "swp" {
            return self.front(name, own, device);
        }
        own.take("description");
        let Addresses { networks: addresses, gateways, vrf } = self.addresses(name, &mut own, device)?;
        own.finish(device);
        if meant == "loopback" {
            device.loopbacks.extend(addresses.into_iter().map(Prefix::from));
            return Ok(());
        }
        if vrf.as_deref() != Some("mgmt") {
            let message =
                "the management port is not in VRF `mgmt`, so its gateway is part of the fabric's routes"
                    .to_owned();
            device.fault(FaultKind::Setting, FILE, fact(&["interface", name, "vrf"]), message);
        }
        for is_v4 in [true, false] {
            let of_family = gateways.iter().filter(|gateway| gateway.is_ipv4() == is_v4).count();
            if of_family > 1 {
                let message = format!("the management port has {of_family} gateways of one family");
                device.fault(FaultKind::Setting, FILE, fact(&["interface", name]), message);
            }
        }
        for address in addresses {
            let gateway =
                gateways.iter().find(|gateway| gateway.is_ipv4() == matches!(address, IpNet::V4(_)));
            device.management.push((address, gateway.copied()));
        }
        Ok(())
    }

    fn front(&mut self, name: &str, mut own: Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
        let mut link = own.mapping("link")?;
        if link.has("breakout") {
            let split = split(&link.mapping("breakout")?, device)?;
            self.cages.insert(name.to_owned(), split);
            link.finish(device);
            own.finish(device);
            return Ok(());
        }
        let states: Vec<String> = link.mapping("state")?.set()?;
        let up = states == ["up"];
        if !up && states != ["down"] {
            return Err(odd_link(name, "state", &format!("{states:?}")));
        }
        let mtu = link.number("mtu")?;
        let speed = speed(&mut link)?;
        let fec = match link.text("fec")? {
            None => None,
            Some("rs") => Some(true),
            Some("off") => Some(false),
            Some(other) => return Err(odd_link(name, "fec", &format!("`{other}`"))),
        };
        // By default, auto-negotiation depends on the release.
        let negotiates = match link.text("auto-negotiate")? {
            None => None,
            Some("on" | "enabled") => Some(true),
            Some("off" | "disabled") => Some(false),
            Some(other) => return Err(odd_link(name, "auto-negotiate", &format!("`{other}`"))),
        };
        link.finish(device);
        let description = own.text("description")?.map(|text| Cow::Owned(text.to_owned()));
        let Addresses { networks: addresses, gateways, vrf } = self.addresses(name, &mut own, device)?;
        if !gateways.is_empty() || vrf.is_some() {
            let message = format!("port `{name}` has a gateway or a VRF");
            device.fault(FaultKind::Unknown, FILE, fact(&["interface", name]), message);
        }
        let mut router = own.mapping("router")?;
        let adaptive = adaptive::read(&mut router, device)?;
        router.finish(device);
        if let Some(adaptive) = adaptive {
            self.note_dialect(name, adaptive);
        }
        let attached = read_port_settings(&mut own, device)?;
        own.finish(device);
        let index = self.index(name);
        self.port_settings.insert(index, attached);
        let port = self.ports.port_named(name);
        port.declared = true;
        port.up = up;
        port.wire.mtu = mtu;
        port.wire.speed = speed;
        port.wire.fec = fec;
        port.wire.negotiates = negotiates;
        port.description = description;
        port.balances = Some(adaptive.is_some_and(|adaptive| adaptive.is_on));
        port.addresses = addresses.into_iter().map(Prefix::from).collect();
        Ok(())
    }

    /// Reads addresses: before 5.15 below `ip`, later below their address family.
    fn addresses(
        &mut self,
        name: &str,
        own: &mut Fields<'_>,
        device: &mut Device<'_>,
    ) -> Result<Addresses, ReadError> {
        let mut found = Addresses::default();
        let before = own.has("ip");
        let after = ["ipv4", "ipv6", "vrf"].iter().any(|key| own.has(key));
        if before {
            self.dialects[0].get_or_insert_with(|| name.to_owned());
        }
        if after {
            self.dialects[1].get_or_insert_with(|| name.to_owned());
        }
        let vrf = own.text("vrf")?.map(str::to_owned);
        for family in ["ip", "ipv4", "ipv6"] {
            let mut below = own.mapping(family)?;
            let fits = |is_v4: bool| family == "ip" || is_v4 == (family == "ipv4");
            let addresses = below.mapping("address")?;
            for address in addresses.set::<IpNet>()? {
                if !fits(matches!(address, IpNet::V4(_))) {
                    let message = format!("`{address}` of `{name}` is below `{family}`");
                    return Err(below.path("address").fault(message));
                }
                found.networks.push(address);
            }
            found.gateways.extend(below.mapping("gateway")?.set::<IpAddr>()?);
            if family == "ip" {
                found.vrf = below.text("vrf")?.map(str::to_owned);
            }
            below.finish(device);
        }
        found.vrf = found.vrf.or(vrf);
        Ok(found)
    }

    /// Checks properties that depend on several interfaces.
    pub(super) fn finish(self, device: &mut Device<'_>) -> BTreeMap<u16, PortSettings> {
        let mut faults = Vec::new();
        if let [Some(before), Some(after)] = &self.dialects {
            let message = format!("`{before}` has the syntax before 5.15, but `{after}` that from 5.15");
            faults.push((FaultKind::Setting, before.clone(), message));
        }
        for (cage, next) in crowded_cages(&self.cages) {
            let message = format!("`{cage}` is split into {LANES} ports, but the next cage is not disabled");
            let facts = [&cage, &next].map(|name| fact(&["interface", name, "link", "breakout"]));
            device.fault(FaultKind::Setting, FILE, facts.to_vec(), message);
        }
        let mut ports = self.ports.finish();
        for port in &mut ports {
            let (cage, part) = port
                .name
                .split_once('s')
                .and_then(|_| {
                    let (cage, part) = port.name.rsplit_once('s')?;
                    Some((cage, part.parse::<u32>().ok().filter(|_| cage.len() > 2)))
                })
                .unwrap_or((&port.name, None));
            let name = port.name.to_string();
            match (self.cages.get(cage), part) {
                (None, None) => {}
                (Some(Some((count, lanes))), Some(part)) if part < *count => port.lane_count = Some(*lanes),
                (Some(None), _) => {
                    faults.push((
                        FaultKind::Dangling,
                        name.clone(),
                        format!("port `{name}` is in a disabled cage"),
                    ));
                }
                _ => {
                    let message = format!("port `{name}` does not exist with the split of its cage");
                    faults.push((FaultKind::Dangling, name, message));
                }
            }
        }
        device.ports = ports;
        for (kind, name, message) in faults {
            device.fault(kind, FILE, fact(&["interface", &name]), message);
        }
        self.port_settings
    }
}

/// Returns each cage that is split into one port per lane although the next cage is not disabled, together with the
/// next cage. The split needs the ASIC ports of the next cage (Switch Port Attributes, Breakout Ports).
fn crowded_cages(cages: &BTreeMap<String, Option<(u32, u8)>>) -> Vec<(String, String)> {
    let whole = cages.iter().filter(|(_, split)| matches!(split, Some((count, _)) if *count == LANES));
    let with_next = whole.map(|(name, _)| {
        let number = name.strip_prefix("swp").and_then(|number| number.parse::<u32>().ok());
        (name.clone(), number.map_or_else(String::new, |number| format!("swp{}", number + 1)))
    });
    with_next.filter(|(_, next)| cages.get(next) != Some(&None)).collect()
}

/// Reads the split of a cage: its ports and the lanes of each; `None` if the cage is disabled.
fn split(breakout: &Fields<'_>, device: &mut Device<'_>) -> Result<Option<(u32, u8)>, ReadError> {
    let ways: Vec<(&str, &Value<'_>)> = breakout.entries().collect();
    let [(way, value)] = ways[..] else {
        let path = path(breakout.keys());
        return Err(ReadError::of(path, format!("`{}` is not one way", breakout.path("*"))));
    };
    let mut own = Fields::of(breakout.path(way), Some(value))?;
    let lanes: Option<u8> = own.parse("lanes-per-port")?;
    own.finish(device);
    if way == "disabled" {
        return Ok(None);
    }
    let fault = |message| breakout.path(way).fault(message);
    let count: u32 = match way.strip_suffix('x') {
        Some(count) => breakout.path(way).parse(count)?,
        None => return Err(fault(format!("`{way}` is not a valid split of a cage"))),
    };
    if ![2, 4, 8].contains(&count) || lanes.is_some_and(|lanes| u32::from(lanes) * count > LANES) {
        return Err(fault(format!("a cage has {LANES} lanes, which do not fit `{way}`")));
    }
    // By default, ports share the lanes evenly (Switch Port Attributes, from 5.9 on).
    Ok(Some((count, lanes.unwrap_or((LANES / count) as u8))))
}

/// Reads a speed such as `400G`, and returns it in Mb/s.
fn speed(link: &mut Fields<'_>) -> Result<Option<u32>, ReadError> {
    let mbps = |text: &str| text.strip_suffix('G')?.parse::<u32>().ok()?.checked_mul(1_000);
    let Some(text) = link.text("speed")? else { return Ok(None) };
    let fault = || link.path("speed").fault(format!("`{text}` is not a speed"));
    mbps(text).ok_or_else(fault).map(Some)
}

/// Returns the error about a link setting.
fn odd_link(name: &str, key: &str, value: &str) -> ReadError {
    let message = format!("`interface.{name}.link.{key}` is {value}");
    ReadError::of(path(&["interface", name, "link", key]), message)
}

/// Reads the profiles of a port.
fn read_port_settings(own: &mut Fields<'_>, device: &mut Device<'_>) -> Result<PortSettings, ReadError> {
    let mut qos = own.mapping("qos")?;
    let mut profile = |key: &'static str, device: &mut Device<'_>| -> Result<Option<String>, ReadError> {
        let mut below = qos.mapping(key)?;
        let name = below.text("profile")?.map(str::to_owned);
        below.finish(device);
        Ok(name)
    };
    let marks = profile("congestion-control", device)?;
    let scheduler = profile("egress-scheduler", device)?;
    let remark = profile("remark", device)?;
    let pauses = profile("pfc", device)?;
    let mut watchdog = qos.mapping("pfc-watchdog")?;
    // The schemas of 5.13 to 5.18 use `enable`, the documentation of 5.16 uses `enabled`.
    let watched = watchdog.text("state")?.is_some_and(|word| ["enable", "enabled"].contains(&word));
    watchdog.finish(device);
    qos.finish(device);
    let mut trim = own.mapping("packet-trim")?;
    let mut eligible = trim.mapping("egress-eligibility")?;
    let trims = eligible.mapping("traffic-class")?.set()?;
    eligible.finish(device);
    trim.finish(device);
    Ok(PortSettings { marks, scheduler, remark, pauses, watched, trims })
}

/// Returns whether a name is that of a single port. NVUE also accepts lists and ranges, such as `swp1-4,7`.
fn is_port(name: &str) -> bool {
    let number = name.strip_prefix("swp").unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|sign| sign.is_ascii_digit());
    number.splitn(2, 's').all(is_number)
}
