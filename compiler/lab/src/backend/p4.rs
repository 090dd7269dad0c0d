//! Reads the state of switches over P4Runtime, as a controller does: addresses, counters and routes.
//!
//! In: a tree and the inventory of a lab. Out: [`Counters`] and [`Routes`] of switches. Invariants: only data
//! that any controller can read is used. These are the direct counters of `port_role` (received packets of a port) and
//! `my_sid` (packets of a segment), the cells of `port_class` (sent packets of a port and class), and the tables of
//! routes.

mod routes;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use closc_deploy::{Device as Entry, Inventory, Target};
use closc_files::disk;
use closc_runtime::client::{Client, ClientError, Options};
use closc_runtime::proto::v1;
use closc_runtime::{DeviceId as P4Id, entry};
use tokio::task::JoinSet;
use tonic::Code;
use v1::entity::Entity;

use super::{Counters, Routes};
use crate::LabError;
use crate::model::{DeviceId, Model, PortId};
use crate::segment::Segment;
use crate::tree::{self, Program, Software, Tree};
use routes::Tables;

/// Name of the inventory in the folder of a lab.
pub(crate) const INVENTORY: &str = "inventory.json";

/// Bits of a port number in v1model, which BMv2 implements.
const V1MODEL_PORT_BITS: u32 = 9;

/// Reserved port numbers of a pipeline. They depend on the width of its port numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpecialPorts {
    bits: u32,
    /// The port of the controller (`CPU_PORT` in `constants.p4`).
    pub(crate) cpu: u32,
    /// The port for dropping packets.
    pub(crate) drop: u32,
}

impl SpecialPorts {
    /// Returns the port numbers for a program of a tree.
    pub(crate) fn of(tree: &Tree, program: Program) -> Result<SpecialPorts, LabError> {
        match tree::port_bits(&tree.contents, program)? {
            bits @ 2..=16 => Ok(SpecialPorts { bits, cpu: (1 << bits) - 2, drop: (1 << bits) - 1 }),
            bits => {
                let what = format!("labs run no pipeline with port numbers of {bits} bits");
                Err(LabError::tree(tree.folder.join("p4"))(crate::TreeFault::P4(what)))
            }
        }
    }

    /// Returns the port numbers for every program of a tree.
    pub(crate) fn all(tree: &Tree) -> Result<BTreeMap<Program, SpecialPorts>, LabError> {
        tree.programs().into_iter().map(|program| Ok((program, SpecialPorts::of(tree, program)?))).collect()
    }

    /// Returns an error if port numbers have more bits than in v1model.
    pub(crate) fn narrow(self, who: &str) -> Result<SpecialPorts, LabError> {
        if self.bits <= V1MODEL_PORT_BITS {
            return Ok(self);
        }
        Err(LabError::WidePorts { program: who.to_owned(), bits: self.bits })
    }
}

/// Classes of each port in `port_class`.
const CLASSES: u32 = 8;

/// Number of switches that are read at the same time.
const PARALLEL: usize = 64;

/// Returns the P4 switches of a tree with their device ids, from 1.
pub(crate) fn device_ids(tree: &Tree) -> impl Iterator<Item = (&str, u64)> {
    let switches = tree.devices.iter().filter(|(_, device)| device.software == Software::P4);
    switches.map(|(name, _)| name.as_str()).zip(1..)
}

/// Writes the inventory of a lab; `endpoint` returns the endpoint of a switch.
pub(crate) fn write_inventory(
    tree: &Tree,
    folder: &Utf8Path,
    endpoint: impl Fn(&str) -> String,
) -> Result<(), LabError> {
    let planes: BTreeMap<&str, u8> = tree
        .cables
        .iter()
        .flat_map(|row| [(row.lower.device.as_str(), row.plane), (row.upper.device.as_str(), row.plane)])
        .collect();
    let mut inventory = Inventory::default();
    for (name, id) in device_ids(tree) {
        let mut entry = Entry::at(endpoint(name), id);
        entry.plane = planes.get(name).copied();
        inventory.devices.insert(name.to_owned(), entry);
    }
    let path = folder.join(INVENTORY);
    disk::replace(&path, inventory.to_json().as_bytes()).map_err(LabError::io(format!("write `{path}`")))
}

/// Selects counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Counters of ports.
    Ports,
    /// Counters of segments.
    Segments,
    /// All counters.
    All,
}

