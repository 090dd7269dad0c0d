//! Ports that change bytes of frames, in virtual time: the cable is named, and nothing else is.
//!
//! By default, only the largest share is tested, at each kind of port. `CLOSC_CORRUPTION=10000,50000` tests these shares,
//! in millionths, and prints rows of the table of `docs/labs.md`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use closc_collect::{Collector, Denials, Element, Kind, Options, Report};
use closc_lab::job::{JobError, LiveJob, Orders, Pattern, Transport, live};
use closc_lab::tree::Digests;
use closc_nic::api::Request;
use closc_plan::Plan;
use closc_tests::shape;

use crate::common::{CompiledTree, compile, quietly, shipped};

/// Default share of damaged frames, in millionths.
const SHARE: u32 = 50_000;
/// Time between two reports of an agent.
const POLL_MS: u64 = 1_000;
/// Time before the fault, and after it was named.
const QUIET_MS: u64 = 5_000;
/// 2026-11-22 12:00:00 UTC.
const EPOCH_MS: u64 = 1_795_348_800_000;

/// A port that damages the frames that it receives over its cable.
#[derive(Debug, Clone, Copy)]
struct Port {
    what: &'static str,
    cable: &'static str,
    is_lower: bool,
}

const PORTS: [Port; 4] = [
    Port { what: "NIC", cable: "su001-n001/nic0.p0", is_lower: true },
    Port { what: "T0, from a NIC", cable: "su002-n002/nic0.p1", is_lower: false },
    Port { what: "T0, from a T1", cable: "p0-t0-003--p0-t1-002", is_lower: true },
    Port { what: "T1, from a T0", cable: "p1-t0-001--p1-t1-004", is_lower: false },
];

/// Returns the longest time until a cable is named. A rare fault needs some damaged probes.
fn patience_ms(ppm: u32) -> u64 {
    60_000 + 2_000_000_000 / u64::from(ppm)
}

fn orders() -> Orders {
    Orders {
        program: "none".into(),
        transport: Transport::Spray,
        pattern: Pattern::AllToAll,
        message_bytes: 8 << 10,
        unit: 1400,
        max_in_flight: 1,
        messages: None,
        port_mbps: 32,
        seed: 1,
        patience: Duration::from_secs(5),
        burst_interval: Some(Duration::from_secs(2)),
        stall: None,
    }
}

/// A job with a collector.
struct Course<'a> {
    job: LiveJob<'a>,
    plan: Arc<Plan>,
    collector: Collector,
}

impl Course<'_> {
    fn now_ms(&self) -> u64 {
        self.job.now_ns() / 1_000_000
    }

    /// Runs until the next poll, and returns the named elements.
    fn poll(&mut self) -> BTreeSet<Element> {
        self.job.advance((self.now_ms() + POLL_MS) * 1_000_000);
        let now_ms = EPOCH_MS + self.now_ms();
        for seat in 0..self.job.seats().len() {
            let mut ask = |request: &Request| {
                serde_json::to_vec(&self.job.ask(seat, request, now_ms as f64 / 1e3)).unwrap()
            };
            let (status, metrics) = (ask(&Request::Status {}), ask(&Request::Metrics {}));
            let source = self.collector.source(&self.job.seats()[seat].name);
            self.collector.take(source, Report::read(&status, &metrics).unwrap(), now_ms).unwrap();
        }
        self.collector.judge(now_ms);
        self.collector.verdicts().map(|verdict| verdict.element).collect()
    }

    /// Runs for a time in which only these elements may be named. Returns the time until all of them are.
    fn wait(&mut self, wanted: &BTreeSet<Element>, until_ms: u64) -> Result<Option<u64>, String> {
        let (from_ms, mut named_ms) = (self.now_ms(), None);
        while self.now_ms() < until_ms && named_ms.is_none() {
            let names = self.poll();
            if let Some(other) = names.difference(wanted).next() {
                return Err(format!("wrong: {}", other.name(&self.plan)));
            }
            if !wanted.is_empty() && names == *wanted {
                named_ms = Some(self.now_ms() - from_ms);
            }
        }
        Ok(named_ms)
    }
}

/// Lets a port damage frames until its cable is named. Returns how long that took, and the kinds of faults. If most
/// damaged frames have other addresses, switches drop them, so the cable loses packets.
fn name(compiled: &CompiledTree, plan: &Arc<Plan>, port: Port, ppm: u32) -> Result<(u64, Vec<Kind>), String> {
    let options = Options { fresh_ms: 10_000, settle_ms: 2_000, ..Options::default() };
    let collector = Collector::new(plan.clone(), options, Denials::default(), EPOCH_MS).0;
    let wanted = BTreeSet::from([Element::parse(plan, port.cable).unwrap()]);
    quietly(|watch| {
        live(&compiled.tree, Digests::Compared, &orders(), watch, |job| {
            let mut course = Course { job, plan: plan.clone(), collector };
            let outcome = course.wait(&BTreeSet::new(), QUIET_MS).and_then(|_| {
                course.job.corrupt(port.cable, port.is_lower, ppm).unwrap();
                let until_ms = course.now_ms() + patience_ms(ppm);
                let named_ms = course.wait(&wanted, until_ms)?;
                let named_ms = named_ms.ok_or_else(|| "not named".to_owned())?;
                for _ in 0..QUIET_MS / POLL_MS {
                    let names = course.poll();
                    if names != wanted {
                        return Err(format!("named after {named_ms} ms, then {names:?}"));
                    }
                }
                Ok((named_ms, course.collector.verdicts().map(|verdict| verdict.kind).collect()))
            });
            Ok::<_, JobError>(outcome)
        })
    })
    .unwrap()
}

#[test]
fn a_cable_whose_port_changes_bytes_is_named_and_nothing_else() {
    let chosen = std::env::var("CLOSC_CORRUPTION").unwrap_or_else(|_| SHARE.to_string());
    let shares: Vec<u32> = chosen.split(',').map(|ppm| ppm.parse().unwrap()).collect();
    let text = shipped("lab/two-planes-p4").replace("groups: 2", "groups: 4").replace(" up: 2", " up: 4");
    let compiled = compile(&text, "vt-corrupt");
    let line = text.lines().find(|line| line.starts_with("fabric:")).unwrap();
    let plan = Arc::new(shape::plan(&text.replace(line, &format!("fabric: {}", compiled.fabric))));
    let mut failed = Vec::new();
    for port in PORTS {
        let mut cells = Vec::new();
        for ppm in shares.iter().copied() {
            let result = name(&compiled, &plan, port, ppm);
            println!("{}, {} %: {result:?}", port.what, f64::from(ppm) / 1e4);
            match result {
                Ok((named_ms, _)) => cells.push(format!("{:.1} s", named_ms as f64 / 1e3)),
                Err(why) => failed.push(format!("{port:?}, {ppm}: {why}")),
            }
        }
        println!("| {} | {} |", port.what, cells.join(" | "));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
