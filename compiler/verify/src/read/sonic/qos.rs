//! Reads the QoS tables of CONFIG_DB.
//!
//! In: rows by port, and small tables of names. Out: [`QosConfig`], with all references resolved. Invariants: ports
//! with equal settings are resolved once, because a switch has, for example, five hundred ports of only three kinds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use closc_artefacts::paths::CONFIG_DB as FILE;
use hashbrown::HashMap;
use serde::Deserialize as _;
use serde::de::{DeserializeSeed as _, Deserializer};
use serde_json::value::RawValue;

use crate::model::device::{Device, FaultKind, Port, Ports};
use crate::model::place::{Fact, Step};
use crate::model::qos::{NamedQos, Pools, PortQos, QosConfig};
use crate::read::json::Rows;
use crate::read::value::split;

/// Tables keyed by port.
pub(super) const PORT_TABLES: [&str; 7] = [
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "PFC_WD",
    "PORT_QOS_MAP",
    "QUEUE",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
];
const BUFFER_PG: usize = 0;
const BUFFER_QUEUE: usize = 1;
const PFC_WD: usize = 2;
const PORT_QOS_MAP: usize = 3;
const QUEUE: usize = 4;
const EGRESS_LIST: usize = 5;
const INGRESS_LIST: usize = 6;

/// Port tables that have a queue, a group or a range of these in the key.
const RANGES: [usize; 3] = [BUFFER_PG, BUFFER_QUEUE, QUEUE];

/// Tables that other tables refer to.
pub(super) const SMALL_TABLES: [&str; 11] = [
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "DSCP_TO_TC_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "SCHEDULER",
    "SWITCH_TRIMMING",
    "TC_TO_DSCP_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
];

/// Paths of the rows of each setting.
pub(super) type Sources = BTreeMap<String, Vec<Vec<Step>>>;

/// A small table: fields by row.
type SmallTable = BTreeMap<String, BTreeMap<String, String>>;

/// A row of a port: its table, the rest of its key, and its fields as text.
type Kind<'a> = (usize, Cow<'a, str>, &'a str);

/// Returns the resolved tables. Each table is given by name and text.
pub(super) fn read(tables: &[(&str, &str)]) -> Result<NamedQos, serde_json::Error> {
    let (mut reader, mut ports) = (QosReader::default(), Ports::default());
    for (name, text) in tables {
        reader.part(name, text, &mut ports)?;
    }
    Ok(reader.finish(ports.finish()))
}

/// Returns the rows that determine each setting of a port. Each table is given by name and text.
pub(super) fn sources(tables: &[(&str, &str)], port: &str) -> Result<Sources, serde_json::Error> {
    let (mut reader, mut ports) = (QosReader::default(), Ports::default());
    for (name, text) in tables {
        reader.part(name, text, &mut ports)?;
    }
    let at = ports.index(port.into());
    let kinds: Vec<u16> = reader.rows.iter().filter(|(port, _)| *port == at).map(|(_, kind)| *kind).collect();
    let mut faults = Vec::new();
    let mut resolver = Resolver::new(&reader, port, &mut faults);
    resolver.sources = Some(Sources::new());
    resolver.all(&kinds);
    let mut sources = resolver.sources.unwrap_or_default();
    let ingress = reader.small.get("BUFFER_POOL").into_iter().flatten();
    let ingress = ingress.filter(|(_, row)| row.get("type").is_some_and(|kind| kind == "ingress"));
    let ingress = ingress.map(|(name, _)| vec!["BUFFER_POOL".into(), name.as_str().into()]);
    sources.insert("pools".to_owned(), ingress.chain([vec!["BUFFER_POOL".into()]]).collect());
    Ok(sources)
}

/// Stores the resolved tables in a device.
pub(super) fn apply(qos: &NamedQos, device: &mut Device<'_>) {
    for (facts, message) in &qos.faults {
        device.fault(FaultKind::Dangling, FILE, facts.clone(), message.clone());
    }
    device.qos = Some(Arc::clone(&qos.config));
}

