//! Memory use of a server under attack, and its release afterwards. The server runs in a separate process, so that its
//! peak can be measured.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use closc_runtime::proto::v1;
use closc_runtime::wire::RawCodec;
use closc_switch::{Endpoint, Load, Pipeline, Service};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use v1::write_request::Atomicity;

use crate::common::controller::{Controller, DEVICE, switch};
use crate::common::features;

/// Environment variable of the server process.
const SERVE: &str = "CLOSC_TEST_SERVE";

/// Maximum memory that an attack may cost, in KiB.
const LIMIT_KIB: u64 = 64 << 10;

/// Time limit for the release of all resources, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// Serves until its input ends, if the environment variable is set. Otherwise, does nothing.
#[test]
fn serves_for_the_other_tests() {
    if std::env::var_os(SERVE).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("threads").block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let service = Service::new([switch(DEVICE)]);
        let endpoint = Endpoint::serve(service.clone(), address, None).await.expect("a free port");
        println!("\nserves at {}", endpoint.address());
        // Each line requests the resources in use; at the end of the input the server stops.
        let asked = tokio::task::spawn_blocking(move || {
            for _ in std::io::stdin().lines().map_while(Result::ok) {
                let Load { connections, requests, controllers, roles } = service.load();
                println!("\nload {connections} {requests} {controllers} {roles}");
            }
        });
        asked.await.expect("it ends with its input");
    });
}

/// A server in a separate process.
struct ServerProcess {
    child: Child,
    address: SocketAddr,
    base_kib: u64,
    input: ChildStdin,
    /// Its output, which also contains lines of the test runner.
    output: Lines<BufReader<ChildStdout>>,
}

