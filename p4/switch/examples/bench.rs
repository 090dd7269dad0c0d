//! Measures the data plane: packets a second, inserts a second, memory of a switch.
//!
//! Comes in: nothing but the program `tests/programs/forward.json` beside this crate. Goes out: one line a figure.
//! Run it with `--release`. Rates are per second of processor time, so that a busy machine changes them little.

use closc_switch::engine::{Engine, EngineConfig, Sink};
use closc_switch::program::{Program, TableMatch};
use closc_switch::state::{ActionRef, Entry, Key};
use std::sync::Arc;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/forward.json");
const BLOCK: u128 = 0xfcbb_bbbb;

/// Counts what is sent.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn transmit(&mut self, _port: u32, _frame: &[u8]) {
        self.0 += 1;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = Arc::new(Program::from_json(&std::fs::read(PROGRAM)?)?);
    inserts(&program)?;
    packets(&program)?;
    memory(&program);
    Ok(())
}

/// Adds an entry by names, values and arguments.
fn add(
    engine: &mut Engine,
    table: &str,
    value: u128,
    prefix: u32,
    action: &str,
    args: &[u64],
) -> Result<(), String> {
    let program = Arc::clone(engine.program());
    let at = program.table(table).ok_or("no such table")?;
    let spec = &program.tables[at];
    let action = program.action(action).ok_or("no such action")? as u16;
    let mut key = Key { prefix, ..Key::default() };
    for field in &spec.key {
        for word in 0..field.words {
            key.value.push((value >> (64 * word)) as u64);
        }
    }
    if spec.matching == TableMatch::Lpm && prefix < 128 {
        let mask = u128::MAX << (128 - prefix);
        key.mask = vec![mask as u64, (mask >> 64) as u64];
    }
    key.normalise(spec);
    let action = ActionRef::Direct { action, args: args.into(), next: spec.after_hit(action) };
    engine.tables[at].insert(&key, Entry::new(action, 0)).map(drop).map_err(|e| e.to_string())
}

fn inserts(program: &Arc<Program>) -> Result<(), String> {
    let mut engine = Engine::new(Arc::clone(program), EngineConfig::default());
    let (count, start) = (100_000_u128, processor_seconds());
    for at in 0..count {
        add(&mut engine, "ingress.routes", (BLOCK << 96) | (at << 64), 64, "ingress.set_nexthop", &[1])?;
    }
    println!("table inserts, 128-bit LPM: {:.0} /s", count as f64 / (processor_seconds() - start));
    Ok(())
}

fn packets(program: &Arc<Program>) -> Result<(), String> {
    let mut engine = Engine::new(Arc::clone(program), EngineConfig::default());
    add(&mut engine, "ingress.my_sid", (BLOCK << 16) | 1, 0, "ingress.shift", &[])?;
    for at in 2..514_u128 {
        add(
            &mut engine,
            "ingress.routes",
            (BLOCK << 96) | (at << 80),
            48,
            "ingress.set_nexthop",
            &[at as u64],
        )?;
        add(
            &mut engine,
            "ingress.nexthops",
            at,
            0,
            "ingress.send",
            &[(at % 500) as u64, 0x0200_0000_0001, at as u64],
        )?;
    }
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
