//! P4Runtime entities of one switch: writes change the tables and arrays of the data plane, and reads return their
//! contents.
//!
//! In: updates and read requests, which are validated here. Out: faults with the codes of the specification, and
//! entities in the form in which they were written. Invariants: a failed update changes nothing. [`Store::rollback`]
//! restores the state at [`Store::begin`] exactly.

mod action;
mod array;
mod copies;
mod data;
mod digest;
mod direct;
mod fault;
mod idle;
mod key;
mod meter;
mod names;
mod page;
mod port;
mod profile;
mod reconcile;
mod replication;
mod table;
mod table_read;
mod translate;
mod undo;
mod value_set;

pub use fault::Fault;
pub(crate) use page::{Page, Spot};
pub(crate) use reconcile::ReconcileError;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_runtime::check::{self, CheckedUpdate};
use closc_runtime::proto::v1;
use v1::entity::Entity;

use crate::engine::{Engine, EngineConfig};
use crate::pipeline::Pipeline;
use copies::{MulticastGroup, Session};
use names::Names;
use undo::{Undo, UndoLog};

/// State of a switch with a pipeline.
#[derive(Debug)]
pub struct Store {
    pipeline: Arc<Pipeline>,
    engine: Engine,
    /// Multicast groups and clone sessions as written; their backup replicas depend on ports.
    groups: BTreeMap<u32, MulticastGroup>,
    sessions: BTreeMap<u32, Session>,
    /// Ports that are down.
    down: BTreeSet<u32>,
    /// Number of entries with an idle timeout in all tables.
    ageing_entries: usize,
    /// Names that controllers use for numbers of the data plane, if any.
    names: Option<Names>,
    /// Undo log of the updates since [`Store::begin`].
    undo: Option<UndoLog>,
}

impl Store {
    /// Returns the initial state of a switch.
    pub fn new(pipeline: Arc<Pipeline>, config: EngineConfig) -> Self {
        let mut engine = Engine::new(Arc::clone(pipeline.program()), config);
        for table in pipeline.info().tables() {
            // The size in the program counts only its own entries; the P4Info has the size for controllers.
            if let Some(binding) = pipeline.table(table.preamble.id)
                && !table.is_const
            {
                engine.tables[binding.index].grow(u32::try_from(table.size).unwrap_or(u32::MAX));
                engine.tables[binding.index].set_constant(false);
            }
        }
        let names = Names::new(pipeline.texts());
        let mut this = Self {
            pipeline,
            engine,
            groups: BTreeMap::new(),
            sessions: BTreeMap::new(),
            down: BTreeSet::new(),
            ageing_entries: 0,
            names,
            undo: None,
        };
        this.reserve_numbers();
        this
    }

    /// Returns the pipeline.
    pub fn pipeline(&self) -> &Arc<Pipeline> {
        &self.pipeline
    }

    /// Returns the data plane.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the data plane for processing packets.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Returns whether any entry has an idle timeout.
    pub fn ages(&self) -> bool {
        self.ageing_entries > 0
    }

    /// Sets the state of a port, on which watched members and backup replicas depend.
    pub fn set_port(&mut self, port: u32, up: bool) {
        let changed = if up { self.down.remove(&port) } else { self.down.insert(port) };
        if changed {
            self.engine.set_port(port, up);
            self.resolve_replicas();
        }
    }

