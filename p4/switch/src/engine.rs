//! The data plane of a switch: a program, its state, and the processing of packets.
//!
//! In: packets with their arrival times. Out: packets and digests, into a [`Sink`]. Invariants: the engine never reads
//! a clock, so the same packets at the same times give the same result.

mod action;
mod control;
mod deparse;
mod eval;
mod flow;
mod frame;
mod hash;
mod headers;
mod parse;
mod queue;
mod trace;

pub use queue::{QueueConfig, Rate};
pub(crate) use trace::PACKETS;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::program::{DROP_PORT, Program};
use crate::state::{Arrays, DigestConfig, DigestList, DigestState, Profile, Replication, Table, ValueSet};
use flow::Scratch;
use queue::Queues;

/// Receives the output of a switch.
pub trait Sink {
    /// Sets the departure time of the packets that follow. It may be earlier than the time of the call.
    fn clock(&mut self, at_ns: u64) {
        let _ = at_ns;
    }

    /// Receives a packet that leaves through a port.
    fn transmit(&mut self, port: u32, frame: &[u8]);

    /// Receives a packet that the program or a full queue dropped, in the form in which it entered ingress. A
    /// packet that egress dropped is deparsed first. Clones and replicas that are dropped by a queue are not
    /// reported.
    fn discard(&mut self, frame: &[u8]) {
        let _ = frame;
    }

    /// Receives a list of digest samples.
    fn digest(&mut self, list: DigestList) {
        let _ = list;
    }
}

/// Packets by port, in the order they left.
impl Sink for Vec<(u32, Vec<u8>)> {
    fn transmit(&mut self, port: u32, frame: &[u8]) {
        self.push((port, frame.to_vec()));
    }
}

/// Configuration of a switch.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Port number that means drop.
    pub drop_port: u32,
    /// Number of queues per port.
    pub priority_queues: usize,
    /// Seed of random numbers.
    pub seed: u64,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self { drop_port: DROP_PORT, priority_queues: 1, seed: 0 }
    }
}

/// A data plane.
#[derive(Debug)]
pub struct Engine {
    program: Arc<Program>,
    config: EngineConfig,
    /// Tables, by index in the program.
    pub(crate) tables: Vec<Table>,
    /// Action profiles, by index in the program.
    pub(crate) profiles: Vec<Profile>,
    /// Counters, meters and registers.
    pub(crate) arrays: Arrays,
    /// Parser value sets, by index in the program.
    pub(crate) sets: Vec<ValueSet>,
    /// Multicast groups and clone sessions.
    pub(crate) replication: Replication,
    digests: BTreeMap<u32, DigestState>,
    queues: Queues,
    work: Scratch,
}

impl Engine {
    /// Returns a data plane in the initial state of the program.
    pub fn new(program: Arc<Program>, config: EngineConfig) -> Self {
        Self {
            tables: program.tables.iter().map(Table::new).collect(),
            profiles: program.profiles.iter().map(|profile| Profile::new(profile.size)).collect(),
            arrays: Arrays::new(&program, config.seed),
            sets: program.value_sets.iter().map(|_| ValueSet::default()).collect(),
            replication: Replication::default(),
            digests: BTreeMap::new(),
            queues: Queues::new(config.priority_queues),
            work: Scratch::default(),
            program,
            config,
        }
    }

    /// Returns the program.
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the number of classes of service for clones: the number of queues that the program can select.
    pub(crate) fn classes(&self) -> u32 {
        let queues = u32::try_from(self.queues.priorities()).unwrap_or(u32::MAX);
        let named = self.program.standard.priority.as_ref().map_or(0, |field| field.bits.min(31));
        queues.min(1 << named)
    }

    /// Enables or disables the queues of a port.
    pub(crate) fn set_queue(&mut self, port: u32, config: Option<QueueConfig>) {
        self.queues.configure(port, config);
    }

    /// Returns the number of packets dropped by full queues, per port.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = (u32, u64)> {
        self.queues.dropped()
    }

    /// Returns the time at which [`Engine::advance`] must be called.
    pub(crate) fn due_ns(&self) -> Option<u64> {
        let digests = self.digests.values().filter_map(DigestState::due_ns);
        digests.chain(self.queues.due_ns()).min()
    }

    /// Returns the configuration of a digest, given the number that actions use for it.
    pub(crate) fn digest_config(&self, digest: u32) -> Option<DigestConfig> {
        self.digests.get(&digest).map(DigestState::config)
    }

    /// Enables a digest with a configuration, or disables it.
    pub(crate) fn set_digest(&mut self, digest: u32, config: Option<DigestConfig>) {
        match config {
            Some(config) => match self.digests.get_mut(&digest) {
                Some(state) => state.configure(config),
                None => drop(self.digests.insert(digest, DigestState::new(config))),
            },
            None => drop(self.digests.remove(&digest)),
        }
    }

    /// Acknowledges a list of digest samples.
    pub(crate) fn acknowledge_digest(&mut self, digest: u32, list: u64) {
        if let Some(state) = self.digests.get_mut(&digest) {
            state.acknowledge(list);
        }
    }

    /// Updates group members that depend on a port.
    pub(crate) fn set_port(&mut self, port: u32, up: bool) {
        for profile in &mut self.profiles {
            profile.set_port(port, up);
        }
    }

    fn learn(&mut self, now_ns: u64, words: &mut [u64], digest: u16, sink: &mut impl Sink) {
        let digest = u32::from(digest);
        let Some(state) = self.digests.get_mut(&digest) else { return };
        let Some(spec) = self.program.digests.get(&digest) else { return };
        let sample = spec.fields.iter().flat_map(|field| frame::raw_words(words, field)).collect();
        if let Some(list) = state.learn(digest, sample, now_ns) {
            sink.digest(list);
        }
    }

    fn tick_digests(&mut self, now_ns: u64, sink: &mut impl Sink) {
        for (digest, state) in &mut self.digests {
            if let Some(list) = state.tick(*digest, now_ns) {
                sink.digest(list);
            }
        }
    }
}
