//! Counters of a switch, read over P4Runtime without being its controller.
//!
//! In: a target. Out: [`Counters`]: packets by port, class and segment, marks and trims by port and class, drops by
//! reason. Invariants: reading needs no primacy, so a push or a watch is not disturbed. The meaning of each counter and
//! the number of ports come from the P4Info that the switch runs. The memory for answers is limited to the needs of the
//! largest supported switch.

mod metrics;

use std::collections::BTreeMap;

use closc_runtime::client::{Client, ClientError, Options};
use closc_runtime::info::LookupError;
use closc_runtime::proto::v1::{self, get_forwarding_pipeline_config_request::ResponseType};
use closc_runtime::value::Width;
use closc_runtime::{Info, entry};
use thiserror::Error;
use v1::entity::Entity;

use crate::target::Target;
pub use metrics::Sums;
pub(crate) use metrics::escape_label;

/// Classes per port, in counters per port and class.
const CLASSES: u32 = 8;
/// Maximum number of ports, regardless of the P4Info.
const PORTS_MAX: u32 = 1 << 12;
/// Maximum number of drop reasons.
const REASONS: usize = 64;
/// Memory limit of one answer: the cells of one request, or the largest possible table of segments.
const MEMORY: usize = 16 << 20;
/// Cells per request: those of 512 ports.
const CELLS: usize = 3 * 512 * CLASSES as usize;

/// Packets and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    /// Packets.
    pub packets: u64,
    /// Bytes; 0 if they are not counted.
    pub bytes: u64,
}

/// Counters of a switch since its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Arrivals, by port.
    pub received: BTreeMap<u16, Cell>,
    /// Departures, by port and class.
    pub sent: BTreeMap<(u16, u8), Cell>,
    /// Of these, packets that were marked (ECN).
    pub marked: BTreeMap<(u16, u8), Cell>,
    /// Of these, packets that were trimmed.
    pub trimmed: BTreeMap<(u16, u8), Cell>,
    /// Handled packets, by segment.
    pub segments: BTreeMap<u16, Cell>,
    /// Drops, by reason.
    pub drops: BTreeMap<String, Cell>,
}

impl Counters {
    /// Returns how many packets of all classes left through a port.
    pub fn sent_packets(&self, port: u16) -> u64 {
        self.sent.range((port, 0)..=(port, u8::MAX)).map(|(_, cell)| cell.packets).sum()
    }
}

/// The reason why counters were not read.
#[derive(Debug, Error)]
pub enum CountersError {
    /// The switch does not answer, or rejects the request.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// It does not run a program yet.
    #[error("it runs no program; push one first")]
    NoProgram,
    /// Its P4Info cannot be used.
    #[error("its P4Info cannot be used: {0}")]
    Info(String),
    /// Its program lacks a counter of `fabric`.
    #[error("its program lacks counters of `fabric`: {0}")]
    Lookup(#[from] LookupError),
}

/// Reads the counters of one switch repeatedly over one connection.
#[derive(Debug)]
pub struct CounterReader {
    target: Target,
    connection: Option<(Client, Names)>,
}

/// Ids from the P4Info.
#[derive(Debug)]
pub(crate) struct Names {
    port_role: u32,
    my_sid: u32,
    port_class: u32,
    marked: u32,
    trimmed: u32,
    drops: u32,
    reasons: BTreeMap<i64, String>,
    /// Number of possible front ports; their numbers are below it.
    ports: u32,
}

impl CounterReader {
    /// Returns a reader that is not connected yet.
    pub fn new(target: Target) -> Self {
        CounterReader { target, connection: None }
    }

    /// Returns the name of the switch.
    pub fn name(&self) -> &str {
        &self.target.name
    }

    /// Reads all counters. After an error the next call opens a new connection.
    pub async fn read(&mut self) -> Result<Counters, CountersError> {
        if self.connection.is_none() {
            let options = Options { memory_limit: MEMORY, ..Options::default() };
            let client = self.target.connect(options).await?;
            let names = Names::ask(&client).await?;
            self.connection = Some((client, names));
        }
        let Some((client, names)) = &self.connection else { return Err(CountersError::NoProgram) };
        let read = names.read(client).await;
        if read.is_err() {
            self.connection = None;
        }
        Ok(read?)
    }
}

impl Names {
    /// Reads which counters the program of a switch has.
    pub(crate) async fn ask(client: &Client) -> Result<Names, CountersError> {
        let config = client.pipeline(ResponseType::P4infoAndCookie).await?;
        let message = config.and_then(|config| config.p4info).ok_or(CountersError::NoProgram)?;
        let info = Info::new(message).map_err(|error| CountersError::Info(error.to_string()))?;
        let counter = |name: &str| info.counter(name).map(|counter| counter.preamble.id);
        let table = |name: &str| info.table(name).map(|table| table.preamble.id);
        Ok(Names {
            port_role: table("ingress.port_role")?,
            my_sid: table("ingress.my_sid")?,
            port_class: counter("egress.port_class")?,
            marked: counter("egress.ecn_marked")?,
            trimmed: counter("egress.trimmed")?,
            drops: counter("ingress.drops")?,
            reasons: reasons(&info),
            ports: ports(&info)?,
        })
    }

