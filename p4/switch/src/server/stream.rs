//! A stream of a controller: arbitration, packet-outs, acknowledgements, and their errors.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use closc_runtime::election::DeviceId;
use closc_runtime::proto::v1;
use closc_runtime::server::{Limits, Place, Refusal, StreamId};
use closc_runtime::wire;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tonic::{Code, Status, Streaming};
use v1::stream_error::Details;
use v1::stream_message_request::Update as Request;
use v1::stream_message_response::Update;

use super::device::Device;
use super::leaders::Leaders;
use super::outlet::{Outlet, encode_update};
use crate::switch::PacketOutError;

/// Memory limit of a message, per byte of its maximum size.
const DECODED_FACTOR: usize = 16;

/// A stream that is open.
pub(super) struct Conversation {
    pub(super) devices: Arc<BTreeMap<u64, Arc<Device>>>,
    pub(super) id: StreamId,
    pub(super) outlet: Outlet,
    /// The device of the first arbitration.
    pub(super) device: Option<Arc<Device>>,
    pub(super) limits: Limits,
    /// The stream's part of the request limit.
    pub(super) place: Option<Place>,
    /// Connections of primaries.
    pub(super) leaders: Arc<Leaders>,
}

/// Waits until streams must end.
async fn wait_for_close(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        // The sender of the signal is gone.
        std::future::pending::<()>().await;
    }
}

impl Conversation {
    /// Processes messages until the stream ends.
    pub(super) async fn run(mut self, mut requests: Streaming<Bytes>, mut closing: watch::Receiver<bool>) {
        let arbitrated_by = Instant::now() + self.limits.handshake;
        let outlet = self.outlet.clone();
        loop {
            let end = tokio::select! {
                message = requests.message() => match message {
                    Ok(Some(message)) => self.receive(message).await.err(),
                    Ok(None) | Err(_) => break,
                },
                () = wait_for_close(&mut closing) => Some(Status::unavailable("the switch is shut down")),
                () = outlet.overrun() => {
                    Some(Status::resource_exhausted("the controller does not take its messages"))
                }
                () = sleep_until(arbitrated_by), if self.device.is_none() => {
                    Some(Status::deadline_exceeded("the controller took no part in the arbitration"))
                }
            };
            if let Some(status) = end {
                self.outlet.end(status);
                break;
            }
        }
        if let Some(device) = self.device.take() {
            let id = self.id;
            if let Some(place) = &self.place {
                self.leaders.leave(place.connection(), id);
            }
            // When the runtime shuts down, it drops the task and with it the controllers.
            let _ = tokio::task::spawn_blocking(move || device.disconnect(id)).await;
        }
    }

    async fn receive(&mut self, message: Bytes) -> Result<(), Status> {
        let budget = DECODED_FACTOR * self.limits.stream_message_bytes;
        let message = wire::decode::<v1::StreamMessageRequest>(message, budget)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        match message.update {
            Some(update) => self.handle(update).await,
            None => Ok(()),
        }
    }

    async fn handle(&mut self, update: Request) -> Result<(), Status> {
        match update {
            Request::Arbitration(message) => self.arbitrate(message).await,
            Request::Packet(packet) => {
                self.packet_out(packet).await;
                Ok(())
            }
            Request::DigestAck(ack) => {
                self.acknowledge(ack).await;
                Ok(())
            }
            Request::Other(message) => {
                let details = Details::Other(v1::StreamOtherError { other: Some(message) });
                self.error(Code::Unimplemented, "messages of other architectures are not known", details)
                    .await;
                Ok(())
            }
        }
    }

    async fn arbitrate(&mut self, message: v1::MasterArbitrationUpdate) -> Result<(), Status> {
        let asked = DeviceId(message.device_id);
        let device = match &self.device {
            Some(device) if device.switch.device_id() != asked.0 => {
                let own = DeviceId(device.switch.device_id());
                return Err(Refusal::OtherDevice { device: own, requested_device: asked }.into());
            }
            Some(device) => Arc::clone(device),
            None => {
                let device = self.devices.get(&asked.0).ok_or(Refusal::UnknownDevice { device: asked })?;
                Arc::clone(device)
            }
        };
        self.device = Some(Arc::clone(&device));
        let (id, outlet) = (self.id, self.outlet.clone());
        if let Some(place) = &self.place {
            self.leaders.join(place.connection(), id, &device);
        }
        // A write of the old primary may still be in progress.
        let done = tokio::task::spawn_blocking(move || device.arbitrate(id, &outlet, &message)).await;
        done.map_err(|error| Status::internal(error.to_string()))?.map_err(Status::from)?;
        if let Some(place) = &self.place {
            place.settle();
        }
        Ok(())
    }

    async fn packet_out(&self, packet: v1::PacketOut) {
        let details = |packet| Details::PacketOut(v1::PacketOutError { packet_out: Some(packet) });
        let Some(device) = self.primary() else {
            self.error(Code::PermissionDenied, "only a primary may send packets", details(packet)).await;
            return;
        };
        let result = device.switch.packet_out(packet.clone());
        if let Err(error) = result {
            let code = match &error {
                PacketOutError::NoPipeline | PacketOutError::NoPort => Code::FailedPrecondition,
                PacketOutError::Metadata(_) => Code::InvalidArgument,
            };
            self.error(code, &error.to_string(), details(packet)).await;
        }
    }

    async fn acknowledge(&self, ack: v1::DigestListAck) {
        let details = Details::DigestListAck(v1::DigestListAckError { digest_list_ack: Some(ack) });
        match self.primary() {
            None => {
                self.error(Code::PermissionDenied, "only a primary may acknowledge digests", details).await;
            }
            Some(device) if !device.switch.acknowledge(ack) => {
                let message = format!("the program has no digest with id {}", ack.digest_id);
                self.error(Code::InvalidArgument, &message, details).await;
            }
            Some(_) => {}
        }
    }

    /// Returns the device, if this stream is its primary.
    fn primary(&self) -> Option<&Arc<Device>> {
        self.device.as_ref().filter(|device| device.is_primary(self.id))
    }

    async fn error(&self, code: Code, message: &str, details: Details) {
        let error = v1::StreamError {
            canonical_code: code as i32,
            message: message.to_owned(),
            space: String::new(),
            code: 0,
            details: Some(details),
        };
        self.outlet.send(Ok(encode_update(Update::Error(error)))).await;
    }
}
