//! Runs corners against a server, each from the same state.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use closc_runtime::client::{Client, ClientError};
use closc_runtime::info::{Info, InfoError};
use closc_runtime::proto::{config, v1};
use closc_runtime::status::unpack;
use thiserror::Error;
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use v1::entity::Entity;
use v1::forwarding_pipeline_config::Cookie;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::p4_runtime_client::P4RuntimeClient;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::stream_message_request::Update as StreamRequest;
use v1::write_request::Atomicity;

use crate::corners::Corner;
use crate::report::Verdict;
use crate::step::{Codes, Config, ExpectedMessage, PRIMARY, Sender, Step};
use crate::stream::{SILENCE, Stream, one_of};

/// Distance between the election ids of two corners that open streams.
const STRIDE: u128 = 1000;

/// Maximum size of an answer, in bytes.
const DECODE_LIMIT: usize = 64 << 20;

/// A server and the program with which it is tested.
#[derive(Debug, Clone)]
pub struct Subject {
    /// A connection to the device.
    pub client: Client,
    /// The P4Info of the program.
    pub p4info: config::P4Info,
    /// The device configuration of the program for the target.
    pub device_config: Bytes,
    /// The lowest election id; the run uses higher ones.
    pub election: u128,
    /// Whether a running pipeline may be replaced.
    pub replace: bool,
    /// Time limit for each answer.
    pub patience: Duration,
}

/// The reason why a server cannot be tested.
#[derive(Debug, Error)]
pub enum ConformanceError {
    /// The P4Info of the program is inconsistent.
    #[error("the P4Info of the program: {0}")]
    Info(#[from] InfoError),
    /// A call or the connection fails.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Another controller is primary.
    #[error(
        "`{address}`: the controller does not become primary: {reason}; help: choose a greater `--election-id`"
    )]
    NotPrimary {
        /// The server.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The device runs a pipeline.
    #[error(
        "`{address}`: device {device} runs a pipeline, which the run would replace; help: add `--replace`"
    )]
    Running {
        /// The server.
        address: String,
        /// The device.
        device: u64,
    },
    /// The server rejects the program.
    #[error(
        "`{address}`: the program cannot be set: {reason}; help: name a build for the target with `--device-config`"
    )]
    Program {
        /// The server.
        address: String,
        /// The reason.
        reason: String,
    },
}

/// A corner that ends before its last step.
enum End {
    Failed(String),
    NotApplicable(String),
}

impl From<String> for End {
    fn from(reason: String) -> Self {
        End::Failed(reason)
    }
}

/// A controller that runs corners on the server.
pub(crate) struct Bench {
    client: P4RuntimeClient<Channel>,
    subject: Subject,
    info: Info,
    base: u128,
    /// Streams by name: the one of the primary, and those that corners open.
    streams: BTreeMap<&'static str, Stream>,
    /// Whether the last corner used streams. If it did, the next one must become primary again.
    used_streams: bool,
    /// The status codes of a Write and a Read before the first pipeline was set.
    unconfigured_codes: Option<(Code, Code)>,
}

fn code_of<T>(result: &Result<T, Status>) -> Code {
    result.as_ref().err().map_or(Code::Ok, Status::code)
}

impl Bench {
    /// Becomes primary and sets the program.
    pub(crate) async fn connect(subject: Subject) -> Result<Self, ConformanceError> {
        let client = P4RuntimeClient::new(subject.client.channel()).max_decoding_message_size(DECODE_LIMIT);
        let info = Info::new(subject.p4info.clone())?;
        let base = subject.election;
        let (streams, without_pipeline) = (BTreeMap::new(), None);
        let mut this = Bench {
            client,
            subject,
            info,
            base,
            streams,
            used_streams: true,
            unconfigured_codes: without_pipeline,
        };
        this.become_primary().await?;
        let running = this.pipeline(ResponseType::P4infoAndCookie.into(), None).await;
        let running = running.ok().flatten().and_then(|config| config.p4info);
        if running.is_none_or(|info| info == config::P4Info::default()) {
            let write = this.write_as(&Sender::primary(), Vec::new(), 0).await;
            let read = this.read(vec![v1::TableEntry::default().into()]).await;
            this.unconfigured_codes = Some((code_of(&write), code_of(&read)));
        } else if !this.subject.replace {
            let (address, device) = (this.address().to_owned(), this.device());
            return Err(ConformanceError::Running { address, device });
        }
        this.reset()
            .await
            .map_err(|reason| ConformanceError::Program { address: this.address().to_owned(), reason })?;
        Ok(this)
    }

