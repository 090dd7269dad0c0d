//! Resources that clients can occupy on a server with incomplete requests, unread answers and unfinished
//! handshakes.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use closc_runtime::proto::v1;
use closc_runtime::server::{Limits, ServerTls};
use closc_runtime::wire::RawCodec;
use closc_switch::{Endpoint, Service};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request};

use crate::common::controller::{Controller, DEVICE, switch};
use crate::common::{CPU, features};

const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// First bytes of every HTTP/2 client, with empty settings.
const OPENING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

async fn serve(limits: Limits) -> Endpoint {
    assert_eq!(CPU, 510);
    let service = Service::with_limits([switch(DEVICE)], limits);
    Endpoint::serve(service, ANYWHERE, None).await.expect("a free port")
}

/// Limits with short times.
fn short() -> Limits {
    let soon = Duration::from_millis(50);
    Limits { handshake: soon, stall: soon, grace: Duration::ZERO, ..Limits::default() }
}

/// Waits until the other side closes a connection, ignoring its data.
async fn wait_for_close(mut stream: TcpStream) {
    let mut rest = Vec::new();
    // A reset counts as closing.
    let _ = stream.read_to_end(&mut rest).await;
}

/// Sends HTTP/2 frames: length, type, flags, stream and content.
async fn frame(stream: &mut TcpStream, kind: u8, flags: u8, id: u8, content: &[u8]) {
    let length = u32::try_from(content.len()).expect("a short frame").to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags, 0, 0, 0, id];
    // The server may have closed the connection, which is checked afterwards.
    let _ = stream.write_all(&[&head[..], content].concat()).await;
}

/// Returns the headers of a call, as literals without the dynamic table.
fn headers(method: &str) -> Vec<u8> {
    let path = format!("/p4.v1.P4Runtime/{method}");
    // POST and http are in the static table.
    let mut block = vec![0x83, 0x86];
    for (name, value) in [(":path", path.as_str()), (":authority", "x"), ("content-type", "application/grpc")]
    {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).expect("short"));
            block.extend(text.as_bytes());
        }
    }
    block
}

#[tokio::test]
async fn a_connection_that_is_not_opened_is_closed() {
    let endpoint = serve(short()).await;
    for bytes in [&b""[..], b"PRI * HT", b"GET / HTTP/1.1\r\n\r\n"] {
        let mut stream = TcpStream::connect(endpoint.address()).await.expect("it listens");
        stream.write_all(bytes).await.expect("it is open");
        wait_for_close(stream).await;
    }
}

#[tokio::test]
async fn a_handshake_that_does_not_begin_is_closed() {
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a name");
    let tls = ServerTls {
        certificate: issued.cert.pem().into_bytes(),
        key: issued.signing_key.serialize_pem().into_bytes(),
        client_authority: None,
        revocation_lists: None,
    };
    let service = Service::with_limits([switch(DEVICE)], short());
    let endpoint = Endpoint::serve(service, ANYWHERE, Some(&tls)).await.expect("a free port");
    wait_for_close(TcpStream::connect(endpoint.address()).await.expect("it listens")).await;
}

#[tokio::test]
async fn a_request_that_does_not_arrive_ends_its_connection() {
    let endpoint = serve(short()).await;
    let mut stream = TcpStream::connect(endpoint.address()).await.expect("it listens");
    stream.write_all(OPENING).await.expect("it is open");
    frame(&mut stream, 1, 4, 1, &headers("Write")).await;
    // The header of a message of 4 MiB, and its first two bytes.
    frame(&mut stream, 0, 0, 1, &[0, 0, 0x40, 0, 0, 0x22, 0x00]).await;
    wait_for_close(stream).await;
}

/// Clients that occupy the memory for long requests and never complete them do not block short ones or primaries.
#[tokio::test]
async fn short_requests_and_primaries_wait_for_no_stranger() {
    let hour = Duration::from_hours(1);
    let endpoint = serve(Limits { stall: hour, handshake: hour, grace: hour, ..Limits::default() }).await;
    let mut idle = Vec::new();
    for method in ["Write", "Write", "Write", "Read", "Read", "SetForwardingPipelineConfig"] {
        let mut stream = TcpStream::connect(endpoint.address()).await.expect("it listens");
        stream.write_all(OPENING).await.expect("it is open");
        frame(&mut stream, 1, 4, 1, &headers(method)).await;
        // The header of a message of almost 4 MiB, and more of its bytes than a short request has.
        frame(&mut stream, 0, 0, 1, &[0, 0, 0x3f, 0, 0]).await;
        for _ in 0..3 {
            frame(&mut stream, 0, 0, 1, &[0x22; 16_000]).await;
        }
        idle.push(stream);
    }
    let work = async {
        let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
        let each = v1::write_request::Atomicity::ContinueOnError;
        assert!(controller.write(Vec::new(), each).await.is_err(), "there is no pipeline yet");
        controller.set_features().await;
        assert!(
            controller.write(vec![v1::Update::default(); 20_000], each).await.is_err(),
            "they say nothing"
        );
        assert!(!controller.read_ok(v1::CounterEntry::default()).await.is_empty());
    };
    tokio::time::timeout(Duration::from_mins(2), work).await.expect("idle connections do not block it");
}