/// Connections to all switches of a lab.
#[derive(Debug)]
pub(crate) struct Readers {
    runtime: tokio::runtime::Runtime,
    tree: Utf8PathBuf,
    /// Ids of the counters, which only the program `fabric` has. Counters are read only if hosts choose the path; all
    /// switches then run `fabric`.
    ids: Option<Arc<Ids>>,
    tables: BTreeMap<Program, Arc<Tables>>,
    switches: Vec<Arc<Reader>>,
}

/// Ids from the P4Info.
#[derive(Debug)]
struct Ids {
    port_role: u32,
    my_sid: u32,
    port_class: u32,
    /// Cells of `port_class`.
    cells: usize,
}

/// One switch.
#[derive(Debug)]
struct Reader {
    device: DeviceId,
    name: String,
    program: Option<Program>,
    client: Client,
    /// Ports by their numbers.
    ports: BTreeMap<u32, PortId>,
}

impl Readers {
    /// Connects to the switches of an inventory.
    pub(crate) fn open(tree: &Tree, model: &Model, inventory: &Utf8Path) -> Result<Readers, LabError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(LabError::io("start the asynchronous runtime"))?;
        let text = fs::read_to_string(inventory).map_err(LabError::io(format!("read `{inventory}`")))?;
        let wrong =
            |device: &str, message: String| LabError::P4Runtime { device: device.to_owned(), message };
        let inventory = Inventory::parse(&text).map_err(|error| wrong("inventory", error.to_string()))?;
        let programs = tree.programs();
        let ids = programs.contains(&Program::Fabric).then(|| ids(tree)).transpose()?;
        let tables = programs.iter().map(|program| Ok((*program, Arc::new(tables(tree, *program)?))));
        let tables = tables.collect::<Result<_, LabError>>()?;
        let mut connected: BTreeMap<&str, Client> = BTreeMap::new();
        let mut switches = Vec::new();
        for (name, entry) in &inventory.devices {
            let Some(device) = model.device(name) else { continue };
            let id = P4Id(entry.device_id);
            let client = if let Some(client) = connected.get(entry.endpoint.as_str()) {
                client.of(id)
            } else {
                let nothing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
                let target = Target::from_inventory(name, entry, &inventory.defaults, &nothing);
                let target = target.map_err(|error| wrong(name, error.to_string()))?;
                let client = runtime.block_on(target.connect(Options::default()));
                let client = client.map_err(|error| wrong(name, error.to_string()))?;
                connected.insert(&entry.endpoint, client.clone());
                client
            };
            let numbers = tree.devices.get(name).map(|device| &device.numbers);
            let port =
                |(port, number): (&String, &u16)| Some((u32::from(*number), model.port(device, port)?));
            let ports = numbers.into_iter().flatten().filter_map(port).collect();
            let program = tree.devices.get(name).and_then(|device| device.program);
            switches.push(Arc::new(Reader { device, name: name.clone(), program, client, ports }));
        }
        Ok(Readers { runtime, tree: tree.folder.clone(), ids: ids.map(Arc::new), tables, switches })
    }

    /// Reads counters of all switches.
    pub(crate) fn read(&self, what: Reading) -> Result<Counters, LabError> {
        let mut all = Counters::default();
        let Some(ids) = &self.ids else { return Ok(all) };
        for some in self.switches.chunks(PARALLEL) {
            let mut work = JoinSet::new();
            for reader in some {
                let (reader, ids) = (Arc::clone(reader), Arc::clone(ids));
                let read = async move {
                    let counters = reader.read(&ids, what).await;
                    (reader, counters)
                };
                work.spawn_on(read, self.runtime.handle());
            }
            let mut done = self.runtime.block_on(work.join_all());
            done.sort_by_key(|(reader, _)| reader.device);
            for (reader, counters) in done {
                let counters = counters.map_err(|error| self.fault(&reader.name, &error))?;
                all.ports.extend(counters.ports);
                all.segments.extend(counters.segments);
            }
        }
        Ok(all)
    }

    /// Reads the routes of all switches.
    pub(crate) fn routes(&self, model: &Model) -> Result<Vec<(DeviceId, Routes)>, LabError> {
        let mut all = Vec::with_capacity(self.switches.len());
        for some in self.switches.chunks(PARALLEL) {
            let mut work = JoinSet::new();
            for reader in some {
                let Some(tables) = reader.program.and_then(|program| self.tables.get(&program)) else {
                    continue;
                };
                let (reader, tables) = (Arc::clone(reader), Arc::clone(tables));
                let name = |port: PortId| model.end(port).1.to_owned();
                let names: BTreeMap<u32, String> =
                    reader.ports.iter().map(|(number, port)| (*number, name(*port))).collect();
                let read = async move {
                    let routes = tables.read(&reader.client, &names).await;
                    (reader, routes)
                };
                work.spawn_on(read, self.runtime.handle());
            }
            for (reader, routes) in self.runtime.block_on(work.join_all()) {
                all.push((reader.device, routes.map_err(|error| self.fault(&reader.name, &error))?));
            }
        }
        all.sort_by_key(|(device, _)| *device);
        Ok(all)
    }

    fn fault(&self, device: &str, error: &ClientError) -> LabError {
        let device = device.to_owned();
        if error.code() == Some(Code::FailedPrecondition) {
            return LabError::NotProgrammed { device, tree: self.tree.clone() };
        }
        LabError::P4Runtime { device, message: error.to_string() }
    }
}

