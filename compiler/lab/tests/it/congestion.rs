//! Jobs of five patterns with five faults, at two line rates, in virtual time. After the repair, goodput is near the
//! plan, senders are equal, no message is lost, and congestion marks no path bad.
//!
//! Each combination is a cell of the table in `docs/labs.md`. By default, only a few of them are run.
//! `CLOSC_CONGESTION=all` runs all of them, and prints the table. `CLOSC_CONGESTION=100` runs those of a line rate.

use std::time::Duration;

use closc_lab::job::{Orders, Pattern, Report, Scenario, Transport, simulate};
use closc_lab::tree::Digests;

use crate::common::{CompiledTree, compile, quietly, shipped};

const CABLE: &str = "p0-t0-001--p0-t1-001";
/// NICs and uplinks of a T0, and number of T0s of a plane.
const PER_T0: usize = 2;
const UPLINKS: usize = 4;
const T0S: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Cut,
    Gray,
    Plane,
    Flap,
}

const FAULTS: [Fault; 5] = [Fault::None, Fault::Cut, Fault::Gray, Fault::Plane, Fault::Flap];

impl Fault {
    /// Returns the scenario: the fault lasts from 1 s to 2 s.
    fn scenario(self) -> String {
        let step = |at_ms: u32, what: &str| format!("  - {{ at: {at_ms}ms, {what} }}\n");
        let (cut, restore) = (format!("cut: {CABLE}"), format!("restore: {CABLE}"));
        let steps = match self {
            Fault::None => return "duration: 3s\n".to_owned(),
            Fault::Cut => step(1_000, &cut) + &step(2_000, &restore),
            Fault::Gray => {
                step(1_000, &format!("loss: {{ cable: {CABLE}, percent: 1 }}")) + &step(2_000, &restore)
            }
            Fault::Plane => step(1_000, "plane: 0") + &step(2_000, "restore: plane 0"),
            Fault::Flap => {
                let times = (1_000..2_000).step_by(100);
                times.map(|at_ms| step(at_ms, &cut) + &step(at_ms + 50, &restore)).collect()
            }
        };
        format!("duration: 5s\nsteps:\n{steps}")
    }

    /// Returns the maximum number of paths that are marked bad: those over the faulty element.
    fn paths(self, pattern: Pattern) -> usize {
        let nics = PER_T0 * T0S;
        // Paths for data and acknowledgements: with one end at the cut T0, across T0s, and within a T0.
        let (at_t0, across, local) = match pattern {
            Pattern::AllToAll => (2 * PER_T0 * (nics - PER_T0), nics * (nics - PER_T0), nics * (PER_T0 - 1)),
            Pattern::Incast => (2 * (nics - PER_T0), 2 * (nics - PER_T0), 2 * (PER_T0 - 1)),
            Pattern::Ring => (4, 2 * T0S, 2 * T0S),
            Pattern::Permutation | Pattern::Bisection => (4 * PER_T0, 2 * nics, 0),
        };
        match (self, pattern) {
            (Fault::None, _) => 0,
            (Fault::Cut | Fault::Gray | Fault::Flap, _) => at_t0,
            (Fault::Plane, _) => across * UPLINKS + local,
        }
    }
}

fn fabric() -> CompiledTree {
    let text = shipped("lab/two-planes-p4");
    compile(&text.replace("groups: 2", "groups: 4").replace(" up: 2", " up: 4"), "vt-congestion")
}

fn run(compiled: &CompiledTree, pattern: Pattern, scenario: &str, port_mbps: u32) -> Report {
    let orders = Orders {
        program: "none".into(),
        transport: Transport::Spray,
        pattern,
        message_bytes: 32 << 10,
        unit: 1400,
        max_in_flight: 8,
        messages: None,
        port_mbps,
        seed: 1,
        patience: Duration::from_secs(5),
        burst_interval: None,
        stall: None,
    };
    let scenario = Scenario::parse(scenario).unwrap();
    quietly(|watch| simulate(&compiled.tree, Digests::Compared, &scenario, &orders, watch)).unwrap()
}

/// Results of a cell. Goodput is in percent of the plan.
#[derive(Debug)]
struct Cell {
    /// Of the first 0.4 s.
    start: f64,
    /// After the last repair, or without a fault after 0.5 s.
    goodput: f64,
    /// Paths that were marked bad, including those over the faulty element.
    bad_paths: usize,
}