/// Other files at the path of a socket are not replaced.
#[tokio::test]
async fn only_a_socket_that_nobody_serves_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p4runtime.sock");
    std::fs::write(&path, "precious").expect("a file");
    let service = Service::with_limits([switch(DEVICE)], Limits::default());
    assert!(Endpoint::serve_unix(service.clone(), &path).await.is_err());
    assert_eq!(std::fs::read(&path).expect("it is still there"), b"precious");
    std::fs::remove_file(&path).expect("it is ours");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    assert!(Endpoint::serve_unix(service, &path).await.is_ok(), "no process serves it any more");
}

#[tokio::test]
async fn an_answer_that_is_not_taken_ends_its_connection() {
    let endpoint = serve(Limits { stall: Duration::from_millis(500), ..Limits::default() }).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    let mut stream = TcpStream::connect(endpoint.address()).await.expect("it listens");
    // Settings with a window of one byte.
    stream.write_all(&OPENING[..24]).await.expect("it is open");
    frame(&mut stream, 4, 0, 0, &[0, 4, 0, 0, 0, 1]).await;
    frame(&mut stream, 1, 4, 1, &headers("Read")).await;
    // All registers and counters.
    let entities = vec![v1::RegisterEntry::default().into(), v1::CounterEntry::default().into()];
    let request = v1::ReadRequest { device_id: DEVICE, entities, ..Default::default() };
    let message = prost::Message::encode_to_vec(&request);
    let head = [0, 0, 0, 0, u8::try_from(message.len()).expect("short")];
    frame(&mut stream, 0, 1, 1, &[&head[..], &message].concat()).await;
    wait_for_close(stream).await;
    // The controller that reads its messages was not affected.
    assert!(!controller.read_ok(v1::CounterEntry::default()).await.is_empty());
}

#[tokio::test]
async fn a_stream_without_arbitration_ends() {
    let endpoint = serve(Limits { handshake: Duration::from_millis(50), ..Limits::default() }).await;
    let channel = Channel::from_shared(format!("http://{}", endpoint.address())).expect("an address");
    let mut client =
        v1::p4_runtime_client::P4RuntimeClient::new(channel.connect().await.expect("it listens"));
    let mut messages = client.stream_channel(tokio_stream::pending()).await.expect("a stream").into_inner();
    let status = messages.message().await.expect_err("it must arbitrate");
    assert_eq!(status.code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn whoever_stands_still_makes_room_for_others() {
    let limits = Limits { connections: 4, requests: 4, grace: Duration::ZERO, ..Limits::default() };
    let endpoint = serve(limits).await;
    let mut idle = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(endpoint.address()).await.expect("it listens");
        stream.write_all(OPENING).await.expect("it is open");
        frame(&mut stream, 1, 4, 1, &headers("StreamChannel")).await;
        idle.push(stream);
    }
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    for _ in 0..40 {
        let mut stream = TcpStream::connect(endpoint.address()).await.expect("it listens");
        stream.write_all(OPENING).await.expect("it is open");
        frame(&mut stream, 1, 4, 1, &headers("StreamChannel")).await;
        idle.push(stream);
        assert!(!controller.read_ok(v1::CounterEntry::default()).await.is_empty());
    }
    let first = idle.swap_remove(0);
    wait_for_close(first).await;
}

/// Connections without an HTTP/2 preface do not occupy places of other connections or delay them.
#[tokio::test]
async fn whoever_does_not_open_a_connection_is_in_nobodys_way() {
    let hour = Duration::from_hours(1);
    let limits = Limits { connections: 4, grace: hour, handshake: hour, ..Limits::default() };
    let endpoint = serve(limits).await;
    let mut idle = Vec::new();
    let work = async {
        for round in 0..4 {
            for length in 0..12 {
                let mut stream = TcpStream::connect(endpoint.address()).await.expect("it listens");
                // It may be closed by now.
                let _ = stream.write_all(&OPENING[..length]).await;
                idle.push(stream);
            }
            let mut controller = Controller::primary(endpoint.address(), DEVICE, round + 1).await;
            controller.set_features().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), work).await.expect("there is a place for each");
}

#[tokio::test]
async fn who_is_not_primary_is_refused_before_the_request_is_looked_at() {
    let endpoint = serve(Limits::default()).await;
    let channel = Channel::from_shared(format!("http://{}", endpoint.address())).expect("an address");
    let mut grpc = tonic::client::Grpc::new(channel.connect().await.expect("it listens"));
    let mut send = async |bytes: Vec<u8>| {
        grpc.ready().await.expect("it listens");
        let path = PathAndQuery::from_static("/p4.v1.P4Runtime/Write");
        grpc.unary(Request::new(bytes.into()), path, RawCodec).await.expect_err("it is refused").code()
    };
    let head = v1::WriteRequest {
        device_id: DEVICE,
        election_id: Some(v1::Uint128 { high: 0, low: 1 }),
        ..Default::default()
    };
    let mut bytes = prost::Message::encode_to_vec(&head);
    bytes.extend([0x22, 0x00].repeat(1 << 20));
    assert_eq!(send(bytes.clone()).await, Code::PermissionDenied);
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    assert_eq!(send(bytes.clone()).await, Code::ResourceExhausted);
    bytes.extend([0x22, 0x00].repeat(1 << 20));
    assert_eq!(send(bytes).await, Code::OutOfRange, "more than a message may have");
    assert!(features().info().tables().len() > 1);
}
