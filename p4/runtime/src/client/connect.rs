//! The connection to one device of a target.

use std::sync::Arc;
use std::time::Duration;

use prost::{Message, Name};
use tokio::time::timeout;
use tonic::client::Grpc;
use tonic::metadata::MetadataMap;
use tonic::transport::Channel;
use tonic::{Extensions, Request, Status};

use super::endpoint::Endpoint;
use super::error::{ClientError, Rpc};
use super::fault::{ConnectFault, diagnose};
use super::options::Options;
use super::probe;
use crate::election::DeviceId;
use crate::proto::v1;
use crate::wire::{self, RawCodec, WireError};

/// HTTP/2 windows that are large enough to send a batch or a table without waiting for the other side.
const WINDOW_BYTES: u32 = 2 << 20;

/// A connection to one device of a target. Clones share it.
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) channel: Channel,
    pub(super) target: Arc<Target>,
}

/// Context of every call.
#[derive(Debug)]
pub(super) struct Target {
    /// The address, for messages.
    pub(super) endpoint: String,
    pub(super) device: DeviceId,
    pub(super) options: Options,
    /// The endpoint with its certificates, if the connection uses TLS.
    tls_endpoint: Option<Endpoint>,
}

impl Client {
    /// Connects to a target.
    pub async fn connect(
        endpoint: &Endpoint,
        device: DeviceId,
        options: Options,
    ) -> Result<Self, ClientError> {
        let name = endpoint.address().to_owned();
        let transport = transport(endpoint, &options)?;
        let channel = match timeout(options.deadlines.connect, transport.connect()).await {
            Ok(Ok(channel)) => channel,
            Ok(Err(error)) => return Err(ClientError::Connect { endpoint: name, fault: diagnose(&error) }),
            Err(_) => return Err(ClientError::Connect { endpoint: name, fault: ConnectFault::Timeout }),
        };
        Ok(Client::on(channel, endpoint, device, options))
    }

    /// Returns a client on an existing channel, such as one within the same process.
    pub fn over(channel: Channel, endpoint: &str, device: DeviceId, options: Options) -> Self {
        let target = Target { endpoint: endpoint.to_owned(), device, options, tls_endpoint: None };
        Client { channel, target: Arc::new(target) }
    }

    fn on(channel: Channel, endpoint: &Endpoint, device: DeviceId, options: Options) -> Self {
        let encrypted = endpoint.certificates().map(|_| endpoint.clone());
        let target =
            Target { endpoint: endpoint.address().to_owned(), device, options, tls_endpoint: encrypted };
        Client { channel, target: Arc::new(target) }
    }

    /// Returns a client for another device on the same connection.
    #[must_use]
    pub fn of(&self, device: DeviceId) -> Self {
        let Target { endpoint, device: _, options, tls_endpoint: encrypted } = self.target.as_ref();
        let (endpoint, encrypted) = (endpoint.clone(), encrypted.clone());
        let target = Arc::new(Target { endpoint, device, options: *options, tls_endpoint: encrypted });
        Client { channel: self.channel.clone(), target }
    }

    /// Returns the channel, for messages that no method of a client sends.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Returns the address of the target.
    pub fn endpoint(&self) -> &str {
        &self.target.endpoint
    }

    /// Returns the device.
    pub fn device(&self) -> DeviceId {
        self.target.device
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.target.options
    }

    /// Gets the capabilities, which include the version of the API.
    pub async fn capabilities(&self) -> Result<v1::CapabilitiesResponse, ClientError> {
        let request = v1::CapabilitiesRequest { device_id: self.target.device.0 };
        self.unary(Rpc::Capabilities, self.target.options.deadlines.capabilities, &request).await
    }

    /// Returns the gRPC client for calls; it leaves messages encoded.
    pub(super) fn grpc(&self) -> Grpc<Channel> {
        Grpc::new(self.channel.clone())
            .max_decoding_message_size(self.target.options.decode_limit)
            .max_encoding_message_size(usize::MAX)
    }

    /// Makes a unary call.
    pub(super) async fn unary<A: Message + Name + Default>(
        &self,
        rpc: Rpc,
        deadline: Duration,
        request: &impl Message,
    ) -> Result<A, ClientError> {
        self.unary_with(rpc, deadline, request, MetadataMap::new()).await
    }

    /// Makes a unary call with metadata.
    pub(crate) async fn unary_with<A: Message + Name + Default>(
        &self,
        rpc: Rpc,
        deadline: Duration,
        request: &impl Message,
        metadata: MetadataMap,
    ) -> Result<A, ClientError> {
        let mut grpc = self.grpc();
        let request = Request::from_parts(metadata, Extensions::default(), request.encode_to_vec().into());
        let call = async {
            ready(&mut grpc).await?;
            grpc.unary(request, rpc.path(), RawCodec).await
        };
        let answer = self.target.call(rpc, deadline, call).await?.into_inner();
        wire::decode(answer, self.target.options.memory_limit)
            .map_err(|error| self.protocol_error(rpc, &error))
    }

    /// Returns the error for an answer that is malformed or takes too much memory.
    pub(super) fn protocol_error(&self, rpc: Rpc, error: &WireError) -> ClientError {
        ClientError::Protocol { endpoint: self.endpoint().to_owned(), rpc, reason: error.to_string() }
    }
}

/// Waits until the channel is ready for another call.
pub(super) async fn ready(grpc: &mut Grpc<Channel>) -> Result<(), Status> {
    grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))
}

impl Target {
    /// Waits for a call, but no longer than its deadline.
    pub(super) async fn call<T>(
        &self,
        rpc: Rpc,
        deadline: Duration,
        call: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, ClientError> {
        match timeout(deadline, call).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(status)) => {
                Err(self.explain(ClientError::from_status(&self.endpoint, rpc, &status)).await)
            }
            Err(_) => Err(ClientError::Deadline { endpoint: self.endpoint.clone(), rpc, deadline }),
        }
    }
}

impl Target {
    /// Finds out whether a TLS connection broke because the target rejected the certificate of the client.
    pub(super) async fn explain(&self, error: ClientError) -> ClientError {
        let (ClientError::Connect { fault: ConnectFault::Broken { .. }, .. }, Some(endpoint)) =
            (&error, &self.tls_endpoint)
        else {
            return error;
        };
        match probe::refusal(endpoint, self.options.deadlines.connect).await {
            Some(fault) => {
                ClientError::Connect { endpoint: self.endpoint.clone(), fault: ConnectFault::Tls(fault) }
            }
            None => error,
        }
    }
}

fn transport(endpoint: &Endpoint, options: &Options) -> Result<tonic::transport::Endpoint, ClientError> {
    let mut transport = endpoint
        .transport()
        .connect_timeout(options.deadlines.connect)
        .tcp_nodelay(true)
        .tcp_keepalive(Some(Duration::from_secs(15)))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES * 2)
        .http2_max_header_list_size(options.header_limit);
    if let Some(interval) = options.keep_alive {
        transport = transport.http2_keep_alive_interval(interval).keep_alive_while_idle(true);
    }
    let Some(tls) = endpoint.tls_config() else { return Ok(transport) };
    let credentials = |error: tonic::transport::Error| {
        let reason = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        ClientError::Credentials { endpoint: endpoint.address().to_owned(), reason }
    };
    transport.tls_config(tls).map_err(credentials)
}
