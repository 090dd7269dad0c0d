//! The service of a fake target.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Code, Request, Response, Status, Streaming};

use super::line::Cutter;
use super::script::{Script, WriteFault};
use super::store::{Rules, Store};
use crate::client::Rpc;
use crate::election::{DeviceId, ElectionId, RoleName};
use crate::info::Info;
use crate::proto::v1;
use crate::server::{Arbitration, Notification, P4Runtime, StreamId};
use crate::status::{self, Outcome};
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::stream_message_request::Update as FromController;
use v1::stream_message_response::Update as ToController;

/// The stream of a simulated controller that becomes primary.
const RIVAL: StreamId = StreamId(0);

type Sender = mpsc::Sender<Result<v1::StreamMessageResponse, Status>>;

/// The complete state of a fake target, under one lock.
#[derive(Debug)]
pub(super) struct State {
    pub(super) script: Script,
    pub(super) device: DeviceId,
    pub(super) arbitration: Arbitration,
    pub(super) store: Store,
    pub(super) pipeline: Option<(Arc<Info>, v1::ForwardingPipelineConfig)>,
    saved_pipeline: Option<(Arc<Info>, v1::ForwardingPipelineConfig)>,
    streams: BTreeMap<StreamId, Sender>,
    next_stream: u64,
    pub(super) lines: Vec<Arc<Cutter>>,
    pub(super) n_writes: u64,
    pub(super) n_updates: u64,
    pub(super) n_pipelines: u64,
    pub(super) received: Vec<FromController>,
}

impl State {
    pub(super) fn new(device: DeviceId, script: Script) -> Self {
        State {
            script,
            device,
            arbitration: Arbitration::new([device], 64),
            store: Store::default(),
            pipeline: None,
            saved_pipeline: None,
            streams: BTreeMap::new(),
            next_stream: 1,
            lines: Vec::new(),
            n_writes: 0,
            n_updates: 0,
            n_pipelines: 0,
            received: Vec::new(),
        }
    }

    /// Breaks every connection.
    pub(super) fn cut(&mut self) {
        self.lines.drain(..).for_each(|line| line.cut());
        for stream in std::mem::take(&mut self.streams).into_keys() {
            // No notification is needed, because all streams have ended.
            drop(self.arbitration.disconnect(stream));
        }
    }

    /// Makes a simulated controller primary, with the highest election id.
    pub(super) fn lose_primary(&mut self) {
        let rival = v1::MasterArbitrationUpdate {
            device_id: self.device.0,
            election_id: Some(ElectionId(u128::MAX).into()),
            ..Default::default()
        };
        let notifications = self.arbitration.update(RIVAL, &rival).unwrap_or_default();
        self.notify(notifications);
    }

    /// Disconnects the simulated controller.
    pub(super) fn free_primary(&mut self) {
        let notifications = self.arbitration.disconnect(RIVAL);
        self.notify(notifications);
    }

    pub(super) fn notify(&mut self, notifications: Vec<Notification>) {
        for notification in notifications {
            if let Some(stream) = self.streams.get(&notification.stream) {
                let update = Some(ToController::Arbitration(notification.update));
                // A full queue belongs to a controller that does not read.
                drop(stream.try_send(Ok(v1::StreamMessageResponse { update })));
            }
        }
    }

    /// Sends a message to the primary of the default role. Returns false if there is none, or if its queue is full.
    pub(super) fn send_to_primary(&self, update: ToController) -> bool {
        let primary = self.arbitration.primary(self.device, &RoleName::default());
        let stream = primary.and_then(|stream| self.streams.get(&stream));
        let message = Ok(v1::StreamMessageResponse { update: Some(update) });
        stream.is_some_and(|stream| stream.try_send(message).is_ok())
    }

    fn write(&mut self, info: &Info, updates: &[v1::Update]) -> Vec<Outcome> {
        let rules =
            Rules { table_limit: self.script.table_limit, check_references: self.script.check_references };
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(updates.len());
        let mut ended = BTreeSet::new();
        for update in updates {
            let table = update.entity.as_ref().and_then(table_of);
            if ended.contains(&table) {
                outcomes.push(Outcome::failure(Code::Aborted, "not attempted"));
                continue;
            }
            let number = self.n_updates;
            self.n_updates += 1;
            let refused = update.entity.as_ref().is_some_and(|own| self.script.refuse_entities.contains(own));
            let outcome = match self.script.refuse_updates.get(&number) {
                Some((code, message)) => Outcome::failure(*code, message),
                None if refused => Outcome::failure(Code::InvalidArgument, "not this one"),
                None => self.store.apply(info, update, rules),
            };
            if self.script.aborts_rest && !outcome.is_ok() {
                ended.insert(table);
            }
            outcomes.push(outcome);
        }
        outcomes
    }
}

