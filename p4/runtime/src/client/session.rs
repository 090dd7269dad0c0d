//! A controller on a target: takes part in the arbitration and keeps its stream alive.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::Code;

use super::connect::Client;
use super::controller::{Controller, Primacy};
use super::error::{ClientError, Rpc};
use super::event::{Event, SessionState};
use super::stream::{Command, Stream};
use crate::election::{ElectionId, RoleName};
use crate::proto::v1;

/// The queue of unsolicited messages of a target.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::Receiver<(Event, usize)>,
    state: Arc<SessionState>,
}

impl Events {
    /// Waits for the next event; `None` after the last.
    pub async fn recv(&mut self) -> Option<Event> {
        let (event, weight) = self.receiver.recv().await?;
        self.state.queued_bytes.fetch_sub(weight, Ordering::AcqRel);
        Some(event)
    }
}

/// A controller on a target. Dropping it ends the stream and the primacy of the controller.
#[derive(Debug)]
pub struct Session {
    client: Client,
    role: RoleName,
    state: Arc<SessionState>,
    commands: mpsc::Sender<Command>,
    events: Mutex<Option<mpsc::Receiver<(Event, usize)>>>,
    task: JoinHandle<()>,
}

impl Session {
    /// Opens the stream, takes part in the arbitration and waits for its first result. Another controller may be
    /// primary: see [`Self::primacy`].
    pub async fn open(client: Client, controller: Controller) -> Result<Self, ClientError> {
        let options = *client.options();
        let (event_sender, events) = mpsc::channel(options.event_queue.max(1));
        let (commands, command_receiver) = mpsc::channel(64);
        let primacy = watch::Sender::new(Primacy::Opening);
        let shared = Arc::new(SessionState {
            primacy,
            events: event_sender,
            queued_bytes: AtomicUsize::new(0),
            n_dropped: AtomicU64::new(0),
        });
        let role = controller.role.clone();
        let (first, opened) = tokio::sync::oneshot::channel();
        let stream = Stream::new(client.clone(), controller, shared.clone(), command_receiver);
        let task = tokio::spawn(stream.run(first));
        let session =
            Session { client, role, state: shared, commands, events: Mutex::new(Some(events)), task };
        match opened.await {
            Ok(Ok(())) => Ok(session),
            Ok(Err(error)) => Err(session.client.target.explain(error).await),
            Err(_) => Err(session.closed_error()),
        }
    }

    /// Returns the connection, which is also used for reads.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the role.
    pub fn role(&self) -> &RoleName {
        &self.role
    }

    /// Returns the current state of this controller in the arbitration.
    pub fn primacy(&self) -> Primacy {
        self.state.primacy.borrow().clone()
    }

    /// Returns a receiver for changes of that state.
    pub fn watch_primacy(&self) -> watch::Receiver<Primacy> {
        self.state.primacy.subscribe()
    }

    /// Waits until this controller is primary, but no longer than the limit.
    pub async fn wait_primary(&self, limit: Duration) -> Result<ElectionId, ClientError> {
        let mut watch = self.watch_primacy();
        let decided = |state: &Primacy| matches!(state, Primacy::Primary { .. } | Primacy::Closed { .. });
        // After a timeout, the current state gives the reason. The result is bound so that its borrow ends
        // here.
        let waited = timeout(limit, watch.wait_for(decided)).await.map(drop);
        drop(waited);
        self.require_primary()
    }

    /// Returns the election id of this controller if it is primary.
    pub fn require_primary(&self) -> Result<ElectionId, ClientError> {
        match self.primacy() {
            Primacy::Primary { election } => Ok(election),
            state => Err(ClientError::NotPrimary { endpoint: self.client.endpoint().to_owned(), state }),
        }
    }

    /// Takes part in the arbitration with another election id; `None` steps down.
    pub async fn set_election(&self, election: Option<ElectionId>) -> Result<(), ClientError> {
        self.command(Command::SetElection(election)).await
    }

    /// Takes over from the current primary with an election id just above the highest one, and waits until
    /// this controller is primary.
    pub async fn take_over(&self, limit: Duration) -> Result<ElectionId, ClientError> {
        let highest = match self.primacy() {
            Primacy::Primary { election } => return Ok(election),
            Primacy::Backup { primary: highest } | Primacy::Vacant { highest } => highest,
            Primacy::Opening | Primacy::Lost { .. } | Primacy::Closed { .. } => None,
        };
        self.set_election(Some(highest.map_or(ElectionId(1), ElectionId::next))).await?;
        self.wait_primary(limit).await
    }

    /// Takes the receiver of packets, digests and notifications. A second call returns `None`.
    pub fn take_events(&self) -> Option<Events> {
        let receiver = self.events.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()?;
        Some(Events { receiver, state: Arc::clone(&self.state) })
    }

    /// Returns the number of events dropped because the queue was full.
    pub fn n_dropped_events(&self) -> u64 {
        self.state.n_dropped.load(Ordering::Relaxed)
    }

    /// Sends a packet; see [`crate::packet::packet_out`] for its metadata by name.
    pub async fn send_packet(&self, packet: v1::PacketOut) -> Result<(), ClientError> {
        self.send(v1::stream_message_request::Update::Packet(packet)).await
    }

    /// Acknowledges a list of values.
    pub async fn acknowledge(&self, list: &v1::DigestList) -> Result<(), ClientError> {
        let ack = v1::DigestListAck { digest_id: list.digest_id, list_id: list.list_id };
        self.send(v1::stream_message_request::Update::DigestAck(ack)).await
    }

    /// Closes the stream gracefully and waits up to one second for its end.
    pub async fn close(mut self) {
        let closed = self.command(Command::Close).await;
        if closed.is_ok() {
            // If the stream does not end in time, the following drop ends it.
            let ended = timeout(Duration::from_secs(1), &mut self.task).await;
            drop(ended);
        }
    }

    async fn send(&self, update: v1::stream_message_request::Update) -> Result<(), ClientError> {
        self.command(Command::Send(Box::new(v1::StreamMessageRequest { update: Some(update) }))).await
    }

    async fn command(&self, command: Command) -> Result<(), ClientError> {
        self.commands.send(command).await.map_err(|_| self.closed_error())
    }

    fn closed_error(&self) -> ClientError {
        let reason = self.primacy().to_string();
        ClientError::Protocol { endpoint: self.client.endpoint().to_owned(), rpc: Rpc::Stream, reason }
    }

    /// Records that another controller is primary if a denied request shows this before the stream reports it.
    pub(super) fn demote_on_denial(&self, error: ClientError) -> ClientError {
        if !matches!(&error, ClientError::Rpc { code: Code::PermissionDenied, .. }) {
            return error;
        }
        self.state.primacy.send_if_modified(|state| {
            let was_primary = matches!(state, Primacy::Primary { .. });
            if was_primary {
                *state = Primacy::Backup { primary: None };
            }
            was_primary
        });
        ClientError::NotPrimary { endpoint: self.client.endpoint().to_owned(), state: self.primacy() }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}
