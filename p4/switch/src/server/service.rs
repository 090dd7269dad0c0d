//! The service: finds the switch, checks who asks, and answers.

use super::API_VERSION;
use super::device::{Device, QUEUE};
use super::stream::Conversation;
use crate::switch::{Found, NoPipeline, Outbox, Switch};
use closc_runtime::election::{DeviceId, ElectionId, RoleName};
use closc_runtime::proto::v1;
use closc_runtime::server::{P4Runtime, Refusal, StreamId};
use closc_runtime::status::pack;
use prost::Message as _;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, iter};
use tonic::{Request, Response, Status, Streaming};
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

/// Bytes of one response to a Read. Clients take 4 MiB unless they are told otherwise.
const RESPONSE_BYTES: usize = 1 << 20;

/// The P4Runtime service over some switches. Clones share them.
#[derive(Clone)]
pub struct Service {
    devices: Arc<BTreeMap<u64, Arc<Device>>>,
    streams: Arc<AtomicU64>,
    /// Becomes true, or is closed, when streams must end.
    closing: watch::Receiver<bool>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.devices.keys()).finish()
    }
}

impl Service {
    /// Returns the service over switches; of two with one device id, the later is taken.
    pub fn new(switches: impl IntoIterator<Item = Arc<Switch>>) -> Self {
        let devices = switches.into_iter().map(|switch| (switch.device_id(), Device::new(switch)));
        let closing = watch::Sender::new(false).subscribe();
        Self { devices: Arc::new(devices.collect()), streams: Arc::default(), closing }
    }

    /// Returns the same service, whose streams end when they are told.
    pub(super) fn until(&self, closing: watch::Receiver<bool>) -> Self {
        Self { closing, ..self.clone() }
    }

    /// Lets every switch do what is due: digests that waited long enough, idle entries, queues.
    pub(super) fn tick(&self, outbox: &mut Outbox) {
        for device in self.devices.values() {
            device.switch.tick(outbox);
            device.switch.send(outbox);
        }
    }

    fn device(&self, id: u64) -> Result<Arc<Device>, Status> {
        let device = self.devices.get(&id).map(Arc::clone);
        device.ok_or_else(|| Refusal::UnknownDevice { device: DeviceId(id) }.into())
    }
}

/// Runs what may take a while where it holds up nobody else.
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
        .map_err(|_| Status::invalid_argument(format!("atomicity {} is not known", request.atomicity)))?;
    let outcomes = device.as_primary(&role, election, |switch| switch.write(&request.updates, atomicity))?;
    pack(&outcomes.map_err(no_pipeline)?, "Write failure.")
}

/// Splits what was found into responses of a size that clients take.
fn responses(found: Found) -> Vec<Result<v1::ReadResponse, Status>> {
    let mut responses = Vec::new();
    let (mut entities, mut bytes) = (Vec::new(), 0);
    for entity in found.entities {
        let length = entity.encoded_len() + 8;
        if bytes + length > RESPONSE_BYTES && !entities.is_empty() {
            responses.push(Ok(v1::ReadResponse { entities: std::mem::take(&mut entities) }));
            bytes = 0;
        }
        bytes += length;
        entities.push(entity);
    }
    if !entities.is_empty() {
        responses.push(Ok(v1::ReadResponse { entities }));
    }
    if let Err(status) = pack(&found.outcomes, "Read failure.") {
        responses.push(Err(status));
    }
    responses
}

#[tonic::async_trait]
impl P4Runtime for Service {
    async fn write(&self, request: Request<v1::WriteRequest>) -> Result<Response<v1::WriteResponse>, Status> {
        let request = request.into_inner();
        let device = self.device(request.device_id)?;
        aside(move || write(&device, &request)).await??;
        Ok(Response::new(v1::WriteResponse {}))
    }

    type ReadStream = Pin<Box<dyn Stream<Item = Result<v1::ReadResponse, Status>> + Send>>;

    async fn read(&self, request: Request<v1::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        let device = self.device(request.device_id)?;
        let read = move || device.switch.read(&request.entities).map(responses);
        let responses = aside(read).await?.map_err(no_pipeline)?;
        Ok(Response::new(Box::pin(iter(responses))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<v1::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let device = self.device(request.device_id)?;
        let action = Action::try_from(request.action)
            .map_err(|_| Status::invalid_argument(format!("action {} is not known", request.action)))?;
        let set = move || {
            let (role, election) = setter(&request);
            let config = request.config.as_ref();
            device.as_primary(&role, election, |switch| switch.set_pipeline(action, config))
        };
        aside(set).await??.map_err(Status::from)?;
        Ok(Response::new(v1::SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<v1::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::GetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let device = self.device(request.device_id)?;
        let asked = ResponseType::try_from(request.response_type).map_err(|_| {
            Status::invalid_argument(format!("response type {} is not known", request.response_type))
        })?;
        let config = device.switch.pipeline_config(asked);
        Ok(Response::new(v1::GetForwardingPipelineConfigResponse { config }))
    }

    type StreamChannelStream = Pin<Box<dyn Stream<Item = Result<v1::StreamMessageResponse, Status>> + Send>>;

    async fn stream_channel(
        &self,
        request: Request<Streaming<v1::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let (outlet, messages) = mpsc::channel(QUEUE);
        let id = StreamId(self.streams.fetch_add(1, Ordering::Relaxed));
        let devices = Arc::clone(&self.devices);
        let conversation = Conversation { devices, id, outlet, device: None };
        tokio::spawn(conversation.run(request.into_inner(), self.closing.clone()));
        Ok(Response::new(Box::pin(ReceiverStream::new(messages))))
    }

    async fn capabilities(
        &self,
        request: Request<v1::CapabilitiesRequest>,
    ) -> Result<Response<v1::CapabilitiesResponse>, Status> {
        // 0 asks for the server as a whole.
        match request.into_inner().device_id {
            0 => {}
            id => drop(self.device(id)?),
        }
        let p4runtime_api_version = API_VERSION.to_owned();
        let capabilities = v1::CapabilitiesResponse { p4runtime_api_version, ..Default::default() };
        Ok(Response::new(capabilities))
    }
}
