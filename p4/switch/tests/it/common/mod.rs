//! Shared parts of the tests: the program with all features, packets for it, and entities by name.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]
#![allow(clippy::needless_pass_by_value, reason = "an update is made where it is written")]

pub mod controller;

use std::sync::Arc;

use closc_runtime::proto::v1;
use closc_runtime::text::read_p4info;
use closc_switch::{DigestList, EngineConfig, Fault, Pipeline, Sink, Store};
use tonic::Code;

/// The JSON of the program with all features.
pub const FEATURES: &[u8] = include_bytes!("../../programs/features.json");
/// Its P4Info.
pub const FEATURES_INFO: &str = include_str!("../../programs/features.p4info.txtpb");
/// The port of the controller.
pub const CPU: u32 = 510;

/// Returns the program with all features.
pub fn features() -> Arc<Pipeline> {
    let info = read_p4info(FEATURES_INFO).expect("the fixture is a P4Info");
    Arc::new(Pipeline::new(info, FEATURES.into()).expect("the fixture is a pipeline"))
}

/// A switch under manual control.
pub struct Bench {
    /// Its state.
    pub store: Store,
    /// Its time.
    pub now_ns: u64,
}

impl Bench {
    /// Returns a switch with the program with all features.
    pub fn new() -> Self {
        Self { store: Store::new(features(), EngineConfig::default()), now_ns: 0 }
    }

    /// Applies an update that must succeed.
    pub fn write(&mut self, update: v1::Update) {
        self.store.write(self.now_ns, &update).expect("the update is right");
    }

    /// Applies an update that must fail; returns its code.
    pub fn refuse(&mut self, update: v1::Update) -> Code {
        let before = self.everything();
        let code = self.store.write(self.now_ns, &update).expect_err("the update is wrong").code();
        assert_eq!(self.everything(), before, "an update that fails changes nothing");
        code
    }

    /// Reads, which must succeed.
    pub fn read(&self, request: impl Into<v1::Entity>) -> Vec<v1::Entity> {
        self.store.read(self.now_ns, &request.into()).expect("the request is right")
    }

    /// Reads, which must fail.
    pub fn read_fault(&self, request: impl Into<v1::Entity>) -> Fault {
        self.store.read(self.now_ns, &request.into()).expect_err("the request is wrong")
    }

    /// Returns all entities that a controller can read.
    pub fn everything(&self) -> Vec<v1::Entity> {
        let mut requests = closc_runtime::entry::wildcards(self.store.pipeline().info());
        requests.push(v1::CounterEntry::default().into());
        requests.push(v1::RegisterEntry::default().into());
        let counters =
            v1::TableEntry { counter_data: Some(v1::CounterData::default()), ..Default::default() };
        requests.push(counters.into());
        let meters = v1::TableEntry { meter_config: Some(v1::MeterConfig::default()), ..Default::default() };
        requests.push(meters.into());
        requests.into_iter().flat_map(|request| self.read(request)).collect()
    }

    /// Sends a packet into a port; returns the resulting packets.
    pub fn send(&mut self, port: u32, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
        self.now_ns += 1_000;
        let mut out = OutputCollector::default();
        self.store.engine_mut().receive(self.now_ns, port, frame, &mut out);
        out.frames
    }

    /// Sends a packet into a port; returns the resulting digests.
    pub fn send_for_digests(&mut self, port: u32, frame: &[u8]) -> Vec<DigestList> {
        self.now_ns += 1_000;
        let mut out = OutputCollector::default();
        self.store.engine_mut().receive(self.now_ns, port, frame, &mut out);
        out.digests
    }
}

/// Collects the output of a switch.
#[derive(Default)]
pub struct OutputCollector {
    /// Packets by port.
    pub frames: Vec<(u32, Vec<u8>)>,
    pub digests: Vec<DigestList>,
}

impl Sink for OutputCollector {
    fn transmit(&mut self, port: u32, frame: &[u8]) {
        self.frames.push((port, frame.to_vec()));
    }

    fn digest(&mut self, list: DigestList) {
        self.digests.push(list);
    }
}

/// Returns an Ethernet frame.
pub fn ethernet(dst: u64, src: u64, kind: u16) -> Vec<u8> {
    let mut frame = dst.to_be_bytes()[2..].to_vec();
    frame.extend_from_slice(&src.to_be_bytes()[2..]);
    frame.extend_from_slice(&kind.to_be_bytes());
    frame
}

/// Returns an Ethernet frame with the payload header that the program parses.
pub fn payload(dst: u64, src: u64, a: u8, b: u16, c: u32) -> Vec<u8> {
    let mut frame = ethernet(dst, src, 0x1234);
    frame.push(a);
    frame.extend_from_slice(&b.to_be_bytes());
    frame.extend_from_slice(&c.to_be_bytes());
    frame
}
