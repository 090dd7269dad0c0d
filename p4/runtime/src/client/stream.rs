//! The task of a session: opens the stream, sends and receives, and reopens the stream when it breaks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use prost::Message as _;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Streaming};

use super::connect::{Client, ready};
use super::controller::{Controller, Primacy};
use super::error::{ClientError, Rpc};
use super::event::{Event, SessionState};
use crate::election::ElectionId;
use crate::proto::v1;
use crate::wire::{self, RawCodec};
use v1::stream_message_request::Update;
use v1::stream_message_response::Update as Response;

/// Requests of a session to its stream.
#[derive(Debug)]
pub(super) enum Command {
    Send(Box<v1::StreamMessageRequest>),
    SetElection(Option<ElectionId>),
    Close,
}

/// Why a stream ended.
enum End {
    /// The session was closed.
    Closed,
    /// The stream broke.
    Broken(ClientError),
}

/// The waiter for the first result of the arbitration.
type ArbitrationWaiter = Option<oneshot::Sender<Result<(), ClientError>>>;

pub(super) struct Stream {
    client: Client,
    controller: Controller,
    state: Arc<SessionState>,
    commands: mpsc::Receiver<Command>,
}

impl Stream {
    pub(super) fn new(
        client: Client,
        controller: Controller,
        shared: Arc<SessionState>,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        Stream { client, controller, state: shared, commands }
    }

