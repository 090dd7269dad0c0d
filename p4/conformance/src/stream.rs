//! A stream between a controller and a server.

use std::time::Duration;

use closc_runtime::proto::v1;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Streaming};
use v1::p4_runtime_client::P4RuntimeClient;
use v1::stream_error::Details as Of;
use v1::stream_message_request::Update as Request;
use v1::stream_message_response::Update;

use crate::step::{Codes, Details, ExpectedMessage};

/// Capacity of the queue of messages to send.
const WAITING: usize = 64;

/// The error if no message arrives in time.
pub(crate) const SILENCE: &str = "no message came in time";

/// A stream.
pub(crate) struct Stream {
    requests: mpsc::Sender<v1::StreamMessageRequest>,
    messages: Option<Streaming<v1::StreamMessageResponse>>,
    /// The code with which the stream ended, if it did.
    end_code: Option<Code>,
}

impl Stream {
    /// Opens a stream and sends the first message, because some servers answer only after it.
    pub(crate) async fn open(
        client: &mut P4RuntimeClient<Channel>,
        first: Request,
        patience: Duration,
    ) -> Self {
        let (requests, stream) = mpsc::channel(WAITING);
        let message = v1::StreamMessageRequest { update: Some(first) };
        // The queue is empty, so this never fails.
        let _ = requests.try_send(message);
        let opened = timeout(patience, client.stream_channel(ReceiverStream::new(stream))).await;
        match opened {
            Ok(Ok(messages)) => Stream { requests, messages: Some(messages.into_inner()), end_code: None },
            Ok(Err(status)) => Stream { requests, messages: None, end_code: Some(status.code()) },
            Err(_) => Stream { requests, messages: None, end_code: Some(Code::DeadlineExceeded) },
        }
    }

    pub(crate) async fn send(&self, update: Request) {
        let message = v1::StreamMessageRequest { update: Some(update) };
        // If the server has ended the stream, the next receive returns the error.
        let _ = self.requests.send(message).await;
    }

    /// Returns the next message, or the code with which the stream ended. Returns `None` if no message arrives in time.
    async fn next(&mut self, patience: Duration) -> Option<Result<Update, Code>> {
        if let Some(code) = self.end_code {
            return Some(Err(code));
        }
        let messages = self.messages.as_mut()?;
        let code = match timeout(patience, messages.message()).await.ok()? {
            Ok(Some(message)) => match message.update {
                Some(update) => return Some(Ok(update)),
                None => Code::Internal,
            },
            Ok(None) => Code::Ok,
            Err(status) => status.code(),
        };
        self.end_code = Some(code);
        Some(Err(code))
    }

    /// Waits for a message of the wanted kind, skips other kinds, and compares it with the expected one. The end of the
    /// stream is compared too.
    pub(crate) async fn receive(
        &mut self,
        wanted: &ExpectedMessage,
        base: u128,
        patience: Duration,
    ) -> Result<(), String> {
        loop {
            let Some(next) = self.next(patience).await else { return Err(SILENCE.to_owned()) };
            let update = match (next, wanted) {
                (Err(code), ExpectedMessage::End(codes)) => return one_of(code, codes),
                (Err(code), _) => return Err(format!("the stream ended with {code:?}")),
                (Ok(update), _) => update,
            };
            match (update, wanted) {
                (Update::Arbitration(update), ExpectedMessage::Arbitration(code, election)) => {
                    let wanted = election.map(|election| base.saturating_add_signed(election.into()));
                    return arbitration(&update, *code, wanted);
                }
                (Update::Error(error), ExpectedMessage::Error(codes, details)) => {
                    one_of(Code::from_i32(error.canonical_code), codes)?;
                    let found = details_of(&error);
                    let same = found == Some(*details);
                    return if same { Ok(()) } else { Err(format!("the error is about {found:?}")) };
                }
                _ => {}
            }
        }
    }
}

/// Checks that a code is one of the allowed codes.
pub(crate) fn one_of(code: Code, codes: Codes) -> Result<(), String> {
    if codes.contains(&code) { Ok(()) } else { Err(format!("{code:?} in place of {codes:?}")) }
}

fn arbitration(
    update: &v1::MasterArbitrationUpdate,
    code: Code,
    election: Option<u128>,
) -> Result<(), String> {
    let found = update.status.as_ref().map(|status| Code::from_i32(status.code));
    if found != Some(code) {
        return Err(format!("the notification has {found:?} in place of {code:?}"));
    }
    let id = update.election_id.map(|id| u128::from(id.high) << 64 | u128::from(id.low));
    if id == election { Ok(()) } else { Err(format!("the election id is {id:?} in place of {election:?}")) }
}

fn details_of(error: &v1::StreamError) -> Option<Details> {
    Some(match error.details.as_ref()? {
        Of::PacketOut(_) => Details::PacketOut,
        Of::DigestListAck(_) => Details::DigestListAck,
        Of::Other(_) => Details::Other,
    })
}
