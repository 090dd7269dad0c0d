//! Reads the table entries of a switch with the pipeline `fabric`, or another one with the same tables.
//!
//! In: `entries.txtpb` or `tna.txtpb`. Out: a [`Device`] whose port names are numbers. Invariants: every entry is
//! understood or an error. Packets without an entry are dropped by the pipeline's constant default action.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use closc_artefacts::{Address, Prefix};

use super::entries::{self, Action, Entry, EntryAction, Match, Member, P4Entity};
use crate::model::device::{Device, FaultKind, Hop, Mac, Port, Route, Segment, Via};
use crate::model::fact::FactKind;
use crate::model::language::Language;
use crate::model::pipeline::PipelineNames;
use crate::model::qos::{PortQos, QosConfig};
use crate::read::error::ReadError;

/// Properties in which pipelines with the same tables differ.
pub(crate) struct Dialect {
    pub(crate) language: &'static Language,
    pub(crate) file: &'static str,
    /// Returns the texts to search for in the file.
    pub(crate) needles: fn(FactKind<'_>) -> Vec<String>,
    pub(crate) thresholds: Thresholds,
}

/// Returns the ECN thresholds that `set_ecn_thresholds` sets: the two depths between which the marking probability
/// rises, and the probability just below the second depth, in parts per million.
pub(crate) type Thresholds = fn(&Action<'_>) -> Result<(u64, u64, u64), ReadError>;

/// Reads a switch. `source_routed` states whether hosts choose the path.
pub(crate) fn read(
    dialect: &'static Dialect,
    text: &str,
    names: &PipelineNames,
    source_routed: bool,
) -> Result<Device<'static>, ReadError> {
    let mut reader = Reader::new(dialect);
    for (line, written) in entries::read(text, names)? {
        reader.take(written).map_err(|error| error.or_at(line))?;
    }
    Ok(reader.finish(source_routed))
}

/// Packets that NIC ports accept.
#[derive(Debug, Default)]
struct IngressFilter {
    encapsulated: BTreeSet<Prefix>,
    plain: BTreeSet<Prefix>,
    denied: BTreeSet<Prefix>,
}

/// Action of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RouteAction {
    Nowhere,
    NextHop(u128),
    Group(u128),
}

struct NextHop {
    port: u16,
    source: Mac,
    destination: Mac,
}

struct Reader {
    dialect: &'static Dialect,
    device: Device<'static>,
    /// Whether a NIC is at the other end of each port.
    roles: BTreeMap<u16, bool>,
    next_hops: HashMap<u128, NextHop>,
    routes: Vec<(Prefix, RouteAction)>,
    members: HashMap<u64, u128>,
    profile_groups: BTreeMap<u64, Vec<Member>>,
    groups: HashMap<u128, u64>,
    ingress: IngressFilter,
    sources: BTreeMap<u16, Vec<Address>>,
    inner_sources: BTreeMap<u16, Vec<Address>>,
    classes: BTreeMap<u8, (u8, u8)>,
    trims: BTreeMap<u16, BTreeMap<u8, (u64, u64, u8)>>,
    marks: BTreeMap<u16, BTreeMap<u8, (u64, u64, u64)>>,
    nic_classes: BTreeMap<u16, BTreeMap<u8, [u64; 5]>>,
    punt_limits: BTreeMap<u16, (u64, u64)>,
    entry_keys: BTreeSet<String>,
    /// Whether the switch sends LLDP packets to the controller.
    punts: bool,
}

impl Reader {
    fn new(dialect: &'static Dialect) -> Self {
        Reader {
            dialect,
            device: Device::new(dialect.language),
            roles: BTreeMap::new(),
            next_hops: HashMap::new(),
            routes: Vec::new(),
            members: HashMap::new(),
            profile_groups: BTreeMap::new(),
            groups: HashMap::new(),
            ingress: IngressFilter::default(),
            sources: BTreeMap::new(),
            inner_sources: BTreeMap::new(),
            classes: BTreeMap::new(),
            trims: BTreeMap::new(),
            marks: BTreeMap::new(),
            nic_classes: BTreeMap::new(),
            punt_limits: BTreeMap::new(),
            entry_keys: BTreeSet::new(),
            punts: false,
        }
    }
}

