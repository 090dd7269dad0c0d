//! Reads BGP settings: `router.bgp`, `router.bfd` and `router.policy`, and the process in the VRF of the fabric.
//!
//! In: both mappings. Out: [`Names`], resolved into the device. Invariants: every key is understood or a fault. Values
//! that NVUE passes to FRR have the same meaning as in FRR.

use std::borrow::Cow;

use closc_artefacts::Family;

use super::fields::{Fields, canonical};
use super::interface::Panel;
use super::place::{FILE, undefined_target};
use super::value::Value;
use crate::model::bgp::{Bandwidth, Bfd, Config, Entry, Neighbour, PrefixMatch, Process, Remote};
use crate::model::device::{Device, FaultKind};
use crate::read::bgp::{Instance, Names, NeighbourEntry, NeighbourTerms, RouteMapClause, faults, length};
use crate::read::error::ReadError;
use crate::read::value;

/// The community of drained routes (RFC 8326), by name and by number.
const DRAINED: [&str; 2] = ["graceful-shutdown", "65535:0"];

/// Keys of the address families.
const V4: &str = "ipv4-unicast";
const V6: &str = "ipv6-unicast";

/// Default for the maximum number of paths (Optional BGP Configuration, ECMP).
const WIDTH: u16 = 64;

/// Largest value that NVUE accepts.
const WIDTH_MAX: u16 = 256;

/// All BGP statements.
#[derive(Default)]
pub(super) struct Bgp<'v> {
    names: Names<'v>,
    /// Values that apply to the processes of all VRFs.
    global: Instance<'v>,
    is_on: bool,
    /// Whether BFD is enabled.
    watches: bool,
    /// Key of the address family of the fabric, and whether the process carries this family.
    family: &'static str,
    carries: bool,
}

impl<'v> Bgp<'v> {
    /// Reads the BGP settings below `router`.
    pub(super) fn read(router: &mut Fields<'v>, device: &mut Device<'_>) -> Result<Self, ReadError> {
        let mut all = Bgp::default();
        all.bfd(router.mapping("bfd")?, device)?;
        let mut own = router.mapping("bgp")?;
        all.is_on = own.text("state")? == Some("enabled");
        all.global.asn = own.number("autonomous-system")?.unwrap_or(0);
        all.global.router_id = own.parse("router-id")?;
        let mut restart = own.mapping("graceful-restart")?;
        let process = &mut all.global.process.restart;
        process.graceful = restart.text("mode")? == Some("full");
        process.max_duration_s = restart.number("restart-time")?;
        process.stale_s = restart.number("stale-routes-time")?;
        restart.finish(device);
        own.finish(device);
        let mut policy = router.mapping("policy")?;
        all.prefixes(&policy.mapping("prefix-list")?, device)?;
        all.paths(&policy.mapping("as-path-list")?, device)?;
        all.communities(&policy.mapping("community-list")?, device)?;
        all.maps(&policy.mapping("route-map")?, device)?;
        policy.finish(device);
        Ok(all)
    }

    fn bfd(&mut self, mut bfd: Fields<'v>, device: &mut Device<'_>) -> Result<(), ReadError> {
        self.watches = bfd.text("state")? == Some("enabled");
        let profiles = bfd.mapping("profile")?;
        for (name, value) in profiles.entries() {
            let mut own = Fields::of(profiles.path(name), Some(value))?;
            let default = Bfd::default();
            let times = Bfd {
                multiplier: own.number("detect-multiplier")?.unwrap_or(default.multiplier),
                transmit_ms: own.number("min-tx-interval")?.unwrap_or(default.transmit_ms),
                receive_ms: own.number("min-rx-interval")?.unwrap_or(default.receive_ms),
            };
            own.finish(device);
            self.names.profiles.insert(name, times);
        }
        bfd.finish(device);
        Ok(())
    }

