//! Accepts connections and serves HTTP/2 on them, within limits.
//!
//! In: a listener, certificates, a service. Out: answers, until the server is stopped. Invariants: no client, active or
//! idle, can use more than [`Limits`] allow; its resources are freed when its connection ends.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Service, http};

use super::authority::ScannedConnection;
use super::limits::Limits;
use super::preface::preface;
use super::request::{Place, WatchedBody};
use super::roster::{ConnectionPlace, EndSender, Roster, Side};
use super::tls::Acceptor;

/// HTTP/2 windows of a stream and of a connection: the bytes that a client may send before the server has read them.
const WINDOWS: (u32, u32) = (256 << 10, 512 << 10);

/// Maximum bytes of an answer that are buffered in the transport.
const SEND_BYTES: usize = 64 << 10;

/// Number of checks for stalled requests within the time that a request may stall.
const LOOKS: u32 = 8;

/// Wait after a failed accept, such as when the process has no more file descriptors.
const AFTER_ERROR: Duration = Duration::from_millis(50);

/// Maximum number of connections in their handshake, as a multiple of [`Limits::connections`]. One more ends the oldest
/// of them.
const OPENINGS: usize = 2;

/// Interval at which a waiting connection checks for a free place.
const FOR_A_PLACE: Duration = Duration::from_millis(10);

/// Where a server listens.
#[derive(Debug)]
pub enum Listener {
    /// On a TCP port.
    Tcp(TcpListener),
    /// On a Unix socket.
    Unix(UnixListener),
}

/// A TCP or Unix connection.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Listener {
    /// Listens on an address; port 0 selects a free port.
    pub async fn tcp(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).await.map(Listener::Tcp)
    }

    /// Listens on a Unix socket at a path. An existing socket without a server is replaced.
    pub async fn unix(path: &Path) -> io::Result<Self> {
        let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        // Other files refuse connections too, and must not be replaced.
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
        if is_socket && UnixStream::connect(path).await.is_err_and(refused) {
            std::fs::remove_file(path)?;
        }
        UnixListener::bind(path).map(Listener::Unix)
    }

    /// Returns the address with the selected port, if this is a TCP listener.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(_) => None,
        }
    }

    /// Returns the path of the socket, if this is a Unix listener.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Listener::Tcp(_) => None,
            Listener::Unix(listener) => listener.local_addr().ok()?.as_pathname().map(Path::to_owned),
        }
    }

    fn is_unix(&self) -> bool {
        match self {
            Listener::Tcp(_) => false,
            Listener::Unix(_) => true,
        }
    }

    async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok(Box::new(stream))
            }
        }
    }
}

/// The places of a server, within its limits. Clones share them.
#[derive(Debug, Clone)]
pub struct Places {
    limits: Limits,
    /// Connections in their handshake. They do not use the places of open connections.
    openings: Roster,
    connections: Roster,
    requests: Roster,
    /// Held by the connection that waits for a place. The others queue for this lock in the order of their handshakes.
    queue_lock: Arc<Mutex<()>>,
}

impl Places {
    /// Returns the places that the limits allow, all free.
    pub fn new(limits: Limits) -> Self {
        let openings = Roster::new(limits.connections.saturating_mul(OPENINGS), Duration::ZERO);
        let connections = Roster::new(limits.connections, limits.grace);
        let requests = Roster::new(limits.requests, limits.grace);
        Places { limits, openings, connections, requests, queue_lock: Arc::default() }
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the number of connections, open or in their handshake.
    pub fn connections(&self) -> usize {
        self.openings.occupied_places() + self.connections.occupied_places()
    }

    /// Returns the number of requests and streams.
    pub fn requests(&self) -> usize {
        self.requests.occupied_places()
    }

    /// Waits for a place for a connection. If all connections have requests, one whose requests are all stalled is
    /// ended.
    async fn connection(&self, ender: &EndSender) -> ConnectionPlace {
        let _turn = self.queue_lock.lock().await;
        loop {
            let seat = self.connections.take(ender).or_else(|| {
                self.connections.free(&self.requests.longest_idle()?);
                self.connections.take(ender)
            });
            match seat {
                Some(seat) => return seat,
                None => tokio::time::sleep(FOR_A_PLACE).await,
            }
        }
    }
}

/// Connection handling of a server.
struct Server<S> {
    service: S,
    tls: Option<Acceptor>,
    places: Places,
    http: http2::Builder<TokioExecutor>,
    /// Whether clients use a Unix socket.
    unix: bool,
}

/// Serves until it is asked to stop, then finishes the running requests and returns.
pub async fn serve<S>(
    listener: Listener,
    tls: Option<Acceptor>,
    places: Places,
    service: S,
    closing: watch::Receiver<bool>,
) where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    let limits = places.limits;
    let unix = listener.is_unix();
    let server = Arc::new(Server { service, tls, places, http: http(&limits), unix });
    let mut look = tokio::time::interval((limits.stall / LOOKS).max(Duration::from_millis(1)));
    let mut open = JoinSet::new();
    let mut closed = closing.clone();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(stream) => {
                    let ender = EndSender::new();
                    // This never fails, because the oldest handshake ends if all places are taken.
                    if let Some(seat) = server.places.openings.take(&ender) {
                        let server = Arc::clone(&server);
                        open.spawn(connection(server, (ender, seat), stream, closing.clone()));
                    }
                }
                Err(_) => tokio::time::sleep(AFTER_ERROR).await,
            },
            _ = look.tick() => server.places.requests.end_still(limits.stall),
            Some(_) = open.join_next() => {}
            () = until_closed(&mut closed) => break,
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Waits until the server is asked to stop; dropping the sender has the same effect.
async fn until_closed(closing: &mut watch::Receiver<bool>) {
    // The received value is always `true`, and an error means that the sender was dropped.
    let _ = closing.wait_for(|closing| *closing).await;
}

