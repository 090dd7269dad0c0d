//! BMv2 as a reference: a `simple_switch_grpc` without interfaces, whose packets are exchanged over gRPC.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

pub mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use closc_switch::{PACKET_STREAM, PortPacket};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Streaming};
use tonic_prost::ProstCodec;

/// Timeout for the start of BMv2, and for packets.
const PATIENCE: Duration = Duration::from_mins(5);

/// Number of packets sent together. BMv2 drops packets that do not fit into its queues of 64.
const TOGETHER: usize = 24;

/// Results of each packet: output ports and packets, in the order of each port.
pub type Results = BTreeMap<u64, BTreeMap<u32, Vec<Vec<u8>>>>;

/// A running BMv2 process, which ends when this value is dropped.
pub struct Bmv2(closc_skip::Bmv2);

/// Finds BMv2, or reports the test as skipped: `CLOSC_BMV2` names it, or it is in `PATH`.
#[track_caller]
pub fn find() -> Option<PathBuf> {
    let named = std::env::var_os("CLOSC_BMV2").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let listed = std::env::split_paths(&path).map(|folder| folder.join("simple_switch_grpc"));
    let found = named.into_iter().chain(listed).find(|program| program.is_file());
    if found.is_none() {
        closc_skip::skip("no simple_switch_grpc in PATH, and CLOSC_BMV2 names none");
    }
    found
}

impl Bmv2 {
    /// Starts it with a device id.
    pub async fn start(program: &Path, device: u64, queues: usize) -> Self {
        let options = ["--priority-queues", &queues.to_string()];
        let this = Self(closc_skip::Bmv2::start(program, device, &options).expect("the program runs"));
        for address in [this.0.address(), this.0.packets()] {
            connect(address).await;
        }
        this
    }

    /// Returns the P4Runtime address.
    pub fn address(&self) -> String {
        self.0.address()
    }

    /// Returns whether the process is still running.
    pub fn lives(&mut self) -> bool {
        self.0.lives()
    }

    /// Opens a stream of packets.
    pub async fn packets(&self) -> Packets {
        Packets { client: Grpc::new(connect(self.0.packets()).await) }
    }
}

async fn connect(address: String) -> Channel {
    let endpoint = Endpoint::from_shared(address).expect("an address");
    let attempt = async {
        loop {
            if let Ok(channel) = endpoint.connect().await {
                return channel;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, attempt).await.expect("it starts in time")
}

/// Splits packets into parts, so that no two packets of a part share a queue.
fn apart<'p>(packets: &'p [PortPacket], expected: &Results) -> Vec<&'p [PortPacket]> {
    let (mut parts, mut start, mut busy) = (Vec::new(), 0, BTreeSet::new());
    for at in 0..packets.len() {
        let ports = expected.get(&(at as u64)).into_iter().flat_map(BTreeMap::keys);
        let ports: Vec<u32> = ports.copied().collect();
        if at - start == TOGETHER || ports.iter().any(|port| busy.contains(port)) {
            parts.push(&packets[start..at]);
            start = at;
            busy.clear();
        }
        busy.extend(ports);
    }
    parts.push(&packets[start..]);
    parts
}

/// Exchanges packets with a switch over gRPC.
pub struct Packets {
    client: Grpc<Channel>,
}

impl Packets {
    /// Sends packets and collects the results, by the index of the input packet. `expected` determines which
    /// packets are sent together: packets expected at the same port are not, so that queues are empty.
    ///
    /// The switch ends a closed stream after processing its packets, so no waiting is needed.
    pub async fn exchange(
        &mut self,
        device_id: u64,
        packets: &[(u32, Vec<u8>)],
        expected: &Results,
    ) -> Results {
        let mut results = Results::new();
        let numbered: Vec<PortPacket> = (1..)
            .zip(packets)
            .map(|(id, (port, packet))| PortPacket { id, device_id, port: *port, packet: packet.clone() })
            .collect();
        for chunk in apart(&numbered, expected) {
            let mut responses = self.stream(chunk).await;
            loop {
                let next = tokio::time::timeout(PATIENCE, responses.message()).await;
                let next = next.expect("BMv2 is done with its packets unless they go round and round");
                let Some(packet) = next.expect("the stream ends well") else { break };
                let place = packet.id.checked_sub(1).expect("every packet came of another");
                results.entry(place).or_default().entry(packet.port).or_default().push(packet.packet);
            }
        }
        results
    }

    /// Opens a stream and sends packets. BMv2 rejects streams until its first pipeline runs.
    async fn stream(&mut self, packets: &[PortPacket]) -> Streaming<PortPacket> {
        let attempt = async {
            loop {
                self.client.ready().await.expect("the channel is there");
                let codec = ProstCodec::<PortPacket, PortPacket>::default();
                let path = PathAndQuery::from_static(PACKET_STREAM);
                let request = Request::new(tokio_stream::iter(packets.to_vec()));
                match self.client.streaming(request, path, codec).await {
                    Ok(answer) => return answer.into_inner(),
                    Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, attempt).await.expect("it is ready in time")
    }
}