/// Checks a port table or a table of names without storing it.
pub(super) fn check<'de, D: Deserializer<'de>>(name: &str, json: D) -> Result<(), D::Error> {
    if PORT_TABLES.contains(&name) {
        Rows::new(&mut |_, _: &'de RawValue| Ok(())).deserialize(json)
    } else {
        SmallTable::deserialize(json).map(drop)
    }
}

/// Collects rows.
#[derive(Default)]
struct QosReader<'a> {
    /// The small tables.
    small: BTreeMap<String, SmallTable>,
    kinds: Vec<Kind<'a>>,
    numbers: HashMap<Kind<'a>, u16>,
    rows: Vec<(u16, u16)>,
    last: u16,
    globals: Vec<(usize, &'a str)>,
}

impl<'a> QosReader<'a> {
    /// Reads a table.
    fn part(&mut self, name: &str, text: &'a str, ports: &mut Ports<'a>) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(text);
        if let Some(table) = PORT_TABLES.iter().position(|known| *known == name) {
            return self.table(table, ports, &mut json);
        }
        let small = SmallTable::deserialize(&mut json)?;
        self.small.insert(name.to_owned(), small);
        Ok(())
    }

    fn table<D: Deserializer<'a>>(
        &mut self,
        table: usize,
        ports: &mut Ports<'a>,
        json: D,
    ) -> Result<(), D::Error> {
        let mut each = |key: Cow<'a, str>, row: &'a RawValue| {
            let (port, rest) = split(key, '|').unwrap_or_else(|key| (key, Cow::Borrowed("")));
            if port.eq_ignore_ascii_case("global") {
                self.globals.push((table, row.get()));
            } else {
                self.row(table, ports.index(port), rest, row.get());
            }
            Ok(())
        };
        Rows::new(&mut each).deserialize(json)
    }

    /// Processes a row of a port.
    fn row(&mut self, table: usize, port: u16, rest: Cow<'a, str>, row: &'a str) {
        let kind = (table, rest, row);
        // Rows of a table repeat from port to port, so the next row usually follows the previous match.
        let next = self.last.saturating_add(1);
        if self.kinds.get(usize::from(next)) == Some(&kind) {
            self.last = next;
            return self.rows.push((port, next));
        }
        let number = if let Some(number) = self.numbers.get(&kind) {
            *number
        } else {
            let number = self.kinds.len().min(usize::from(u16::MAX)) as u16;
            self.kinds.push(kind.clone());
            self.numbers.insert(kind, number);
            number
        };
        self.last = number;
        self.rows.push((port, number));
    }

    /// Resolves all names and assigns an index to each port.
    fn finish(mut self, ports: Vec<Port<'a>>) -> NamedQos {
        let mut config = QosConfig::default();
        let mut known: HashMap<Vec<u16>, u16> = HashMap::new();
        let mut faults = Vec::new();
        let mut named: Vec<(String, Option<u16>)> =
            ports.into_iter().map(|port| (port.name.into_owned(), None)).collect();
        self.rows.sort_unstable();
        for rows in self.rows.chunk_by(|a, b| a.0 == b.0) {
            let kinds: Vec<u16> = rows.iter().map(|(_, kind)| *kind).collect();
            let at = usize::from(rows[0].0);
            let index = if let Some(index) = known.get(&kinds) {
                *index
            } else {
                let mut resolver = Resolver::new(&self, &named[at].0, &mut faults);
                resolver.all(&kinds);
                config.ports.push(resolver.qos);
                let index = (config.ports.len() - 1) as u16;
                known.insert(kinds, index);
                index
            };
            named[at].1 = Some(index);
        }
        config.pools = self.small.get("BUFFER_POOL").map(pools);
        NamedQos { ports: named, config: Arc::new(config), faults }
    }

    fn small(&self, table: &str, row: &str) -> Option<&BTreeMap<String, String>> {
        self.small.get(table)?.get(row)
    }
}

/// Resolves the rows of one port.
struct Resolver<'r, 'a> {
    reader: &'r QosReader<'a>,
    port: &'r str,
    qos: PortQos,
    queues_trimmed: Vec<u8>,
    queues_marked: BTreeMap<u8, (u64, u64, u64)>,
    faults: &'r mut Vec<(Vec<Fact>, String)>,
    /// The rows that determine each setting, if requested.
    sources: Option<Sources>,
    /// The row being read, and the last row that it refers to.
    at: (usize, &'r str),
    referenced_row: Option<Vec<Step>>,
}

impl<'r, 'a> Resolver<'r, 'a> {
    fn new(reader: &'r QosReader<'a>, port: &'r str, faults: &'r mut Vec<(Vec<Fact>, String)>) -> Self {
        Resolver {
            reader,
            port,
            qos: PortQos::default(),
            queues_trimmed: Vec::new(),
            queues_marked: BTreeMap::new(),
            faults,
            sources: None,
            at: (PORT_QOS_MAP, ""),
            referenced_row: None,
        }
    }

