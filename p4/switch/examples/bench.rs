//! Measures the data plane: packets per second, inserts per second, memory of a switch.
//!
//! In: the program `tests/programs/forward.json` of this crate. Out: one figure per line. Run it with `--release`.
//! Rates are per second of processor time, so other load on the machine has little effect.

use std::net::Ipv6Addr;
use std::sync::Arc;

use closc_runtime::Info;
use closc_runtime::check::Violation;
use closc_runtime::proto::v1::Update;
use closc_runtime::text::read_p4info;
use closc_switch::{Engine, EngineConfig, Pipeline, Program, Sink, Store};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/forward.json");
const P4INFO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/forward.p4info.txtpb");
const BLOCK: u128 = 0xfcbb_bbbb;

/// Counts transmitted packets.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn transmit(&mut self, _port: u32, _frame: &[u8]) {
        self.0 += 1;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let info = read_p4info(&std::fs::read_to_string(P4INFO)?)?;
    let pipeline = Arc::new(Pipeline::new(info, std::fs::read(PROGRAM)?.into())?);
    inserts(&pipeline)?;
    packets(&pipeline)?;
    memory(pipeline.program());
    Ok(())
}

/// Returns an entry that sends a prefix to a next hop.
fn route(info: &Info, prefix: u128, length: u32, nexthop: u32) -> Result<Update, Violation> {
    let entry = info.entry("ingress.routes")?.lpm("dst", Ipv6Addr::from_bits(prefix), length);
    Ok(Update::insert(entry.action("ingress.set_nexthop", &[("nexthop", nexthop.into())]).build()?))
}

fn inserts(pipeline: &Arc<Pipeline>) -> Result<(), Box<dyn std::error::Error>> {
    let mut store = Store::new(Arc::clone(pipeline), EngineConfig::default());
    let prefixes = (0..100_000_u128).map(|at| (BLOCK << 96) | (at << 64));
    let updates: Vec<Update> =
        prefixes.map(|prefix| route(pipeline.info(), prefix, 64, 1)).collect::<Result<_, _>>()?;
    let start = processor_seconds();
    for update in &updates {
        store.write(0, update)?;
    }
    println!("inserts of 128-bit prefixes: {:.0} /s", updates.len() as f64 / (processor_seconds() - start));
    Ok(())
}

fn packets(pipeline: &Arc<Pipeline>) -> Result<(), Box<dyn std::error::Error>> {
    let (mut store, info) = (Store::new(Arc::clone(pipeline), EngineConfig::default()), pipeline.info());
    let sid = info.entry("ingress.my_sid")?.exact("sid", ((BLOCK as u64) << 16) | 1);
    store.write(0, &Update::insert(sid.action("ingress.shift", &[]).build()?))?;
    for at in 2..514_u32 {
        store.write(0, &route(info, (BLOCK << 96) | (u128::from(at) << 80), 48, at)?)?;
        let nexthop = info.entry("ingress.nexthops")?.exact("nexthop", at).action(
            "ingress.send",
            &[("port", (at % 500).into()), ("src", 0x0200_0000_0001_u64.into()), ("dst", at.into())],
        );
        store.write(0, &Update::insert(nexthop.build()?))?;
    }
    let engine = store.engine_mut();
    for length in [64_usize, 1500] {
        let frames: Vec<Vec<u8>> = (2..514_u128).map(|at| frame(at, length)).collect();
        let (mut sink, mut passes) = (Count::default(), 0_u64);
        for data in &frames {
            engine.receive(0, 1, data, &mut sink);
        }
        assert_eq!(sink.0, 512, "every packet is forwarded");
        let start = processor_seconds();
        while processor_seconds() - start < 2.0 {
            for data in &frames {
                engine.receive(passes, 1, data, &mut sink);
            }
            passes += 1;
        }
        let rate = (passes * 512) as f64 / (processor_seconds() - start);
        println!("uN forwarding, {length}-byte packets, one core: {rate:.0} packets/s");
    }
    Ok(())
}

/// Makes a packet whose first uSID is the switch's own and whose second names a route.
fn frame(usid: u128, length: usize) -> Vec<u8> {
    let dst = (BLOCK << 96) | (1 << 80) | (usid << 64);
    let mut frame = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0, 0, 0];
    frame.extend([0, 10, 41, 64]);
    frame.extend([0x20; 16]);
    frame.extend(dst.to_be_bytes());
    frame.resize(length.max(frame.len()), 0xab);
    frame
}

fn memory(program: &Arc<Program>) {
    let before = resident();
    let count = 2_000;
    let switches: Vec<Engine> =
        (0..count).map(|_| Engine::new(Arc::clone(program), EngineConfig::default())).collect();
    let mut sink = Count::default();
    let frame = frame(2, 1500);
    let mut switches = switches;
    for engine in &mut switches {
        engine.receive(0, 1, &frame, &mut sink);
    }
    let after = resident();
    println!("memory of a switch without entries: {} KiB", (after - before) / count);
}

/// Returns the processor time of this thread in seconds, as Linux counts it.
fn processor_seconds() -> f64 {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = counted.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    nanoseconds.expect("Linux counts processor time") / 1e9
}

/// Returns the resident memory of this process in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}