/// Returns the table of an entry.
fn table_of(entity: &v1::Entity) -> Option<u32> {
    match &entity.entity {
        Some(v1::entity::Entity::TableEntry(entry)) => Some(entry.table_id),
        _ => None,
    }
}

/// The service; clones share the state.
#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) state: Arc<Mutex<State>>,
}

impl Service {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn think(&self, rpc: Rpc) {
        let delay = self.lock().script.delays.get(&rpc).copied();
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
    }

    /// Applies a write, or fails it as the script requires. `None` means that there is no answer.
    fn answer_write(&self, request: &v1::WriteRequest) -> Result<Option<v1::WriteResponse>, Status> {
        let mut state = self.lock();
        let number = state.n_writes;
        state.n_writes += 1;
        let fault = state.script.write_faults.get(&number).copied();
        if fault == Some(WriteFault::LosePrimary) {
            state.lose_primary();
        }
        let election = request.election_id.map(ElectionId::from);
        #[expect(deprecated, reason = "older controllers name roles by number")]
        let role = RoleName::from_fields(&request.role, request.role_id);
        state.arbitration.authorize(DeviceId(request.device_id), &role, election)?;
        let Some((info, _)) = state.pipeline.clone() else {
            return Err(Status::failed_precondition("no pipeline is set"));
        };
        if request.atomicity != 0 {
            return Err(Status::unimplemented("only CONTINUE_ON_ERROR"));
        }
        match fault {
            Some(WriteFault::Disconnect { after_updates }) => {
                let applied = &request.updates[..after_updates.min(request.updates.len())];
                state.write(&info, applied);
                state.cut();
                Ok(None)
            }
            Some(WriteFault::NoAnswer) => {
                state.write(&info, &request.updates);
                Ok(None)
            }
            Some(WriteFault::FailWithoutDetails) => Err(Status::unknown("something went wrong")),
            Some(WriteFault::WrongDetails) => {
                status::pack(&[Outcome::failure(Code::Internal, "?")], "write failed").map(|()| None)
            }
            Some(WriteFault::LosePrimary) | None => {
                let outcomes = state.write(&info, &request.updates);
                status::pack(&outcomes, "write failed").map(|()| Some(v1::WriteResponse::default()))
            }
        }
    }

    fn set_pipeline(&self, request: v1::SetForwardingPipelineConfigRequest) -> Result<(), Status> {
        let mut state = self.lock();
        let election = request.election_id.map(ElectionId::from);
        let device = DeviceId(request.device_id);
        state.arbitration.authorize(device, &RoleName::new(&request.role), election)?;
        state.n_pipelines += 1;
        if state.script.unimplemented_actions.contains(&request.action) {
            return Err(Status::unimplemented("this pipeline action is not known here"));
        }
        let action = request.action();
        if action == Action::Commit {
            let saved = state.saved_pipeline.take().ok_or_else(|| Status::not_found("nothing is saved"))?;
            state.pipeline = Some(saved);
            state.store = Store::default();
            return Ok(());
        }
        let config = request.config.ok_or_else(|| Status::invalid_argument("no config"))?;
        let p4info = config.p4info.clone().ok_or_else(|| Status::invalid_argument("no P4Info"))?;
        let info = Info::new(p4info).map_err(|error| Status::invalid_argument(error.to_string()))?;
        match action {
            Action::Unspecified => return Err(Status::invalid_argument("no action")),
            Action::Verify | Action::Commit => {}
            Action::VerifyAndSave => state.saved_pipeline = Some((Arc::new(info), config)),
            Action::VerifyAndCommit if state.script.commits_once && state.pipeline.is_some() => {
                return Err(Status::unimplemented("try using RECONCILE_AND_COMMIT"));
            }
            Action::VerifyAndCommit => {
                state.pipeline = Some((Arc::new(info), config));
                state.store = Store::default();
            }
            Action::ReconcileAndCommit => state.pipeline = Some((Arc::new(info), config)),
        }
        Ok(())
    }

