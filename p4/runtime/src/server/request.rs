//! A request with a place. Its bodies show whether it is stalled.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Body as HttpBody;

use super::roster::{ConnectionPlace, Side};

/// The place of a request, stored in the extensions of the request.
#[derive(Debug, Clone)]
pub struct Place(Arc<RequestState>);

#[derive(Debug)]
struct RequestState {
    place: ConnectionPlace,
    connection: u64,
    settled: AtomicBool,
}

impl Place {
    /// Returns the place of a request on the connection with this number.
    pub(super) fn new(seat: ConnectionPlace, connection: u64) -> Self {
        Place(Arc::new(RequestState { place: seat, connection, settled: AtomicBool::new(false) }))
    }

    /// Returns the number of the connection, which is never reused.
    pub fn connection(&self) -> u64 {
        self.0.connection
    }

    /// Marks the request as stalled until it makes progress, because it waits for others.
    pub fn wait(&self) {
        self.stand(Side::Incoming);
    }

    /// Keeps the place even if the request is stalled. This is for the stream of a controller, which waits for
    /// messages.
    pub fn settle(&self) {
        self.0.settled.store(true, Ordering::Release);
        self.0.place.move_on(Side::Incoming);
        self.0.place.move_on(Side::Outgoing);
    }

    fn stand(&self, side: Side) {
        if !self.0.settled.load(Ordering::Acquire) {
            self.0.place.stand(side);
        }
    }

    fn move_on(&self, side: Side) {
        self.0.place.move_on(side);
    }
}

/// A body that reports stalls. The body of a request stalls while no bytes arrive from the client. The body of an
/// answer stalls while the client does not accept the next part.
pub(super) struct WatchedBody {
    pub(super) place: Place,
    pub(super) side: Side,
    pub(super) body: Body,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let stands = match self.side {
            Side::Incoming => frame.is_pending(),
            // The transport polls for the next frame only when it has room for it.
            Side::Outgoing => frame.is_ready(),
        };
        if stands {
            self.place.stand(self.side);
        } else {
            self.place.move_on(self.side);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        match self.side {
            Side::Incoming => self.place.move_on(Side::Incoming),
            // The place is freed when the answer ends.
            Side::Outgoing => {}
        }
    }
}