fn cell(report: &Report) -> Cell {
    let (before, plan) = (report.before_mbps.unwrap(), report.plan_mbps.unwrap());
    let first: Vec<f64> =
        report.curve.iter().filter(|(at_s, _)| *at_s < 0.4).map(|(_, mbps)| *mbps).collect();
    let last = report.phases.iter().rfind(|phase| phase.percent.is_some()).unwrap();
    Cell {
        start: 100.0 * first.iter().sum::<f64>() / first.len() as f64 / plan,
        goodput: 100.0 * before / plan * last.percent.unwrap() / last.plan_percent,
        bad_paths: report.states.paths,
    }
}

/// Runs a cell, and returns its result and the goals that it misses.
fn check(compiled: &CompiledTree, (pattern, fault, port_mbps): (Pattern, Fault, u32)) -> (Cell, Vec<String>) {
    let report = run(compiled, pattern, &fault.scenario(), port_mbps);
    let cell = cell(&report);
    let fairness = report.fairness.unwrap();
    let name = format!("{port_mbps} Mb/s, {pattern}, {fault:?}");
    println!("{name}: {cell:.1?}, fairness {fairness:.4}, lost {}", report.messages.lost);
    for phase in &report.phases {
        println!("  {:?}: {:.1?} % of {:.1} Mb/s", phase.after, phase.percent, report.before_mbps.unwrap());
    }
    let goals = [
        (cell.goodput >= 95.0, "goodput"),
        (fairness >= 0.95, "fairness"),
        (report.messages.lost == 0 && report.wrong_bytes == 0, "messages"),
        (cell.bad_paths <= fault.paths(pattern), "paths"),
        // Windows grow in the first 0.4 s.
        (cell.start >= 75.0, "start"),
    ];
    let missed = goals.iter().filter(|(is_met, _)| !is_met);
    let missed = missed.map(|(_, what)| format!("{name}: {what}")).collect();
    (cell, missed)
}

#[test]
fn goodput_is_that_of_the_plan_in_every_pattern_after_every_fault() {
    let compiled = fabric();
    let chosen = std::env::var("CLOSC_CONGESTION").unwrap_or_default();
    let sample = [
        (Pattern::AllToAll, Fault::None, 32),
        (Pattern::Permutation, Fault::Cut, 32),
        (Pattern::Incast, Fault::Plane, 32),
    ];
    let mut missed: Vec<String> = Vec::new();
    if chosen.is_empty() {
        missed.extend(sample.into_iter().flat_map(|which| check(&compiled, which).1));
    }
    let is_chosen = |mbps: &u32| chosen == "all" || chosen == mbps.to_string();
    for port_mbps in [32, 100].into_iter().filter(is_chosen) {
        for pattern in
            [Pattern::AllToAll, Pattern::Incast, Pattern::Ring, Pattern::Permutation, Pattern::Bisection]
        {
            let cells = FAULTS.map(|fault| {
                let (cell, unmet) = check(&compiled, (pattern, fault, port_mbps));
                missed.extend(unmet);
                cell
            });
            let shown = cells.iter().map(|cell| format!("{:.1} %, {}", cell.goodput, cell.bad_paths));
            println!(
                "| {port_mbps} Mb/s | `{pattern}` | {:.1} % | {} |",
                cells[0].start,
                shown.collect::<Vec<_>>().join(" | ")
            );
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// With one of two NIC ports down, half of the values are unusable. Dead paths do not take the place of the missing ones.
#[test]
fn a_dead_cable_is_left_although_a_nic_port_is_down() {
    let scenario = format!(
        "duration: 4s\nsteps:\n  - {{ at: 1s, cut: {CABLE} }}\n  - {{ at: 2s, nic-port: su004-n001/nic0.p1 }}\n"
    );
    let report = run(&fabric(), Pattern::Permutation, &scenario, 32);
    for step in &report.steps {
        let after_signal_us = step.after_signal_us.unwrap_or(0.0);
        assert!(after_signal_us < 200_000.0, "{}: {after_signal_us} us", step.what);
    }
    assert_eq!(report.messages.lost, 0);
    assert_eq!(report.unmet, []);
}

/// Three of four T1s and a plane are lost within two seconds. Every NIC has a path at all times, so no message is lost.
#[test]
fn the_last_path_is_found_among_dead_ones() {
    let step = |at_ms: u32, what: &str| format!("  - {{ at: {at_ms}ms, cut: {what} }}\n");
    let cuts = [(1_000, "p0-t1-001"), (1_200, "p0-t1-002"), (1_800, "p0-t1-003")];
    let cuts: String = cuts.iter().map(|(at_ms, what)| step(*at_ms, what)).collect();
    let scenario = format!("duration: 5s\nsteps:\n{cuts}  - {{ at: 2400ms, plane: 1 }}\n");
    let report = run(&fabric(), Pattern::Permutation, &scenario, 32);
    assert_eq!((report.messages.lost, report.unmet.as_slice()), (0, &[][..]));
}