impl ServerProcess {
    async fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this test runs"))
            .args(["--exact", "memory::serves_for_the_other_tests", "--nocapture"])
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
        let mut served = Self { child, address, base_kib: 0, input, output: lines };
        // Memory of every server: its program, threads, and a few connections.
        let mut controller = Controller::primary(address, DEVICE, 1).await;
        controller.set_features().await;
        controller.write_ok((0..900).map(entry).map(v1::Update::insert).collect()).await;
        assert!(controller.read_ok(v1::TableEntry::default()).await.len() >= 900);
        served.base_kib = served.status("VmRSS");
        drop(controller);
        served.wait_for_release(1..=1).await;
        served
    }

    /// Returns connections, requests, controllers and roles.
    fn load(&mut self) -> [usize; 4] {
        writeln!(self.input, "load").expect("it runs");
        let said =
            self.output.find_map(|line| line.expect("it is text").strip_prefix("load ").map(str::to_owned));
        let said = said.expect("it answers");
        let numbers: Vec<usize> = said.split(' ').map(|number| number.parse().expect("a number")).collect();
        numbers.try_into().expect("four numbers")
    }

    /// Waits until clients use no resources, except for the names of some roles.
    async fn wait_for_release(&mut self, roles: RangeInclusive<usize>) {
        let start = Instant::now();
        loop {
            let load = self.load();
            if load[..3] == [0, 0, 0] {
                assert!(roles.contains(&load[3]), "{load:?}");
                println!(
                    "all is free after {:.1} s, {} roles are remembered",
                    start.elapsed().as_secs_f64(),
                    load[3]
                );
                return;
            }
            assert!(start.elapsed() < PATIENCE, "connections, requests, controllers, roles: {load:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
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
        // A client whose connection was dropped during the attack connects again.
        for _ in 0..100 {
            if let Ok(channel) = channel.connect().await {
                return channel;
            }
        }
        panic!("it listens")
    }

    /// Reads as a normal client, on an old connection and on a new one.
    async fn read(&self, friend: &mut Controller) {
        let start = Instant::now();
        assert!(friend.read_ok(v1::TableEntry::default()).await.len() >= 900);
        let old = start.elapsed();
        // A new connection that is idle for longer than the grace period may be dropped.
        while self.read_anew().await.is_err() {
            assert!(start.elapsed() < PATIENCE);
        }
        println!(
            "reads of others: {:.3} s, and {:.3} s",
            old.as_secs_f64(),
            start.elapsed().saturating_sub(old).as_secs_f64()
        );
    }

    async fn read_anew(&self) -> Result<(), Status> {
        let channel = Channel::from_shared(format!("http://{}", self.address)).expect("an address");
        let channel = channel.connect().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let mut grpc = Grpc::new(channel).max_decoding_message_size(usize::MAX);
        let mut answers = open_read(&mut grpc, vec![v1::TableEntry::default().into()]).await?;
        while answers.message().await?.is_some() {}
        Ok(())
    }

    /// Returns a normal controller that connects before the attack.
    async fn friend(&self) -> Controller {
        Controller::primary(self.address, DEVICE, 5).await
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // If this fails, the process has already ended.
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

/// A Write of empty updates, with a message of this size.
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
    let mut served = ServerProcess::start().await;
    let mut friend = served.friend().await;
    for primary in [false, true] {
        let controller =
            if primary { Some(Controller::primary(served.address, DEVICE, 9).await) } else { None };
        let mut attacks = tokio::task::JoinSet::new();
        for round in 0..12 {
            let mut grpc = Grpc::new(served.connect().await).max_encoding_message_size(usize::MAX);
            // Some within the limit, some above it, some longer than a message may be.
            let bytes = empty_updates([40 << 10, 3 << 20, 16 << 20][round % 3]);
            attacks.spawn(async move { call(&mut grpc, "/p4.v1.P4Runtime/Write", bytes).await });
        }
        served.read(&mut friend).await;
        while let Some(attack) = attacks.join_next().await {
            assert!(attack.expect("it ends").is_err());
        }
        drop(controller);
    }
    served.assert_cost("empty updates");
    drop(friend);
    served.wait_for_release(1..=1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_of_everything_many_times_cost_little_when_nobody_takes_them() {
    let mut served = ServerProcess::start().await;
    let mut friend = served.friend().await;
    let mut open = Vec::new();
    for _ in 0..8 {
        let mut grpc = Grpc::new(served.connect().await).max_decoding_message_size(usize::MAX);
        for _ in 0..8 {
            // The server may accept or reject these.
            open.push(open_read(&mut grpc, vec![v1::TableEntry::default().into(); 20_000]).await.ok());
            open.push(open_read(&mut grpc, vec![v1::TableEntry::default().into(); 3_000]).await.ok());
        }
    }
    served.read(&mut friend).await;
    // Messages of maximum length: those without a budget are not read into memory.
    let entity = v1::Entity::from(v1::TableEntry { metadata: vec![7; 200], ..Default::default() });
    let entities = vec![entity; 19_000];
    let request = v1::ReadRequest { device_id: DEVICE, entities, ..Default::default() };
    let long: Bytes = prost::Message::encode_to_vec(&request).into();
    assert!((3 << 20..4 << 20).contains(&long.len()));
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let mut grpc = Grpc::new(served.connect().await).max_decoding_message_size(usize::MAX);
        let request = long.clone();
        waiting.spawn(async move {
            grpc.ready().await.ok()?;
            let path = PathAndQuery::from_static("/p4.v1.P4Runtime/Read");
            let answer = grpc.server_streaming(Request::new(request), path, RawCodec).await.ok();
            // Held without being read.
            std::future::pending::<()>().await;
            answer.map(drop)
        });
    }
    served.read(&mut friend).await;
    served.read(&mut friend).await;
    drop(waiting);
    served.assert_cost("reads of everything");
    drop((open, friend));
    served.wait_for_release(1..=1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_without_end_cost_little() {
    let mut served = ServerProcess::start().await;
    let mut friend = served.friend().await;
    let mut open = Vec::new();
    for _ in 0..12 {
        let channel = served.connect().await;
        for _ in 0..100 {
            let mut client = v1::p4_runtime_client::P4RuntimeClient::new(channel.clone());
            open.push(tokio::spawn(async move {
                let stream = client.stream_channel(tokio_stream::pending()).await;
                // Held as long as the server holds it.
                if let Ok(stream) = stream {
                    let mut stream = stream.into_inner();
                    while let Ok(Some(_)) = stream.message().await {}
                }
            }));
        }
        served.read(&mut friend).await;
    }
    served.assert_cost("streams");
    // Each one ends by itself, because streams must take part in the arbitration.
    for stream in open {
        stream.await.expect("it ends");
    }
    drop(friend);
    served.wait_for_release(1..=1).await;
}

/// Roles are remembered, but their number is limited.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_without_end_cost_little() {
    let mut served = ServerProcess::start().await;
    let mut friend = served.friend().await;
    for round in 0..30 {
        let channel = served.connect().await;
        let mut streams = Vec::new();
        for role in 0..10 {
            let role = v1::Role { name: format!("{}-{round}-{role}", "r".repeat(200)), ..Default::default() };
            let update = v1::MasterArbitrationUpdate {
                device_id: DEVICE,
                role: Some(role),
                election_id: Some(v1::Uint128 { high: 0, low: 1 }),
                ..Default::default()
            };
            let update = v1::stream_message_request::Update::Arbitration(update);
            // The transport keeps a stream whose messages never end, even if it was dropped.
            let (sender, messages) = tokio::sync::mpsc::channel(1);
            sender.send(v1::StreamMessageRequest { update: Some(update) }).await.expect("room");
            let messages = tokio_stream::wrappers::ReceiverStream::new(messages);
            let mut client = v1::p4_runtime_client::P4RuntimeClient::new(channel.clone());
            let mut stream = client.stream_channel(messages).await.expect("room").into_inner();
            assert!(stream.message().await.expect("room for a role").is_some());
            streams.push((sender, stream));
        }
        served.read(&mut friend).await;
        drop((channel, streams));
        // A role with a controller cannot be forgotten.
        while served.load()[2] > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    served.assert_cost("roles");
    drop(friend);
    served.wait_for_release(2..=64).await;
}

/// Connections that are never opened completely, and requests that never arrive completely: some end, and new
/// ones are opened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_connections_cost_little() {
    const OPENING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    let mut served = ServerProcess::start().await;
    let mut friend = served.friend().await;
    let mut open = Vec::new();
    for round in 0..8 {
        for length in (0..OPENING.len()).chain([OPENING.len(); 30]) {
            let mut stream = TcpStream::connect(served.address).await.expect("it listens");
            // It may be closed by now.
            let _ = stream.write_all(&OPENING[..length]).await;
            open.push(stream);
        }
        if round % 2 == 1 {
            served.read(&mut friend).await;
        }
    }
    println!("{} connections", open.len());
    served.assert_cost("connections");
    drop((open, friend));
    served.wait_for_release(1..=1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_that_are_all_refused_cost_little() {
    let mut served = ServerProcess::start().await;
    let mut controller = Controller::primary(served.address, DEVICE, 9).await;
    let updates: Vec<v1::Update> = (0..4096).map(|_| v1::Update::insert(entry(1))).collect();
    for atomicity in [Atomicity::ContinueOnError, Atomicity::RollbackOnError] {
        assert!(controller.write(updates.clone(), atomicity).await.is_err());
    }
    served.assert_cost("refused updates");
    drop(controller);
    served.wait_for_release(1..=1).await;
}
