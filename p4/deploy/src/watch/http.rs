//! The least of HTTP/1.1 that a scraper and a load balancer need: GET and HEAD, one answer a connection.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// The longest head of a request.
const HEAD_MAX: usize = 8 << 10;

/// How long a client may take to ask, and to listen.
const PATIENCE: Duration = Duration::from_secs(5);

/// An answer.
pub(super) struct Answer {
    /// Whether all is well: 200 or 503.
    pub(super) is_good: bool,
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

/// Serves until it is dropped; `answer` gets the path without the query.
pub(super) async fn serve(
    listener: TcpListener,
    answer: impl Fn(&str) -> Option<Answer> + Clone + Send + 'static,
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely; others will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let answer = answer.clone();
        tokio::spawn(async move {
            let served = timeout(PATIENCE, one(stream, answer)).await;
            if !matches!(served, Ok(Ok(()))) {
                tracing::debug!("a client of the metrics went away");
            }
        });
    }
}

async fn one(mut stream: TcpStream, answer: impl Fn(&str) -> Option<Answer>) -> std::io::Result<()> {
    let mut head = Vec::with_capacity(512);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_MAX {
            return refuse(stream).await;
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let line = String::from_utf8_lossy(&head);
    let mut words = line.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let text = match (method, answer(path)) {
        ("GET" | "HEAD", Some(answer)) => {
            let status = if answer.is_good { 200 } else { 503 };
            response(status, answer.content_type, &answer.body, method == "HEAD")
        }
        ("GET" | "HEAD", None) => response(404, "text/plain", "try /metrics or /healthz\n", method == "HEAD"),
        _ => response(405, "text/plain", "only GET\n", false),
    };
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// Refuses a head that is too long. What is left of it is read, or the refusal would be lost with the connection.
async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(response(431, "text/plain", "too long\n", false).as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = [0; 4096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

fn response(status: u16, content_type: &str, body: &str, is_head: bool) -> String {
    let reason = match status {
        200 => "OK",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    };
    let length = body.len();
    let body = if is_head { "" } else { body };
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: \
         close\r\n\r\n{body}"
    )
}