    /// Applies an update.
    pub fn write(&mut self, now_ns: u64, update: &v1::Update) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let checked = check::update(pipeline.info(), update)?;
        match self.names {
            Some(_) => self.write_named(now_ns, update),
            None => self.apply(now_ns, &checked),
        }
    }

    /// Applies an update in which names were replaced by numbers.
    fn apply(&mut self, now_ns: u64, update: &CheckedUpdate<'_>) -> Result<(), Fault> {
        match update {
            CheckedUpdate::InsertEntry(place, form) => self.insert(now_ns, place, form),
            CheckedUpdate::ModifyEntry(place, form) => self.modify(now_ns, place, form.as_ref()),
            CheckedUpdate::DeleteEntry(place) => self.delete(place),
            CheckedUpdate::DefaultEntry(table, entry, call) => {
                self.write_default(table, entry, call.as_ref())
            }
            CheckedUpdate::Member(profile, id, change) => self.write_member(profile, *id, change),
            CheckedUpdate::Group(profile, id, change) => self.write_group(profile, *id, *change),
            CheckedUpdate::Counter(counter, index, data) => self.write_counter(counter, *index, *data),
            CheckedUpdate::Meter(meter, index, entry) => self.write_meter(meter, *index, entry),
            CheckedUpdate::Register(register, index, data) => self.write_register(register, *index, data),
            CheckedUpdate::DirectCounter(place, data) => self.write_direct_counter(place, *data),
            CheckedUpdate::DirectMeter(place, given) => self.write_direct_meter(place, given),
            CheckedUpdate::Multicast(id, change) => self.write_multicast(*id, *change),
            CheckedUpdate::Session(id, change) => self.write_session(*id, *change),
            CheckedUpdate::ValueSet(set, members) => self.write_value_set(set, members),
            CheckedUpdate::Digest(digest, change) => self.write_digest(digest, *change),
            CheckedUpdate::Extern(_) => Err(Fault::unsupported("an extern of another architecture")),
        }
    }

    /// Reads the entities of a request.
    pub fn read(&self, now_ns: u64, request: &v1::Entity) -> Result<Vec<v1::Entity>, Fault> {
        let mut page = Page::new(Spot::default(), usize::MAX);
        self.read_page(now_ns, request, &mut page)?;
        Ok(page.finish().0)
    }

    /// Reads the entities of a request, up to the size of a page.
    pub(crate) fn read_page(&self, now_ns: u64, request: &v1::Entity, out: &mut Page) -> Result<(), Fault> {
        check::check_read(self.pipeline.info(), request)?;
        match &self.names {
            Some(names) => self.read_named(names, now_ns, request, out),
            None => self.read_numbers(now_ns, request, out),
        }
    }

    /// Reads the entities of a request in which names were replaced by numbers.
    fn read_numbers(&self, now_ns: u64, request: &v1::Entity, out: &mut Page) -> Result<(), Fault> {
        match request.entity.as_ref() {
            Some(Entity::TableEntry(entry)) => self.read_tables(now_ns, entry, out),
            Some(Entity::ActionProfileMember(member)) => self.read_members(member, out),
            Some(Entity::ActionProfileGroup(group)) => self.read_groups(group, out),
            Some(Entity::CounterEntry(entry)) => self.read_counters(entry, out),
            Some(Entity::MeterEntry(entry)) => self.read_meters(entry, out),
            Some(Entity::RegisterEntry(entry)) => self.read_registers(entry, out),
            Some(Entity::DirectCounterEntry(entry)) => self.read_direct_counters(entry, out),
            Some(Entity::DirectMeterEntry(entry)) => self.read_direct_meters(entry, out),
            Some(Entity::PacketReplicationEngineEntry(entry)) => self.read_replication(entry, out),
            Some(Entity::ValueSetEntry(entry)) => {
                self.read_value_sets(entry, out);
                Ok(())
            }
            Some(Entity::DigestEntry(entry)) => {
                self.read_digests(entry, out);
                Ok(())
            }
            Some(Entity::ExternEntry(_)) => Ok(()),
            None => Err(check::Violation::from(check::Fault::NoEntity).into()),
        }
    }

    /// Begins a batch that can be rolled back.
    pub(crate) fn begin(&mut self) {
        self.undo = Some(UndoLog::default());
    }

    /// Commits a batch.
    pub(crate) fn commit(&mut self) {
        self.undo = None;
        self.settle_names();
    }

    /// Undoes every update since [`Store::begin`].
    pub(crate) fn rollback(&mut self) {
        let steps = self.undo.take().map_or_else(Vec::new, |log| log.steps);
        for step in steps.into_iter().rev() {
            self.take_back(step);
        }
        self.settle_names();
        self.resolve_replicas();
    }

    fn remember(&mut self, undo: impl FnOnce() -> Undo) {
        if let Some(log) = &mut self.undo {
            log.steps.push(undo());
        }
    }
}

/// Wraps an entity.
fn entity(entity: Entity) -> v1::Entity {
    v1::Entity { entity: Some(entity) }
}
