//! Jobs in virtual time: real agents on embedded switches and a clock that is moved. What a seed gives is given again, faults
//! cost what the cables say, and the thresholds of the fabric file reach the queues.

mod common;

use std::time::Duration;

use closc_lab::job::{JobError, Orders, Pattern, Report, Scenario, Transport, simulate};
use closc_lab::tree::Digests;

use common::{Compiled, compile, quietly, shipped};

/// Bursts of 20 packets ten times a second: a test of few packets.
fn orders(transport: Transport, pattern: Pattern) -> Orders {
    Orders {
        program: "none".into(),
        transport,
        pattern,
        message_bytes: 10_000,
        unit: 1000,
        outstanding: 2,
        messages: None,
        port_mbps: 25,
        seed: 1,
        patience: Duration::from_secs(2),
        every: Some(Duration::from_millis(100)),
    }
}

fn run(compiled: &Compiled, scenario: &str, orders: &Orders) -> Report {
    let scenario = Scenario::parse(scenario).unwrap();
    quietly(|watch| simulate(&compiled.tree, Digests::Compared, &scenario, orders, watch)).unwrap()
}

const T1_DIES: &str = "duration: 2s\nsteps:\n  - { at: 1s, cut: p0-t1-001 }\n  \
    - { at: 1200ms, loss: { cable: p1-t0-001--p1-t1-002, percent: 20 } }\n  - { at: 1500ms, restore: all }\n";

#[test]
fn a_seed_gives_one_report_and_another_seed_another() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "va");
    let orders = orders(Transport::Spray, Pattern::AllToAll);
    let first = run(&compiled, T1_DIES, &orders);
    let again = run(&compiled, T1_DIES, &orders);
    assert_eq!(first, again);
    let json = |report: &Report| serde_json::to_string(report).unwrap();
    assert_eq!(json(&first), json(&again));
    let other = run(&compiled, T1_DIES, &Orders { seed: 2, ..orders });
    assert_ne!(first, other, "which packets a cable loses follows from the seed");
    assert_eq!((first.messages.lost, first.wrong_bytes, other.messages.lost), (0, 0, 0));
    assert!(first.messages.resent > 0 && first.steps[0].lost_packets > 0, "{:?}", first.steps);
    assert!(first.steps[0].after_signal_us.unwrap() < 1.0, "left at the first loss: {:?}", first.steps);
    assert!(first.messages.slowest_ms.unwrap() < 100.0, "{:?}", first.messages);
}

#[test]
fn a_flow_over_a_dead_plane_stalls_and_spraying_does_not() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vb");
    let dead = "duration: 2s\nsteps:\n  - { at: 1s, plane: 1 }\n";
    let spray = run(&compiled, dead, &orders(Transport::Spray, Pattern::AllToAll));
    assert_eq!((spray.messages.lost, spray.wrong_bytes), (0, 0), "{:?}", spray.messages);
    let flow = run(&compiled, dead, &orders(Transport::Flow, Pattern::AllToAll));
    assert!(flow.messages.lost > 0, "{:?}", flow.messages);
}

/// Ports are full all the time: what is left is what the other plane carries, so nothing may cost more of one plane than of two.
#[test]
fn a_dead_plane_costs_its_share() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vh");
    let dead = "duration: 2s\nsteps:\n  - { at: 1s, plane: 1 }\n";
    let full = Orders { every: None, outstanding: 4, ..orders(Transport::Spray, Pattern::Permutation) };
    let report = run(&compiled, dead, &full);
    assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{:?}", report.messages);
    let phase = &report.phases[1];
    assert!((phase.plan_percent - 50.0).abs() < 0.01, "{phase:?}");
    eprintln!("XX {phase:?}");
    // Within 2 % of it.
    assert!((phase.percent.unwrap() - phase.plan_percent).abs() < 1.0, "{phase:?}");
}

