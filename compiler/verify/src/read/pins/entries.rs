//! Reads the entries of a switch. Routes lead through groups, next hops, router interfaces and neighbours to ports.
//!
//! In: `pins.txtpb`, the names in its P4Info, and ports by ID. Out: routes and MAC addresses of a [`Device`].
//! Invariants: every entry is understood or an error. Referenced entries must come first, because the switch rejects a
//! reference to a later one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::{Address, Prefix};

use super::place::{FILE, needles};
use crate::model::device::{Device, FaultKind, Hop, Mac, Route, Via};
use crate::model::fact::FactKind;
use crate::model::pipeline::PipelineNames;
use crate::read::error::ReadError;
use crate::read::p4::request::REQUEST;
use crate::read::p4::textproto::{self, Message};

/// Reads all entries.
pub(super) fn read(
    text: &str,
    names: &PipelineNames,
    ports: &BTreeMap<String, u16>,
    device: &mut Device<'_>,
) -> Result<(), ReadError> {
    let request = textproto::read(text)?;
    request.check(&REQUEST)?;
    let mut reader = Reader::new(ports);
    for (update, line) in request.messages("updates") {
        let taken =
            match (update.word("type"), update.message("entity").and_then(|e| e.message("table_entry"))) {
                (Some("INSERT"), Some(entry)) => Row::of(entry, names).and_then(|row| reader.take(&row)),
                _ => Err(update.fault("type", "an update that inserts no entry of a table")),
            };
        taken.map_err(|error: ReadError| error.or_at(line))?;
    }
    reader.finish(device);
    Ok(())
}

/// An entry with names, whose values are in wire format.
struct Row<'m> {
    table: &'m str,
    key: BTreeMap<&'m str, &'m Message<'m>>,
    priority: u64,
    action: Option<&'m Message<'m>>,
    entry: &'m Message<'m>,
    names: &'m PipelineNames,
}

/// An action with its arguments by name.
struct Call<'m> {
    name: &'m str,
    line: usize,
    arguments: BTreeMap<&'m str, (&'m [u8], usize)>,
}

/// Returns the last part of a name.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl<'m> Row<'m> {
    fn of(entry: &'m Message<'m>, names: &'m PipelineNames) -> Result<Self, ReadError> {
        let id = entry.number("table_id");
        let unknown = || entry.fault("table_id", format!("table {id} is not in the P4Info"));
        let (table, fields) = names.tables.get(&id).ok_or_else(unknown)?;
        if entry.word("is_default_action").is_some() {
            return Err(format!("`{table}` has a default action that the proof does not model").into());
        }
        if entry.message("meter_config").is_some() {
            let message = format!("an entry of `{table}` has a meter that the proof does not model");
            return Err(entry.fault("meter_config", message));
        }
        let mut key = BTreeMap::new();
        for (field, _) in entry.messages("match") {
            let id = field.number("field_id");
            let unknown = || field.fault("field_id", format!("`{table}` has no field {id}"));
            let name = fields.get(&id).ok_or_else(unknown)?;
            if key.insert(name.as_str(), field).is_some() {
                return Err(field.fault("field_id", format!("`{table}`: field `{name}` appears twice")));
            }
        }
        let priority = entry.number("priority");
        if priority != 0 && key.values().all(|field| field.message("ternary").is_none()) {
            return Err(
                entry.fault("priority", format!("an entry of `{table}` has a priority, but no ternary key"))
            );
        }
        Ok(Row { table: short(table), key, priority, action: entry.message("action"), entry, names })
    }

    fn exact(&self, field: &str) -> Result<&'m [u8], ReadError> {
        let exact = self.key.get(field).and_then(|field| field.message("exact"));
        // Empty text is omitted, like all defaults in protocol buffers.
        let value = exact.map(|exact| exact.bytes("value").unwrap_or_default());
        value.ok_or_else(|| format!("an entry of `{}` without `{field}`", self.table).into())
    }

    fn text(&self, field: &str) -> Result<String, ReadError> {
        text_of(self.exact(field)?)
    }

    /// Returns the error about a match field.
    fn fault(&self, field: &str, message: impl Into<String>) -> ReadError {
        let matched = self.key.get(field);
        let value = matched
            .and_then(|field| ["exact", "lpm", "ternary"].into_iter().find_map(|kind| field.message(kind)));
        ReadError::at(
            value.map_or_else(|| self.entry.line_of("table_id"), |value| value.line_of("value")),
            message,
        )
    }

    fn call(&self) -> Result<Call<'m>, ReadError> {
        let action = self.action.and_then(|action| action.message("action"));
        let action = action.ok_or_else(|| format!("an entry of `{}` without an action", self.table))?;
        Call::of(action, self.names)
    }

    fn has_only(&self, fields: &[&str]) -> Result<(), ReadError> {
        match self.key.keys().find(|field| !fields.contains(field)) {
            Some(field) => {
                Err(format!("`{}`: nothing that the proof models compares `{field}`", self.table).into())
            }
            None => Ok(()),
        }
    }
}

