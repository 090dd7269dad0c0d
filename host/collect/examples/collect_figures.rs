//! Measures a collector of the fabric in a file: memory, and processor time for a round of reports.

use std::sync::Arc;
use std::time::Instant;

use closc_collect::{Collector, Count, Denials, Options, Report, metrics};
use closc_nic::schedule::TurnPoint;
use closc_plan::Plan;
use closc_topology::Nic;

fn turn_points(plan: &Plan, nic: Nic) -> Vec<TurnPoint> {
    let topology = plan.topology();
    let (nics, uplinks) = (topology.hosts.per_group, topology.t0.up.count);
    let mut out = Vec::new();
    for plane in 0..topology.planes {
        out.push(TurnPoint::T0 { plane });
        let mine = (0..uplinks).filter(|up| (0..2.min(nics)).any(|n| (up % nics + n) % nics == nic.downlink));
        out.extend(mine.map(|uplink| TurnPoint::T1 { plane, uplink }));
    }
    out
}

fn report(plan: &Plan, nic: Nic, round: u64, gray: u16) -> Report {
    let count = |turn| {
        let is_gray = nic.group == gray && matches!(turn, TurnPoint::T1 { plane: 3, uplink: 5 });
        Count { turn_point: turn, sent: 20 * round, lost: if is_gray { round } else { 0 } }
    };
    let mut counts: Vec<Count> = turn_points(plan, nic).into_iter().map(count).collect();
    counts.sort_unstable();
    Report {
        clock: None,
        long: None,
        nic: plan.addresses().nic(nic).to_ipv6(),
        table: None,
        carriers: (0..plan.topology().planes).map(|plane| (plane, true)).collect(),
        counts,
        findings: 0,
        denials: Vec::new(),
        strays: Vec::new(),
        actual_ports: Vec::new(),
        damaged_probes: Vec::new(),
    }
}

/// Returns a value of `/proc/self/status`, in MiB.
fn mebibytes(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let file = std::env::args().nth(1).expect("a fabric file");
    let text = std::fs::read_to_string(file).expect("it can be read");
    let plan = Arc::new(closc_tests::shape::plan(&text));
    println!("plan: RSS {} MiB", mebibytes("VmRSS"));
    let (mut collector, _) = Collector::new(plan.clone(), Options::default(), Denials::default(), 1_000);
    println!("collector: RSS {} MiB", mebibytes("VmRSS"));
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    for round in 1..=4 {
        let now = 1_000 + round * 5_000;
        let mut spent = 0.0;
        for (at, nic) in nics.iter().enumerate() {
            let own = report(&plan, *nic, round, 7);
            let source = collector.source(&format!("/run/closc/nic{at}.sock"));
            let begun = Instant::now();
            collector.take(source, own, now).expect("it is a report");
            spent += begun.elapsed().as_secs_f64();
        }
        let begun = Instant::now();
        collector.judge(now);
        let judged = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let bytes = serde_json::to_string(&collector.summary(now)).expect("it is JSON").len()
            + metrics(&collector, now).len();
        let viewed = begun.elapsed().as_secs_f64();
        println!(
            "round {round}: {} reports {spent:.2} s, judge {:.1} ms, summary and metrics {:.1} ms ({bytes} bytes), {} verdicts, RSS {} MiB, peak {} MiB",
            nics.len(),
            judged * 1e3,
            viewed * 1e3,
            collector.verdicts().count(),
            mebibytes("VmRSS"),
            mebibytes("VmHWM")
        );
    }
    for verdict in collector.verdicts() {
        println!("{}", verdict.line(&plan, 21_000));
    }
}
