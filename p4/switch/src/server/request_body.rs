//! The body of a request while it arrives.
//!
//! In: a body of any length, at any pace. Out: the body, once there is memory for it. Invariants: short requests never
//! wait. After its first bytes, a long request is not read until it has its share of the memory.

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

use super::request_budget::RequestBudget;
use super::service::{SHORT, Service};

/// Bytes before a message: compression flag and length.
const HEAD: usize = 5;

/// Limits for an arriving request.
pub(super) struct Terms {
    pub(super) service: Service,
    /// Maximum size of its message.
    pub(super) max_bytes: usize,
    /// Whether it is a Read, which has a separate memory budget.
    pub(super) reads: bool,
    /// Its place among the requests of the server.
    pub(super) place: Option<Place>,
    pub(super) budget: RequestBudget,
}

/// Waits for memory.
type PermitWait = Pin<Box<dyn Future<Output = OwnedSemaphorePermit> + Send>>;

/// A body with a deadline for its complete arrival, which waits for memory after its first bytes.
pub(super) struct RequestBody {
    body: Body,
    terms: Terms,
    late: Pin<Box<Sleep>>,
    head: Vec<u8>,
    /// Bytes of the body so far.
    received_bytes: usize,
    permit_wait: Option<PermitWait>,
}

impl RequestBody {
    pub(super) fn new(body: Body, terms: Terms) -> Self {
        let late = Box::pin(tokio::time::sleep(terms.service.places().limits().stall * 2));
        Self { body, terms, late, head: Vec::with_capacity(HEAD), received_bytes: 0, permit_wait: None }
    }

    /// Returns the declared length of the message, once it has arrived.
    fn length(&self) -> Option<usize> {
        let length: [u8; HEAD] = self.head.as_slice().try_into().ok()?;
        let [_, a, b, c, d] = length;
        usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()
    }

    /// Waits for memory if the message is long.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.received_bytes <= SHORT || self.terms.budget.is_taken() {
            return Poll::Ready(());
        }
        let bytes = self.length().map_or(self.terms.max_bytes, |length| length.min(self.terms.max_bytes));
        let waiting = self.permit_wait.get_or_insert_with(|| {
            let Terms { service, reads, place, .. } = &self.terms;
            let (service, reads) = (service.clone(), *reads);
            let connection = place.as_ref().map(Place::connection);
            Box::pin(async move { service.reserve_arrival(bytes, reads, connection).await })
        });
        let Poll::Ready(permit) = waiting.as_mut().poll(context) else {
            // The request is idle in the meantime, so it may be removed in favour of others.
            self.terms.place.iter().for_each(Place::wait);
            return Poll::Pending;
        };
        self.terms.budget.take(permit);
        self.permit_wait = None;
        // The rest of the request could not arrive during the wait, so the deadline is extended.
        let limit = self.terms.service.places().limits().stall * 2;
        self.late.as_mut().reset(Instant::now() + limit);
        Poll::Ready(())
    }

    /// Counts the received bytes. Data after the single message has no budget, so it is rejected.
    fn count(&mut self, data: &Bytes) -> Result<(), Status> {
        let missing = HEAD - self.head.len();
        self.head.extend(data.iter().take(missing));
        self.received_bytes += data.len();
        match self.length() {
            Some(length) if self.received_bytes > HEAD + length => {
                Err(Status::invalid_argument("there is more than one message in the request"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl HttpBody for RequestBody {
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