impl<'m> Call<'m> {
    fn of(action: &'m Message<'m>, names: &'m PipelineNames) -> Result<Self, ReadError> {
        let id = action.number("action_id");
        let unknown = || action.fault("action_id", format!("action {id} is not in the P4Info"));
        let (name, params) = names.actions.get(&id).ok_or_else(unknown)?;
        let mut arguments = BTreeMap::new();
        for (param, _) in action.messages("params") {
            let id = param.number("param_id");
            let unknown = || param.fault("param_id", format!("`{name}` has no parameter {id}"));
            let known = params.get(&id).ok_or_else(unknown)?;
            let lacks = || param.fault("value", format!("`{name}`: `{known}` has no value"));
            let value = param.bytes("value").ok_or_else(lacks)?;
            if arguments.insert(known.as_str(), (value, param.line_of("value"))).is_some() {
                return Err(param.fault("param_id", format!("`{name}`: parameter `{known}` appears twice")));
            }
        }
        Ok(Call { name: short(name), line: action.line_of("action_id"), arguments })
    }

    fn bytes(&self, name: &str) -> Result<&'m [u8], ReadError> {
        let value = self.arguments.get(name).map(|(value, _)| *value);
        value.ok_or_else(|| ReadError::at(self.line, format!("`{}` without `{name}`", self.name)))
    }

    fn text(&self, name: &str) -> Result<String, ReadError> {
        text_of(self.bytes(name)?)
    }

    /// Returns the error about an argument.
    fn fault(&self, name: &str, message: impl Into<String>) -> ReadError {
        ReadError::at(self.arguments.get(name).map_or(self.line, |(_, line)| *line), message)
    }

    fn mac(&self, name: &str) -> Result<Mac, ReadError> {
        let value = number(self.bytes(name)?).map_err(|error| self.fault(name, error.message))?;
        let [0, 0, mac @ ..] = u64::try_from(value).unwrap_or(u64::MAX).to_be_bytes() else {
            return Err(self.fault(name, format!("`{name}` is wider than a MAC address")));
        };
        Ok(Mac(mac))
    }
}

fn text_of(bytes: &[u8]) -> Result<String, ReadError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "a name is not text".into())
}

fn number(bytes: &[u8]) -> Result<u128, ReadError> {
    if bytes.is_empty() || bytes.len() > 16 {
        return Err(format!("{} bytes are not a number of the pipeline", bytes.len()).into());
    }
    Ok(bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}

/// Action of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RouteAction {
    Nowhere,
    NextHop(String),
    Group(String),
}

/// Contents of the entries, by name.
struct Reader<'p> {
    ports: &'p BTreeMap<String, u16>,
    accepted: BTreeSet<Mac>,
    /// ID of the port, and MAC address of the switch on it.
    interfaces: BTreeMap<String, (String, Mac)>,
    neighbours: BTreeMap<(String, u128), Mac>,
    next_hops: BTreeMap<String, (String, u128)>,
    /// Next hops with weights and watched ports.
    groups: BTreeMap<String, Vec<(String, u32, Option<String>)>>,
    routes: BTreeMap<(Address, u8), RouteAction>,
}

impl<'p> Reader<'p> {
    fn new(ports: &'p BTreeMap<String, u16>) -> Self {
        Reader {
            ports,
            accepted: BTreeSet::new(),
            interfaces: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            next_hops: BTreeMap::new(),
            groups: BTreeMap::new(),
            routes: BTreeMap::new(),
        }
    }

    fn take(&mut self, row: &Row<'_>) -> Result<(), ReadError> {
        let is_new = match row.table {
            "l3_admit_table" => self.local_mac(row)?,
            "router_interface_table" => self.interface(row)?,
            "neighbor_table" => self.neighbour(row)?,
            "nexthop_table" => self.next_hop(row)?,
            "wcmp_group_table" => self.group(row)?,
            "ipv6_table" => self.route(row)?,
            other => {
                let message = format!("table `{other}` is not one that the proof models");
                return Err(row.entry.fault("table_id", message));
            }
        };
        let last = row.key.keys().last().copied().unwrap_or_default();
        let twice = || row.fault(last, format!("`{}` has two entries of this key", row.table));
        if is_new { Ok(()) } else { Err(twice()) }
    }

