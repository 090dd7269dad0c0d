//! Queues of messages for controllers, limited in number and in bytes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use closc_runtime::proto::v1;
use prost::Message as _;
use tokio::sync::{Notify, mpsc};
use tokio_stream::Stream;
use tonic::Status;
use v1::stream_message_response::Update;

/// Maximum number of queued messages per controller.
const QUEUE: usize = 8_192;

/// Number of queue slots reserved for messages that must not be lost; packets cannot use them.
const RESERVED: usize = 256;

/// Encodes a message.
pub(super) fn encode_update(update: Update) -> Bytes {
    v1::StreamMessageResponse { update: Some(update) }.encode_to_vec().into()
}

#[derive(Debug, Default)]
struct QueueState {
    /// Queued bytes.
    queued_bytes: AtomicUsize,
    /// Notified when the queue has no space for a message that must not be lost.
    overrun: Notify,
}

/// The sending end of the queue of a stream.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    sender: mpsc::Sender<Result<Bytes, Status>>,
    state: Arc<QueueState>,
    limit: usize,
}

/// Makes a queue and returns both ends.
pub(super) fn queue(limit: usize) -> (Outlet, Messages) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let shared = Arc::<QueueState>::default();
    (Outlet { sender, state: Arc::clone(&shared), limit }, Messages { receiver, state: shared })
}

impl Outlet {
    /// Adds a message; it is lost if the queue is full.
    pub(super) fn offer(&self, message: &Bytes) {
        let queued = self.state.queued_bytes.load(Ordering::Acquire);
        if self.sender.capacity() > RESERVED && queued + message.len() <= self.limit {
            self.count(message);
            if self.sender.try_send(Ok(message.clone())).is_err() {
                self.state.queued_bytes.fetch_sub(message.len(), Ordering::AcqRel);
            }
        }
    }

    /// Adds a message that must not be lost: without space, the stream of the controller is ended.
    pub(super) fn deliver(&self, message: Bytes) {
        self.count(&message);
        let length = message.len();
        if self.sender.try_send(Ok(message)).is_err() {
            self.state.queued_bytes.fetch_sub(length, Ordering::AcqRel);
            self.state.overrun.notify_one();
        }
    }

    /// Adds a message, waiting for space; it is lost if the receiving end is gone.
    pub(super) async fn send(&self, message: Result<Bytes, Status>) {
        let length = message.as_ref().map_or(0, Bytes::len);
        self.state.queued_bytes.fetch_add(length, Ordering::AcqRel);
        if self.sender.send(message).await.is_err() {
            self.state.queued_bytes.fetch_sub(length, Ordering::AcqRel);
        }
    }

    /// Ends the stream with a status, if there is space for it.
    pub(super) fn end(&self, status: Status) {
        // Without space, the stream ends without a status.
        let _ = self.sender.try_send(Err(status));
    }

    /// Waits until the queue has no space for a message that must not be lost.
    pub(super) async fn overrun(&self) {
        self.state.overrun.notified().await;
    }

    fn count(&self, message: &Bytes) {
        self.state.queued_bytes.fetch_add(message.len(), Ordering::AcqRel);
    }
}

/// The receiving end of the queue of a stream.
#[derive(Debug)]
pub(super) struct Messages {
    receiver: mpsc::Receiver<Result<Bytes, Status>>,
    state: Arc<QueueState>,
}

impl Stream for Messages {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let message = ready!(self.receiver.poll_recv(context));
        if let Some(Ok(message)) = &message {
            self.state.queued_bytes.fetch_sub(message.len(), Ordering::AcqRel);
        }
        Poll::Ready(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_stream::StreamExt as _;

    #[tokio::test]
    async fn packets_are_lost_before_the_bytes_run_out_and_news_end_the_stream() {
        let (outlet, mut messages) = queue(100);
        let packet = Bytes::from(vec![1; 40]);
        for _ in 0..10 {
            outlet.offer(&packet);
        }
        assert_eq!(outlet.state.queued_bytes.load(Ordering::Acquire), 80);
        assert!(messages.next().await.is_some());
        outlet.offer(&packet);
        assert_eq!(outlet.state.queued_bytes.load(Ordering::Acquire), 80);
        for _ in 0..=QUEUE {
            outlet.deliver(Bytes::new());
        }
        outlet.overrun().await;
    }
}