impl Reader {
    fn take(&mut self, written: P4Entity<'_>) -> Result<(), ReadError> {
        match written {
            P4Entity::Entry(entry) => {
                if !self.entry_keys.insert(format!("{} {:?}", entry.table, entry.key)) {
                    let line = entry.lines.key.last().copied().unwrap_or(entry.lines.table);
                    return Err(ReadError::at(
                        line,
                        format!("`{}` has two entries of this key", entry.table),
                    ));
                }
                self.entry(&entry)
            }
            // P4Runtime rejects the insertion of an existing entry.
            P4Entity::Member { profile, id, action } => {
                let nexthop = argument(&action, "nexthop_id")?;
                let before = self.members.insert(id, nexthop);
                before.map_or(Ok(()), |_| Err(format!("`{profile}` has two members {id}").into()))
            }
            P4Entity::Group { profile, id, members } => {
                let before = self.profile_groups.insert(id, members);
                before.map_or(Ok(()), |_| Err(format!("`{profile}` has two groups {id}").into()))
            }
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        if let Some(limited) = self.limit(entry) {
            return limited;
        }
        if entry.meter.is_some() {
            return Err(
                format!("an entry of `{}` has a meter that the proof does not model", entry.table).into()
            );
        }
        if let EntryAction::Group(group) = entry.action {
            return self.group(entry, group);
        }
        let EntryAction::Action(action) = &entry.action else {
            return Err(format!("an entry of `{}` without an action", entry.table).into());
        };
        match (short(entry.table), short(action.name)) {
            ("wcmp_hash", "set_wcmp_hash") if entry.default => Ok(()),
            _ if entry.default => {
                Err(format!("`{}` has a default action that the proof does not model", entry.table).into())
            }
            ("port_role", role @ ("nic_port" | "fabric_port")) => {
                self.roles.insert(port(exact(entry, "ingress_port")?)?, role == "nic_port");
                Ok(())
            }
            ("punt", "punt_to_cpu") => self.punt(entry),
            ("nic_destination", action) => self.allow_prefix(prefix(entry, "dst")?, action),
            ("nic_source", "permit_source") => {
                let (port, source) = source(entry)?;
                self.sources.entry(port).or_default().push(source);
                Ok(())
            }
            ("nic_inner_source", "permit_inner_source") => {
                let (port, source) = source(entry)?;
                self.inner_sources.entry(port).or_default().push(source);
                Ok(())
            }
            ("my_sid", name) => self.segment(exact(entry, "sid")?, name),
            ("nexthop", "set_nexthop") => self.next_hop(exact(entry, "nexthop_id")?, action),
            ("ipv6_route", name) => self.route(prefix(entry, "dst")?, name, action),
            ("dscp_class", "set_class") => {
                let [class, queue] =
                    [argument(action, "class")?, argument(action, "queue")?].map(|v| v as u8);
                self.classes.insert(exact(entry, "dscp")? as u8, (class, queue));
                Ok(())
            }
            ("trim", "set_trim") => self.trim(entry, action),
            ("ecn", "set_ecn_thresholds") => self.thresholds(entry, action),
            (table, action) => {
                Err(format!("`{action}` of table `{table}` is not one that the proof models").into())
            }
        }
    }

    /// Processes an entry of a table with meters; `None` for other tables.
    fn limit(&mut self, entry: &Entry<'_>) -> Option<Result<(), ReadError>> {
        let EntryAction::Action(action) = &entry.action else { return None };
        match (short(entry.table), short(action.name)) {
            ("punt_limit", "limit_punts") => Some(self.punt_limit(entry)),
            ("nic_class", "limit_class") => Some(self.nic_class(entry, action)),
            _ => None,
        }
    }

    /// Processes an entry that sends packets to the controller. Such packets do not reach a NIC, so only LLDP is
    /// accepted.
    fn punt(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        self.punts = true;
        match entry.field("ether_type") {
            Some(Match::Ternary(0x88cc, 0xffff)) if entry.key.len() == 1 => Ok(()),
            _ => {
                let message = "packets other than LLDP go to the controller".to_owned();
                Err(key_fault(entry, "ether_type", message))
            }
        }
    }

    fn punt_limit(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        let limit = one_rate(entry)?;
        self.punt_limits.insert(port(exact(entry, "ingress_port")?)?, limit);
        Ok(())
    }

    fn nic_class(&mut self, entry: &Entry<'_>, action: &Action<'_>) -> Result<(), ReadError> {
        let (rate, burst) = one_rate(entry)?;
        let [dscp, class, queue] = ["dscp", "class", "queue"].map(|name| argument(action, name));
        let limit = [rate, burst, dscp? as u64, class? as u64, queue? as u64];
        let port = port(exact(entry, "ingress_port")?)?;
        self.nic_classes.entry(port).or_default().insert(exact(entry, "class")? as u8, limit);
        Ok(())
    }

    fn trim(&mut self, entry: &Entry<'_>, action: &Action<'_>) -> Result<(), ReadError> {
        let values = ["depth_packets", "size_bytes", "trimmed_dscp"].map(|name| argument(action, name));
        let [depth, size, dscp] = values;
        let values = (depth? as u64, size? as u64, dscp? as u8);
        let (port, class) = port_class(entry)?;
        self.trims.entry(port).or_default().insert(class, values);
        Ok(())
    }

    fn thresholds(&mut self, entry: &Entry<'_>, action: &Action<'_>) -> Result<(), ReadError> {
        let values = (self.dialect.thresholds)(action)?;
        let (port, class) = port_class(entry)?;
        self.marks.entry(port).or_default().insert(class, values);
        Ok(())
    }

    fn group(&mut self, entry: &Entry<'_>, group: u64) -> Result<(), ReadError> {
        if short(entry.table) != "wcmp_group" {
            return Err(format!("`{}` uses a group, which the proof does not model", entry.table).into());
        }
        self.groups.insert(exact(entry, "wcmp_group_id")?, group);
        Ok(())
    }

    fn allow_prefix(&mut self, prefix: Prefix, action: &str) -> Result<(), ReadError> {
        let set = match action {
            "permit_encapsulated" => &mut self.ingress.encapsulated,
            "permit_plain" => &mut self.ingress.plain,
            "deny" => &mut self.ingress.denied,
            other => return Err(format!("`{other}` does not accept anything that the proof models").into()),
        };
        set.insert(prefix);
        Ok(())
    }

    fn segment(&mut self, sid: u128, action: &str) -> Result<(), ReadError> {
        let prefix = Prefix::new(Address::from(sid << 80), 48).map_err(|error| error.to_string())?;
        let text = prefix.to_string();
        if action != "un" {
            let needles = vec!["# + ingress.my_sid ".to_owned()];
            let message = format!("segment `{text}` is `{action}`; expected `un`");
            self.device.fault(FaultKind::Segment, self.dialect.file, needles, message);
        }
        self.device.segments.push(Segment { prefix, text: Cow::Owned(text) });
        Ok(())
    }

    fn next_hop(&mut self, id: u128, action: &Action<'_>) -> Result<(), ReadError> {
        let mac = |value: u128| {
            let bytes = (value as u64).to_be_bytes();
            Mac([bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]])
        };
        let next_hop = NextHop {
            port: port(argument(action, "port")?)?,
            source: mac(argument(action, "src_mac")?),
            destination: mac(argument(action, "dst_mac")?),
        };
        self.next_hops.insert(id, next_hop);
        Ok(())
    }

