//! The service: finds the switch, verifies the sender, and answers.
//!
//! Invariants: a request that only a primary may send is decoded only after its sender was verified. It must
//! also fit the memory budget of all requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use closc_runtime::election::{DeviceId, ElectionId, RoleName};
use closc_runtime::proto::v1;
use closc_runtime::server::{Limits, Place, Places, Refusal, StreamId};
use closc_runtime::status::pack;
use closc_runtime::wire;
use prost::{Message, Name};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::{Status, Streaming};
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

use super::API_VERSION;
use super::answer::Answer;
use super::device::Device;
use super::leaders::Leaders;
use super::outlet::{Messages, queue};
use super::request_budget::RequestBudget;
use super::stream::Conversation;
use crate::switch::{NoPipeline, Outbox, Switch};

/// Maximum size of a short request. It needs no memory budget to arrive, and is validated on the thread of its
/// connection. A short Read needs no budget at all.
pub(super) const SHORT: usize = 16 << 10;

/// Memory of a decoded request with the outcomes of its updates, as a multiple of the decoded request alone. Every
/// update may fail with its own message.
const ANSWERED: usize = 2;

/// Maximum number of pipelines that are being sent to clients.
const CONFIGS: usize = 2;

/// A memory budget that requests share. A request waits until its part is free.
#[derive(Clone, Debug)]
struct Budget {
    semaphore: Arc<Semaphore>,
    bytes: usize,
}

impl Budget {
    fn new(bytes: usize) -> Self {
        let bytes = bytes.min(u32::MAX as usize);
        Self { semaphore: Arc::new(Semaphore::new(bytes)), bytes }
    }

    /// Waits for a part of the budget; requests for more than the total wait for all of it.
    async fn take(&self, bytes: usize) -> OwnedSemaphorePermit {
        let taken = Arc::clone(&self.semaphore).acquire_many_owned(bytes.min(self.bytes) as u32).await;
        taken.expect("the semaphore is never closed")
    }
}

/// Shared state of the requests of all connections.
struct ServiceState {
    streams: AtomicU64,
    limits: Limits,
    places: Places,
    arrival_budget: Budget,
    arriving_reads: Budget,
    /// For requests of primaries, which do not wait for other clients.
    arriving_primaries: Budget,
    leaders: Arc<Leaders>,
    decode_budget: Budget,
    read_budget: Budget,
    configs: Arc<Semaphore>,
    /// Held by the single long request that is being validated.
    validation_permit: Semaphore,
}

/// Resources in use by clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Connections.
    pub connections: usize,
    /// Requests and streams.
    pub requests: usize,
    /// Streams that take part in the arbitration of a switch.
    pub controllers: usize,
    /// Roles, with or without controllers.
    pub roles: usize,
}

/// The P4Runtime service over some switches. Clones share them.
#[derive(Clone)]
pub struct Service {
    devices: Arc<BTreeMap<u64, Arc<Device>>>,
    state: Arc<ServiceState>,
    /// Becomes true when streams must end. If its sender is gone, streams stay open.
    closing: watch::Receiver<bool>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.devices.keys()).finish()
    }
}

/// The short fields of a Write, before its updates, and of a pipeline, before its contents.
#[derive(Clone, PartialEq, Message)]
struct Head {
    #[prost(uint64, tag = "1")]
    device_id: u64,
    #[prost(uint64, tag = "2")]
    role_id: u64,
    #[prost(message, optional, tag = "3")]
    election_id: Option<v1::Uint128>,
    #[prost(string, tag = "6")]
    role: String,
}

/// Fields of a Read before its entities.
#[derive(Clone, PartialEq, Message)]
struct ReadHead {
    #[prost(uint64, tag = "1")]
    device_id: u64,
}

impl Head {
    fn controller(&self) -> (RoleName, Option<ElectionId>) {
        (RoleName::from_fields(&self.role, self.role_id), self.election_id.map(ElectionId::from))
    }
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}

impl Service {
    /// Returns the service for switches; if two have the same device id, the later one is used.
    pub fn new(switches: impl IntoIterator<Item = Arc<Switch>>) -> Self {
        Self::with_limits(switches, Limits::default())
    }