    fn all(&mut self, kinds: &[u16]) {
        let mut covered = BTreeMap::new();
        for kind in kinds {
            let (table, rest, row) = &self.reader.kinds[usize::from(*kind)];
            let Ok(fields) = serde_json::from_str::<BTreeMap<String, String>>(row) else {
                self.fault(*table, rest, "has fields that are not text");
                continue;
            };
            self.at = (*table, rest);
            let of: Vec<u8> = numbers(rest).collect();
            self.cover(&mut covered, (*table, rest), &of);
            self.rows(&of);
            for (field, value) in &fields {
                self.referenced_row = None;
                match *table {
                    PORT_QOS_MAP => self.map(field, value),
                    BUFFER_PG | BUFFER_QUEUE => self.buffer(*table, rest, field, value),
                    EGRESS_LIST | INGRESS_LIST => self.quotas(*table, field, value),
                    PFC_WD => self.set(format!("watchdog {field}"), value.clone()),
                    _ => self.queue(rest, field, value),
                }
            }
        }
        for (table, row) in &self.reader.globals {
            let name = PORT_TABLES[*table];
            match serde_json::from_str::<BTreeMap<String, String>>(row) {
                Ok(row) => {
                    self.at = (*table, "global");
                    self.referenced_row = None;
                    self.global(*table, &row);
                    self.set(format!("{name}|global"), fields(&row));
                }
                Err(_) => self.fault(*table, "global", "has fields that are not text"),
            }
        }
        self.trimming();
        for (class, queue) in &self.qos.class_to_queue {
            // Several classes may share a queue. Only classes with code points have packets.
            if !self.qos.dscp_to_class.values().any(|used| used == class) {
                continue;
            }
            if self.queues_trimmed.contains(queue) {
                self.qos.trims.push(*class);
            }
            if let Some(marks) = self.queues_marked.get(queue) {
                self.qos.marks.insert(*class, *marks);
            }
        }
    }

    /// Checks that no other row of the port has the same queue or group. Rows in CONFIG_DB are unordered, so any of
    /// them might apply.
    fn cover<'k>(
        &mut self,
        covered: &mut BTreeMap<(usize, Option<u8>), &'k str>,
        (table, rest): (usize, &'k str),
        of: &[u8],
    ) {
        if of.is_empty() == RANGES.contains(&table) {
            self.fault(table, rest, "has a key that the proof does not model");
        }
        let whole = of.is_empty().then_some((table, None));
        let mut own = of.iter().map(|number| (table, Some(*number))).chain(whole);
        if let Some(other) = own.find_map(|part| covered.insert(part, rest)) {
            let facts = [rest, other].map(|rest| Fact::Path(self.key(table, rest))).to_vec();
            self.report_dangling((table, rest), facts, &format!("overlaps `{}`", self.name(table, other)));
        }
    }

    /// Processes a row that does not belong to a port. orchagent reads the map of code points and the watchdog times
    /// from such rows.
    fn global(&mut self, table: usize, row: &BTreeMap<String, String>) {
        let known: &[&str] = match table {
            PORT_QOS_MAP => &["dscp_to_tc_map"],
            PFC_WD => &["POLL_INTERVAL", "BIG_RED_SWITCH"],
            _ => &[],
        };
        for field in row.keys().filter(|field| !known.contains(&field.as_str())) {
            self.fault(table, "global", &format!("has a field `{field}` that the proof does not model"));
        }
        if let Some(map) = row.get("dscp_to_tc_map").filter(|_| table == PORT_QOS_MAP) {
            let map = self.follow((table, "global"), "dscp_to_tc_map", "DSCP_TO_TC_MAP", map);
            self.set("code points elsewhere".to_owned(), fields(&map));
        }
    }

    fn fault(&mut self, table: usize, rest: &str, message: &str) {
        let facts = vec![Fact::Path(self.key(table, rest))];
        self.report_dangling((table, rest), facts, message);
    }

    fn report_dangling(&mut self, (table, rest): (usize, &str), facts: Vec<Fact>, message: &str) {
        self.faults.push((facts, format!("`{}` {message}", self.name(table, rest))));
    }

    /// Returns the name of a row of the port.
    fn name(&self, table: usize, rest: &str) -> String {
        let name = PORT_TABLES[table];
        if rest.is_empty() { format!("{name}|{}", self.port) } else { format!("{name}|{}|{rest}", self.port) }
    }

    /// Returns the path of a row of the port, or of a row that applies to all ports.
    fn key(&self, table: usize, rest: &str) -> Vec<Step> {
        let key = match rest {
            "" => self.port.to_owned(),
            "global" if table == PFC_WD => "GLOBAL".to_owned(),
            "global" => rest.to_owned(),
            _ => format!("{}|{rest}", self.port),
        };
        vec![PORT_TABLES[table].into(), Step::Key(key)]
    }

