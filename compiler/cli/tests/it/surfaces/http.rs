//! Requests over HTTP, read by the library. Server and client are in one process, so the measured CPU time includes
//! the client.

#[path = "../../../../http/tests/it/support/client.rs"]
mod client;

use closc_http::{Answer, Request, serve};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::common::Place;
use crate::surfaces::kinds::Numbers;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, make_input};
use client::ask;

pub(crate) static SURFACE: Surface = Surface {
    name: "HTTP",
    kinds: KINDS.len(),
    make: |number, size| make_input(KINDS, number, size),
    open: || Some(Box::new(Server(Place::new()))),
};

const GET: &str = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
const POST: &str = "POST /api/drain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
const CHUNKED: &str = "Transfer-Encoding: chunked\r\n\r\n";

/// Separates the connections of an input.
const NEXT: &[u8] = b"\0next connection\0";

const KINDS: &[Kind] = &[
    ("pipelined requests", |_, size| GET.repeat(size / GET.len()).into_bytes()),
    ("pipelined bodies", |_, size| {
        let one = format!("{POST}Content-Length: 2\r\n\r\n{{}}");
        one.repeat(size / one.len()).into_bytes()
    }),
    ("chunks of a byte", |_, size| {
        format!("{POST}{CHUNKED}{}0\r\n\r\n", "1\r\nx\r\n".repeat(size / 6)).into_bytes()
    }),
    ("a chunk without end", |_, size| {
        format!("{POST}{CHUNKED}ffffffffffffffff\r\n{}", "x".repeat(size)).into_bytes()
    }),
    ("extensions of a chunk", |_, size| {
        format!("{POST}{CHUNKED}1;{}\r\nx\r\n0\r\n\r\n", "a=b;".repeat(size / 4)).into_bytes()
    }),
    ("zeros before a chunk", |_, size| format!("{POST}{CHUNKED}{}1\r\nx\r\n", "0".repeat(size)).into_bytes()),
    ("trailers", |_, size| format!("{POST}{CHUNKED}0\r\n{}\r\n", "X-A: b\r\n".repeat(size / 8)).into_bytes()),
    ("a long target", |_, size| {
        format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a/".repeat(size / 2)).into_bytes()
    }),
    ("many fields", |n, size| fields(n, size, |n| format!("X-{}: 1\r\n", n.next()))),
    ("one field many times", |n, size| fields(n, size, |_| "Content-Length: 1\r\n".to_owned())),
    ("a long field", |n, size| fields(n, size, |_| format!("X: {}\r\n", "a".repeat(100_000)))),
    ("folded fields", |n, size| fields(n, size, |_| "X: a\r\n b\r\n".to_owned())),
    ("hosts", |n, size| fields(n, size, |n| format!("Host: h{}\r\n", n.next()))),
    ("long bodies", |_, size| {
        format!("{POST}Content-Length: {size}\r\n\r\n{}", "[".repeat(size)).into_bytes()
    }),
    ("body of no length", |_, size| format!("{POST}\r\n{}", "x".repeat(size)).into_bytes()),
    ("lines without a request", |_, size| "\r\n".repeat(size / 2).into_bytes()),
    ("HTTP/2", |_, size| {
        let setting = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let frames: Vec<u8> = setting.iter().copied().cycle().take(size / 9 * 9).collect();
        [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", frames.as_slice()].concat()
    }),
    ("upgrades", |_, size| {
        format!("GET / HTTP/1.1\r\nUpgrade: {}\r\n\r\n", "h2c,".repeat(size / 4)).into_bytes()
    }),
    ("many connections", |_, size| {
        let one = [GET.as_bytes(), NEXT].concat();
        one.iter().copied().cycle().take(size / one.len() * one.len()).collect()
    }),
    ("connections with half a request", |n, size| {
        let mut out = Vec::new();
        while out.len() < size {
            let piece = &GET.as_bytes()[..n.up_to(GET.len() as u64 - 1) as usize];
            out.extend([piece, NEXT].concat());
        }
        out
    }),
    ("damaged bytes", |n, size| {
        let mut bytes = GET.repeat(size / GET.len() + 1).into_bytes();
        for _ in 0..=size / 50 {
            let at = n.up_to(bytes.len() as u64 - 1) as usize;
            bytes[at] = n.up_to(255) as u8;
        }
        bytes
    }),
    ("noise", |n, size| (0..size / 8).flat_map(|_| n.next().to_le_bytes()).collect()),
];

fn fields(numbers: &mut Numbers, size: usize, field: impl Fn(&mut Numbers) -> String) -> Vec<u8> {
    let mut text = String::from("GET /metrics HTTP/1.1\r\n");
    while text.len() < size {
        text.push_str(&field(numbers));
    }
    (text + "\r\n").into_bytes()
}

struct Server(Place);

impl Reader for Server {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        measure::library("surfaces::http::serves_one_client", &self.0, input)
    }
}

/// Splits an input into connections.
fn connections(input: &[u8]) -> Vec<&[u8]> {
    let (mut pieces, mut rest) = (Vec::new(), input);
    while let Some(at) = rest.windows(NEXT.len()).position(|window| window == NEXT) {
        pieces.push(&rest[..at]);
        rest = &rest[at + NEXT.len()..];
    }
    pieces.push(rest);
    pieces
}

#[test]
fn serves_one_client() {
    let Some(input) = measure::input() else { return };
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    runtime.spawn(serve(listener, None, |request: &Request| {
        Answer::text(200, format!("{}\n", request.is_post))
    }));
    for request in connections(&input) {
        let answer = ask(address, request);
        assert!(answer.len() <= 4096, "{}", String::from_utf8_lossy(&answer));
    }
    // The server still answers the next client.
    assert!(ask(address, GET.as_bytes()).ends_with(b"false\n"));
}
