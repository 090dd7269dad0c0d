//! Requests and answers, as used by servers.
//!
//! In: a hyper request. Out: a complete [`Request`], or an [`Answer`] with the reason for its rejection.
//! Invariants: header values are UTF-8; a body has a `Content-Length` of at most 8 KiB.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::{Method, Response, StatusCode};

use crate::client::Client;

/// Maximum size of the body of a request in bytes.
const BODY_MAX: u64 = 8 << 10;

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Whether the method is POST, so that the request may change state.
    pub is_post: bool,
    /// The path, without the query.
    pub path: String,
    /// Text after the question mark.
    pub query: String,
    /// Header fields, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The client at the other end of the connection.
    pub client: Client,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status, for example 200.
    pub status: u16,
    /// Media type of the body.
    pub content_type: &'static str,
    /// Further header fields, with names in lower case.
    pub headers: &'static [(&'static str, &'static str)],
    /// The body.
    pub body: String,
}

impl Request {
    /// Returns the value of the first header field with a name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Reads a request, or returns the answer that rejects it.
    pub(crate) async fn read(request: hyper::Request<Incoming>, client: Client) -> Result<Request, Answer> {
        let (head, body) = request.into_parts();
        let is_post = match head.method {
            Method::GET | Method::HEAD => false,
            Method::POST => true,
            _ => return Err(Answer::text(405, "method not allowed; expected GET, HEAD or POST\n")),
        };
        if head.headers.contains_key(TRANSFER_ENCODING) {
            return Err(Answer::text(
                501,
                "`Transfer-Encoding` is not supported; expected `Content-Length`\n",
            ));
        }
        if body.size_hint().lower() > BODY_MAX {
            return Err(Answer::text(413, format!("the body is longer than {} KiB\n", BODY_MAX >> 10)));
        }
        let mut headers = Vec::with_capacity(head.headers.len());
        for (name, value) in &head.headers {
            let value = std::str::from_utf8(value.as_bytes())
                .map_err(|_| Answer::text(400, format!("header `{name}` is not UTF-8\n")))?;
            headers.push((name.as_str().to_owned(), value.to_owned()));
        }
        let body = body.collect().await.map_err(|_| Answer::text(400, "the body is incomplete\n"))?;
        Ok(Request {
            is_post,
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers,
            body: body.to_bytes().to_vec(),
            client,
        })
    }
}

impl Answer {
    /// Creates a plain-text answer, without further header fields.
    pub fn text(status: u16, body: impl Into<String>) -> Answer {
        Answer { status, content_type: "text/plain; charset=utf-8", headers: &[], body: body.into() }
    }

    /// Converts the answer to a hyper response.
    pub(crate) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::from(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let head = response.headers_mut();
        head.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        for (name, value) in self.headers {
            head.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        response
    }
}