    fn prefixes(&mut self, lists: &Fields<'v>, device: &mut Device<'_>) -> Result<(), ReadError> {
        for (name, value) in lists.entries() {
            let mut list = Fields::of(lists.path(name), Some(value))?;
            let named = list.text("type")?.unwrap_or("ipv4");
            let Some(family) =
                [Family::V4, Family::V6].into_iter().find(|family| family.config_keyword() == named)
            else {
                let message = format!("the type of `{}` is neither `ipv4` nor `ipv6`", lists.path(name));
                return Err(list.path("type").fault(message));
            };
            let known = self.names.prefixes.entry(name).or_default();
            let rules = list.mapping("rule")?;
            for (number, value) in rules.entries() {
                let mut rule = Fields::of(rules.path(number), Some(value))?;
                let permit = permit(&mut rule)?;
                let matches = rule.mapping("match")?;
                let all: Vec<(&str, &Value<'_>)> = matches.entries().collect();
                let [(prefix, value)] = all[..] else {
                    let message = format!("`{}` does not match one prefix", matches.path("*"));
                    return Err(rules.path(number).to("match").fault(message));
                };
                let net = value::prefix(family, prefix);
                let net = net.map_err(|message| matches.path(prefix).fault(message))?;
                let mut lengths = Fields::of(matches.path(prefix), Some(value))?;
                let own = net.prefix_len();
                let mut length = |key: &'static str| -> Result<Option<u8>, ReadError> {
                    let Some(length) = lengths.number::<u8>(key)? else { return Ok(None) };
                    let known =
                        length.checked_add(family.offset()).filter(|known| (own..=128).contains(known));
                    known.map(Some).ok_or_else(|| {
                        lengths.path(key).fault(format!(
                            "`{}` is {length}, which is not a prefix length",
                            lengths.path(key)
                        ))
                    })
                };
                let (least, most) = (length("min-prefix-len")?, length("max-prefix-len")?);
                lengths.finish(device);
                rule.finish(device);
                // As in FRR, a prefix without lengths matches only itself. With one length, the other limit is the
                // length of the prefix or the full length.
                let to = most.unwrap_or(if least.is_some() { 128 } else { own });
                let matched = PrefixMatch::Within { net: net.trunc(), from: least.unwrap_or(own), to };
                known.insert(sequence(&rules, number)?, Entry { permit, prefix_match: matched });
            }
            list.finish(device);
        }
        Ok(())
    }

    fn paths(&mut self, lists: &Fields<'v>, device: &mut Device<'_>) -> Result<(), ReadError> {
        for (name, value) in lists.entries() {
            let mut list = Fields::of(lists.path(name), Some(value))?;
            let known = self.names.paths.entry(name).or_default();
            let rules = list.mapping("rule")?;
            for (number, value) in rules.entries() {
                let mut rule = Fields::of(rules.path(number), Some(value))?;
                let permit = permit(&mut rule)?;
                let pattern = rule.text("aspath-exp")?.unwrap_or_default();
                rule.finish(device);
                if let Some(length) = length(pattern) {
                    known.insert(sequence(&rules, number)?, (permit, length));
                } else {
                    let message = format!("`{pattern}` of `{name}` does not match paths by their length");
                    device.fault(FaultKind::Unknown, FILE, rules.path(number).fact(), message);
                }
            }
            list.finish(device);
        }
        Ok(())
    }

    fn communities(&mut self, lists: &Fields<'v>, device: &mut Device<'_>) -> Result<(), ReadError> {
        for (name, value) in lists.entries() {
            let mut list = Fields::of(lists.path(name), Some(value))?;
            let rules = list.mapping("rule")?;
            // NVUE does not write a list without rules, so a route map that refers to it matches nothing.
            let mut all = rules.entries().next().is_some();
            for (number, value) in rules.entries() {
                let mut rule = Fields::of(rules.path(number), Some(value))?;
                let permits = permit(&mut rule)?;
                let marks: Vec<String> = rule.mapping("community")?.set()?;
                rule.finish(device);
                all &= permits && marks.len() == 1 && DRAINED.contains(&marks[0].as_str());
            }
            list.finish(device);
            if all {
                self.names.drained.insert(name);
            } else {
                let message = format!("`{name}` lists communities other than that of drained paths");
                device.fault(FaultKind::Unknown, FILE, lists.path(name).fact(), message);
            }
        }
        Ok(())
    }

