//! A separate `closc switch` per test, without network interfaces. Its packets are sent over gRPC.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use closc_switch::{PACKET_STREAM, PortPacket};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Streaming};
use tonic_prost::ProstCodec;

/// Time limit for any operation.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A running switch, which is ended on drop.
pub(crate) struct SwitchProcess {
    process: Child,
    /// Kept open, so that the process can write more.
    _said: BufReader<ChildStderr>,
    /// Address of its P4Runtime server.
    pub(crate) address: SocketAddr,
    device_id: u64,
    packets: SocketAddr,
}

impl Drop for SwitchProcess {
    fn drop(&mut self) {
        // The process may have ended already, which the test reports elsewhere.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl SwitchProcess {
    /// Starts a switch without a P4 program. `options` are the arguments after `--`.
    pub(crate) fn start(device_id: u64, options: &[&str]) -> Self {
        let anywhere = "127.0.0.1:0";
        let mut process = Command::new(env!("CARGO_BIN_EXE_closc"))
            .args(["switch", "--no-p4", "--device-id", &device_id.to_string(), "--"])
            .args(["--grpc-server-addr", anywhere, "--dp-grpc-server-addr", anywhere])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .expect("closc runs");
        let mut said = BufReader::new(process.stderr.take().expect("piped"));
        let mut read_line_with = |what: &str| {
            let mut line = String::new();
            said.read_line(&mut line).expect("it says something or ends");
            let address = line.trim_end().strip_prefix(what).map(str::parse);
            let Some(Ok(address)) = address else { panic!("`{what}` and an address, not {line:?}") };
            address
        };
        let (address, packets) =
            (read_line_with("P4Runtime is served at "), read_line_with("packets are exchanged at "));
        Self { process, _said: said, address, device_id, packets }
    }

    /// Opens a stream of packets.
    pub(crate) async fn packets(&self) -> Packets {
        let endpoint = Channel::from_shared(format!("http://{}", self.packets)).expect("an address");
        let mut client = tonic::client::Grpc::new(endpoint.connect().await.expect("it listens"));
        let (sender, stream) = mpsc::channel(16);
        client.ready().await.expect("the channel is there");
        let codec = ProstCodec::<PortPacket, PortPacket>::default();
        let path = PathAndQuery::from_static(PACKET_STREAM);
        let answer = client.streaming(Request::new(ReceiverStream::new(stream)), path, codec).await;
        Packets { device_id: self.device_id, sender, received: answer.expect("the method").into_inner() }
    }
}

/// The ports of a switch.
pub(crate) struct Packets {
    device_id: u64,
    sender: mpsc::Sender<PortPacket>,
    received: Streaming<PortPacket>,
}

impl Packets {
    /// Sends a packet into a port.
    pub(crate) async fn send(&self, port: u32, packet: &[u8]) {
        let packet = PortPacket { id: 1, device_id: self.device_id, port, packet: packet.to_vec() };
        self.sender.send(packet).await.expect("the stream lives");
    }

    /// Returns the next packet that leaves the switch, and its port.
    pub(crate) async fn receive(&mut self) -> (u32, Vec<u8>) {
        let next = tokio::time::timeout(PATIENCE, self.received.message()).await.expect("a packet in time");
        let packet = next.expect("the stream lives").expect("the switch runs");
        (packet.port, packet.packet)
    }
}
