//! A switch: a data plane behind a lock, its ports, its clock, and the controller that it talks to.
//!
//! In: packets from ports and from controllers, updates, read requests, pipelines. Out: packets to
//! [`Ports`], notifications to a [`Controller`]. Invariants: nothing is sent while the data plane is locked, and
//! writes, reads and changes of the pipeline come one after the other.

mod clock;
mod config;
mod outbox;
mod packet;
mod write;

pub use clock::Clock;
pub use outbox::Outbox;
pub(crate) use write::ReadState;
pub use write::{Found, NoPipeline};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closc_runtime::packet::PacketError;
use closc_runtime::proto::v1;
use thiserror::Error;
use v1::stream_message_response::Update;

use crate::engine::{EngineConfig, QueueConfig};
use crate::entity::Store;
use crate::pipeline::PipelineCache;

/// Nanoseconds between two looks for idle entries.
const IDLE_SWEEP_NS: u64 = 100_000_000;

/// Entries of one idle notification.
const IDLE_BATCH: usize = 1024;

/// Where the packets of a switch go.
pub(crate) trait Ports: Send + Sync {
    /// Sends a packet by a port, at a time of the switch's clock.
    fn send(&self, port: u32, at_ns: u64, frame: &[u8]);

    /// Receives that the packets sent so far are all for now.
    fn flush(&self) {}
}

/// Recipient of a switch's messages.
pub(crate) trait Controller: Send + Sync {
    /// Receives a packet-in, a list of digest samples or an idle notification.
    fn notify(&self, device: u64, message: Update);
}

/// Setup of a switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchConfig {
    /// Number by which controllers know it.
    pub device_id: u64,
    /// Port that stands for the controller; without it there are neither packet-ins nor packet-outs.
    pub cpu_port: Option<u32>,
    /// The data plane.
    pub engine: EngineConfig,
    /// Its clock.
    pub clock: Clock,
}

/// A packet-out that is not sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PacketOutError {
    /// The switch has no pipeline.
    #[error("the switch has no pipeline yet")]
    NoPipeline,
    /// The switch has no port for the controller.
    #[error("the switch was started without a port for the controller")]
    NoPort,
    /// The metadata are not those of the program.
    #[error(transparent)]
    Metadata(#[from] PacketError),
}

/// A pipeline with its state.
#[derive(Debug)]
struct Loaded {
    store: Store,
    cookie: Option<v1::forwarding_pipeline_config::Cookie>,
}

/// Purpose of the lock of a switch.
#[derive(Debug, Default)]
struct State {
    /// Steps of packets.
    running: Option<Loaded>,
    /// Saved state before the commit; controllers write to it and read from it.
    saved: Option<Loaded>,
    queues: BTreeMap<u32, QueueConfig>,
    down: BTreeSet<u32>,
    last_sweep_ns: u64,
}

impl State {
    /// Returns what controllers see.
    fn current(&mut self) -> Option<&mut Loaded> {
        self.saved.as_mut().or(self.running.as_mut())
    }
}

/// A switch.
pub struct Switch {
    config: SwitchConfig,
    cache: Arc<PipelineCache>,
    /// Held by one writer or reader at a time, for as long as its request takes.
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

/// Takes a lock; what a thread that panicked left behind is whole, as nothing in here panics half way.
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

    /// Returns the number by which controllers know the switch.
    pub fn device_id(&self) -> u64 {
        self.config.device_id
    }

    /// Returns the set-up.
    pub(crate) fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// Returns the time of the switch in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        self.config.clock.now_ns()
    }

    /// Says where packets go.
    pub(crate) fn set_ports(&self, ports: Arc<dyn Ports>) {
        *lock(&self.ports) = Some(ports);
    }

    /// Says who receives packet-ins, digests and idle entries.
    pub(crate) fn set_controller(&self, controller: Arc<dyn Controller>) {
        *lock(&self.controller) = Some(controller);
    }

    /// Takes a packet from a port and sends what comes of it.
    pub fn receive(&self, port: u32, frame: &[u8]) {
        let mut outbox = Outbox::new();
        self.receive_all(std::iter::once((port, frame)), &mut outbox);
        self.send(&mut outbox);
    }

    /// Takes packets from ports, all now. What comes of them is left in the outbox, but for what the controller receives.
    pub fn receive_all<'f>(&self, frames: impl Iterator<Item = (u32, &'f [u8])>, outbox: &mut Outbox) {
        let now_ns = self.now_ns();
        self.receive_at(frames.map(|(port, frame)| (now_ns, port, frame)), outbox);
    }

    /// Takes packets from ports, each at its own time, in order.
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

    /// Sends a packet of a controller into the program.
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

    /// Does what is due by now: packets leave their queues, digests go out, idle entries are reported. Returns when a
    /// packet or a digest is due again; idle entries are worth a look ten times a second.
    pub fn tick(&self, outbox: &mut Outbox) -> Option<u64> {
        self.tick_at(self.now_ns(), outbox)
    }

    /// Does what is due by a time.
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

    /// Hands the packets of an outbox to the ports and empties it.
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

    /// Returns what the controller is to receive.
    fn messages(&self, loaded: &Loaded, outbox: &mut Outbox) -> Vec<Update> {
        if outbox.to_controller.is_empty() && outbox.digests.is_empty() {
            return Vec::new();
        }
        let mut messages = Vec::new();
        for frame in outbox.to_controller.drain(..) {
            if let Some(packet) = packet::decode(&loaded.store, frame) {
                messages.push(Update::Packet(packet));
            } else {
                tracing::warn!("a packet to the controller is shorter than its header, it is dropped");
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

    /// Tells the state of a port, on which watched members and backup replicas depend.
    pub(crate) fn set_port(&self, port: u32, up: bool) {
        let mut state = lock(&self.state);
        let changed = if up { state.down.remove(&port) } else { state.down.insert(port) };
        if changed {
            let State { running, saved, .. } = &mut *state;
            for loaded in running.iter_mut().chain(saved) {
                loaded.store.set_port(port, up);
            }
        }
    }

    /// Gives a port queues with a rate and a depth, or takes them away.
    pub fn set_queue(&self, port: u32, queue: Option<QueueConfig>) {
        let mut state = lock(&self.state);
        match queue {
            Some(queue) => drop(state.queues.insert(port, queue)),
            None => drop(state.queues.remove(&port)),
        }
        let State { running, saved, .. } = &mut *state;
        for loaded in running.iter_mut().chain(saved) {
            loaded.store.engine_mut().set_queue(port, queue);
        }
    }

    /// Returns the ports that dropped packets because a queue was full since it was turned on, and how many.
    pub fn queue_drops(&self) -> Vec<(u32, u64)> {
        let state = lock(&self.state);
        state.running.as_ref().map_or_else(Vec::new, |loaded| loaded.store.engine().dropped().collect())
    }

    /// Looks at the state that packets run through: counters, tables, arrays. None without a pipeline.
    pub fn inspect<R>(&self, look: impl FnOnce(&Store) -> R) -> Option<R> {
        lock(&self.state).running.as_ref().map(|loaded| look(&loaded.store))
    }
}
