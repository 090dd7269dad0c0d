//! Losses per step of a job, in virtual time. Each lost packet is attributed to the step that broke an element on its
//! path, even if it was in flight during a cut. Also tests verdicts on jobs with a temporary or permanent outage.

use std::time::Duration;

use closc_lab::job::{Orders, Pattern, Report, Scenario, Transport, simulate};
use closc_lab::tree::Digests;

use crate::common::{CompiledTree, compile, quietly, shipped};

/// Orders that keep ports full all the time.
fn orders(seed: u64) -> Orders {
    Orders {
        program: "none".into(),
        transport: Transport::Spray,
        pattern: Pattern::Permutation,
        message_bytes: 10_000,
        unit: 1000,
        max_in_flight: 4,
        messages: None,
        port_mbps: 25,
        seed,
        patience: Duration::from_secs(2),
        burst_interval: None,
        stall: None,
    }
}

fn fabric(tag: &str) -> CompiledTree {
    compile(&shipped("lab/two-planes-p4"), tag)
}

fn run(compiled: &CompiledTree, scenario: &str, orders: &Orders) -> Report {
    let scenario = Scenario::parse(scenario).unwrap();
    let report =
        quietly(|watch| simulate(&compiled.tree, Digests::Compared, &scenario, orders, watch)).unwrap();
    println!("{:?}\n{:?}\n{:?}\n{:?}", report.messages, report.steps, report.switches, report.unmet);
    report
}

fn lost_packets(report: &Report) -> Vec<u64> {
    report.steps.iter().map(|step| step.lost_packets).collect()
}

/// Checks that each retransmitted packet was lost or is a duplicate, and that all other losses are probes.
fn is_balanced(report: &Report) {
    let m = &report.messages;
    assert_eq!(m.lost, 0, "{m:?}");
    assert!(m.lost_packets >= m.resent - m.repeated, "{m:?}");
    assert!(m.lost_packets <= m.resent - m.repeated + 8, "{m:?}");
    assert_eq!(
        lost_packets(report).iter().sum::<u64>(),
        m.lost_packets,
        "nothing was lost before: {:?}",
        report.steps
    );
}

#[test]
fn what_a_cut_takes_in_flight_is_charged_to_it() {
    let compiled = fabric("la");
    let report = run(&compiled, "duration: 1400ms\nsteps:\n  - { at: 1200ms, plane: 0 }\n", &orders(1));
    is_balanced(&report);
    assert!(report.messages.resent > 0, "{:?}", report.messages);
    let step = &report.steps[0];
    assert!(step.lost_packets > 0 && step.last_lost_ms.unwrap() < 20.0, "{step:?}");
}

#[test]
fn of_two_cuts_each_is_charged_with_its_own() {
    let compiled = fabric("lb");
    let text = "duration: 3s\nsteps:\n  - { at: 1s, plane: 0 }\n  - { at: 1300ms, plane: 1 }\n  \
        - { at: 2s, restore: all }\nexpect:\n  lost_messages: 0\n  recovered_within: 500ms\n  \
        goodput_of_plan_percent: 90\n";
    // Retransmissions must not wait for timeouts that were doubled during the outage.
    for seed in 1..=8 {
        let report = run(&compiled, text, &orders(seed));
        is_balanced(&report);
        let [first, second, third] = &report.steps[..] else { panic!("{:?}", report.steps) };
        assert!(first.lost_packets > 0 && first.last_lost_ms.unwrap() < 20.0, "{first:?}");
        assert!(second.lost_packets > 0, "{second:?}");
        assert_eq!(third.lost_packets, 0, "nothing is faulty: {third:?}");
        assert!(second.is_outage && second.recovered_ms.is_none(), "{second:?}");
        assert_eq!(report.unmet, [], "seed {seed}: the fabric recovers from an outage of one second");
    }
}

/// A lossy cable loses packets as long as the fault lasts. Two simultaneous cuts lose the packets in flight.
#[test]
fn faults_at_one_moment_are_charged_each_with_its_own() {
    let compiled = fabric("lf");
    let text = "duration: 1500ms\nsteps:\n  - { at: 1s, loss: { cable: p0-t0-001--p0-t1-001, percent: 20 } }\n  \
        - { at: 1200ms, cut: p0-t1-002 }\n  - { at: 1200ms, cut: p1-t1-001 }\n  - { at: 1400ms, restore: p1-t1-001 }\n";
    let report = run(&compiled, text, &orders(3));
    is_balanced(&report);
    let [lossy, first, second, back] = &report.steps[..] else { panic!("{:?}", report.steps) };
    assert!(
        lossy.lost_packets > 0 && first.lost_packets > 0 && second.lost_packets > 0,
        "{:?}",
        report.steps
    );
    // The remaining paths are below the minimum, so the lossy cable stays in use.
    assert!(lossy.last_lost_ms.unwrap() > 200.0, "it still loses some: {lossy:?}");
    assert_eq!(back.lost_packets, 0, "it broke nothing: {back:?}");
}

#[test]
fn what_comes_back_at_once_costs_nothing_later() {
    let compiled = fabric("lc");
    let text = "duration: 1400ms\nsteps:\n  - { at: 1100ms, cut: p0-t1-001 }\n  - { at: 1100000us, restore: all }\n  \
        - { at: 1200ms, plane: 1 }\n";
    let report = run(&compiled, text, &orders(1));
    is_balanced(&report);
    let counts = lost_packets(&report);
    assert!(counts[0] == 0 && counts[2] > 0, "{:?}", report.steps);
    assert_eq!(counts[1], 0, "it was cut for no time: {:?}", report.steps);
}

#[test]
fn a_fabric_that_is_gone_for_good_does_not_recover() {
    let compiled = fabric("ld");
    let text = "duration: 2600ms\nsteps:\n  - { at: 1s, plane: 0 }\n  - { at: 2s, plane: 1 }\nexpect:\n  \
        recovered_within: 500ms\n  goodput_of_plan_percent: 90\n";
    let report = run(&compiled, text, &orders(1));
    assert!(report.messages.lost > 0, "{:?}", report.messages);
    let counts = lost_packets(&report);
    // A message that starts without any path is lost, but none of its packets is sent.
    assert!(counts[0] > 0 && counts[1] > 0, "{:?}", report.steps);
    let unmet: Vec<(&str, &str)> = report.unmet.iter().map(|u| (u.expected, u.found.as_str())).collect();
    let wanted = "not at all after plane 1 down: no path is left, and no later step restores one";
    assert_eq!(unmet, [("recovered_within", wanted)]);
}

#[test]
fn where_nothing_should_be_left_nothing_is_compared_and_that_is_said() {
    let compiled = fabric("le");
    let dead = "duration: 2s\nsteps:\n  - { at: 1s, plane: 0 }\n  - { at: 1s, plane: 1 }\nexpect:\n  \
        goodput_of_plan_percent: 90\n";
    let report = run(&compiled, dead, &orders(1));
    let unmet: Vec<&str> = report.unmet.iter().map(|unmet| unmet.expected).collect();
    assert_eq!(unmet, ["goodput_of_plan_percent"], "{:?}", report.unmet);
    assert!(report.unmet[0].found.starts_with("not measured: no capacity is left"), "{:?}", report.unmet);
}
