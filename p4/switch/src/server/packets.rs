//! Packets of ports over gRPC, compatible with BMv2's `--dp-grpc-server-addr`, for switches without interfaces.
//!
//! The service is `p4.bm.DataplaneInterface`. It has only two methods and is implemented by hand.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use closc_runtime::server::{Limits, Place, Places};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service as HttpService, http};
use tonic::server::{Grpc, NamedService, StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use super::endpoint::{Endpoint, EndpointError};
use crate::ports::Interfaces;
use crate::switch::{Outbox, Ports, Switch};

/// The method that exchanges packets.
pub const PACKET_STREAM: &str = "/p4.bm.DataplaneInterface/PacketStream";

/// The method that sets ports up and down.
pub(crate) const SET_PORT_OPER_STATUS: &str = "/p4.bm.DataplaneInterface/SetPortOperStatus";

/// Maximum number of queued packets per client.
const QUEUE: usize = 4_096;

/// A received or sent packet.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PortPacket {
    /// Number of a received packet, repeated in the packets that result from it; 0 if not requested.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// The device.
    #[prost(uint64, tag = "2")]
    pub device_id: u64,
    /// The port.
    #[prost(uint32, tag = "3")]
    pub port: u32,
    /// The packet.
    #[prost(bytes = "vec", tag = "4")]
    pub packet: Vec<u8>,
}

/// The state of a port.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PortStatus {
    #[prost(uint64, tag = "1")]
    pub(crate) device_id: u64,
    #[prost(uint32, tag = "2")]
    pub(crate) port: u32,
    /// 1 for down, 2 for up.
    #[prost(int32, tag = "3")]
    pub(crate) oper_status: i32,
}

/// An empty response.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct EmptyResponse {}

type Clients = BTreeMap<u64, mpsc::Sender<Result<PortPacket, Status>>>;

/// The ports of a switch: its interfaces, and gRPC clients for all other ports. Clones share them.
#[derive(Clone)]
pub(crate) struct PacketService {
    switch: Arc<Switch>,
    interfaces: Arc<Interfaces>,
    clients: Arc<Mutex<(u64, Clients)>>,
}

impl std::fmt::Debug for PacketService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PacketService").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}

impl PacketService {
    /// Returns the service of a switch.
    pub(crate) fn new(switch: Arc<Switch>, interfaces: Arc<Interfaces>) -> Self {
        Self { switch, interfaces, clients: Arc::default() }
    }

    /// Serves it at an address.
    pub(crate) async fn serve(&self, address: SocketAddr) -> Result<Endpoint, EndpointError> {
        let this = self.clone();
        let ticker = tokio::spawn(std::future::pending());
        Endpoint::start(address, None, Places::new(Limits::default()), ticker, |_| this).await
    }

    fn clients(&self) -> MutexGuard<'_, (u64, Clients)> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a packet to its interface, or to the clients.
    fn transmit(&self, id: u64, port: u32, at_ns: u64, frame: &[u8]) {
        if self.interfaces.has(port) {
            self.interfaces.send(port, at_ns, frame);
            return;
        }
        let device_id = self.switch.device_id();
        for client in self.clients().1.values() {
            let packet = PortPacket { id, device_id, port, packet: frame.to_vec() };
            // A client that does not read loses packets, like a full queue.
            let _ = client.try_send(Ok(packet));
        }
    }

    fn receive(&self, packet: &PortPacket, outbox: &mut Outbox) {
        if packet.device_id != self.switch.device_id() {
            tracing::warn!("a packet is for device {}, which is not here", packet.device_id);
            return;
        }
        self.switch.receive_all(std::iter::once((packet.port, packet.packet.as_slice())), outbox);
        for (port, at_ns, frame) in outbox.packets() {
            self.transmit(packet.id, port, at_ns, frame);
        }
        outbox.clear();
    }

    async fn take(self, key: u64, mut packets: Streaming<PortPacket>) {
        let mut outbox = Outbox::new();
        while let Ok(Some(packet)) = packets.message().await {
            self.receive(&packet, &mut outbox);
        }
        self.clients().1.remove(&key);
    }
}

impl Ports for PacketService {
    fn send(&self, port: u32, at_ns: u64, frame: &[u8]) {
        self.transmit(0, port, at_ns, frame);
    }
}

impl StreamingService<PortPacket> for PacketService {
    type Response = PortPacket;
    type ResponseStream = ReceiverStream<Result<PortPacket, Status>>;
    type Future = BoxFuture<Response<Self::ResponseStream>, Status>;

    fn call(&mut self, request: Request<Streaming<PortPacket>>) -> Self::Future {
        if let Some(place) = request.extensions().get::<Place>() {
            place.settle();
        }
        let (sender, packets) = mpsc::channel(QUEUE);
        let key = {
            let mut clients = self.clients();
            clients.0 += 1;
            let key = clients.0;
            clients.1.insert(key, sender);
            key
        };
        tokio::spawn(self.clone().take(key, request.into_inner()));
        Box::pin(async move { Ok(Response::new(ReceiverStream::new(packets))) })
    }
}

impl UnaryService<PortStatus> for PacketService {
    type Response = EmptyResponse;
    type Future = BoxFuture<Response<EmptyResponse>, Status>;

    fn call(&mut self, request: Request<PortStatus>) -> Self::Future {
        let status = request.into_inner();
        let known = status.device_id == self.switch.device_id();
        if known {
            self.switch.set_port(status.port, status.oper_status == 2);
        }
        Box::pin(async move {
            if known { Ok(Response::new(EmptyResponse {})) } else { Err(Status::not_found("no such device")) }
        })
    }
}

impl HttpService<http::Request<Body>> for PacketService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let this = self.clone();
        match request.uri().path() {
            PACKET_STREAM => Box::pin(async move {
                let codec = ProstCodec::<PortPacket, PortPacket>::default();
                Ok(Grpc::new(codec).streaming(this, request).await)
            }),
            SET_PORT_OPER_STATUS => Box::pin(async move {
                let codec = ProstCodec::<EmptyResponse, PortStatus>::default();
                Ok(Grpc::new(codec).unary(this, request).await)
            }),
            _ => Box::pin(async move { Ok(Status::unimplemented("no such method").into_http()) }),
        }
    }
}

impl NamedService for PacketService {
    const NAME: &'static str = "p4.bm.DataplaneInterface";
}
