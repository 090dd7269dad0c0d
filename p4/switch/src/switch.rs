//! A switch: a data plane behind a lock, its ports, its clock, and its controller.
//!
//! In: packets from ports and from controllers, updates, read requests, pipelines. Out: packets to [`Ports`],
//! notifications to a [`Controller`]. Invariants: packets and messages are never sent while the data plane is locked.
//! Writes, reads and changes of the pipeline are serialised.

mod clock;
mod config;
mod outbox;
mod packet;
mod write;

pub use clock::Clock;
pub use outbox::Outbox;
pub(crate) use write::ReadState;
pub use write::{NoPipeline, ReadResult};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closc_runtime::packet::PacketError;
use closc_runtime::proto::v1;
use thiserror::Error;
use v1::stream_message_response::Update;

use crate::engine::{EngineConfig, QueueConfig};
use crate::entity::Store;
use crate::pipeline::PipelineCache;

/// Interval between checks for idle entries, in nanoseconds.
const IDLE_SWEEP_NS: u64 = 100_000_000;

/// Maximum number of entries in one idle notification.
const IDLE_BATCH: usize = 1024;

/// Transmits the packets of a switch.
pub(crate) trait Ports: Send + Sync {
    /// Sends a packet out of a port, at a time on the switch's clock.
    fn send(&self, port: u32, at_ns: u64, frame: &[u8]);

    /// Called after the last of several packets.
    fn flush(&self) {}
}

/// Receives the messages of a switch.
pub(crate) trait Controller: Send + Sync {
    /// Receives a packet-in, a list of digest samples, or an idle notification.
    fn notify(&self, device: u64, message: Update);
}

/// Configuration of a switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchConfig {
    /// Device id in P4Runtime.
    pub device_id: u64,
    /// Port of the controller; without it, packet-ins and packet-outs are disabled.
    pub cpu_port: Option<u32>,
    /// The data plane.
    pub engine: EngineConfig,
    /// Its clock.
    pub clock: Clock,
}

/// The reason why a packet-out is not sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PacketOutError {
    /// The switch has no pipeline.
    #[error("the switch has no pipeline yet")]
    NoPipeline,
    /// The switch has no port for the controller.
    #[error("the switch was started without a port for the controller")]
    NoPort,
    /// The metadata does not match the program.
    #[error(transparent)]
    Metadata(#[from] PacketError),
}

/// A pipeline with its state.
#[derive(Debug)]
struct LoadedPipeline {
    store: Store,
    cookie: Option<v1::forwarding_pipeline_config::Cookie>,
}

/// Locked state of a switch.
#[derive(Debug, Default)]
struct State {
    /// Pipeline that processes packets.
    running: Option<LoadedPipeline>,
    /// Pipeline that was saved but not committed, with its state; controllers write to it and read from it.
    saved_pipeline: Option<LoadedPipeline>,
    queues: BTreeMap<u32, QueueConfig>,
    down: BTreeSet<u32>,
    last_sweep_ns: u64,
}

impl State {
    /// Returns the state that controllers use.
    fn current(&mut self) -> Option<&mut LoadedPipeline> {
        self.saved_pipeline.as_mut().or(self.running.as_mut())
    }
}

/// A switch.
pub struct Switch {
    config: SwitchConfig,
    cache: Arc<PipelineCache>,
    /// Held during one write, one page of a read, or one change of the pipeline.
    control: Mutex<()>,
    state: Mutex<State>,
    ports: Mutex<Option<Arc<dyn Ports>>>,
    controller: Mutex<Option<Arc<dyn Controller>>>,
}

