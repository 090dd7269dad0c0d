//! Jobs on labs of the kernel whose switches choose the path: queue pairs on sockets of the nodes, while a T1 fails and
//! recovers. Without a routing protocol, its flows stall until it recovers. With one, they are rerouted. These tests
//! need root and FRR.

use std::time::Duration;

use closc_lab::job::{self, JobError, Orders, Pattern, Report, Scenario, Transport};
use closc_lab::{Lab, LabError};
use closc_tests::frr::Frr;

use crate::common::{can_run, compile, quietly};

const STATIC: &str = "
fabric: ecmp
planes: 1
routing: ecmp-static
hosts: { groups: 4, per_group: 2, nic: { speed: 100G, lanes: 1 }, os: linux }
tiers:
  t0: { platform: linux, os: linux, up: 2 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
";

fn orders(transport: Transport, pattern: Pattern) -> Orders {
    Orders {
        program: "closc-nic".into(),
        transport,
        pattern,
        message_bytes: 4 << 10,
        unit: 1024,
        max_in_flight: 2,
        messages: None,
        port_mbps: 1,
        seed: 1,
        patience: Duration::from_secs(20),
        burst_interval: None,
        stall: None,
    }
}

fn run(lab: &mut Lab, scenario: &str, orders: &Orders) -> Report {
    let scenario = Scenario::parse(scenario).unwrap();
    let report = quietly(|watch| job::run(lab, &scenario, orders, watch)).unwrap();
    print!("{}", job::human("job", std::slice::from_ref(&report)));
    report
}

/// A T1 fails and recovers.
fn reboot(t1: &str, expect: &str) -> String {
    format!(
        "title: a T1 reboots\nduration: 6s\nsteps:\n  - {{ at: 1500ms, cut: {t1} }}\n  - {{ at: 4s, restore: {t1} }}\nexpect: {expect}\n"
    )
}

#[test]
fn flows_over_a_dead_t1_wait_until_it_is_back_where_nobody_tells() {
    if !can_run() {
        return;
    }
    let compiled = compile(STATIC, "ja");
    let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    let scenario = reboot("p0-t1-001", "{ lost_messages: 0 }");
    let report = run(&mut lab, &scenario, &orders(Transport::Flow, Pattern::Permutation));
    assert!(report.is_met(), "{:?}", report.unmet);
    // The hash seed of the kernel determines the flows over the T1. They wait until it recovers, even on slow
    // machines.
    let (messages, dead, back) = (&report.messages, &report.phases[1], &report.phases[2]);
    assert!(dead.plan_percent < 100.0 && messages.slowest_ms.unwrap() > 2000.0, "{dead:?} {messages:?}");
    assert!(dead.paths_percent < 60.0 && back.plan_percent >= 100.0, "{dead:?} {back:?}");
    assert!(messages.lost_packets > 0 && messages.repeated < messages.resent, "{messages:?}");
    assert_eq!((report.wrong_bytes, report.planes.len()), (0, 1));
    // An unmet expectation must be reported.
    let strict = reboot("p0-t1-001", "{ slowest_message: 1s }");
    assert!(!run(&mut lab, &strict, &orders(Transport::Static, Pattern::AllToAll)).is_met());
    let (quiet, spray) = (Scenario::quiet(Duration::from_secs(1)), orders(Transport::Spray, Pattern::Ring));
    let error = quietly(|watch| job::run(&mut lab, &quiet, &spray, watch));
    assert!(matches!(error, Err(JobError::NoSpray { .. })));
    let test = quietly(|watch| lab.test(watch)).unwrap();
    assert!(test.is_fine(), "whole again: {test}");
    lab.down().unwrap();
}

#[test]
fn routers_lead_flows_around_a_dead_t1() {
    if !can_run() {
        return;
    }
    let compiled = compile(&Frr { zones: 2, ..Frr::default() }.yaml("bgp"), "jb");
    let mut lab = match quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)) {
        Err(error @ LabError::NoFrr) => {
            closc_skip::skip(error);
            return;
        }
        other => other.unwrap().0,
    };
    let scenario = reboot("z0-p0-t1-001", "{ lost_messages: 0 }");
    let report = run(&mut lab, &scenario, &orders(Transport::Flow, Pattern::Permutation));
    assert!(report.is_met(), "{:?}", report.unmet);
    assert!(report.phases.iter().all(|phase| phase.plan_percent > 99.99), "{:?}", report.phases);
    let test = quietly(|watch| lab.test(watch)).unwrap();
    assert!(test.is_fine(), "whole again: {test}");
    lab.down().unwrap();
}
