//! HTTP/1.1 for scrapers, load balancers and pages: GET, HEAD and POST, one answer a connection.
//!
//! In: a listener, certificates, a function from requests to answers. Out: served connections. Invariants: so many
//! connections, so many bytes of each and so much time for each, no more, the handshake included; who asks nothing keeps nobody out:
//! one more connection ends the oldest one that has not asked yet; what is not served is refused with a reason.

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

/// The longest head of a request; hyper takes no less.
const HEAD_MAX: usize = 8 << 10;

/// Time limit for a client's request, and for taking the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections at a time, unless a server has less memory.
const CONNECTIONS_MAX: usize = 64;

/// Wait after a connection that could not be accepted, as when the process has no more files.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Serves until it is dropped, encrypted where there are certificates.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Certificates>,
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) {
    serve_within(CONNECTIONS_MAX, listener, tls, answer).await;
}

/// The same with so many connections at a time. Each holds one answer, so they bound the memory for answers.
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
            let served = timeout(PATIENCE, work).await;
            if !matches!(served, Ok(Ok(()))) {
                tracing::debug!("a client went away");
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
        // A client that has said all may close its side, as `nc` does.
        .half_close(true)
        // All of a connection has one limit.
        .header_read_timeout(None)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // A malformed request is answered, too, before it is an error.
    let _ = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    stream.shutdown().await?;
    // The rest of a request is read, or the answer would be lost with the connection.
    let mut rest = [0; 4096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}