    fn route(&mut self, prefix: Prefix, name: &str, action: &Action<'_>) -> Result<(), ReadError> {
        let way = match name {
            "blackhole" => RouteAction::Nowhere,
            "set_nexthop_id" => RouteAction::NextHop(argument(action, "nexthop_id")?),
            "set_wcmp_group" => RouteAction::Group(argument(action, "wcmp_group_id")?),
            other => return Err(format!("`{other}` is not a kind of route that the proof models").into()),
        };
        self.routes.push((prefix, way));
        Ok(())
    }

    fn finish(mut self, source_routed: bool) -> Device<'static> {
        let index = self.ports();
        let routes = std::mem::take(&mut self.routes);
        for (prefix, way) in routes {
            let text = prefix.to_string();
            let lost = matches!(way, RouteAction::Group(id) if self.lacks(&index, id));
            let via = match way {
                RouteAction::Nowhere => Via::Blackhole,
                RouteAction::NextHop(id) => self.hop(&index, id, 1).map_or(Via::Many(Vec::new()), Via::One),
                RouteAction::Group(id) => self.group_next_hops(&index, id),
            };
            if lost || via == Via::Many(Vec::new()) {
                let message = format!("`{text}` has a next hop or group that does not exist");
                let needles = (self.dialect.needles)(FactKind::Route(&text));
                self.device.fault(FaultKind::Dangling, self.dialect.file, needles, message);
                continue;
            }
            self.device.routes.push(Route { prefix, text: Cow::Owned(text), via });
        }
        if source_routed {
            self.admissions();
        } else {
            let IngressFilter { encapsulated, plain, denied } = std::mem::take(&mut self.ingress);
            self.device.plain =
                Some((plain.into_iter().collect(), encapsulated.into_iter().chain(denied).collect()));
        }
        self.watches();
        self.quality();
        if !self.punts {
            let message = "LLDP does not go to the controller, so swapped cables are not detected";
            let needles = vec!["ingress.punt".to_owned()];
            self.device.fault(FaultKind::Setting, self.dialect.file, needles, message.to_owned());
        }
        self.device
    }

    /// Adds the ports with a role or a next hop, in the order of their numbers. Ports that have only other entries are
    /// faults.
    fn ports(&mut self) -> HashMap<u16, u16> {
        let hops = self.next_hops.values().map(|hop| hop.port);
        let numbers: BTreeSet<u16> = self.roles.keys().copied().chain(hops).collect();
        let mut index = HashMap::new();
        for number in numbers {
            let hop = self.next_hops.values().find(|hop| hop.port == number);
            let role = self.roles.get(&number).copied();
            index.insert(number, self.device.ports.len() as u16);
            self.device.ports.push(Port {
                name: Cow::Owned(number.to_string()),
                declared: role.is_some(),
                up: role.is_some(),
                faces_nic: role,
                mac: hop.map(|hop| hop.source),
                sources: self.sources.get(&number).cloned().unwrap_or_default(),
                inner_sources: self.inner_sources.get(&number).cloned().unwrap_or_default(),
                ..Port::default()
            });
        }
        index
    }

    fn hop(&self, index: &HashMap<u16, u16>, id: u128, weight: u32) -> Option<Hop> {
        let hop = self.next_hops.get(&id)?;
        Some(Hop { port: *index.get(&hop.port)?, gateway: None, mac: Some(hop.destination), weight })
    }

    fn group_next_hops(&self, index: &HashMap<u16, u16>, id: u128) -> Via {
        let group = self.groups.get(&id).and_then(|group| self.profile_groups.get(group));
        let member = |member: &Member| {
            let next_hop = self.members.get(&member.id)?;
            self.hop(index, *next_hop, u32::try_from(member.weight).unwrap_or(u32::MAX))
        };
        Via::Many(group.into_iter().flatten().filter_map(member).collect())
    }

    /// Returns whether a group or one of its members is missing, or a member has weight 0.
    fn lacks(&self, index: &HashMap<u16, u16>, id: u128) -> bool {
        let group = self.groups.get(&id).and_then(|group| self.profile_groups.get(group));
        let there = |member: &Member| {
            self.members.get(&member.id).is_some_and(|next_hop| self.hop(index, *next_hop, 1).is_some())
        };
        group.is_none_or(|members| members.iter().any(|member| member.weight == 0 || !there(member)))
    }

    /// Checks that each member watches the port of its next hop. Otherwise flows would stay on a port that is down, or
    /// move away from a port that is up.
    fn watches(&mut self) {
        let mut faults = Vec::new();
        for (group, member) in
            self.profile_groups.iter().flat_map(|(id, all)| all.iter().map(move |m| (id, m)))
        {
            let hop = self.members.get(&member.id).and_then(|hop| self.next_hops.get(hop));
            // A missing member is reported with the route that uses its group.
            let Some(port) = hop.map(|hop| hop.port) else { continue };
            let id = member.id;
            let message = match member.watch_port {
                Some(watched) if watched == u128::from(port) => continue,
                Some(watched) => {
                    format!("member {id} of group {group} watches port {watched}, but leads to port {port}")
                }
                None => format!(
                    "member {id} of group {group} watches no port, so its flows stay on port {port} when that is down"
                ),
            };
            faults.push((group.to_string(), message));
        }
        for (group, message) in faults {
            let needles = vec![format!("# + ingress.wcmp_selector  group {group} ")];
            self.device.fault(FaultKind::Setting, self.dialect.file, needles, message);
        }
    }

    /// Checks that, of all destinations in the block, NIC ports accept exactly the segment lists that begin with own
    /// segments.
    fn admissions(&mut self) {
        let own: BTreeSet<Prefix> = self.device.segments.iter().map(|segment| segment.prefix).collect();
        let nics = self.roles.values().any(|nic| *nic);
        let mut messages = Vec::new();
        if nics && self.ingress.encapsulated != own {
            messages.push(
                "the accepted segment lists of NICs are not exactly those that begin with the \
                 switch's own segments"
                    .to_owned(),
            );
        }
        if nics && !self.ingress.plain.is_empty() {
            messages.push("NICs may send packets without a segment list".to_owned());
        }
        let covers = |segment: &Prefix| self.ingress.denied.iter().any(|denied| denied.contains(segment));
        if nics && !own.iter().all(covers) {
            messages.push("NICs may send packets to the rest of the block".to_owned());
        }
        for message in messages {
            let needles = vec!["# + ingress.nic_destination ".to_owned()];
            self.device.fault(FaultKind::Setting, self.dialect.file, needles, message);
        }
        let strangers: Vec<u16> = self
            .sources
            .keys()
            .chain(self.inner_sources.keys())
            .copied()
            .filter(|port| self.roles.get(port) != Some(&true))
            .collect();
        for port in strangers {
            let needles = vec![format!("# + ingress.nic_source  ingress_port={port} ")];
            let message = format!("port {port} has sources, but no NIC");
            self.device.fault(FaultKind::Setting, self.dialect.file, needles, message);
        }
    }

    fn quality(&mut self) {
        let mut config = QosConfig::default();
        let code_points: BTreeMap<u8, u8> =
            (0..64).map(|dscp| (dscp, self.classes.get(&dscp).map_or(0, |class| class.0))).collect();
        let mut queues: BTreeMap<u8, u8> = self.classes.values().copied().collect();
        queues.entry(0).or_insert(0);
        for port in &mut self.device.ports {
            let number = port.name.parse().unwrap_or(0);
            let trims = self.trims.remove(&number).unwrap_or_default();
            let marks = self.marks.remove(&number).unwrap_or_default();
            let nic_classes = self.nic_classes.remove(&number).unwrap_or_default();
            let punts = self.punt_limits.remove(&number);
            let codes: BTreeSet<u8> = trims.values().map(|values| values.2).collect();
            let mut settings: BTreeMap<String, String> = BTreeMap::new();
            for (class, values) in &trims {
                settings.insert(format!("trimming of class {class}"), format!("{values:?}"));
            }
            for (class, values) in &marks {
                settings.insert(format!("thresholds of class {class}"), format!("{values:?}"));
            }
            settings.insert("classes".to_owned(), format!("{:?}", self.classes));
            let qos = PortQos {
                dscp_to_class: code_points.clone(),
                class_to_queue: queues.clone(),
                trimmed_dscp: codes.first().copied().filter(|_| codes.len() == 1),
                trims: trims.into_keys().collect(),
                marks,
                nic_classes,
                punts,
                settings,
                ..PortQos::default()
            };
            let known = config.ports.iter().position(|other| *other == qos);
            let at = known.unwrap_or_else(|| {
                config.ports.push(qos);
                config.ports.len() - 1
            });
            port.qos = Some(at as u16);
        }
        let limited = self.nic_classes.keys().chain(self.punt_limits.keys());
        for port in limited.copied().collect::<BTreeSet<u16>>() {
            let needles = vec![format!("ingress_port={port} ")];
            let message = format!("port {port} has a limit, but no role");
            self.device.fault(FaultKind::Qos, self.dialect.file, needles, message);
        }
        for port in self.trims.keys().chain(self.marks.keys()).copied().collect::<BTreeSet<u16>>() {
            let needles = vec![format!("egress_port={port} ")];
            let message = format!("port {port} trims or marks, but has no role");
            self.device.fault(FaultKind::Qos, self.dialect.file, needles, message);
        }
        self.device.qos = Some(Arc::new(config));
    }
}