    /// Reads all counters.
    pub(crate) async fn read(&self, client: &Client) -> Result<Counters, ClientError> {
        let mut counters = Counters::default();
        let asked =
            vec![with_counters(self.port_role), with_counters(self.my_sid), cell_of(self.drops, None)];
        for entity in client.read(asked).await? {
            match entity.entity {
                Some(Entity::TableEntry(entry)) => self.take_entry(&entry, &mut counters),
                Some(Entity::CounterEntry(entry)) => self.take_drop(&entry, &mut counters),
                Some(_) | None => {}
            }
        }
        let cells = |counter: u32| {
            let of_port = move |port: u16| (0..CLASSES).map(move |class| u32::from(port) * CLASSES + class);
            let all: Vec<u32> = counters.received.keys().copied().flat_map(of_port).collect();
            all.into_iter().map(move |cell| cell_of(counter, Some(cell)))
        };
        let asked: Vec<v1::Entity> =
            [self.port_class, self.marked, self.trimmed].into_iter().flat_map(cells).collect();
        for asked in asked.chunks(CELLS) {
            for entity in client.read(asked.to_vec()).await? {
                if let Some(Entity::CounterEntry(entry)) = entity.entity {
                    self.take_cell(&entry, &mut counters);
                }
            }
        }
        Ok(counters)
    }

    fn take_entry(&self, entry: &v1::TableEntry, counters: &mut Counters) {
        let (Some(key), cell) = (exact(entry), cell(entry.counter_data.as_ref())) else { return };
        if entry.table_id == self.my_sid {
            // The block, followed by the segment.
            counters.segments.insert((key & 0xffff) as u16, cell);
        } else if entry.table_id == self.port_role && key < u128::from(self.ports) {
            counters.received.insert(key as u16, cell);
        }
    }

    fn take_drop(&self, entry: &v1::CounterEntry, counters: &mut Counters) {
        let index = entry.index.as_ref().map_or(0, |index| index.index);
        let cell = cell(entry.data.as_ref());
        if entry.counter_id != self.drops || cell.packets == 0 || counters.drops.len() >= REASONS {
            return;
        }
        let reason = self.reasons.get(&index).cloned().unwrap_or_else(|| index.to_string());
        counters.drops.insert(reason, cell);
    }

    fn take_cell(&self, entry: &v1::CounterEntry, counters: &mut Counters) {
        let index =
            entry.index.as_ref().and_then(|index| u32::try_from(index.index).ok()).unwrap_or(u32::MAX);
        let port = u16::try_from(index / CLASSES).ok().filter(|port| counters.received.contains_key(port));
        let (Some(port), cell) = (port, cell(entry.data.as_ref())) else { return };
        let place = (port, (index % CLASSES) as u8);
        match entry.counter_id {
            id if id == self.port_class => counters.sent.insert(place, cell),
            // Most ports never mark and never trim.
            _ if cell.packets == 0 => None,
            id if id == self.marked => counters.marked.insert(place, cell),
            id if id == self.trimmed => counters.trimmed.insert(place, cell),
            _ => None,
        };
    }
}

/// Returns the number of possible front ports, limited to those with counters. The last two values of a port
/// key are not front ports, but the controller and the drop port.
fn ports(info: &Info) -> Result<u32, LookupError> {
    let numbers = match info.table("ingress.port_role")?.fields().first().map(|field| field.width) {
        Some(Width::Bits(bits)) => 1_u32.checked_shl(bits).unwrap_or(PORTS_MAX),
        Some(Width::Text) | None => 0,
    };
    let counted = info.counter("egress.port_class")?.size;
    let counted = u32::try_from(counted).unwrap_or(0) / CLASSES;
    Ok(numbers.min(PORTS_MAX).saturating_sub(2).min(counted))
}

/// Returns the reasons of drops by number, from the P4Info.
fn reasons(info: &Info) -> BTreeMap<i64, String> {
    let spec = info.types().and_then(|types| types.serializable_enums.get("DropReason"));
    let members = spec.into_iter().flat_map(|spec| &spec.members).take(REASONS);
    members
        .filter_map(|member| Some((i64::try_from(number(&member.value)?).ok()?, member.name.clone())))
        .collect()
}

fn number(bytes: &[u8]) -> Option<u128> {
    (bytes.len() <= 16).then(|| bytes.iter().fold(0, |all, byte| all << 8 | u128::from(*byte)))
}

/// Returns the first key of an entry, which is exact.
fn exact(entry: &v1::TableEntry) -> Option<u128> {
    match &entry.r#match.first()?.field_match_type {
        Some(v1::field_match::FieldMatchType::Exact(exact)) => number(&exact.value),
        _ => None,
    }
}

fn with_counters(table: u32) -> v1::Entity {
    let mut wildcard = entry::wildcard(table);
    if let Some(Entity::TableEntry(entry)) = &mut wildcard.entity {
        entry.counter_data = Some(v1::CounterData::default());
    }
    wildcard
}

fn cell_of(counter_id: u32, cell: Option<u32>) -> v1::Entity {
    let index = cell.map(|cell| v1::Index { index: i64::from(cell) });
    v1::CounterEntry { counter_id, index, data: None }.into()
}

fn cell(data: Option<&v1::CounterData>) -> Cell {
    let of = |count: i64| u64::try_from(count).unwrap_or(0);
    data.map_or(Cell::default(), |data| Cell { packets: of(data.packet_count), bytes: of(data.byte_count) })
}
