//! The least of HTTP/1.1 that a scraper, a load balancer and a page need: GET, HEAD and POST, one answer a connection.
//!
//! In: a listener and a function from requests to answers. Out: served connections. Invariants: so many connections, so
//! many bytes of each and so much time for each, no more; what is not served is refused with a reason.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The longest head of a request.
const HEAD_MAX: usize = 8 << 10;

/// The longest body of a request.
const BODY_MAX: usize = 8 << 10;

/// How long a client may take to ask, and to receive the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections at a time.
const CONNECTIONS_MAX: usize = 64;

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Whether it may change something: POST.
    pub is_post: bool,
    /// The path, without the query.
    pub path: String,
    /// What is behind the question mark.
    pub query: String,
    /// Lines of the head but the first: names in lower case.
    pub headers: Vec<(String, String)>,
    /// What was posted.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status, for example 200.
    pub status: u16,
    /// What the body is.
    pub content_type: &'static str,
    /// Further lines of the head.
    pub headers: &'static [(&'static str, &'static str)],
    /// The body.
    pub body: String,
}

impl Request {
    /// Returns a line of the head by its name in lower case; the first of several.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl Answer {
    /// Text without further lines in the head.
    pub fn text(status: u16, body: impl Into<String>) -> Answer {
        Answer { status, content_type: "text/plain; charset=utf-8", headers: &[], body: body.into() }
    }
}

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, answer: impl Fn(&Request) -> Answer + Clone + Send + 'static) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = places.clone().acquire_owned().await.expect("nobody closes the semaphore");
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely; others will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let answer = answer.clone();
        tokio::spawn(async move {
            let served = timeout(PATIENCE, one(stream, answer)).await;
            if !matches!(served, Ok(Ok(()))) {
                tracing::debug!("a client went away");
            }
            drop(place);
        });
    }
}

async fn one(mut stream: TcpStream, answer: impl Fn(&Request) -> Answer) -> std::io::Result<()> {
    let mut bytes = Vec::with_capacity(512);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end + 4;
        }
        if bytes.len() > HEAD_MAX {
            return refuse(stream, 431, "too long\n").await;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    };
    let body = bytes.split_off(end);
    let (method, mut request) = match parse(&bytes) {
        Ok(parsed) => parsed,
        Err((status, why)) => return refuse(stream, status, why).await,
    };
    let length = match request.header("content-length").map(str::parse) {
        None => 0,
        Some(Ok(length)) if length <= BODY_MAX => length,
        Some(_) => return refuse(stream, 413, "too long\n").await,
    };
    request.body = body;
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await? == 0 {
            return Ok(());
        }
    }
    request.body.truncate(length);
    let text = response(&answer(&request), method == "HEAD");
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads the head of a request, with the word for its method.
fn parse(head: &[u8]) -> Result<(String, Request), (u16, &'static str)> {
    let text = std::str::from_utf8(head).map_err(|_| (400, "no text\n"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_post = match method {
        "GET" | "HEAD" => false,
        "POST" => true,
        _ => return Err((405, "only GET, HEAD and POST\n")),
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    if headers.iter().any(|(name, _)| name == "transfer-encoding") {
        return Err((501, "bodies have a length\n"));
    }
    let request =
        Request { is_post, path: path.to_owned(), query: query.to_owned(), headers, body: Vec::new() };
    Ok((method.to_owned(), request))
}

/// Refuses a request. What is left of it is read, or the refusal would be lost with the connection.
async fn refuse(mut stream: TcpStream, status: u16, why: &str) -> std::io::Result<()> {
    stream.write_all(response(&Answer::text(status, why), false).as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = [0; 4096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

fn response(answer: &Answer, is_head: bool) -> String {
    let Answer { status, content_type, headers, body } = answer;
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        _ => "Service Unavailable",
    };
    let length = body.len();
    let more = headers.iter().fold(String::new(), |all, (name, value)| all + name + ": " + value + "\r\n");
    let body = if is_head { "" } else { body };
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{more}connection: \
         close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let head = b"POST /drain?x=1 HTTP/1.1\r\nHost: [::1]:9561\r\nContent-Length: 3\r\n\r\n";
        let (method, request) = parse(head).expect("it is a request");
        assert_eq!((method.as_str(), request.is_post), ("POST", true));
        assert_eq!((request.path.as_str(), request.query.as_str()), ("/drain", "x=1"));
        assert_eq!(
            (request.header("host"), request.header("content-length")),
            (Some("[::1]:9561"), Some("3"))
        );
        for (head, status) in [
            (&b"DELETE / HTTP/1.1\r\n\r\n"[..], 405),
            (b"\r\n\r\n", 405),
            (b"GET \xff\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        ] {
            assert_eq!(parse(head).expect_err("it is refused").0, status);
        }
    }
}
