//! The body of a request while it arrives.
//!
//! In: a body of any length, at any pace. Out: the body, once there is room for it. Invariants: short requests wait for
//! nobody; what is behind the first bytes of a long one waits outside of the memory until it has its share.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use closc_runtime::server::Place;
use http_body::Frame;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Body as HttpBody;

use super::room::Room;
use super::service::{SHORT, Service};

/// Bytes before a message: whether it is compressed, and its length.
const HEAD: usize = 5;

/// On what terms a request may arrive.
pub(super) struct Terms {
    pub(super) service: Service,
    /// The most bytes that its message may have.
    pub(super) most: usize,
    /// Whether it is a Read, which has other room than what writes.
    pub(super) reads: bool,
    /// Its place among the requests of the server.
    pub(super) place: Option<Place>,
    pub(super) room: Room,
}

/// Waits for room.
type Waiting = Pin<Box<dyn Future<Output = OwnedSemaphorePermit> + Send>>;

/// A body that must have arrived by a time, however it trickles, and that waits for room behind its first bytes.
pub(super) struct Arriving {
    body: Body,
    terms: Terms,
    late: Pin<Box<Sleep>>,
    head: Vec<u8>,
    /// Bytes of the body so far.
    seen: usize,
    waiting: Option<Waiting>,
}

impl Arriving {
    pub(super) fn new(body: Body, terms: Terms) -> Self {
        let late = Box::pin(tokio::time::sleep(terms.service.places().limits().stall * 2));
        Self { body, terms, late, head: Vec::with_capacity(HEAD), seen: 0, waiting: None }
    }

    /// Returns the length that the message says it has, once that is there.
    fn length(&self) -> Option<usize> {
        let length: [u8; HEAD] = self.head.as_slice().try_into().ok()?;
        let [_, a, b, c, d] = length;
        usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()
    }

    /// Waits for room where the message is long.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.seen <= SHORT || self.terms.room.is_taken() {
            return Poll::Ready(());
        }
        let bytes = self.length().map_or(self.terms.most, |length| length.min(self.terms.most));
        let waiting = self.waiting.get_or_insert_with(|| {
            let Terms { service, reads, place, .. } = &self.terms;
            let (service, reads) = (service.clone(), *reads);
            let connection = place.as_ref().map(Place::connection);
            Box::pin(async move { service.arriving(bytes, reads, connection).await })
        });
        let Poll::Ready(permit) = waiting.as_mut().poll(context) else {
            // Nothing of it comes meanwhile, so it may have to make room for others.
            self.terms.place.iter().for_each(Place::wait);
            return Poll::Pending;
        };
        self.terms.room.take(permit);
        self.waiting = None;
        // It could not arrive while it waited for others.
        let limit = self.terms.service.places().limits().stall * 2;
        self.late.as_mut().reset(Instant::now() + limit);
        Poll::Ready(())
    }

    /// Counts what came. What is behind the one message of a request has no room, so there must be nothing.
    fn count(&mut self, data: &Bytes) -> Result<(), Status> {
        let missing = HEAD - self.head.len();
        self.head.extend(data.iter().take(missing));
        self.seen += data.len();
        match self.length() {
            Some(length) if self.seen > HEAD + length => {
                Err(Status::invalid_argument("there is more than one message in the request"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        ready!(self.poll_room(context));
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() && self.late.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(Status::deadline_exceeded("the request did not arrive in time"))));
        }
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
            && let Err(status) = self.count(data)
        {
            return Poll::Ready(Some(Err(status)));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
