//! A switch and its controllers: arbitration, the primary, and their message queues.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use bytes::Bytes;
use closc_runtime::election::{DeviceId, ElectionId, RoleName};
use closc_runtime::proto::v1;
use closc_runtime::server::{Arbitration, Notification, Refusal, StreamId};
use v1::stream_message_response::Update;

use super::outlet::{Outlet, encode_update};
use crate::switch::{Controller, Switch};

/// Maximum number of controllers per role.
const CONTROLLERS: usize = 256;

/// A switch and its controllers.
pub(super) struct Device {
    pub(super) switch: Arc<Switch>,
    /// Held while a write is applied, so that an old primary cannot write after a new one was announced.
    write_lock: Mutex<()>,
    /// Never held for long.
    arbitration: Mutex<Arbitration>,
    streams: Mutex<BTreeMap<StreamId, Outlet>>,
    /// Queues of the primaries of all roles.
    primaries: RwLock<Vec<Outlet>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    pub(super) fn new(switch: Arc<Switch>) -> Arc<Self> {
        let id = DeviceId(switch.device_id());
        let arbitration = Mutex::new(Arbitration::new([id], CONTROLLERS));
        let (streams, primaries) = (Mutex::default(), RwLock::default());
        let device = Arc::new(Self { switch, write_lock: Mutex::default(), arbitration, streams, primaries });
        device.switch.set_controller(Arc::new(Listener(Arc::downgrade(&device))));
        device
    }

    /// Checks that a request comes from the current primary, before anything is done for it.
    pub(super) fn authorize(&self, role: &RoleName, election: Option<ElectionId>) -> Result<(), Refusal> {
        let id = DeviceId(self.switch.device_id());
        lock(&self.arbitration).authorize(id, role, election).map(drop)
    }

    /// Runs a function as the primary, which stays primary until it is done.
    pub(super) fn as_primary<R>(
        &self,
        role: &RoleName,
        election: Option<ElectionId>,
        work: impl FnOnce(&Switch) -> R,
    ) -> Result<R, Refusal> {
        let _writing = lock(&self.write_lock);
        self.authorize(role, election)?;
        Ok(work(&self.switch))
    }

    /// Processes an arbitration message of a stream.
    pub(super) fn arbitrate(
        &self,
        stream: StreamId,
        outlet: &Outlet,
        message: &v1::MasterArbitrationUpdate,
    ) -> Result<(), Refusal> {
        let _writing = lock(&self.write_lock);
        let mut arbitration = lock(&self.arbitration);
        let notifications = arbitration.update(stream, message)?;
        lock(&self.streams).insert(stream, outlet.clone());
        self.announce(&arbitration, notifications);
        Ok(())
    }

    /// Removes a stream that ended.
    pub(super) fn disconnect(&self, stream: StreamId) {
        let _writing = lock(&self.write_lock);
        let mut arbitration = lock(&self.arbitration);
        let notifications = arbitration.disconnect(stream);
        lock(&self.streams).remove(&stream);
        self.announce(&arbitration, notifications);
    }

    /// Returns the numbers of controllers and roles.
    pub(super) fn counts(&self) -> (usize, usize) {
        let arbitration = lock(&self.arbitration);
        (arbitration.controllers(), arbitration.roles())
    }

    /// Returns whether a stream belongs to a primary.
    pub(super) fn is_primary(&self, stream: StreamId) -> bool {
        lock(&self.arbitration).is_primary(stream)
    }

    fn announce(&self, arbitration: &Arbitration, notifications: Vec<Notification>) {
        let streams = lock(&self.streams);
        let id = DeviceId(self.switch.device_id());
        let primaries = arbitration.primaries(id).filter_map(|stream| streams.get(&stream).cloned());
        *self.primaries.write().unwrap_or_else(PoisonError::into_inner) = primaries.collect();
        for notification in notifications {
            if let Some(outlet) = streams.get(&notification.stream) {
                outlet.deliver(encode_update(Update::Arbitration(notification.update)));
            }
        }
    }

    /// Notifies the primaries; notifications that do not fit into their queues are lost, as P4Runtime
    /// specifies.
    fn notify(&self, message: Update) {
        let primaries = self.primaries.read().unwrap_or_else(PoisonError::into_inner);
        if primaries.is_empty() {
            return;
        }
        let message: Bytes = encode_update(message);
        for outlet in primaries.iter() {
            outlet.offer(&message);
        }
    }
}

/// Weak reference of a switch to its controllers.
struct Listener(Weak<Device>);

impl Controller for Listener {
    fn notify(&self, _device: u64, message: Update) {
        if let Some(device) = self.0.upgrade() {
            device.notify(message);
        }
    }
}