/// Returns the ECN thresholds for pipelines whose entries contain the probability itself.
pub(super) fn thresholds(action: &Action<'_>) -> Result<(u64, u64, u64), ReadError> {
    let names = ["min_depth_packets", "max_depth_packets", "max_probability_ppm"];
    let [least, most, probability] = names.map(|name| argument(action, name));
    Ok((least? as u64, most? as u64, probability? as u64))
}

/// Returns the last part of a name. Names are those of the P4 program, such as `ingress.my_sid`.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn exact(entry: &Entry<'_>, field: &str) -> Result<u128, ReadError> {
    entry.exact(field).ok_or_else(|| format!("an entry of `{}` without `{field}`", entry.table).into())
}

fn prefix(entry: &Entry<'_>, field: &str) -> Result<Prefix, ReadError> {
    prefix_of(entry, field).map_err(|message| key_fault(entry, field, message))
}

/// Returns the error about a match field.
fn key_fault(entry: &Entry<'_>, field: &str, message: String) -> ReadError {
    let at = entry.key.iter().position(|(name, _)| *name == field);
    ReadError::at(at.and_then(|at| entry.lines.key.get(at)).copied().unwrap_or(entry.lines.table), message)
}

fn prefix_of(entry: &Entry<'_>, field: &str) -> Result<Prefix, String> {
    match entry.field(field) {
        // An omitted field matches everything.
        None => Ok(Prefix::default()),
        Some(Match::Prefix(value, length)) => {
            let length =
                u8::try_from(length).map_err(|_| format!("/{length} is not a length of a prefix"))?;
            Prefix::new(Address::from(value), length).map_err(|error| error.to_string())
        }
        Some(Match::Exact(_) | Match::Ternary(..)) => Err(format!("`{field}` is not a prefix")),
    }
}

