//! An address that serves a service, with or without TLS.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use closc_runtime::server::{Acceptor, Listener, Places, ServerTls, TlsError, serve};
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::{Service as HttpService, http};

use super::Service;
use crate::switch::Outbox;

/// Interval between checks for due work.
const TICK: Duration = Duration::from_millis(20);

/// An endpoint that cannot be served.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// The address cannot be bound.
    #[error("{address} cannot be listened on: {error}")]
    Bind {
        /// The address.
        address: String,
        /// The error.
        error: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] TlsError),
}

/// A running service at a network address or at the path of a local socket; it stops when dropped.
#[derive(Debug)]
pub struct Endpoint<A = SocketAddr> {
    address: A,
    closing: watch::Sender<bool>,
    server: JoinHandle<()>,
    ticker: JoinHandle<()>,
}

impl Endpoint {
    /// Serves at an address; port 0 selects a free one.
    pub async fn serve(
        service: Service,
        address: SocketAddr,
        tls: Option<&ServerTls>,
    ) -> Result<Self, EndpointError> {
        let tls = tls.map(Acceptor::new).transpose()?;
        Self::serve_with(service, address, tls).await
    }

    /// Serves at an address with TLS; `acceptor` provides the certificates for each connection.
    pub(crate) async fn serve_with(
        service: Service,
        address: SocketAddr,
        tls: Option<Acceptor>,
    ) -> Result<Self, EndpointError> {
        let places = service.places().clone();
        let ticker = tokio::spawn(tick(service.clone()));
        Self::start(address, tls, places, ticker, |closing| service.until(closing)).await
    }

    /// Serves at an address; `make` gets the signal for stopping.
    pub(super) async fn start<S>(
        address: SocketAddr,
        tls: Option<Acceptor>,
        places: Places,
        ticker: JoinHandle<()>,
        service: impl FnOnce(watch::Receiver<bool>) -> S,
    ) -> Result<Self, EndpointError>
    where
        S: HttpService<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        let bind = |error| EndpointError::Bind { address: address.to_string(), error };
        let listener = Listener::tcp(address).await.map_err(bind)?;
        let address = listener.address().unwrap_or(address);
        let closing = watch::Sender::new(false);
        let server = serve(listener, tls, places, service(closing.subscribe()), closing.subscribe());
        Ok(Self { address, closing, server: tokio::spawn(server), ticker })
    }

    /// Returns the address, with the selected port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Endpoint<PathBuf> {
    /// Serves at the path of a local socket. A stale socket file is replaced.
    pub async fn serve_unix(service: Service, path: &Path) -> Result<Self, EndpointError> {
        let bind = |error| EndpointError::Bind { address: path.display().to_string(), error };
        let listener = Listener::unix(path).await.map_err(bind)?;
        let closing = watch::Sender::new(false);
        let places = service.places().clone();
        let ticker = tokio::spawn(tick(service.clone()));
        let server = serve(listener, None, places, service.until(closing.subscribe()), closing.subscribe());
        Ok(Self { address: path.to_owned(), closing, server: tokio::spawn(server), ticker })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.address
    }
}

impl<A> Endpoint<A> {
    /// Ends all streams and stops accepting requests. Returns when all running requests are answered.
    pub async fn stop(mut self) -> Result<(), EndpointError> {
        self.close();
        self.wait().await
    }

    fn close(&mut self) {
        self.ticker.abort();
        self.closing.send_replace(true);
    }

    /// Waits until the server ends by itself.
    pub(crate) async fn wait(&mut self) -> Result<(), EndpointError> {
        // Without a result, it was stopped.
        let _ = (&mut self.server).await;
        Ok(())
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