    fn set(&mut self, name: String, value: String) {
        self.note(&name);
        self.qos.settings.insert(name, value);
    }

    /// Records the rows of a setting: the last referenced row, and the row being read.
    fn note(&mut self, name: &str) {
        if self.sources.is_none() {
            return;
        }
        let own = self.key(self.at.0, self.at.1);
        let sources = self.sources.get_or_insert_default();
        let paths = sources.entry(name.to_owned()).or_default();
        paths.extend(self.referenced_row.clone().into_iter().chain([own]));
    }

    /// Records the row being read for settings that it may lack.
    fn rows(&mut self, of: &[u8]) {
        self.referenced_row = None;
        if self.sources.is_none() {
            return;
        }
        let table = PORT_TABLES[self.at.0];
        if of.is_empty() {
            self.note(&row(table, ""));
        }
        for number in of {
            self.note(&row(table, &number.to_string()));
        }
    }

    /// Follows a reference and records its target.
    fn follow(&mut self, at: (usize, &str), field: &str, table: &str, row: &str) -> BTreeMap<String, String> {
        let before = self.referenced_row.replace(vec![table.into(), row.into()]);
        if let Some(fields) = self.reader.small(table, row) {
            fields.clone()
        } else {
            let message = format!("names `{row}` as `{field}`, which is not in `{table}`");
            let paths = [Some(self.key(at.0, at.1)), before, Some(vec![table.into()])];
            self.report_dangling(at, paths.into_iter().flatten().map(Fact::Path).collect(), &message);
            BTreeMap::new()
        }
    }

    fn map(&mut self, field: &str, value: &str) {
        let table = match field {
            "dscp_to_tc_map" => "DSCP_TO_TC_MAP",
            "tc_to_queue_map" => "TC_TO_QUEUE_MAP",
            "tc_to_pg_map" => "TC_TO_PRIORITY_GROUP_MAP",
            "tc_to_dscp_map" => "TC_TO_DSCP_MAP",
            "pfc_to_queue_map" => "MAP_PFC_PRIORITY_TO_QUEUE",
            "pfc_to_pg_map" => "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
            "pfc_enable" => {
                self.qos.pauses = value.split(',').filter_map(|priority| priority.parse().ok()).collect();
                return self.set(field.to_owned(), value.to_owned());
            }
            "pfcwd_sw_enable" => return self.set(field.to_owned(), value.to_owned()),
            other => {
                let message = format!("has a field `{other}` that the proof does not model");
                return self.fault(PORT_QOS_MAP, "", &message);
            }
        };
        let row = self.follow((PORT_QOS_MAP, ""), field, table, value);
        let numbers: BTreeMap<u8, u8> =
            row.iter().filter_map(|(key, value)| Some((key.parse().ok()?, value.parse().ok()?))).collect();
        if numbers.len() != row.len() {
            self.fault(PORT_QOS_MAP, "", &format!("names map `{value}` in `{table}`, which has no numbers"));
        }
        self.set(field.to_owned(), fields(&row));
        match field {
            "dscp_to_tc_map" => self.qos.dscp_to_class = numbers,
            "tc_to_queue_map" => self.qos.class_to_queue = numbers,
            "tc_to_pg_map" => self.qos.class_to_group = numbers,
            "pfc_to_queue_map" => self.qos.pause_queues = numbers,
            "pfc_to_pg_map" => self.qos.pause_groups = numbers,
            "tc_to_dscp_map" => {
                self.referenced_row = Some(vec!["SWITCH_TRIMMING".into(), "GLOBAL".into()]);
                self.note(field);
                let trimming = self.reader.small("SWITCH_TRIMMING", "GLOBAL");
                let class = trimming.and_then(|row| row.get("tc_value")).and_then(|tc| tc.parse::<u8>().ok());
                self.qos.trimmed_dscp = class.and_then(|class| numbers.get(&class).copied());
            }
            _ => {}
        }
    }

    /// Records the share of each pool that a port may use.
    fn quotas(&mut self, table: usize, field: &str, value: &str) {
        if field != "profile_list" {
            return self.fault(table, "", &format!("has a field `{field}` that the proof does not model"));
        }
        for name in value.split(',') {
            let profile = self.follow((table, ""), field, "BUFFER_PROFILE", name);
            let pool = profile.get("pool").cloned().unwrap_or_default();
            self.set(format!("quota of pool {pool}"), fields(&profile));
        }
    }