fn source(entry: &Entry<'_>) -> Result<(u16, Address), ReadError> {
    let prefix = prefix(entry, "src")?;
    if prefix.prefix_len() != 128 {
        return Err(key_fault(entry, "src", format!("NICs may send from all of `{prefix}`")));
    }
    Ok((port(exact(entry, "ingress_port")?)?, prefix.addr()))
}

/// Returns the rate and burst of an entry whose meter has only one of each.
fn one_rate(entry: &Entry<'_>) -> Result<(u64, u64), ReadError> {
    let meter = entry.meter.ok_or_else(|| format!("an entry of `{}` has no meter", entry.table))?;
    if meter.committed == meter.peak {
        return Ok(meter.peak);
    }
    Err(format!("the meter of an entry of `{}` has two rates; expected one", entry.table).into())
}

fn port_class(entry: &Entry<'_>) -> Result<(u16, u8), ReadError> {
    Ok((port(exact(entry, "egress_port")?)?, exact(entry, "class")? as u8))
}

fn port(value: u128) -> Result<u16, String> {
    u16::try_from(value).map_err(|_| format!("{value} is not a port"))
}

pub(super) fn argument(action: &Action<'_>, name: &str) -> Result<u128, ReadError> {
    let missing = || ReadError::at(action.line, format!("`{}` without `{name}`", action.name));
    action.argument(name).ok_or_else(missing)
}