    fn local_mac(&mut self, row: &Row<'_>) -> Result<bool, ReadError> {
        row.has_only(&["dst_mac"])?;
        let ternary = row.key.get("dst_mac").and_then(|field| field.message("ternary"));
        let ternary = ternary.ok_or("every MAC address is accepted")?;
        let of = |name: &str| {
            let bytes = ternary.bytes(name);
            let bytes = bytes.ok_or_else(|| ternary.fault(name, format!("`dst_mac` without {name}")))?;
            number(bytes).map_err(|error| ternary.fault(name, error.message))
        };
        let (value, mask) = (of("value")?, of("mask")?);
        if mask != 0xffff_ffff_ffff || value > mask {
            let wrong = if value > mask { "value" } else { "mask" };
            return Err(ternary.fault(wrong, "more than one MAC address is accepted"));
        }
        // P4Runtime 1.4, section 9.1: entries of tables with ternary keys have a priority above zero.
        if row.priority == 0 {
            return Err(row.entry.fault("priority", "an entry of `l3_admit_table` has no priority"));
        }
        if row.call()?.name != "admit_to_l3" {
            let call = row.call()?;
            let message = format!("`{}` does not accept anything that the proof models", call.name);
            return Err(ReadError::at(call.line, message));
        }
        let [0, 0, mac @ ..] = (value as u64).to_be_bytes() else { unreachable!("it is within the mask") };
        Ok(self.accepted.insert(Mac(mac)))
    }

    fn interface(&mut self, row: &Row<'_>) -> Result<bool, ReadError> {
        let call = row.call()?;
        if !matches!(call.name, "unicast_set_port_and_src_mac" | "set_port_and_src_mac") {
            let message = format!("`{}` is not an interface that the proof models", call.name);
            return Err(ReadError::at(call.line, message));
        }
        let to = (call.text("port")?, call.mac("src_mac")?);
        Ok(self.interfaces.insert(row.text("router_interface_id")?, to).is_none())
    }

    fn neighbour(&mut self, row: &Row<'_>) -> Result<bool, ReadError> {
        let interface = row.text("router_interface_id")?;
        if !self.interfaces.contains_key(&interface) {
            let message = format!("neighbour before its router interface `{interface}`");
            return Err(row.fault("router_interface_id", message));
        }
        let call = row.call()?;
        if call.name != "set_dst_mac" {
            let message = format!("`{}` is not a neighbour that the proof models", call.name);
            return Err(ReadError::at(call.line, message));
        }
        let key = (interface, number(row.exact("neighbor_id")?)?);
        Ok(self.neighbours.insert(key, call.mac("dst_mac")?).is_none())
    }

    fn next_hop(&mut self, row: &Row<'_>) -> Result<bool, ReadError> {
        let call = row.call()?;
        if call.name != "set_ip_nexthop" {
            let message = format!("`{}` is not a next hop that the proof models", call.name);
            return Err(ReadError::at(call.line, message));
        }
        let to = (call.text("router_interface_id")?, number(call.bytes("neighbor_id")?)?);
        if !self.neighbours.contains_key(&to) {
            let message = format!("next hop before its neighbour on `{}`", to.0);
            let known = self.interfaces.contains_key(&to.0);
            return Err(call.fault(if known { "neighbor_id" } else { "router_interface_id" }, message));
        }
        Ok(self.next_hops.insert(row.text("nexthop_id")?, to).is_none())
    }

    fn group(&mut self, row: &Row<'_>) -> Result<bool, ReadError> {
        let set = row.action.and_then(|action| action.message("action_profile_action_set"));
        let set = set.ok_or("a group without members")?;
        let mut members = Vec::new();
        for (member, _) in set.messages("action_profile_actions") {
            let call = Call::of(member.message("action").ok_or("a member without an action")?, row.names)?;
            if call.name != "set_nexthop_id" {
                let message = format!("`{}` is not a member that the proof models", call.name);
                return Err(ReadError::at(call.line, message));
            }
            let next_hop = call.text("nexthop_id")?;
            if !self.next_hops.contains_key(&next_hop) {
                let message = format!("group before its next hop `{next_hop}`");
                return Err(call.fault("nexthop_id", message));
            }
            let weight = u32::try_from(member.number("weight")).unwrap_or(u32::MAX);
            if weight == 0 {
                return Err(member.fault("weight", format!("next hop `{next_hop}` has no weight")));
            }
            members.push((next_hop, weight, member.bytes("watch_port").map(text_of).transpose()?));
        }
        Ok(self.groups.insert(row.text("wcmp_group_id")?, members).is_none())
    }