    /// Returns the service for switches with limits. Each further switch raises the limits on connections and requests.
    pub fn with_limits(switches: impl IntoIterator<Item = Arc<Switch>>, limits: Limits) -> Self {
        let devices = switches.into_iter().map(|switch| (switch.device_id(), Device::new(switch)));
        let devices: BTreeMap<_, _> = devices.collect();
        let limits = limits.for_devices(devices.len());
        let closing = watch::Sender::new(false).subscribe();
        let shared = ServiceState {
            streams: AtomicU64::new(0),
            limits,
            places: Places::new(limits),
            arrival_budget: Budget::new(limits.arriving_bytes),
            arriving_reads: Budget::new(limits.message_bytes),
            arriving_primaries: Budget::new(limits.arriving_bytes),
            leaders: Arc::default(),
            decode_budget: Budget::new(limits.decoded_bytes),
            read_budget: Budget::new(limits.message_bytes),
            configs: Arc::new(Semaphore::new(CONFIGS)),
            validation_permit: Semaphore::new(1),
        };
        Self { devices: Arc::new(devices), state: Arc::new(shared), closing }
    }

    /// Returns the same service, with a signal for ending its streams.
    pub(super) fn until(&self, closing: watch::Receiver<bool>) -> Self {
        Self { closing, ..self.clone() }
    }

    /// Performs due work of every switch: digests, idle entries, queues.
    pub(super) fn tick(&self, outbox: &mut Outbox) {
        for device in self.devices.values() {
            device.switch.tick(outbox);
            device.switch.send(outbox);
        }
    }

    /// Returns the limits for connections and requests.
    pub(super) fn places(&self) -> &Places {
        &self.state.places
    }

    /// Returns the resources that clients use now.
    pub fn load(&self) -> Load {
        let held = |device: &Arc<Device>| device.counts();
        let held: Vec<(usize, usize)> = self.devices.values().map(held).collect();
        Load {
            connections: self.state.places.connections(),
            requests: self.state.places.requests(),
            controllers: held.iter().map(|(controllers, _)| controllers).sum(),
            roles: held.iter().map(|(_, roles)| roles).sum(),
        }
    }

    /// Waits for memory for a request that arrives on a connection.
    pub(super) async fn reserve_arrival(
        &self,
        bytes: usize,
        reads: bool,
        connection: Option<u64>,
    ) -> OwnedSemaphorePermit {
        let budget = match connection {
            _ if reads => &self.state.arriving_reads,
            Some(connection) if self.state.leaders.lead(connection) => &self.state.arriving_primaries,
            Some(_) | None => &self.state.arrival_budget,
        };
        budget.take(bytes).await
    }

    /// Returns the limit for answers with a pipeline.
    pub(super) fn configs(&self) -> Arc<Semaphore> {
        Arc::clone(&self.state.configs)
    }

    fn device(&self, id: u64) -> Result<Arc<Device>, Status> {
        let device = self.devices.get(&id).map(Arc::clone);
        device.ok_or_else(|| Refusal::UnknownDevice { device: DeviceId(id) }.into())
    }

    /// Returns the device of a request, after verifying that the sender is its primary.
    fn device_of_primary(&self, request: &Bytes) -> Result<Arc<Device>, Status> {
        let head = Head::decode(request.clone()).map_err(invalid)?;
        let device = self.device(head.device_id)?;
        let (role, election) = head.controller();
        device.authorize(&role, election)?;
        Ok(device)
    }