    fn buffer(&mut self, table: usize, range: &str, field: &str, value: &str) {
        if field != "profile" {
            return self.fault(table, range, &format!("has a field `{field}` that the proof does not model"));
        }
        let profile = self.follow((table, range), field, "BUFFER_PROFILE", value);
        if let Some(pool) = profile.get("pool") {
            let of_profile = self.referenced_row.clone();
            let row = self.follow((table, range), "pool", "BUFFER_POOL", pool);
            self.note(&format!("pool {pool}"));
            self.referenced_row = of_profile;
            self.qos.buffer_settings.insert(format!("pool {pool}"), fields(&row));
        } else {
            self.fault(table, range, &format!("names profile `{value}`, which has no pool"));
        }
        let what = if table == BUFFER_PG { "group" } else { "queue" };
        for number in numbers(range) {
            if table == BUFFER_QUEUE && profile.get("packet_discard_action").is_some_and(|a| a == "trim") {
                self.queues_trimmed.push(number);
            }
            if let Some(xoff) = profile.get("xoff").filter(|_| table == BUFFER_PG) {
                self.note("headroom");
                self.qos.headroom.push(number);
                self.qos.xoff.insert(number, xoff.parse().unwrap_or(0));
                let own = profile.get("size").and_then(|size| size.parse().ok());
                self.qos.reserved.insert(number, own.unwrap_or(0));
            }
            self.set(format!("buffer of {what} {number}"), fields(&profile));
        }
    }

    fn queue(&mut self, range: &str, field: &str, value: &str) {
        let table = match field {
            "scheduler" => "SCHEDULER",
            "wred_profile" => "WRED_PROFILE",
            other => {
                return self.fault(
                    QUEUE,
                    range,
                    &format!("has a field `{other}` that the proof does not model"),
                );
            }
        };
        let row = self.follow((QUEUE, range), field, table, value);
        // Marking starts below the buffer of a port, so thresholds depend on the buffer, like pools.
        let (sized, fixed): (BTreeMap<_, _>, BTreeMap<_, _>) =
            row.clone().into_iter().partition(|(name, _)| name.ends_with("_threshold"));
        for number in numbers(range) {
            self.set(format!("{field} of queue {number}"), fields(&fixed));
            if !sized.is_empty() {
                self.qos.buffer_settings.insert(format!("{field} of queue {number}"), fields(&sized));
            }
            if table == "WRED_PROFILE" && row.get("ecn").is_some_and(|ecn| ecn != "ecn_none") {
                let value = |name: &str| row.get(name).and_then(|text| text.parse().ok()).unwrap_or(0);
                let green =
                    ["green_min_threshold", "green_max_threshold", "green_drop_probability"].map(value);
                self.queues_marked.insert(number, green.into());
            }
        }
    }

    /// Reads the trimming settings of the switch. A fixed code point applies to every port.
    fn trimming(&mut self) {
        let Some(row) = self.reader.small("SWITCH_TRIMMING", "GLOBAL") else { return };
        let row = row.clone();
        if let Some(fixed) = row.get("dscp_value").and_then(|value| value.parse().ok()) {
            self.qos.trimmed_dscp = Some(fixed);
        }
        self.referenced_row = Some(vec!["SWITCH_TRIMMING".into(), "GLOBAL".into()]);
        self.at = (PORT_QOS_MAP, "");
        self.set("trimming".to_owned(), fields(&row));
    }
}

/// Returns the name of the row of a table for a queue or group.
pub(super) fn row(table: &str, number: &str) -> String {
    format!("{table} {number}")
}

/// Sums the ingress pools.
fn pools(rows: &SmallTable) -> Pools {
    let bytes = |row: &BTreeMap<String, String>, field: &str| row.get(field)?.parse::<u64>().ok();
    let ingress = || rows.values().filter(|row| row.get("type").is_some_and(|kind| kind == "ingress"));
    let sum = |field: &str| ingress().filter_map(|row| bytes(row, field)).reduce(u64::saturating_add);
    let headroom = sum("xoff");
    Pools { ingress: sum("size").unwrap_or(0).saturating_add(headroom.unwrap_or(0)), headroom }
}

/// Formats the fields of a row.
fn fields(row: &BTreeMap<String, String>) -> String {
    row.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Returns the numbers in a range such as `3` or `0-2`. Returns none if the numbers are not in canonical form.
fn numbers(range: &str) -> impl Iterator<Item = u8> + use<> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let number = |text: &str| text.parse::<u8>().ok().filter(|number| number.to_string() == text);
    number(first).zip(number(last)).into_iter().flat_map(|(first, last)| first..=last)
}