    fn route(&mut self, row: &Row<'_>) -> Result<bool, ReadError> {
        let vrf = row.text("vrf_id")?;
        if !vrf.is_empty() {
            return Err(row.fault("vrf_id", format!("a route is in VRF `{vrf}`, which no packet uses")));
        }
        let prefix = match row.key.get("ipv6_dst") {
            None => (Address::UNSPECIFIED, 0),
            Some(field) => {
                let lpm = field.message("lpm").ok_or("`ipv6_dst` is not a prefix")?;
                let length = u8::try_from(lpm.number("prefix_len")).ok().filter(|l| (1..=128).contains(l));
                let length = length.ok_or_else(|| lpm.fault("prefix_len", "`ipv6_dst` has no length"))?;
                let value = lpm.bytes("value");
                let value = value.ok_or_else(|| lpm.fault("value", "`ipv6_dst` without value"))?;
                let value = number(value).map_err(|error| lpm.fault("value", error.message))?;
                (Address::from(value), length)
            }
        };
        let call = row.call()?;
        let action = match call.name {
            "drop" => RouteAction::Nowhere,
            "set_nexthop_id" => RouteAction::NextHop(call.text("nexthop_id")?),
            "set_wcmp_group_id" => RouteAction::Group(call.text("wcmp_group_id")?),
            other => {
                let message = format!("`{other}` is not a kind of route that the proof models");
                return Err(ReadError::at(call.line, message));
            }
        };
        let dangling = match &action {
            RouteAction::Nowhere => None,
            RouteAction::NextHop(id) => (!self.next_hops.contains_key(id)).then_some(("nexthop_id", id)),
            RouteAction::Group(id) => (!self.groups.contains_key(id)).then_some(("wcmp_group_id", id)),
        };
        if let Some((name, id)) = dangling {
            return Err(call.fault(name, format!("route before its `{id}`")));
        }
        Ok(self.routes.insert(prefix, action).is_none())
    }

    /// Returns a next hop with its port; `None` if the switch does not have the port.
    fn hop(&self, id: &str, weight: u32) -> Option<Hop> {
        let (interface, neighbour) = self.next_hops.get(id)?;
        let (port, _) = self.interfaces.get(interface)?;
        let mac = self.neighbours.get(&(interface.clone(), *neighbour))?;
        Some(Hop { port: *self.ports.get(port)?, gateway: None, mac: Some(*mac), weight })
    }

    fn finish(self, device: &mut Device<'_>) {
        let mut faults: Vec<(Vec<String>, String)> = Vec::new();
        for (name, (port, mac)) in &self.interfaces {
            let needles = vec![format!("router_interface_id=\"{name}\" ")];
            match self.ports.get(port) {
                None => faults.push((
                    needles,
                    format!("router interface `{name}` is at port `{port}`, which does not exist"),
                )),
                Some(index) => {
                    let found = &mut device.ports[usize::from(*index)];
                    if found.mac.is_some() {
                        faults.push((needles, format!("port `{port}` has two router interfaces")));
                    }
                    found.mac = Some(*mac);
                }
            }
        }
        let own: BTreeSet<Mac> = self.interfaces.values().map(|(_, mac)| *mac).collect();
        // A switch without router interfaces has no cables, so it receives no packets.
        if !own.is_empty() && own != self.accepted {
            let message = "the accepted MAC addresses are not those of the router interfaces".to_owned();
            faults.push((vec!["l3_admit_table".to_owned()], message));
        }
        for (id, members) in &self.groups {
            for (next_hop, _, watched) in members {
                let port = self.next_hops.get(next_hop).and_then(|(name, _)| self.interfaces.get(name));
                if watched.as_ref() != port.map(|(port, _)| port) {
                    let message = format!("group `{id}` does not watch the port of `{next_hop}`");
                    faults.push((vec![format!("wcmp_group_id=\"{id}\" ")], message));
                }
            }
        }
        for ((network, length), action) in &self.routes {
            let prefix = Prefix::new_assert(*network, *length);
            let text = prefix.to_string();
            let ways: Option<Vec<Hop>> = match action {
                RouteAction::Nowhere => Some(Vec::new()),
                RouteAction::NextHop(id) => self.hop(id, 1).map(|hop| vec![hop]),
                RouteAction::Group(id) => {
                    let members = self.groups.get(id).into_iter().flatten();
                    members.map(|(hop, weight, _)| self.hop(hop, *weight)).collect()
                }
            };
            let via = match (action, ways.as_deref()) {
                (RouteAction::Nowhere, _) => Via::Blackhole,
                (RouteAction::NextHop(_), Some([hop])) => Via::One(*hop),
                (RouteAction::Group(_), Some(hops @ [_, ..])) => Via::Many(hops.to_vec()),
                _ => {
                    let needles = needles(FactKind::Route(&text)).unwrap_or_default();
                    faults.push((needles, format!("`{text}` has a next hop or group without a port")));
                    continue;
                }
            };
            device.routes.push(Route { prefix, text: Cow::Owned(text), via });
        }
        for (needles, message) in faults {
            device.fault(FaultKind::Dangling, FILE, needles, message);
        }
    }
}