    pub(crate) fn info(&self) -> &Info {
        &self.info
    }

    pub(crate) fn address(&self) -> &str {
        self.subject.client.endpoint()
    }

    pub(crate) fn device(&self) -> u64 {
        self.subject.client.device().0
    }

    /// Returns the API version that the server reports.
    pub(crate) async fn api_version(&mut self) -> Option<String> {
        let request = v1::CapabilitiesRequest { device_id: self.device() };
        let answer = timeout(self.subject.patience, self.client.capabilities(request)).await;
        answer.ok()?.ok().map(|answer| answer.into_inner().p4runtime_api_version)
    }

    async fn become_primary(&mut self) -> Result<(), ConformanceError> {
        self.streams.clear();
        self.base += STRIDE;
        let fail =
            |address: &str, reason| ConformanceError::NotPrimary { address: address.to_owned(), reason };
        let mut stream = self.open(v1::MasterArbitrationUpdate::default(), Some(0)).await;
        let received = ExpectedMessage::Arbitration(Code::Ok, Some(0));
        let received = stream.receive(&received, self.base, self.subject.patience).await;
        received.map_err(|reason| fail(self.address(), reason))?;
        self.streams.insert(PRIMARY, stream);
        self.used_streams = false;
        Ok(())
    }

    /// Sets the program again, which removes all entries.
    async fn reset(&mut self) -> Result<(), String> {
        if self.used_streams {
            self.become_primary().await.map_err(|error| error.to_string())?;
        }
        let action = Action::VerifyAndCommit.into();
        let set = self.set_pipeline(&Sender::primary(), action, Config::Whole(1)).await;
        set.map_err(|status| format!("{:?}: {}", status.code(), status.message()))
    }

    /// Runs a corner.
    pub(crate) async fn run(&mut self, corner: &Corner) -> Verdict {
        let steps = match &corner.steps {
            Ok(steps) => steps,
            Err(missing) => return Verdict::NotApplicable(format!("the program: {missing}")),
        };
        if let Err(reason) = self.reset().await {
            return Verdict::Failed(format!("the program cannot be set again: {reason}"));
        }
        for (place, step) in (1..).zip(steps) {
            match self.step(step).await {
                Ok(()) => {}
                Err(End::Failed(reason)) => return Verdict::Failed(format!("step {place}: {reason}")),
                Err(End::NotApplicable(reason)) => return Verdict::NotApplicable(reason),
            }
        }
        Verdict::Passed
    }

