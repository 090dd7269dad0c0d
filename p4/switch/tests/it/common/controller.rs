//! A minimal controller with only the generated client, so that tests determine every message.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use closc_runtime::proto::v1;
use closc_switch::{Endpoint, Service, Switch, SwitchConfig};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{self, Channel};
use tonic::{Code, Status, Streaming};
use v1::p4_runtime_client::P4RuntimeClient;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::stream_message_request::Update as Request;
use v1::stream_message_response::Update;
use v1::write_request::Atomicity;

/// The device of most tests.
pub const DEVICE: u64 = 7;

/// Timeout for any operation.
const PATIENCE: Duration = Duration::from_mins(5);

/// Returns a switch with a controller port.
pub fn switch(device_id: u64) -> Arc<Switch> {
    let cpu_port = Some(super::CPU);
    Arc::new(Switch::new(SwitchConfig { device_id, cpu_port, ..SwitchConfig::default() }))
}

/// Serves switches on a free port of this machine.
pub async fn serve(switches: impl IntoIterator<Item = Arc<Switch>>) -> Endpoint {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Endpoint::serve(Service::new(switches), address, None).await.expect("a free port")
}

/// Returns the URI of a network address or a local socket.
fn uri(address: &str) -> String {
    if address.starts_with("unix:") { address.to_owned() } else { format!("http://{address}") }
}

/// A controller with a stream.
pub struct Controller {
    pub client: P4RuntimeClient<Channel>,
    device: u64,
    election: u64,
    requests: mpsc::Sender<v1::StreamMessageRequest>,
    messages: Streaming<v1::StreamMessageResponse>,
}

impl Controller {
    /// Opens a stream and takes part in the arbitration; returns the answer.
    pub async fn open(address: impl ToString, device: u64, election: u64) -> (Self, Result<Code, Status>) {
        let channel = transport::Endpoint::from_shared(uri(&address.to_string())).expect("an address");
        let channel = channel.connect().await.expect("the server listens");
        let mut client = P4RuntimeClient::new(channel).max_decoding_message_size(usize::MAX);
        let (requests, stream) = mpsc::channel(1024);
        // Some servers only respond with their first message, so a message is sent first.
        let first = v1::StreamMessageRequest { update: Some(arbitration(device, election)) };
        requests.send(first).await.expect("there is room");
        let messages =
            client.stream_channel(ReceiverStream::new(stream)).await.expect("a stream").into_inner();
        let mut this = Self { client, device, election, requests, messages };
        let answer = this.arbitration().await;
        (this, answer)
    }

    /// Opens a stream and becomes primary.
    pub async fn primary(address: impl ToString, device: u64, election: u64) -> Self {
        let (this, answer) = Self::open(address, device, election).await;
        assert_eq!(answer.expect("the stream lives"), Code::Ok);
        this
    }

    /// Sends an arbitration message.
    pub async fn arbitrate(&mut self, election: u64) {
        self.election = election;
        self.send(arbitration(self.device, election)).await;
    }

    /// Sends a message on the stream.
    pub async fn send(&self, update: Request) {
        let message = v1::StreamMessageRequest { update: Some(update) };
        self.requests.send(message).await.expect("the stream lives");
    }

    /// Returns the next message of the stream.
    pub async fn message(&mut self) -> Result<Update, Status> {
        let next = tokio::time::timeout(PATIENCE, self.messages.message()).await.expect("a message in time");
        Ok(next?.and_then(|message| message.update).expect("the stream lives and has something to say"))
    }

    /// Returns the code of the next message, which must be about arbitration.
    pub async fn arbitration(&mut self) -> Result<Code, Status> {
        match self.message().await? {
            Update::Arbitration(update) => Ok(Code::from_i32(update.status.expect("a server fills it").code)),
            other => panic!("not about arbitration: {other:?}"),
        }
    }

    fn election_id(&self) -> v1::Uint128 {
        v1::Uint128 { high: 0, low: self.election }
    }

    /// Sets a pipeline.
    pub async fn set(
        &mut self,
        action: Action,
        config: Option<v1::ForwardingPipelineConfig>,
    ) -> Result<(), Status> {
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: self.device,
            election_id: Some(self.election_id()),
            action: action.into(),
            config,
            ..Default::default()
        };
        self.client.set_forwarding_pipeline_config(request).await.map(drop)
    }

    /// Sets the pipeline with all features.
    pub async fn set_features(&mut self) {
        self.set(Action::VerifyAndCommit, Some(features_config(1))).await.expect("it can be realized");
    }

    pub async fn write(&mut self, updates: Vec<v1::Update>, atomicity: Atomicity) -> Result<(), Status> {
        let request = v1::WriteRequest {
            device_id: self.device,
            election_id: Some(self.election_id()),
            updates,
            atomicity: atomicity.into(),
            ..Default::default()
        };
        self.client.write(request).await.map(drop)
    }

    /// Writes updates, all of which must succeed.
    pub async fn write_ok(&mut self, updates: Vec<v1::Update>) {
        self.write(updates, Atomicity::ContinueOnError).await.expect("the updates are right");
    }

    /// Reads; returns the responses and the status.
    pub async fn read(&mut self, entities: Vec<v1::Entity>) -> (Vec<v1::ReadResponse>, Result<(), Status>) {
        let request = v1::ReadRequest { device_id: self.device, entities, ..Default::default() };
        let mut responses = Vec::new();
        let mut stream = match self.client.read(request).await {
            Ok(stream) => stream.into_inner(),
            Err(status) => return (responses, Err(status)),
        };
        loop {
            match stream.message().await {
                Ok(Some(response)) => responses.push(response),
                Ok(None) => return (responses, Ok(())),
                Err(status) => return (responses, Err(status)),
            }
        }
    }

    /// Reads, which must succeed.
    pub async fn read_ok(&mut self, entity: impl Into<v1::Entity>) -> Vec<v1::Entity> {
        let (responses, end) = self.read(vec![entity.into()]).await;
        end.expect("the request is right");
        responses.into_iter().flat_map(|response| response.entities).collect()
    }
}

fn arbitration(device_id: u64, election: u64) -> Request {
    let election_id = Some(v1::Uint128 { high: 0, low: election });
    Request::Arbitration(v1::MasterArbitrationUpdate { device_id, election_id, ..Default::default() })
}

/// Returns the pipeline with all features, as a controller sends it.
pub fn features_config(cookie: u64) -> v1::ForwardingPipelineConfig {
    v1::ForwardingPipelineConfig {
        p4info: Some(closc_runtime::text::read_p4info(super::FEATURES_INFO).expect("a P4Info")),
        p4_device_config: super::FEATURES.into(),
        cookie: Some(v1::forwarding_pipeline_config::Cookie { cookie }),
    }
}
