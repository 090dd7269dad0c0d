//! What attacks cost a server in memory. The server runs in a process of its own, so that its peak can be read.

mod common;

use bytes::Bytes;
use closc_runtime::proto::v1;
use closc_runtime::wire::RawCodec;
use closc_switch::pipeline::Pipeline;
use closc_switch::server::{Endpoint, Service};
use common::controller::{Controller, DEVICE, switch};
use common::features;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, OnceLock};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use v1::write_request::Atomicity;

/// Set for the process that serves.
const SERVE: &str = "CLOSC_TEST_SERVE";

/// What an attack may cost, in KiB.
const LIMIT_KIB: u64 = 64 << 10;

/// Serves until its input ends, where it is asked to; as a test of its own there is nothing to do.
#[test]
fn serves_for_the_other_tests() {
    if std::env::var_os(SERVE).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("threads").block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let service = Service::new([switch(DEVICE)]);
        let endpoint = Endpoint::serve(service, address, None).await.expect("a free port");
        println!("\nserves at {}", endpoint.address());
        let ended = tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0]));
        // Either way nobody needs the server any more.
        let _ = ended.await;
    });
}

/// A server in a process of its own.
struct Served {
    child: Child,
    address: SocketAddr,
    base_kib: u64,
    _input: ChildStdin,
    /// Kept open: what runs the test over there prints from time to time.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Served {
    async fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this test runs"))
            .args(["--exact", "serves_for_the_other_tests", "--nocapture"])
            .env(SERVE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test can be run");
        let input = child.stdin.take().expect("it is piped");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let address = lines
            .find_map(|line| line.expect("it is text").strip_prefix("serves at ").map(str::to_owned))
            .expect("it serves");
        let address = address.parse().expect("an address");
        let mut served = Self { child, address, base_kib: 0, _input: input, _output: lines };
        // What every server takes: its program, threads, a connection or two.
        let mut controller = Controller::primary(address, DEVICE, 1).await;
        controller.set_features().await;
        controller.write_ok((0..900).map(entry).map(v1::Update::insert).collect()).await;
        assert!(controller.read_ok(v1::TableEntry::default()).await.len() >= 900);
        served.base_kib = served.status("VmRSS");
        served
    }

    fn status(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).expect("the system counts it")
    }

    fn assert_cost(&self, what: &str) {
        let cost = self.status("VmHWM").saturating_sub(self.base_kib);
        println!("{what}: {} MiB above {} MiB", cost >> 10, self.base_kib >> 10);
        assert!(cost <= LIMIT_KIB, "{what}: {cost} KiB above {} KiB", self.base_kib);
    }

    async fn connect(&self) -> Channel {
        let channel = Channel::from_shared(format!("http://{}", self.address)).expect("an address");
        channel.connect().await.expect("it listens")
    }

    /// Reads as one who attacks nobody.
    async fn read(&self) {
        let mut grpc = Grpc::new(self.connect().await).max_decoding_message_size(usize::MAX);
        let mut answers = open_read(&mut grpc, vec![v1::TableEntry::default().into()]).await.expect("room");
        while answers.message().await.expect("it goes on").is_some() {}
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It is gone already where this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn entry(index: u32) -> v1::TableEntry {
    static PIPELINE: OnceLock<Arc<Pipeline>> = OnceLock::new();
    let entry = PIPELINE
        .get_or_init(features)
        .info()
        .entry("exact_dst")
        .expect("a table")
        .exact("dst", u64::from(index));
    entry.action("send", &[("port", 1u64.into())]).build().expect("an entry")
}

async fn call(grpc: &mut Grpc<Channel>, method: &'static str, bytes: Vec<u8>) -> Result<Bytes, Status> {
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::from_static(method);
    grpc.unary(Request::new(bytes.into()), path, RawCodec).await.map(tonic::Response::into_inner)
}

async fn open_read(grpc: &mut Grpc<Channel>, entities: Vec<v1::Entity>) -> Result<Streaming<Bytes>, Status> {
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let request = v1::ReadRequest { device_id: DEVICE, entities, ..Default::default() };
    let bytes = prost::Message::encode_to_vec(&request).into();
    let path = PathAndQuery::from_static("/p4.v1.P4Runtime/Read");
    grpc.server_streaming(Request::new(bytes), path, RawCodec).await.map(tonic::Response::into_inner)
}

/// A Write of empty updates, a message of so many bytes.
fn empty_updates(bytes: usize) -> Vec<u8> {
    let head = v1::WriteRequest {
        device_id: DEVICE,
        election_id: Some(v1::Uint128 { high: 0, low: 9 }),
        ..Default::default()
    };
    let mut message = prost::Message::encode_to_vec(&head);
    message.extend([0x22, 0x00].repeat(bytes / 2));
    message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn empty_updates_cost_little_whoever_sends_them() {
    let served = Served::start().await;
    for primary in [false, true] {
        let controller =
            if primary { Some(Controller::primary(served.address, DEVICE, 9).await) } else { None };
        let mut attacks = tokio::task::JoinSet::new();
        for round in 0..12 {
            let mut grpc = Grpc::new(served.connect().await).max_encoding_message_size(usize::MAX);
            // Some that would fit, some that are too much, some longer than a message may be.
            let bytes = empty_updates([40 << 10, 3 << 20, 16 << 20][round % 3]);
            attacks.spawn(async move { call(&mut grpc, "/p4.v1.P4Runtime/Write", bytes).await });
        }
        served.read().await;
        while let Some(attack) = attacks.join_next().await {
            assert!(attack.expect("it ends").is_err());
        }
        drop(controller);
    }
    served.assert_cost("empty updates");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_of_everything_many_times_cost_little_when_nobody_takes_them() {
    let served = Served::start().await;
    let mut open = Vec::new();
    for _ in 0..8 {
        let mut grpc = Grpc::new(served.connect().await).max_decoding_message_size(usize::MAX);
        for _ in 0..8 {
            // Whether it is let in does not matter.
            open.push(open_read(&mut grpc, vec![v1::TableEntry::default().into(); 20_000]).await.ok());
            open.push(open_read(&mut grpc, vec![v1::TableEntry::default().into(); 3_000]).await.ok());
        }
    }
    served.read().await;
    served.assert_cost("reads of everything");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_without_end_cost_little() {
    let served = Served::start().await;
    let mut open = Vec::new();
    for _ in 0..12 {
        let channel = served.connect().await;
        for _ in 0..100 {
            let mut client = v1::p4_runtime_client::P4RuntimeClient::new(channel.clone());
            open.push(tokio::spawn(async move {
                let stream = client.stream_channel(tokio_stream::pending()).await;
                // Held for as long as the server holds it.
                if let Ok(stream) = stream {
                    let mut stream = stream.into_inner();
                    while let Ok(Some(_)) = stream.message().await {}
                }
            }));
        }
        served.read().await;
    }
    served.assert_cost("streams");
    // Each ends by itself: no stream may stay without arbitration.
    for stream in open {
        stream.await.expect("it ends");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_that_are_all_refused_cost_little() {
    let served = Served::start().await;
    let mut controller = Controller::primary(served.address, DEVICE, 9).await;
    let updates: Vec<v1::Update> = (0..4096).map(|_| v1::Update::insert(entry(1))).collect();
    for atomicity in [Atomicity::ContinueOnError, Atomicity::RollbackOnError] {
        assert!(controller.write(updates.clone(), atomicity).await.is_err());
    }
    served.assert_cost("refused updates");
}