    async fn step(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::Optional(step) => self.optional(step).await,
            Step::WithoutPipeline(codes) => match self.unconfigured_codes {
                Some((write, read)) => Ok(one_of(write, codes).and(one_of(read, codes))?),
                None => Err(End::NotApplicable("the device had a pipeline before the run".to_owned())),
            },
            Step::Write(update, codes) => Ok(self.write_one(update, codes).await?),
            Step::Batch(updates, atomicity, codes) => Ok(self.batch(updates, *atomicity, codes).await?),
            Step::WriteAs(sender, updates, atomicity, codes) => {
                let written = self.write_as(sender, updates.clone(), *atomicity).await;
                Ok(one_of(code_of(&written), codes)?)
            }
            Step::Read(request, found) => Ok(self.finds(request, found).await?),
            Step::ReadCount(request, count) => Ok(self.finds_count(vec![request.clone()], *count).await?),
            Step::ReadBatch(requests, count) => Ok(self.finds_count(requests.clone(), *count).await?),
            Step::ReadFails(request, codes) => {
                Ok(one_of(read_code(self.read(vec![request.clone()]).await), codes)?)
            }
            Step::ReadOf(device, codes) => {
                let read = self.read_of(*device, vec![v1::TableEntry::default().into()]).await;
                Ok(one_of(code_of(&read), codes)?)
            }
            Step::SetPipeline(sender, action, config, codes) => {
                let set = self.set_pipeline(sender, *action, *config).await;
                Ok(one_of(code_of(&set), codes)?)
            }
            Step::GetPipeline(parts, expected) => Ok(self.shows(*parts, *expected).await?),
            Step::GetPipelineFails(device, parts, codes) => {
                Ok(one_of(code_of(&self.pipeline(*parts, *device).await), codes)?)
            }
            Step::Capabilities(device, codes) => {
                let request = v1::CapabilitiesRequest { device_id: *device };
                Ok(one_of(code_of(&self.client.capabilities(request).await), codes)?)
            }
            Step::Receive(_, ExpectedMessage::Error(..)) => match self.converse(step).await {
                Err(reason) if reason == SILENCE => {
                    Err(End::NotApplicable("no error is reported, which the section leaves open".to_owned()))
                }
                received => Ok(received?),
            },
            Step::Open(..) | Step::Arbitrate(..) | Step::Send(..) | Step::Receive(..) | Step::Close(_) => {
                Ok(self.converse(step).await?)
            }
        }
    }

    async fn converse(&mut self, step: &Step) -> Result<(), String> {
        let (base, patience) = (self.base, self.subject.patience);
        self.used_streams = true;
        match step {
            Step::Open(name, update, election) => {
                let stream = self.open(update.clone(), *election).await;
                self.streams.insert(*name, stream);
            }
            Step::Arbitrate(name, update, election) => {
                let update = self.arbitration(update.clone(), *election);
                self.stream(name)?.send(StreamRequest::Arbitration(update)).await;
            }
            Step::Send(name, update) => self.stream(name)?.send(update.clone()).await,
            Step::Receive(name, received) => self.stream(name)?.receive(received, base, patience).await?,
            Step::Close(name) => drop(self.streams.remove(name)),
            other => return Err(format!("{other:?} is not of a stream")),
        }
        Ok(())
    }

    fn stream(&mut self, name: &str) -> Result<&mut Stream, String> {
        self.streams.get_mut(name).ok_or_else(|| format!("stream `{name}` is not open"))
    }

    /// Runs a step that a server may leave unimplemented.
    async fn optional(&mut self, step: &Step) -> Result<(), End> {
        let code = match step {
            Step::Write(update, _) => self.outcome(update).await.0,
            Step::Batch(updates, atomicity, _) => {
                let written = self.write_as(&Sender::primary(), updates.clone(), (*atomicity).into()).await;
                match &written {
                    // Servers return UNIMPLEMENTED for the call, or for each of its updates.
                    Err(status) => outcomes(status, updates.len()).first().copied().unwrap_or(status.code()),
                    Ok(()) => Code::Ok,
                }
            }
            Step::SetPipeline(sender, action, config, _) => {
                code_of(&self.set_pipeline(sender, *action, *config).await)
            }
            Step::Capabilities(device, _) => {
                let request = v1::CapabilitiesRequest { device_id: *device };
                code_of(&self.client.capabilities(request).await)
            }
            other => return Err(End::Failed(format!("{other:?} is not optional"))),
        };
        if code == Code::Unimplemented {
            let reason = "UNIMPLEMENTED, which the section allows".to_owned();
            return Err(End::NotApplicable(reason));
        }
        let codes = match step {
            Step::Write(_, codes) | Step::SetPipeline(.., codes) | Step::Capabilities(_, codes) => codes,
            Step::Batch(_, _, codes) => codes.first().copied().unwrap_or(crate::step::OK),
            _ => crate::step::OK,
        };
        Ok(one_of(code, codes)?)
    }

    fn arbitration(
        &self,
        update: v1::MasterArbitrationUpdate,
        election: Option<i64>,
    ) -> v1::MasterArbitrationUpdate {
        let device_id = if update.device_id == 0 { self.device() } else { update.device_id };
        v1::MasterArbitrationUpdate { device_id, election_id: self.election(election), ..update }
    }

    async fn open(&mut self, update: v1::MasterArbitrationUpdate, election: Option<i64>) -> Stream {
        let update = StreamRequest::Arbitration(self.arbitration(update, election));
        Stream::open(&mut self.client, update, self.subject.patience).await
    }

    fn election(&self, relative: Option<i64>) -> Option<v1::Uint128> {
        let id = self.base.saturating_add_signed(relative?.into());
        Some(v1::Uint128 { high: (id >> 64) as u64, low: id as u64 })
    }

    /// Waits for the answer to a call.
    async fn answer<T>(
        &self,
        call: impl Future<Output = Result<tonic::Response<T>, Status>>,
    ) -> Result<T, Status> {
        let late = || Status::deadline_exceeded("no answer came");
        timeout(self.subject.patience, call).await.map_err(|_| late())?.map(tonic::Response::into_inner)
    }

    async fn write_as(
        &mut self,
        sender: &Sender,
        updates: Vec<v1::Update>,
        atomicity: i32,
    ) -> Result<(), Status> {
        let request = v1::WriteRequest {
            device_id: sender.device.unwrap_or_else(|| self.device()),
            role: sender.role.to_owned(),
            election_id: self.election(sender.election),
            updates,
            atomicity,
            ..Default::default()
        };
        let mut client = self.client.clone();
        self.answer(client.write(request)).await.map(drop)
    }

    /// Writes one update; returns the status code and the message.
    async fn outcome(&mut self, update: &v1::Update) -> (Code, String) {
        let atomicity = Atomicity::ContinueOnError.into();
        match self.write_as(&Sender::primary(), vec![update.clone()], atomicity).await {
            Ok(()) => (Code::Ok, String::new()),
            Err(status) => {
                let outcome = unpack(&status).and_then(|outcomes| outcomes.into_iter().next());
                outcome.map_or_else(
                    || (status.code(), status.message().to_owned()),
                    |outcome| (outcome.code, outcome.message),
                )
            }
        }
    }

    /// Writes an update. If it is rejected, no entity of its kind may change.
    async fn write_one(&mut self, update: &v1::Update, codes: Codes) -> Result<(), String> {
        let place = container(update).filter(|_| !codes.contains(&Code::Ok));
        let before = match &place {
            Some(place) => Some(self.read(vec![place.clone()]).await),
            None => None,
        };
        let (code, message) = self.outcome(update).await;
        one_of(code, codes).map_err(|wrong| format!("{wrong} {message}").trim_end().to_owned())?;
        if let (Some(place), Some(Ok(before))) = (place, before) {
            let after = self.read(vec![place]).await;
            if after.as_ref().ok() != Some(&before) {
                return Err("the update was refused, and the state is another one".to_owned());
            }
        }
        Ok(())
    }

    async fn batch(
        &mut self,
        updates: &[v1::Update],
        atomicity: Atomicity,
        codes: &[Codes],
    ) -> Result<(), String> {
        let written = self.write_as(&Sender::primary(), updates.to_vec(), atomicity.into()).await;
        let found = match &written {
            Ok(()) => vec![Code::Ok; updates.len()],
            Err(status) => outcomes(status, updates.len()),
        };
        let same =
            found.len() == codes.len() && found.iter().zip(codes).all(|(code, codes)| codes.contains(code));
        if same { Ok(()) } else { Err(format!("{found:?} in place of {codes:?}")) }
    }

    async fn read(&mut self, entities: Vec<v1::Entity>) -> Result<Vec<v1::Entity>, Status> {
        self.read_of(self.device(), entities).await
    }

    async fn read_of(
        &mut self,
        device_id: u64,
        entities: Vec<v1::Entity>,
    ) -> Result<Vec<v1::Entity>, Status> {
        let request = Request::new(v1::ReadRequest { device_id, entities, ..Default::default() });
        let mut client = self.client.clone();
        let mut stream = self.answer(client.read(request)).await?;
        let mut found = Vec::new();
        let late = |_| Status::deadline_exceeded("no answer came");
        while let Some(answer) = timeout(self.subject.patience, stream.message()).await.map_err(late)?? {
            found.extend(answer.entities);
        }
        Ok(found)
    }

    async fn finds(&mut self, request: &v1::Entity, expected: &[v1::Entity]) -> Result<(), String> {
        let mut found = self.read(vec![request.clone()]).await.map_err(|status| status.to_string())?;
        for entity in expected {
            match found.iter().position(|other| other == entity) {
                Some(place) => drop(found.swap_remove(place)),
                None => return Err(format!("{entity:?} is not among {found:?}")),
            }
        }
        if found.is_empty() { Ok(()) } else { Err(format!("{found:?} are found besides")) }
    }

    async fn finds_count(&mut self, requests: Vec<v1::Entity>, count: usize) -> Result<(), String> {
        let found = self.read(requests).await.map_err(|status| status.to_string())?;
        if found.len() == count {
            Ok(())
        } else {
            Err(format!("{} entities are found in place of {count}", found.len()))
        }
    }

    async fn set_pipeline(&mut self, sender: &Sender, action: i32, config: Config) -> Result<(), Status> {
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: sender.device.unwrap_or_else(|| self.device()),
            role: sender.role.to_owned(),
            election_id: self.election(sender.election),
            action,
            config: self.config(config),
            ..Default::default()
        };
        let mut client = self.client.clone();
        self.answer(client.set_forwarding_pipeline_config(request)).await.map(drop)
    }

    fn config(&self, config: Config) -> Option<v1::ForwardingPipelineConfig> {
        let whole = |cookie| v1::ForwardingPipelineConfig {
            p4info: Some(self.subject.p4info.clone()),
            p4_device_config: self.subject.device_config.clone(),
            cookie: Some(Cookie { cookie }),
        };
        match config {
            Config::None => None,
            Config::Whole(cookie) => Some(whole(cookie)),
            Config::NoInfo => Some(v1::ForwardingPipelineConfig { p4info: None, ..whole(1) }),
            Config::Broken => {
                let p4_device_config = Bytes::from_static(b"{\"tables\": 1");
                Some(v1::ForwardingPipelineConfig { p4_device_config, ..whole(1) })
            }
            Config::Inconsistent => {
                let mut config = whole(1);
                if let Some(info) = &mut config.p4info {
                    info.tables.extend(info.tables.first().cloned());
                }
                Some(config)
            }
        }
    }

    async fn pipeline(
        &mut self,
        response_type: i32,
        device: Option<u64>,
    ) -> Result<Option<v1::ForwardingPipelineConfig>, Status> {
        let device_id = device.unwrap_or_else(|| self.device());
        let request = v1::GetForwardingPipelineConfigRequest { device_id, response_type };
        let mut client = self.client.clone();
        Ok(self.answer(client.get_forwarding_pipeline_config(request)).await?.config)
    }

    async fn shows(
        &mut self,
        parts: ResponseType,
        expected: (bool, bool, Option<u64>),
    ) -> Result<(), String> {
        let found = self.pipeline(parts.into(), None).await.map_err(|status| status.to_string())?;
        let Some(found) = found else { return Err("no configuration comes back".to_owned()) };
        let (info, program, cookie) = expected;
        let info = if info { Some(self.subject.p4info.clone()) } else { None };
        if found.p4info != info {
            return Err("the P4Info is not the one that was set, or not asked for".to_owned());
        }
        let program = if program { self.subject.device_config.clone() } else { Bytes::new() };
        if found.p4_device_config != program {
            return Err("the program is not the one that was set, or not asked for".to_owned());
        }
        let found = found.cookie.map(|cookie| cookie.cookie);
        if found == cookie { Ok(()) } else { Err(format!("the cookie is {found:?} in place of {cookie:?}")) }
    }
}