    fn read(&self, request: &v1::ReadRequest) -> Result<Vec<v1::Entity>, Status> {
        let state = self.lock();
        state.arbitration.require_device(DeviceId(request.device_id))?;
        if state.pipeline.is_none() {
            return Err(Status::failed_precondition("no pipeline is set"));
        }
        let is_table = |entity: &v1::Entity| matches!(entity.entity, Some(v1::entity::Entity::TableEntry(_)));
        if state.script.reads_tables_only && !request.entities.iter().all(is_table) {
            return Err(Status::unimplemented("only tables can be read"));
        }
        Ok(request.entities.iter().flat_map(|wanted| state.store.read(wanted)).collect())
    }

    fn open_stream(&self, sender: Sender) -> StreamId {
        let mut state = self.lock();
        let stream = StreamId(state.next_stream);
        state.next_stream += 1;
        state.streams.insert(stream, sender);
        stream
    }

    async fn serve_stream(self, stream: StreamId, mut requests: Streaming<v1::StreamMessageRequest>) {
        while let Some(Ok(request)) = requests.next().await {
            let refused = match request.update {
                Some(FromController::Arbitration(update)) => {
                    self.think(Rpc::Stream).await;
                    let mut state = self.lock();
                    match state.arbitration.update(stream, &update) {
                        Ok(notifications) => {
                            state.notify(notifications);
                            None
                        }
                        Err(refusal) => state.streams.remove(&stream).map(|sender| (sender, refusal)),
                    }
                }
                Some(other) => {
                    self.lock().received.push(other);
                    None
                }
                None => None,
            };
            if let Some((sender, refusal)) = refused {
                drop(sender.send(Err(refusal.into())).await);
                break;
            }
        }
        let mut state = self.lock();
        state.streams.remove(&stream);
        let notifications = state.arbitration.disconnect(stream);
        state.notify(notifications);
    }
}

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = Pin<Box<dyn Stream<Item = Result<v1::ReadResponse, Status>> + Send>>;
    type StreamChannelStream = ReceiverStream<Result<v1::StreamMessageResponse, Status>>;

    async fn write(&self, request: Request<v1::WriteRequest>) -> Result<Response<v1::WriteResponse>, Status> {
        self.think(Rpc::Write).await;
        match self.answer_write(request.get_ref())? {
            Some(answer) => Ok(Response::new(answer)),
            None => std::future::pending().await,
        }
    }

    async fn read(&self, request: Request<v1::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        self.think(Rpc::Read).await;
        // All entities are in one message, as on BMv2.
        let entities = self.read(request.get_ref())?;
        Ok(Response::new(Box::pin(tokio_stream::iter([Ok(v1::ReadResponse { entities })]))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<v1::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::SetForwardingPipelineConfigResponse>, Status> {
        self.think(Rpc::SetPipeline).await;
        self.set_pipeline(request.into_inner())?;
        Ok(Response::new(v1::SetForwardingPipelineConfigResponse::default()))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<v1::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::GetForwardingPipelineConfigResponse>, Status> {
        self.think(Rpc::GetPipeline).await;
        let state = self.lock();
        state.arbitration.require_device(DeviceId(request.get_ref().device_id))?;
        let mut config = state.pipeline.as_ref().map(|(_, config)| config.clone());
        if let Some(config) = &mut config {
            let parts = request.get_ref().response_type();
            if matches!(parts, ResponseType::CookieOnly | ResponseType::DeviceConfigAndCookie) {
                config.p4info = None;
            }
            if matches!(parts, ResponseType::CookieOnly | ResponseType::P4infoAndCookie) {
                config.p4_device_config = bytes::Bytes::new();
            }
        }
        Ok(Response::new(v1::GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<v1::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let (sender, receiver) = mpsc::channel(4096);
        let stream = self.open_stream(sender);
        tokio::spawn(self.clone().serve_stream(stream, request.into_inner()));
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn capabilities(
        &self,
        _request: Request<v1::CapabilitiesRequest>,
    ) -> Result<Response<v1::CapabilitiesResponse>, Status> {
        self.think(Rpc::Capabilities).await;
        let p4runtime_api_version = "1.4.1".to_owned();
        Ok(Response::new(v1::CapabilitiesResponse { p4runtime_api_version, experimental: None }))
    }
}