    /// Keeps the stream open until the session is dropped. The first result is sent to `first`; if it is an error,
    /// there is no retry.
    pub(super) async fn run(mut self, first: oneshot::Sender<Result<(), ClientError>>) {
        let mut first = Some(first);
        let mut attempt = 0;
        loop {
            let error = match self.run_stream(&mut first, &mut attempt).await {
                End::Closed => return self.set(Primacy::Closed { reason: "by this controller".to_owned() }),
                End::Broken(error) => error,
            };
            let reason = error.to_string();
            if let Some(first) = first.take() {
                self.set(Primacy::Closed { reason });
                // The caller may have stopped waiting.
                drop(first.send(Err(error)));
                return;
            }
            let Some(backoff) = self.client.options().reconnect else {
                return self.set(Primacy::Closed { reason });
            };
            self.set(Primacy::Lost { reason });
            if !self.pause(backoff.wait(attempt)).await {
                return self.set(Primacy::Closed { reason: "by this controller".to_owned() });
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// Waits before the next attempt; returns false if the session is closed instead.
    async fn pause(&mut self, wait: std::time::Duration) -> bool {
        let until = Instant::now() + wait;
        loop {
            match timeout_at(until, self.commands.recv()).await {
                Err(_) => return true,
                Ok(None | Some(Command::Close)) => return false,
                Ok(Some(Command::SetElection(election))) => self.controller.election = election,
                // There is no stream, so the packet is lost.
                Ok(Some(Command::Send(_))) => {}
            }
        }
    }

    /// Opens the stream and serves it until it ends.
    async fn run_stream(&mut self, first: &mut ArbitrationWaiter, attempt: &mut u32) -> End {
        let deadline = self.client.options().deadlines.arbitration;
        let until = Instant::now() + deadline;
        let (sender, receiver) = mpsc::channel(64);
        let first_message = sender.try_send(self.arbitration());
        first_message.expect("the channel is new and has room");
        let mut grpc = self.client.grpc();
        let endpoint = self.client.endpoint().to_owned();
        let late = || ClientError::Deadline { endpoint: endpoint.clone(), rpc: Rpc::Stream, deadline };
        let failed = |status| End::Broken(ClientError::from_status(&endpoint, Rpc::Stream, &status));
        let call = async {
            ready(&mut grpc).await?;
            let requests = Request::new(ReceiverStream::new(receiver));
            grpc.streaming(requests, Rpc::Stream.path(), RawCodec).await
        };
        let mut answers = match timeout_at(until, call).await {
            Err(_) => return End::Broken(late()),
            Ok(Err(status)) => return failed(status),
            Ok(Ok(response)) => response.into_inner(),
        };
        // The stream is not open until the first result of the arbitration arrives.
        loop {
            match timeout_at(until, answers.message()).await {
                Err(_) => return End::Broken(late()),
                Ok(Err(status)) => return failed(status),
                Ok(Ok(None)) => return End::Broken(self.end_error()),
                Ok(Ok(Some(answer))) => match self.decode(answer) {
                    Err(error) => return End::Broken(error),
                    Ok((answer, weight)) => {
                        let is_arbitration = matches!(answer.update, Some(Response::Arbitration(_)));
                        self.receive(answer, weight);
                        if is_arbitration {
                            break;
                        }
                    }
                },
            }
        }
        *attempt = 0;
        if let Some(first) = first.take() {
            drop(first.send(Ok(())));
        }
        self.serve(&sender, &mut answers).await
    }

    async fn serve(&mut self, sender: &mpsc::Sender<Bytes>, answers: &mut Streaming<Bytes>) -> End {
        loop {
            tokio::select! {
                answer = answers.message() => match answer {
                    Ok(Some(answer)) => match self.decode(answer) {
                        Ok((answer, weight)) => self.receive(answer, weight),
                        Err(error) => return End::Broken(error),
                    },
                    Ok(None) => return End::Broken(self.end_error()),
                    Err(status) => {
                        return End::Broken(ClientError::from_status(self.client.endpoint(), Rpc::Stream, &status));
                    }
                },
                command = self.commands.recv() => {
                    let message = match command {
                        None | Some(Command::Close) => return End::Closed,
                        Some(Command::Send(message)) => message.encode_to_vec().into(),
                        Some(Command::SetElection(election)) => {
                            self.controller.election = election;
                            self.arbitration()
                        }
                    };
                    // This waits while the channel is full. A broken stream is detected by the next answer.
                    drop(sender.send(message).await);
                }
            }
        }
    }

    fn decode(&self, answer: Bytes) -> Result<(v1::StreamMessageResponse, usize), ClientError> {
        let limit = self.client.options().memory_limit;
        let weighed = wire::weigh::<v1::StreamMessageResponse>(&answer, limit);
        let decoded = weighed.and_then(|weight| Ok((v1::StreamMessageResponse::decode(answer)?, weight)));
        decoded.map_err(|error| self.client.protocol_error(Rpc::Stream, &error))
    }

    fn arbitration(&self) -> Bytes {
        let update = v1::MasterArbitrationUpdate {
            device_id: self.client.device().0,
            role: self.controller.role.to_message(self.controller.role_config.clone()),
            election_id: self.controller.election.map(Into::into),
            status: None,
        };
        let update = Some(Update::Arbitration(update));
        v1::StreamMessageRequest { update }.encode_to_vec().into()
    }

    fn receive(&self, answer: v1::StreamMessageResponse, weight: usize) {
        let event = match answer.update {
            None => return,
            Some(Response::Arbitration(update)) => return self.set(self.primacy(&update)),
            Some(Response::Packet(packet)) => Event::PacketIn(packet),
            Some(Response::Digest(list)) => Event::Digest(list),
            Some(Response::IdleTimeoutNotification(notification)) => Event::IdleTimeout(notification),
            Some(Response::Other(message)) => Event::Other(message),
            Some(Response::Error(error)) => Event::Error(error),
        };
        let queued = self.state.queued_bytes.load(Ordering::Acquire);
        let fits = queued + weight <= self.client.options().event_bytes;
        self.state.queued_bytes.fetch_add(weight, Ordering::AcqRel);
        if !fits || self.state.events.try_send((event, weight)).is_err() {
            self.state.queued_bytes.fetch_sub(weight, Ordering::AcqRel);
            self.state.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn primacy(&self, update: &v1::MasterArbitrationUpdate) -> Primacy {
        let highest = update.election_id.map(ElectionId::from);
        let code = Code::from_i32(update.status.as_ref().map_or(0, |status| status.code));
        match (code, self.controller.election) {
            (Code::Ok, Some(election)) => Primacy::Primary { election: highest.unwrap_or(election) },
            // A controller without an election id is never primary, regardless of the target's answer.
            (Code::Ok | Code::AlreadyExists, _) => Primacy::Backup { primary: highest },
            (_, _) => Primacy::Vacant { highest },
        }
    }

    fn end_error(&self) -> ClientError {
        let reason = "the target ended the stream".to_owned();
        ClientError::Protocol { endpoint: self.client.endpoint().to_owned(), rpc: Rpc::Stream, reason }
    }

    fn set(&self, state: Primacy) {
        self.state.primacy.send_replace(state);
    }
}