fn read_code(read: Result<Vec<v1::Entity>, Status>) -> Code {
    match read {
        Ok(_) => Code::Ok,
        Err(status) => {
            let failed = unpack(&status).into_iter().flatten().find(|outcome| !outcome.is_ok());
            failed.map_or(status.code(), |outcome| outcome.code)
        }
    }
}

/// Returns the code of each update. If there are no details, this is the code of the call.
fn outcomes(status: &Status, count: usize) -> Vec<Code> {
    let each = unpack(status).map(|outcomes| outcomes.into_iter().map(|outcome| outcome.code).collect());
    each.unwrap_or_else(|| vec![status.code(); count])
}

/// Returns a read request for all entities of the same kind as in an update.
fn container(update: &v1::Update) -> Option<v1::Entity> {
    use v1::packet_replication_engine_entry::Type as Replication;
    let entity = update.entity.as_ref()?.entity.as_ref()?;
    Some(match entity {
        Entity::TableEntry(entry) => {
            let (table_id, is_default_action) = (entry.table_id, entry.is_default_action);
            v1::TableEntry { table_id, is_default_action, ..Default::default() }.into()
        }
        Entity::ActionProfileMember(_) => v1::ActionProfileMember::default().into(),
        Entity::ActionProfileGroup(_) => v1::ActionProfileGroup::default().into(),
        Entity::CounterEntry(_) => v1::CounterEntry::default().into(),
        Entity::MeterEntry(_) => v1::MeterEntry::default().into(),
        Entity::RegisterEntry(_) => v1::RegisterEntry::default().into(),
        Entity::ValueSetEntry(_) => v1::ValueSetEntry::default().into(),
        Entity::DigestEntry(_) => v1::DigestEntry::default().into(),
        Entity::PacketReplicationEngineEntry(entry) => {
            let case = match entry.r#type.as_ref()? {
                Replication::MulticastGroupEntry(_) => {
                    Replication::MulticastGroupEntry(v1::MulticastGroupEntry::default())
                }
                Replication::CloneSessionEntry(_) => {
                    Replication::CloneSessionEntry(v1::CloneSessionEntry::default())
                }
            };
            v1::PacketReplicationEngineEntry { r#type: Some(case) }.into()
        }
        Entity::DirectCounterEntry(_) | Entity::DirectMeterEntry(_) | Entity::ExternEntry(_) => return None,
    })
}
