//! An address where the service is served, with or without TLS.

use super::Service;
use crate::switch::Outbox;
use closc_runtime::server::{P4RuntimeServer, ServerTls};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::transport::Server;
use tonic::transport::server::{Router, TcpIncoming};

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
        address: SocketAddr,
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

/// A service that is served at an address until it is stopped or dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
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
        Self::start(address, tls, |mut builder, closing| {
            let ticker = tokio::spawn(tick(service.clone()));
            let server = P4RuntimeServer::new(service.until(closing))
                .max_decoding_message_size(REQUEST_BYTES)
                .max_encoding_message_size(usize::MAX);
            Running { router: builder.add_service(server), ticker }
        })
        .await
    }

    /// Serves what is added, at an address.
    pub(super) async fn start(
        address: SocketAddr,
        tls: Option<&ServerTls>,
        add: impl FnOnce(Server, watch::Receiver<bool>) -> Running,
    ) -> Result<Self, EndpointError> {
        let bind = |error| EndpointError::Bind { address, error };
        let mut builder = Server::builder()
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .http2_keepalive_interval(Some(KEEPALIVE.0))
            .http2_keepalive_timeout(Some(KEEPALIVE.1));
        if let Some(tls) = tls {
            builder = builder.tls_config(tls.config()).map_err(EndpointError::Tls)?;
        }
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let closing = watch::Sender::new(false);
        let Running { router, ticker } = add(builder, closing.subscribe());
        let mut closed = closing.subscribe();
        let server = tokio::spawn(router.serve_with_incoming_shutdown(incoming, async move {
            // Dropping the endpoint closes it as well.
            let _ = closed.wait_for(|closed| *closed).await;
        }));
        Ok(Self { address, closing, server, ticker })
    }

    /// Returns the address, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
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

impl Drop for Endpoint {
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
