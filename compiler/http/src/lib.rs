//! HTTP/1.1 for scrapers, load balancers and pages: GET, HEAD and POST, one answer per connection.
//!
//! In: a listener, certificates, and a function from requests to answers. Out: served connections.
//! Invariants: the number of connections, the size of each request, and the time of each connection including
//! its handshake are limited. Idle clients cannot lock out others: at the limit, a new connection replaces
//! the oldest one that has not sent its request. A rejected request gets an answer with the reason.

mod certificates;
mod client;
mod log_state;
mod message;
mod places;

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;

pub use certificates::Certificates;
pub use client::Client;
pub use log_state::LogState;
pub use message::{Answer, Request};

use places::Places;

/// Maximum size of the head of a request in bytes. hyper does not accept a smaller limit.
const HEAD_MAX: usize = 8 << 10;

/// Time limit of a connection: handshake, request and answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum number of concurrent connections. Servers with less memory use [`serve_within`].
const CONNECTIONS_MAX: usize = 64;

/// Delay after a failed `accept`, for example because the process has run out of file descriptors.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Serves requests until the future is dropped. Uses TLS if there are certificates.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Certificates>,
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) {
    serve_within(CONNECTIONS_MAX, listener, tls, answer).await;
}

/// Like [`serve`], with a limit on concurrent connections. Each connection holds one answer, so the limit
/// bounds memory.
pub async fn serve_within(
    connections: usize,
    listener: TcpListener,
    tls: Option<Certificates>,
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) {
    let mut places = Places::new(connections);
    let answer = Arc::new(answer);
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(AFTER_ERROR).await;
            continue;
        };
        places.make_room().await;
        let (answer, tls) = (answer.clone(), tls.clone());
        let asked = Arc::new(AtomicBool::new(false));
        let has_asked = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            let work = async {
                let client = Client { address: Some(address), ..Client::default() };
                match tls {
                    None => one(stream, client, answer, has_asked).await,
                    Some(tls) => {
                        let stream = tls.accept(stream).await?;
                        let client = client.with_certificate(stream.get_ref().1.peer_certificates());
                        one(stream, client, answer, has_asked).await
                    }
                }
            };
            match timeout(PATIENCE, work).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a connection ended early"),
                Err(_) => tracing::debug!("a connection was closed at its time limit of {PATIENCE:?}"),
            }
        });
        places.take(task, asked);
    }
}

/// Serves one connection.
async fn one(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    client: Client,
    answer: Arc<impl Fn(&Request) -> Answer + Send + Sync + 'static>,
    asked: Arc<AtomicBool>,
) -> std::io::Result<()> {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (answer, asked, client) = (answer.clone(), asked.clone(), client.clone());
        Box::pin(async move {
            let read = Request::read(request, client).await;
            asked.store(true, Ordering::Relaxed);
            let said = read.map_or_else(|refused| refused, |request| answer(&request));
            Ok::<_, Infallible>(said.into_response())
        })
    });
    let mut connection = http1::Builder::new()
        .keep_alive(false)
        // A client may close its sending side after the request, as `nc` does.
        .half_close(true)
        // One time limit applies to the complete connection.
        .header_read_timeout(None)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // hyper answers a malformed request before it returns the error.
    let _ = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    stream.shutdown().await?;
    // Read the rest of the request. Otherwise, the kernel would reset the connection, and the answer would be
    // lost.
    let mut rest = [0; 4096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}