impl Reader {
    async fn read(&self, ids: &Ids, what: Reading) -> Result<Counters, ClientError> {
        let mut asked = Vec::new();
        if what != Reading::Segments {
            asked.push(with_counters(ids.port_role));
            let cells =
                self.ports.keys().flat_map(|port| (0..CLASSES).map(move |class| port * CLASSES + class));
            // If more than half of the cells are needed, one request for all of them is faster.
            if self.ports.len() * CLASSES as usize > ids.cells / 2 {
                asked.push(cells_of(ids.port_class, None));
            } else {
                asked.extend(cells.map(|cell| cells_of(ids.port_class, Some(cell))));
            }
        }
        if what != Reading::Ports {
            asked.push(with_counters(ids.my_sid));
        }
        let mut counters = Counters::default();
        for entity in self.client.read(asked).await? {
            match entity.entity {
                Some(Entity::TableEntry(entry)) => self.take_entry(ids, &entry, &mut counters),
                Some(Entity::CounterEntry(entry)) => self.take_cell(&entry, &mut counters),
                Some(_) | None => {}
            }
        }
        Ok(counters)
    }

    fn take_entry(&self, ids: &Ids, entry: &v1::TableEntry, counters: &mut Counters) {
        let packets = packets(entry.counter_data.as_ref());
        let Some(key) = tree::exact(entry) else { return };
        if entry.table_id == ids.my_sid {
            counters.segments.entry((self.device, Segment::of_key(key))).or_default().packets += packets;
        } else if let Some(port) = self.ports.get(&(key as u32)) {
            counters.ports.entry(*port).or_default().received += packets;
        }
    }

    fn take_cell(&self, entry: &v1::CounterEntry, counters: &mut Counters) {
        let cell = entry.index.as_ref().map_or(0, |index| index.index);
        if let Some(port) = self.ports.get(&(cell as u32 / CLASSES)) {
            counters.ports.entry(*port).or_default().sent += packets(entry.data.as_ref());
        }
    }
}

fn tables(tree: &Tree, program: Program) -> Result<Tables, LabError> {
    let found = Tables::of(program, &tree::p4info(&tree.contents, program)?);
    found.map_err(|error| LabError::tree(tree.folder.join("p4"))(crate::TreeFault::P4(error.to_string())))
}

fn ids(tree: &Tree) -> Result<Ids, LabError> {
    let info = tree::p4info(&tree.contents, Program::Fabric)?;
    let find = || -> Result<Ids, closc_runtime::info::LookupError> {
        let port_class = info.counter("egress.port_class")?;
        Ok(Ids {
            port_role: info.table("ingress.port_role")?.preamble.id,
            my_sid: info.table("ingress.my_sid")?.preamble.id,
            port_class: port_class.preamble.id,
            cells: usize::try_from(port_class.size).unwrap_or(usize::MAX),
        })
    };
    find().map_err(|error| LabError::tree(tree.folder.join("p4"))(crate::TreeFault::P4(error.to_string())))
}

fn with_counters(table: u32) -> v1::Entity {
    let mut wildcard = entry::wildcard(table);
    if let Some(Entity::TableEntry(entry)) = &mut wildcard.entity {
        entry.counter_data = Some(v1::CounterData::default());
    }
    wildcard
}

/// Returns a read request for one cell of an array, or for all cells.
fn cells_of(counter_id: u32, cell: Option<u32>) -> v1::Entity {
    let index = cell.map(|cell| v1::Index { index: i64::from(cell) });
    v1::CounterEntry { counter_id, index, data: None }.into()
}

fn packets(data: Option<&v1::CounterData>) -> u64 {
    data.map_or(0, |data| data.packet_count.cast_unsigned())
}
