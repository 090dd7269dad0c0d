//! The answer to a Read, made page by page as the client takes them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use closc_runtime::proto::v1;
use closc_runtime::status::pack;
use closc_runtime::wire::Elements;
use prost::Message as _;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio_stream::Stream;
use tonic::Status;

use super::device::Device;
use crate::switch::ReadState;

/// Size of a response in bytes. A response stays in memory until the client takes it.
const PAGE_BYTES: usize = 16 << 10;

/// Memory limit of one entity of a request.
const ENTITY_BYTES: usize = 1 << 20;

/// The field `entities` of `ReadRequest`.
const ENTITIES: u32 = 2;

/// A Read in progress.
struct Reading {
    device: Arc<Device>,
    requests: Elements<v1::Entity>,
    state: ReadState,
    /// Memory budget of a long request.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Reading {
    /// Returns the next response, which is empty if this page has no entity; `None` after the last.
    fn next(&mut self) -> Result<Option<Bytes>, Status> {
        let page = self.device.switch.read_page(&mut self.requests, &mut self.state, PAGE_BYTES);
        match page {
            Ok(Ok(Some(entities))) => Ok(Some(v1::ReadResponse { entities }.encode_to_vec().into())),
            Ok(Ok(None)) => pack(&self.state.outcomes(), "Read failure.").map(|()| None),
            Ok(Err(error)) => Err(Status::invalid_argument(error.to_string())),
            Err(error) => Err(Status::failed_precondition(error.to_string())),
        }
    }
}

/// A Read and its next page.
type PageResult = (Box<Reading>, Result<Option<Bytes>, Status>);

enum Step {
    Idle(Box<Reading>),
    Working(JoinHandle<PageResult>),
    Done,
}

/// The responses to a Read.
pub(super) struct Answer(Step);

impl Answer {
    pub(super) fn new(device: Arc<Device>, request: Bytes, permit: Option<OwnedSemaphorePermit>) -> Self {
        let requests = Elements::new(request, ENTITIES, ENTITY_BYTES);
        Self(Step::Idle(Box::new(Reading { device, requests, state: ReadState::default(), _permit: permit })))
    }
}

impl Stream for Answer {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match std::mem::replace(&mut self.0, Step::Done) {
                Step::Done => return Poll::Ready(None),
                Step::Idle(mut reading) => {
                    self.0 = Step::Working(tokio::task::spawn_blocking(move || {
                        let page = reading.next();
                        (reading, page)
                    }));
                }
                Step::Working(mut work) => {
                    let done = match Pin::new(&mut work).poll(context) {
                        Poll::Pending => {
                            self.0 = Step::Working(work);
                            return Poll::Pending;
                        }
                        Poll::Ready(done) => done,
                    };
                    let (reading, page) = match done {
                        Ok(done) => done,
                        Err(error) => return Poll::Ready(Some(Err(Status::internal(error.to_string())))),
                    };
                    return Poll::Ready(match page {
                        Ok(Some(page)) if page.is_empty() => {
                            self.0 = Step::Idle(reading);
                            continue;
                        }
                        Ok(Some(page)) => {
                            self.0 = Step::Idle(reading);
                            Some(Ok(page))
                        }
                        Ok(None) => None,
                        Err(status) => Some(Err(status)),
                    });
                }
            }
        }
    }
}