    fn maps(&mut self, maps: &Fields<'v>, device: &mut Device<'_>) -> Result<(), ReadError> {
        for (name, value) in maps.entries() {
            let mut map = Fields::of(maps.path(name), Some(value))?;
            let known = self.names.maps.entry(name).or_default();
            let rules = map.mapping("rule")?;
            for (number, value) in rules.entries() {
                let mut rule = Fields::of(rules.path(number), Some(value))?;
                rule.take("description");
                let mut said = RouteMapClause::default();
                let action = rule.mapping("action")?;
                let actions: Vec<String> = action.set()?;
                said.clause.permit = match &actions[..] {
                    [word] if word == "permit" => true,
                    [word] if word == "deny" => false,
                    _ => {
                        let message = format!("`{}` is not a single action", rules.path(number));
                        return Err(rules.path(number).to("action").fault(message));
                    }
                };
                clause(&mut said, &mut rule, device)?;
                rule.finish(device);
                known.insert(sequence(&rules, number)?, said);
            }
            map.finish(device);
        }
        Ok(())
    }

    /// Reads the process in the VRF of the fabric, and stores all BGP settings in the device.
    pub(super) fn process(
        mut self,
        mut own: Fields<'v>,
        panel: &mut Panel,
        device: &mut Device<'_>,
    ) -> Result<(), ReadError> {
        let is_on = own.text("state")? == Some("enabled") && self.is_on;
        let mut bgp = std::mem::take(&mut self.global);
        bgp.process = Process { ipv4: true, ..bgp.process };
        bgp.asn = own.number("autonomous-system")?.unwrap_or(bgp.asn);
        let id = own.parse("router-id")?;
        if let (Some(id), Some(all)) = (id, bgp.router_id)
            && id != all
        {
            let message = format!(
                "router id {all} of all instances is not {id}, the router id of the fabric's instance"
            );
            device.fault(FaultKind::Setting, FILE, own.path("router-id").fact(), message);
        }
        bgp.router_id = id.or(bgp.router_id);
        let mut timers = own.mapping("timers")?;
        bgp.process.timers = timers.number("keepalive")?.zip(timers.number("hold")?);
        let connect_s = timers.number("connection-retry")?;
        let interval_s = announcements(&mut timers)?;
        timers.finish(device);
        let mut selection = own.mapping("path-selection")?;
        let mut multipath = selection.mapping("multipath")?;
        bgp.process.relaxed = multipath.text("aspath-ignore")? == Some("enabled");
        multipath.finish(device);
        selection.finish(device);
        self.carries = families(&mut bgp, own.mapping("address-family")?, device)?;
        self.family = if bgp.process.family == Some(Family::V4) { V4 } else { V6 };
        let groups = own.mapping("peer-group")?;
        for (name, value) in groups.entries() {
            let mut agreed = NeighbourTerms { interval_s, connect_s, ..NeighbourTerms::default() };
            self.read_terms(&mut agreed, Fields::of(groups.path(name), Some(value))?, device)?;
            bgp.groups.insert(name, agreed);
        }
        self.neighbours(&mut bgp, &own.mapping("neighbor")?, panel, device)?;
        own.finish(device);
        if is_on {
            self.names.process = Some(bgp);
        }
        if let Some((config, lost)) = self.names.resolve() {
            faults(device, FILE, &lost, undefined_target);
            let owned = |own: Neighbour<'_>| Neighbour { name: Cow::Owned(own.name.into_owned()), ..own };
            device.bgp = Some(Config {
                neighbours: config.neighbours.into_iter().map(owned).collect(),
                asn: config.asn,
                router_id: config.router_id,
                networks: config.networks,
                process: config.process,
            });
        }
        Ok(())
    }

