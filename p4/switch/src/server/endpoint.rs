//! An address where the service is served, with or without TLS.

use super::Service;
use crate::switch::Outbox;
use closc_runtime::server::{P4RuntimeServer, ServerTls};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_stream::Stream;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;
use tonic::transport::server::{Connected, Router, TcpIncoming};

/// Longest request: a pipeline, or a large batch.
const REQUEST_BYTES: usize = 256 << 20;

/// Windows of HTTP/2 that let whole batches and tables flow.
const WINDOW_BYTES: u32 = 8 << 20;

/// Time between two looks at what is due.
const TICK: Duration = Duration::from_millis(20);

/// Silence after which a controller is asked whether it is still there, and how long it may take to answer.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(20));

/// An endpoint that cannot be served.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// The address cannot be bound.
    #[error("{address} cannot be listened on: {error}")]
    Bind {
        /// The address.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("TLS cannot be set up: {0}")]
    Tls(tonic::transport::Error),
}

/// What an endpoint serves, and what runs beside it.
pub(super) struct Running {
    pub(super) router: Router,
    pub(super) ticker: JoinHandle<()>,
}

/// A service that is served at an address until it is stopped or dropped: at a port of the network, or at the path of a
/// socket of this machine.
#[derive(Debug)]
pub struct Endpoint<A = SocketAddr> {
    address: A,
    closing: watch::Sender<bool>,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
    ticker: JoinHandle<()>,
}

impl Endpoint {
    /// Serves at an address; port 0 takes a free one.
    pub async fn serve(
        service: Service,
        address: SocketAddr,
        tls: Option<&ServerTls>,
    ) -> Result<Self, EndpointError> {
        Self::start(address, tls, add(service)).await
    }

    /// Serves what is added, at an address.
    pub(super) async fn start(
        address: SocketAddr,
        tls: Option<&ServerTls>,
        add: impl FnOnce(Server, watch::Receiver<bool>) -> Running,
    ) -> Result<Self, EndpointError> {
        let bind = |error| EndpointError::Bind { address: address.to_string(), error };
        let builder = builder(tls)?;
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        Ok(Self::run(address, builder, incoming, add))
    }

    /// Returns the address, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Endpoint<PathBuf> {
    /// Serves at the path of a socket of this machine. A socket there that nobody serves any more is replaced.
    pub async fn serve_unix(service: Service, path: &Path) -> Result<Self, EndpointError> {
        let bind = |error| EndpointError::Bind { address: path.display().to_string(), error };
        if UnixStream::connect(path)
            .await
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        {
            std::fs::remove_file(path).map_err(bind)?;
        }
        let listener = UnixListener::bind(path).map_err(bind)?;
        let incoming = UnixListenerStream::new(listener);
        Ok(Self::run(path.to_owned(), builder(None)?, incoming, add(service)))
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.address
    }
}

/// Adds the P4Runtime service.
fn add(service: Service) -> impl FnOnce(Server, watch::Receiver<bool>) -> Running {
    move |mut builder, closing| {
        let ticker = tokio::spawn(tick(service.clone()));
        let server = P4RuntimeServer::new(service.until(closing))
            .max_decoding_message_size(REQUEST_BYTES)
            .max_encoding_message_size(usize::MAX);
        Running { router: builder.add_service(server), ticker }
    }
}

fn builder(tls: Option<&ServerTls>) -> Result<Server, EndpointError> {
    let builder = Server::builder()
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .http2_keepalive_interval(Some(KEEPALIVE.0))
        .http2_keepalive_timeout(Some(KEEPALIVE.1));
    match tls {
        Some(tls) => Server::tls_config(builder, tls.config()).map_err(EndpointError::Tls),
        None => Ok(builder),
    }
}

impl<A> Endpoint<A> {
    fn run<I, C, E>(
        address: A,
        builder: Server,
        incoming: I,
        add: impl FnOnce(Server, watch::Receiver<bool>) -> Running,
    ) -> Self
    where
        I: Stream<Item = Result<C, E>> + Send + 'static,
        C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>> + Send + 'static,
    {
        let closing = watch::Sender::new(false);
        let Running { router, ticker } = add(builder, closing.subscribe());
        let mut closed = closing.subscribe();
        let server = tokio::spawn(router.serve_with_incoming_shutdown(incoming, async move {
            // Dropping the endpoint closes it as well.
            let _ = closed.wait_for(|closed| *closed).await;
        }));
        Self { address, closing, server, ticker }
    }

    /// Ends all streams and takes no more requests; returns when those that run are answered.
    pub async fn stop(mut self) -> Result<(), EndpointError> {
        self.close();
        self.wait().await
    }

    fn close(&mut self) {
        self.ticker.abort();
        self.closing.send_replace(true);
    }

    /// Waits until the server ends by itself.
    pub async fn wait(&mut self) -> Result<(), EndpointError> {
        match (&mut self.server).await {
            Ok(result) => result.map_err(EndpointError::Tls),
            // It was stopped.
            Err(_) => Ok(()),
        }
    }
}

impl<A> Drop for Endpoint<A> {
    fn drop(&mut self) {
        self.close();
    }
}

async fn tick(service: Service) {
    let mut outbox = Outbox::new();
    let mut interval = tokio::time::interval(TICK);
    loop {
        interval.tick().await;
        service.tick(&mut outbox);
    }
}
