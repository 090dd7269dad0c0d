//! Accepted and rejected requests over loopback connections.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use closc_http::{Answer, Request, serve};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const HEADERS: &[(&str, &str)] = &[("cache-control", "no-store")];

/// Returns an answer that contains the parts of the request.
fn echo(request: &Request) -> Answer {
    let body = format!(
        "{} {} {} {} {}",
        request.is_post,
        request.path,
        request.query,
        request.header("x-word").unwrap_or("-"),
        String::from_utf8_lossy(&request.body)
    );
    Answer { status: 200, content_type: "text/plain", headers: HEADERS, body }
}

fn start_server() -> (Runtime, SocketAddr) {
    let runtime = Runtime::new().expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    runtime.spawn(serve(listener, None, echo));
    (runtime, address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout can be set");
    stream
}

/// Returns the complete answer to a request, or an error if the connection was reset first.
fn ask(address: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = connect(address);
    // The server may reject the request before all of it is sent.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn requests_are_answered_once() {
    let (_runtime, address) = start_server();
    let get = ask(address, "GET /a?b=c HTTP/1.1\r\nHost: x\r\nX-Word: yes\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    let get = get.expect("it answers");
    assert!(
        get.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncache-control: no-store\r\n"),
        "{get}"
    );
    assert!(get.contains("connection: close\r\n") && get.ends_with("\r\n\r\nfalse /a b=c yes "), "{get}");
    let post = ask(address, "POST /p HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcdef").expect("it answers");
    assert!(post.ends_with("\r\n\r\ntrue /p  - abc"), "{post}");
    let head = ask(address, "HEAD /a HTTP/1.1\r\n\r\n").expect("it answers");
    assert!(head.contains("content-length: 12\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn a_client_may_close_its_side_first() {
    let (_runtime, address) = start_server();
    let mut stream = connect(address);
    stream.write_all(b"GET /a HTTP/1.0\r\n\r\n").expect("it is read");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.ends_with("\r\n\r\nfalse /a  - "), "{answer}");
}

#[test]
fn oversized_and_malformed_requests_are_rejected_with_a_reason() {
    let (_runtime, address) = start_server();
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(200_000));
    let lines = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(1000));
    let body = format!("POST / HTTP/1.1\r\nContent-Length: 200000\r\n\r\n{}", "x".repeat(200_000));
    for (request, status) in [
        (&*long, 431),
        (&lines, 431),
        (&body, 413),
        ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 8193\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        ("DELETE / HTTP/1.1\r\n\r\n", 405),
        ("malformed\r\n\r\n", 400),
        ("\r\n\r\nmalformed\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nx-word: a\0b\r\n\r\n", 400),
        ("GET / HTTP/9.9\r\n\r\n", 400),
    ] {
        let answer = ask(address, request).unwrap_or_else(|error| panic!("{request:.60}: {error}"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.60}: {answer}");
    }
    assert!(ask(address, "GET /a HTTP/1.1\r\n\r\n").expect("it still answers").ends_with("false /a  - "));
}

/// Idle connections are closed for new ones, the oldest first, before their time limit. A client that
/// connects after 400 idle ones is answered while the last idle ones are still connected. The same holds for
/// a client that had sent half of its request before the last 20 connected.
#[test]
fn silent_clients_make_room() {
    let (_runtime, address) = start_server();
    let mut silent: Vec<TcpStream> = (0..400).map(|_| connect(address)).collect();
    let mut slow = connect(address);
    slow.write_all(b"GET /slow HTTP/1.1\r\n").expect("it is read");
    let mut last: Vec<TcpStream> = (0..20).map(|_| connect(address)).collect();
    let answer = ask(address, "GET /a HTTP/1.1\r\n\r\n").expect("it answers");
    assert!(answer.ends_with("false /a  - "), "{answer}");
    slow.write_all(b"\r\n").expect("it is read");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("it answers");
    assert!(answer.ends_with("false /slow  - "), "{answer}");
    // The oldest idle connection is closed. The last ones are still open.
    assert!(matches!(silent[0].read(&mut [0]), Ok(0) | Err(_)));
    let mut latest = last.remove(19);
    latest.write_all(b"GET /b HTTP/1.1\r\n\r\n").expect("it is read");
    let mut answer = String::new();
    latest.read_to_string(&mut answer).expect("it answers");
    assert!(answer.ends_with("false /b  - "), "{answer}");
    drop((silent, last));
}