    /// Reads neighbours, which are ports.
    fn neighbours(
        &self,
        bgp: &mut Instance<'v>,
        neighbours: &Fields<'v>,
        panel: &mut Panel,
        device: &mut Device<'_>,
    ) -> Result<(), ReadError> {
        for (name, value) in neighbours.entries() {
            let mut neighbour = Fields::of(neighbours.path(name), Some(value))?;
            let link_local_only = neighbour.text("type")? == Some("unnumbered");
            if link_local_only {
                panel.talks(name);
            }
            let group = neighbour.text("peer-group")?;
            let remote = match neighbour.take("remote-as") {
                Some(Value::String(word)) if word == "external" => Some(Remote::Any),
                Some(value) => value.as_u64().and_then(|asn| u32::try_from(asn).ok()).map(Remote::As),
                None => None,
            };
            let mut agreed = NeighbourTerms { group, ..NeighbourTerms::default() };
            self.read_terms(&mut agreed, neighbour, device)?;
            bgp.neighbour_terms.insert(name, agreed);
            bgp.neighbours.push(NeighbourEntry { name, remote, link_local_only });
        }
        Ok(())
    }

    /// Reads the terms of a neighbour or a group.
    fn read_terms(
        &self,
        agreed: &mut NeighbourTerms<'v>,
        mut own: Fields<'v>,
        device: &mut Device<'_>,
    ) -> Result<(), ReadError> {
        own.take("description");
        let mut bfd = own.mapping("bfd")?;
        agreed.bfd = bfd.text("profile")?.filter(|_| self.watches);
        if agreed.bfd == Some("") {
            return Err(bfd.path("profile").fault(format!("`{}` is empty", bfd.path("profile"))));
        }
        bfd.finish(device);
        let mut families = own.mapping("address-family")?;
        let mut family = families.mapping(self.family)?;
        agreed.active = family.text("state")?.map(|state| state == "enabled" && self.carries);
        let mut policy = family.mapping("policy")?;
        for (key, slot) in [("inbound", &mut agreed.accepted), ("outbound", &mut agreed.announced)] {
            let mut filters = policy.mapping(key)?;
            *slot = filters.text("route-map")?;
            filters.finish(device);
        }
        policy.finish(device);
        let mut limits = family.mapping("prefix-limits")?;
        let mut inbound = limits.mapping("inbound")?;
        let (most, rest) = (inbound.number("maximum")?, inbound.number("reestablish-wait")?);
        if rest.is_some() && most.is_none() {
            let path = inbound.path("reestablish-wait");
            device.fault(FaultKind::Unknown, FILE, path.fact(), format!("`{path}` has no maximum"));
        }
        agreed.limit = most.map(|limit| (limit, rest));
        inbound.finish(device);
        limits.finish(device);
        family.finish(device);
        families.finish(device);
        own.finish(device);
        Ok(())
    }
}

/// Reads the address families. Returns whether sessions carry the family of the fabric: IPv6, or IPv4 if IPv6 is not
/// mentioned.
fn families<'v>(
    bgp: &mut Instance<'v>,
    mut families: Fields<'v>,
    device: &mut Device<'_>,
) -> Result<bool, ReadError> {
    let (family, key) = if families.has(V6) {
        let mut v4 = families.mapping(V4)?;
        bgp.process.ipv4 = v4.text("state")? != Some("disabled");
        v4.finish(device);
        (Family::V6, V6)
    } else {
        // IPv4 is the family of the fabric, so it is not carried in addition to IPv6.
        bgp.process.ipv4 = false;
        (Family::V4, V4)
    };
    bgp.process.family = Some(family);
    let mut own = families.mapping(key)?;
    let carries = own.text("state")? == Some("enabled");
    let mut multipaths = own.mapping("multipaths")?;
    let width = multipaths.number("ebgp")?;
    if let Some(width) = width.filter(|width| !(1..=WIDTH_MAX).contains(width)) {
        return Err(multipaths.path("ebgp").fault(format!("`{}` is {width}", multipaths.path("ebgp"))));
    }
    bgp.process.width = width.or(Some(WIDTH));
    multipaths.finish(device);
    let networks = own.mapping("network")?;
    networks.set::<String>()?;
    let prefix = |text| value::prefix(family, text).map_err(|message| networks.path(text).fault(message));
    bgp.networks = networks.entries().map(|(text, _)| prefix(text)).collect::<Result<_, _>>()?;
    own.finish(device);
    families.finish(device);
    Ok(carries)
}