fn http(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .max_send_buf_size(SEND_BYTES)
        .max_concurrent_streams(limits.requests_per_connection)
        .keep_alive_interval(limits.keep_alive)
        .keep_alive_timeout(limits.keep_alive_timeout);
    http
}

/// Serves one connection from its first byte to its last. During its handshake it uses one of the places for
/// handshakes.
async fn connection<S>(
    server: Arc<Server<S>>,
    (ender, opening): (EndSender, ConnectionPlace),
    stream: Box<dyn Stream>,
    closing: watch::Receiver<bool>,
) where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    let opened = async {
        let stream: Box<dyn Stream> = match &server.tls {
            Some(tls) => Box::new(tls.accept(stream).await?),
            None => stream,
        };
        let stream: Box<dyn Stream> =
            if server.unix { Box::new(ScannedConnection::new(stream)) } else { stream };
        let stream = preface(stream).await?;
        Ok::<_, io::Error>((stream, server.places.connection(&ender).await))
    };
    let (stream, seat) = tokio::select! {
        opened = timeout(server.places.limits.handshake, opened) => match opened {
            Ok(Ok(opened)) => opened,
            // The client left, uses another protocol, or took too long, possibly because all places were taken.
            Ok(Err(_)) | Err(_) => return,
        },
        () = ender.wait_for_end() => return,
    };
    drop(opening);
    let seat = Arc::new(seat);
    let running = Arc::new(AtomicUsize::new(0));
    let handle = {
        let (server, ender, seat) = (Arc::clone(&server), ender.clone(), Arc::clone(&seat));
        hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let busy = RequestGuard::new(&running, &seat);
            answer(Arc::clone(&server), ender.clone(), busy, request.map(Body::new))
        })
    };
    let served = server.http.serve_connection(TokioIo::new(stream), handle);
    drive(served, &ender, closing).await;
}

/// Runs a connection until it ends or must end. After the server is asked to stop, it runs until all its requests are
/// answered.
async fn drive<F>(served: F, ender: &EndSender, mut closing: watch::Receiver<bool>)
where
    F: Future + GracefulConnection,
{
    tokio::pin!(served);
    tokio::select! {
        // An error means that the client left or violated the protocol. In both cases the connection is over.
        _ = served.as_mut() => return,
        () = ender.wait_for_end() => return,
        () = until_closed(&mut closing) => {}
    }
    served.as_mut().shutdown();
    tokio::select! {
        _ = served => {}
        () = ender.wait_for_end() => {}
    }
}

/// A connection that can be asked to end after its running requests.
trait GracefulConnection {
    fn shutdown(self: std::pin::Pin<&mut Self>);
}

impl<I, S> GracefulConnection for http2::Connection<I, S, TokioExecutor>
where
    S: hyper::service::HttpService<hyper::body::Incoming, ResBody = CountedBody>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
    TokioExecutor: hyper::rt::bounds::Http2ServerConnExec<S::Future, CountedBody>,
{
    fn shutdown(self: std::pin::Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Marks a connection as one with requests.
struct RequestGuard {
    running: Arc<AtomicUsize>,
    place: Arc<ConnectionPlace>,
}

impl RequestGuard {
    fn new(running: &Arc<AtomicUsize>, seat: &Arc<ConnectionPlace>) -> Self {
        running.fetch_add(1, Ordering::AcqRel);
        seat.move_on(Side::Incoming);
        RequestGuard { running: Arc::clone(running), place: Arc::clone(seat) }
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        if self.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.place.stand(Side::Incoming);
        }
    }
}

/// An answer, during which its request counts as running.
pub(super) struct CountedBody {
    body: Body,
    _busy: RequestGuard,
}

impl http_body::Body for CountedBody {
    type Data = bytes::Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Status>>> {
        std::pin::Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

async fn answer<S>(
    server: Arc<Server<S>>,
    ender: EndSender,
    busy: RequestGuard,
    request: http::Request<Body>,
) -> Result<http::Response<CountedBody>, Infallible>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    let Some(seat) = server.places.requests.take(&ender) else {
        let status = Status::resource_exhausted("the server answers as many requests as it may");
        return Ok(status.into_http::<Body>().map(|body| CountedBody { body, _busy: busy }));
    };
    let place = Place::new(seat, busy.place.id());
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(place.clone());
    let body = Body::new(WatchedBody { place: place.clone(), side: Side::Incoming, body });
    let mut service = server.service.clone();
    let response = service.call(http::Request::from_parts(parts, body)).await?;
    let watched = |body| Body::new(WatchedBody { place, side: Side::Outgoing, body });
    Ok(response.map(|body| CountedBody { body: watched(body), _busy: busy }))
}