impl std::fmt::Debug for Switch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Switch").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Takes a lock, even if a thread panicked while holding it: no code panics in the middle of a change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Switch {
    /// Returns a switch without a pipeline, which drops every packet.
    pub fn new(config: SwitchConfig) -> Self {
        Self::with_cache(config, Arc::default())
    }

    /// Returns a switch that shares compiled pipelines with others.
    pub fn with_cache(config: SwitchConfig, cache: Arc<PipelineCache>) -> Self {
        Self {
            config,
            cache,
            control: Mutex::default(),
            state: Mutex::default(),
            ports: Mutex::default(),
            controller: Mutex::default(),
        }
    }

    /// Returns the device id.
    pub fn device_id(&self) -> u64 {
        self.config.device_id
    }

    /// Returns the configuration.
    pub(crate) fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// Returns the time of the switch in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        self.config.clock.now_ns()
    }

    /// Sets the transmitter of packets.
    pub(crate) fn set_ports(&self, ports: Arc<dyn Ports>) {
        *lock(&self.ports) = Some(ports);
    }

    /// Sets the receiver of packet-ins, digests and idle notifications.
    pub(crate) fn set_controller(&self, controller: Arc<dyn Controller>) {
        *lock(&self.controller) = Some(controller);
    }

    /// Processes a packet from a port and sends the results.
    pub fn receive(&self, port: u32, frame: &[u8]) {
        let mut outbox = Outbox::new();
        self.receive_all(std::iter::once((port, frame)), &mut outbox);
        self.send(&mut outbox);
    }

    /// Processes packets from ports at the current time. The results are left in the outbox, except for messages to the
    /// controller.
    pub fn receive_all<'f>(&self, frames: impl Iterator<Item = (u32, &'f [u8])>, outbox: &mut Outbox) {
        let now_ns = self.now_ns();
        self.receive_at(frames.map(|(port, frame)| (now_ns, port, frame)), outbox);
    }

    /// Processes packets from ports, each at its own time, in order.
    pub(crate) fn receive_at<'f>(
        &self,
        frames: impl Iterator<Item = (u64, u32, &'f [u8])>,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        outbox.open(self.config.cpu_port, self.now_ns());
        let mut state = lock(&self.state);
        let loaded = state.running.as_mut()?;
        for (at_ns, port, frame) in frames {
            loaded.store.engine_mut().receive(at_ns, port, frame, outbox);
        }
        let due_ns = loaded.store.engine().due_ns();
        let messages = self.messages(loaded, outbox);
        drop(state);
        self.notify(messages);
        due_ns
    }

    /// Processes a packet-out of a controller.
    pub fn packet_out(&self, packet: v1::PacketOut) -> Result<(), PacketOutError> {
        let port = self.config.cpu_port.ok_or(PacketOutError::NoPort)?;
        let frame = {
            let state = lock(&self.state);
            let loaded = state.running.as_ref().ok_or(PacketOutError::NoPipeline)?;
            packet::encode(&loaded.store, packet)?
        };
        self.receive(port, &frame);
        Ok(())
    }

    /// Performs due work: packets leave their queues, digests are sent, idle entries are reported. Returns the time of
    /// the next due packet or digest; idle entries should be checked ten times a second.
    pub fn tick(&self, outbox: &mut Outbox) -> Option<u64> {
        self.tick_at(self.now_ns(), outbox)
    }

    /// Performs the work that is due by a time.
    pub(crate) fn tick_at(&self, now_ns: u64, outbox: &mut Outbox) -> Option<u64> {
        outbox.open(self.config.cpu_port, now_ns);
        let mut state = lock(&self.state);
        let sweep = now_ns.saturating_sub(state.last_sweep_ns) >= IDLE_SWEEP_NS;
        if sweep {
            state.last_sweep_ns = now_ns;
        }
        let loaded = state.running.as_mut()?;
        loaded.store.engine_mut().advance(now_ns, outbox);
        let mut messages = self.messages(loaded, outbox);
        if sweep && loaded.store.ages() {
            let idle = loaded.store.idle(now_ns);
            let timestamp = self.config.clock.calendar_ns(now_ns).cast_signed();
            messages.extend(idle.chunks(IDLE_BATCH).map(|entries| {
                let table_entry = entries.to_vec();
                Update::IdleTimeoutNotification(v1::IdleTimeoutNotification { table_entry, timestamp })
            }));
        }
        let next = loaded.store.engine().due_ns();
        drop(state);
        self.notify(messages);
        next
    }

    /// Sends the packets of an outbox to the ports and empties it.
    pub(crate) fn send(&self, outbox: &mut Outbox) {
        if outbox.is_empty() {
            return;
        }
        let ports = lock(&self.ports).as_ref().map(Arc::clone);
        if let Some(ports) = ports {
            for (port, at_ns, frame) in outbox.packets() {
                ports.send(port, at_ns, frame);
            }
            ports.flush();
        }
        outbox.clear();
    }

    /// Returns the messages for the controller.
    fn messages(&self, loaded: &LoadedPipeline, outbox: &mut Outbox) -> Vec<Update> {
        if outbox.to_controller.is_empty() && outbox.digests.is_empty() {
            return Vec::new();
        }
        let mut messages = Vec::new();
        for frame in outbox.to_controller.drain(..) {
            if let Some(packet) = packet::decode(&loaded.store, frame) {
                messages.push(Update::Packet(packet));
            } else {
                tracing::warn!("a packet to the controller is shorter than its header and is dropped");
            }
        }
        for list in outbox.digests.drain(..) {
            if let Some(mut found) = loaded.store.digest_list(&list) {
                found.timestamp = self.config.clock.calendar_ns(list.at_ns).cast_signed();
                messages.push(Update::Digest(found));
            }
        }
        messages
    }

    fn notify(&self, messages: Vec<Update>) {
        if messages.is_empty() {
            return;
        }
        let controller = lock(&self.controller).as_ref().map(Arc::clone);
        if let Some(controller) = controller {
            for message in messages {
                controller.notify(self.config.device_id, message);
            }
        }
    }

    /// Acknowledges a list of digest samples; returns whether the program has the digest.
    pub(crate) fn acknowledge(&self, ack: v1::DigestListAck) -> bool {
        let mut state = lock(&self.state);
        let running = state.running.as_mut();
        running.is_some_and(|loaded| loaded.store.acknowledge(ack.digest_id, ack.list_id))
    }

    /// Sets the state of a port, on which watched members and backup replicas depend.
    pub(crate) fn set_port(&self, port: u32, up: bool) {
        let mut state = lock(&self.state);
        let changed = if up { state.down.remove(&port) } else { state.down.insert(port) };
        if changed {
            let State { running, saved_pipeline: saved, .. } = &mut *state;
            for loaded in running.iter_mut().chain(saved) {
                loaded.store.set_port(port, up);
            }
        }
    }

    /// Gives a port queues with a rate and a depth, or removes them.
    pub fn set_queue(&self, port: u32, queue: Option<QueueConfig>) {
        let mut state = lock(&self.state);
        match queue {
            Some(queue) => drop(state.queues.insert(port, queue)),
            None => drop(state.queues.remove(&port)),
        }
        let State { running, saved_pipeline: saved, .. } = &mut *state;
        for loaded in running.iter_mut().chain(saved) {
            loaded.store.engine_mut().set_queue(port, queue);
        }
    }

    /// Returns the number of packets dropped by full queues, per port. A new pipeline starts from 0.
    pub fn queue_drops(&self) -> Vec<(u32, u64)> {
        let state = lock(&self.state);
        state.running.as_ref().map_or_else(Vec::new, |loaded| loaded.store.engine().dropped().collect())
    }

    /// Reads the state of packet processing: counters, tables, arrays. `None` without a pipeline.
    pub fn inspect<R>(&self, look: impl FnOnce(&Store) -> R) -> Option<R> {
        lock(&self.state).running.as_ref().map(|loaded| look(&loaded.store))
    }
}
