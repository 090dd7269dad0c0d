//! An address where a service is served, with or without TLS.

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

/// Time between two looks at what is due.
const TICK: Duration = Duration::from_millis(20);

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
    Tls(#[from] TlsError),
}

/// A service that is served at an address until it is stopped or dropped: at a port of the network, or at the path of a
/// socket of this machine.
#[derive(Debug)]
pub struct Endpoint<A = SocketAddr> {
    address: A,
    closing: watch::Sender<bool>,
    server: JoinHandle<()>,
    ticker: JoinHandle<()>,
}

impl Endpoint {
    /// Serves at an address; port 0 takes a free one.
    pub async fn serve(
        service: Service,
        address: SocketAddr,
        tls: Option<&ServerTls>,
    ) -> Result<Self, EndpointError> {
        let tls = tls.map(Acceptor::new).transpose()?;
        Self::serve_with(service, address, tls).await
    }

    /// Serves at an address, with the certificates that an acceptor has for each connection.
    pub(crate) async fn serve_with(
        service: Service,
        address: SocketAddr,
        tls: Option<Acceptor>,
    ) -> Result<Self, EndpointError> {
        let places = service.places().clone();
        let ticker = tokio::spawn(tick(service.clone()));
        Self::start(address, tls, places, ticker, |closing| service.until(closing)).await
    }

    /// Serves what is made with the signal to end, at an address.
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

    /// Returns the address, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Endpoint<PathBuf> {
    /// Serves at the path of a socket of this machine. A socket there that nobody serves any more is replaced.
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
    pub(crate) async fn wait(&mut self) -> Result<(), EndpointError> {
        // It was stopped where there is no result.
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