#[test]
fn every_fault_of_a_scenario_is_made_and_mended() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vc");
    let scenario = "duration: 3s\nsteps:\n  - { at: 1s, cut: p0-t1-001 }\n  \
        - { at: 1200ms, nic-port: su001-n001/nic0.p0 }\n  \
        - { at: 1400ms, loss: { cable: p1-t0-001--p1-t1-002, percent: 20 } }\n  \
        - { at: 1450ms, loss: { cable: su001-n002/nic0.p1, percent: 5 } }\n  \
        - { at: 1600ms, restore: p0-t1-001 }\n  \
        - { at: 1800ms, miswire: [p1-t0-001--p1-t1-001, p1-t0-002--p1-t1-002] }\n  - { at: 2s, restore: all }\n";
    let report = run(&compiled, scenario, &orders(Transport::Spray, Pattern::AllToAll));
    assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{:?}", report.messages);
    assert_eq!(report.steps.len(), 7);
    assert!(report.steps.iter().all(|step| step.failed.is_none()));
    assert!(report.steps[2].lost_packets > 0 && report.steps[3].lost_packets > 0, "{:?}", report.steps);
}

#[test]
fn thresholds_of_the_file_decide_what_is_marked_and_cut() {
    let count = |qos: &str, pattern| {
        let text = shipped("lab/two-planes-p4").replace("qos: lossy-trim", &format!("qos: {qos}"));
        // Two bursts of more than a queue holds.
        let burst = Orders {
            outstanding: 12,
            every: Some(Duration::from_millis(500)),
            ..orders(Transport::Spray, pattern)
        };
        let report = run(&compile(&text, "vd"), "duration: 1s\n", &burst);
        assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{qos}: {:?}", report.messages);
        (report.switches.unwrap(), report)
    };
    let marking = |min: &str, max: &str| {
        format!(
            "{{ base: lossy-trim, ecn_last_hop: true, classes: {{ data: {{ ecn: {{ thresholds: {{ min: {min}, max: {max}, \
             probability: 100 }} }} }} }} }}"
        )
    };
    let (early, _) = count(&marking("10KB", "30KB"), Pattern::AllToAll);
    let (late, _) = count(&marking("200KB", "300KB"), Pattern::AllToAll);
    let (never, _) = count("{ base: lossy-trim, classes: { data: { ecn: off } } }", Pattern::AllToAll);
    assert!(early.ecn_marked > late.ecn_marked, "{early:?} {late:?}");
    assert_eq!(never.ecn_marked, 0);
    // Three senders to one NIC send more than a queue holds.
    let (cut, report) = count("lossy-trim", Pattern::Incast);
    assert!(cut.trimmed > 0 && report.messages.resent >= cut.trimmed, "{cut:?} {:?}", report.messages);
}

#[test]
fn bursts_come_at_their_times() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "ve");
    let orders =
        Orders { every: Some(Duration::from_millis(250)), ..orders(Transport::Spray, Pattern::Ring) };
    let report = run(&compiled, "duration: 1s\n", &orders);
    // Four bursts of two messages of four NICs.
    assert_eq!((report.messages.sent, report.messages.lost), (32, 0), "{:?}", report.messages);
}

#[test]
fn what_cannot_be_is_refused() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vf");
    let scenario = Scenario::parse("duration: 1s\n").unwrap();
    let slow = Orders { port_mbps: 1, ..orders(Transport::Spray, Pattern::Ring) };
    let refused = |compiled: &Compiled, orders: &Orders| {
        quietly(|watch| simulate(&compiled.tree, Digests::Compared, &scenario, orders, watch)).unwrap_err()
    };
    let error = refused(&compiled, &slow);
    assert!(matches!(error, JobError::Slow { .. }), "{error}");
    let said = "takes 9.3 ms to leave a port of 1 Mb/s";
    assert!(error.to_string().contains(said) && error.to_string().contains("give ports 24 Mb/s"), "{error}");
    let linux = compile(&shipped("lab/two-planes"), "vg");
    let error = refused(&linux, &orders(Transport::Spray, Pattern::Ring));
    assert!(error.to_string().contains("is not one that target `embedded` runs"), "{error}");
}