/// Reads the seconds between announcements.
fn announcements(timers: &mut Fields<'_>) -> Result<Option<u16>, ReadError> {
    let Some(value) = timers.take("route-advertisement") else { return Ok(None) };
    let time = value.as_u64().and_then(|time| u16::try_from(time).ok());
    match time.or((value.as_str() == Some("none")).then_some(0)) {
        Some(time) => Ok(Some(time)),
        None => Err(timers
            .path("route-advertisement")
            .fault(format!("`{}` is {value}", timers.path("route-advertisement")))),
    }
}

/// Reads the match conditions and actions of a clause.
fn clause<'v>(
    said: &mut RouteMapClause<'v>,
    rule: &mut Fields<'v>,
    device: &mut Device<'_>,
) -> Result<(), ReadError> {
    let mut matched = rule.mapping("match")?;
    said.family = match matched.text("type")? {
        None => None,
        Some("ipv4") => Some(Family::V4),
        Some("ipv6") => Some(Family::V6),
        Some(_) => {
            return Err(matched
                .path("type")
                .fault(format!("`{}` is not `ipv4` or `ipv6`", matched.path("type"))));
        }
    };
    said.prefixes = matched.text("ip-prefix-list")?;
    if said.prefixes.is_some() && said.family.is_none() {
        return Err(matched
            .path("ip-prefix-list")
            .fault(format!("`{}` does not state a type", matched.path("ip-prefix-list"))));
    }
    said.community = matched.text("community-list")?;
    said.path = matched.text("as-path-list")?;
    matched.finish(device);
    let mut set = rule.mapping("set")?;
    said.clause.preference = set.number("local-preference")?;
    let marks: Vec<String> = set.mapping("community")?.set()?;
    said.clause.drains = !marks.is_empty();
    if marks.iter().any(|mark| !DRAINED.contains(&mark.as_str())) {
        let message = format!("`{}` is not the mark of drained paths", set.path("community"));
        device.fault(FaultKind::Unknown, FILE, set.path("community").fact(), message);
    }
    said.clause.bandwidth = match set.take("ext-community-bw") {
        None => None,
        Some(Value::String(word)) if word == "cumulative" => Some(Bandwidth::Sum),
        Some(value) => {
            let number = value.as_u64().and_then(|mbps| u32::try_from(mbps).ok());
            let fault = || {
                set.path("ext-community-bw").fault(format!("`{}` is {value}", set.path("ext-community-bw")))
            };
            Some(Bandwidth::Mbps(number.ok_or_else(fault)?))
        }
    };
    set.finish(device);
    Ok(())
}

/// Returns the number of a rule.
fn sequence<'v>(rules: &Fields<'v>, key: &'v str) -> Result<u32, ReadError> {
    let path = rules.path(key);
    canonical(key).ok_or_else(|| path.fault(format!("`{path}` is not the number of a rule")))
}

fn permit(rule: &mut Fields<'_>) -> Result<bool, ReadError> {
    match rule.text("action")? {
        Some("permit") => Ok(true),
        Some("deny") => Ok(false),
        _ => Err(rule
            .path("action")
            .fault(format!("`{}` is neither `permit` nor `deny`", rule.path("action")))),
    }
}