    /// Validates a request. A long one may have millions of fields. Long requests are therefore validated one at a time
    /// on a separate thread, so that short ones never wait for them.
    async fn validate_request<R: Send + 'static>(
        &self,
        request: &Bytes,
        look: impl FnOnce(&Self, &Bytes) -> Result<R, Status> + Send + 'static,
    ) -> Result<R, Status> {
        if request.len() <= SHORT {
            return look(self, request);
        }
        let _turn = self
            .state
            .validation_permit
            .acquire()
            .await
            .map_err(|error| Status::internal(error.to_string()))?;
        let (service, request) = (self.clone(), request.clone());
        aside(move || look(&service, &request)).await?
    }

    /// Returns the device of a request, after verifying that the sender is its primary, and waits for its memory.
    async fn with_permit<M: Name>(
        &self,
        request: &Bytes,
    ) -> Result<(Arc<Device>, OwnedSemaphorePermit), Status> {
        let (device, weight) = self
            .validate_request(request, |service, request| {
                let device = service.device_of_primary(request)?;
                let limit = service.state.limits.decoded_bytes;
                let weight = wire::weigh::<M>(request, limit).map_err(|error| match error {
                    wire::WireError::TooHeavy { .. } | wire::WireError::TooLong { .. } => {
                        Status::resource_exhausted(error.to_string())
                    }
                    wire::WireError::Malformed { .. } | wire::WireError::Decode(_) => invalid(error),
                })?;
                Ok((device, weight))
            })
            .await?;
        Ok((device, self.state.decode_budget.take(weight * ANSWERED + request.len()).await))
    }

    pub(super) async fn write(self, request: Bytes, room: RequestBudget) -> Result<Bytes, Status> {
        let (device, permit) = self.with_permit::<v1::WriteRequest>(&request).await?;
        room.free();
        aside(move || {
            let written = v1::WriteRequest::decode(request).map_err(invalid).and_then(|r| write(&device, &r));
            drop(permit);
            written
        })
        .await??;
        Ok(Bytes::new())
    }

    pub(super) async fn read(self, request: Bytes, room: RequestBudget) -> Result<Answer, Status> {
        let look = |service: &Self, request: &Bytes| {
            let head = ReadHead::decode(request.clone()).map_err(invalid)?;
            let device = service.device(head.device_id)?;
            // Entities are decoded one at a time later; here they are only validated.
            wire::weigh::<v1::ReadRequest>(request, usize::MAX).map_err(invalid)?;
            Ok(device)
        };
        let device = self.validate_request(&request, look).await?;
        let permit = match request.len() {
            0..=SHORT => None,
            bytes => Some(self.state.read_budget.take(bytes).await),
        };
        room.free();
        Ok(Answer::new(device, request, permit))
    }

    pub(super) async fn set_pipeline(self, request: Bytes, room: RequestBudget) -> Result<Bytes, Status> {
        let (device, permit) = self.with_permit::<v1::SetForwardingPipelineConfigRequest>(&request).await?;
        room.free();
        aside(move || {
            let request = v1::SetForwardingPipelineConfigRequest::decode(request).map_err(invalid)?;
            let action = Action::try_from(request.action)
                .map_err(|_| invalid(format!("action {} is not known", request.action)))?;
            let (role, election) = setter(&request);
            let config = request.config.as_ref();
            let set = device.as_primary(&role, election, |switch| switch.set_pipeline(action, config))?;
            drop(permit);
            set.map_err(Status::from)
        })
        .await??;
        Ok(Bytes::new())
    }

    pub(super) fn get_pipeline(self, request: &Bytes) -> Result<Bytes, Status> {
        let request = v1::GetForwardingPipelineConfigRequest::decode(request.clone()).map_err(invalid)?;
        let device = self.device(request.device_id)?;
        let asked = ResponseType::try_from(request.response_type)
            .map_err(|_| invalid(format!("response type {} is not known", request.response_type)))?;
        let config = device.switch.pipeline_config(asked);
        Ok(v1::GetForwardingPipelineConfigResponse { config }.encode_to_vec().into())
    }

    pub(super) fn converse(&self, messages: Streaming<Bytes>, place: Option<Place>) -> Messages {
        let limits = self.state.limits;
        let (outlet, outgoing) = queue(limits.queued_bytes);
        let id = StreamId(self.state.streams.fetch_add(1, Ordering::Relaxed));
        let devices = Arc::clone(&self.devices);
        let leaders = Arc::clone(&self.state.leaders);
        let conversation = Conversation { devices, id, outlet, device: None, limits, place, leaders };
        tokio::spawn(conversation.run(messages, self.closing.clone()));
        outgoing
    }

    pub(super) fn capabilities(&self, request: &Bytes) -> Result<Bytes, Status> {
        // 0 means the server as a whole.
        match v1::CapabilitiesRequest::decode(request.clone()).map_err(invalid)?.device_id {
            0 => {}
            id => drop(self.device(id)?),
        }
        let p4runtime_api_version = API_VERSION.to_owned();
        let capabilities = v1::CapabilitiesResponse { p4runtime_api_version, ..Default::default() };
        Ok(capabilities.encode_to_vec().into())
    }
}

/// Runs a slow function on a thread where it does not block others.
async fn aside<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<R, Status> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Status::internal(error.to_string()))
}

fn no_pipeline(error: NoPipeline) -> Status {
    Status::failed_precondition(error.to_string())
}

#[expect(deprecated, reason = "older controllers still name roles by number")]
fn writer(request: &v1::WriteRequest) -> (RoleName, Option<ElectionId>) {
    let role = RoleName::from_fields(&request.role, request.role_id);
    (role, request.election_id.map(ElectionId::from))
}

#[expect(deprecated, reason = "older controllers still name roles by number")]
fn setter(request: &v1::SetForwardingPipelineConfigRequest) -> (RoleName, Option<ElectionId>) {
    let role = RoleName::from_fields(&request.role, request.role_id);
    (role, request.election_id.map(ElectionId::from))
}

fn write(device: &Device, request: &v1::WriteRequest) -> Result<(), Status> {
    let (role, election) = writer(request);
    let atomicity = Atomicity::try_from(request.atomicity)
        .map_err(|_| invalid(format!("atomicity {} is not known", request.atomicity)))?;
    let outcomes = device.as_primary(&role, election, |switch| switch.write(&request.updates, atomicity))?;
    pack(&outcomes.map_err(no_pipeline)?, "Write failure.")
}
