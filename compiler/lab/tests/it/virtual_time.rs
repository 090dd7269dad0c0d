//! Jobs in virtual time: real agents on embedded switches with a simulated clock. A seed always gives the same
//! result. Faults have the impact computed from cables, and queues have the thresholds of the fabric file.

use std::time::Duration;

use closc_lab::job::{JobError, Orders, Pattern, Report, Scenario, Transport, simulate};
use closc_lab::tree::Digests;
use closc_lab::{Interrupt, LabError, Progress, Watch};

use crate::common::{CompiledTree, compile, quietly, shipped};

/// Bursts of 20 packets, ten times a second: few packets per test.
fn orders(transport: Transport, pattern: Pattern) -> Orders {
    Orders {
        program: "none".into(),
        transport,
        pattern,
        message_bytes: 10_000,
        unit: 1000,
        max_in_flight: 2,
        messages: None,
        port_mbps: 25,
        seed: 1,
        patience: Duration::from_secs(2),
        burst_interval: Some(Duration::from_millis(100)),
        stall: None,
    }
}

fn run(compiled: &CompiledTree, scenario: &str, orders: &Orders) -> Report {
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

/// A T1 fails while NIC ports are full. Acknowledgements of seven NICs share a sixteenth of slow ports, so they take
/// about 25 ms. That is longer than the minimum timeout of an agent, as with 1 Mb/s in a kernel lab.
fn t1_dies_under_slow_ports(pattern: Pattern, seed: u64, stall: Option<Duration>) -> Report {
    let text = shipped("lab/two-planes-p4").replace("groups: 2", "groups: 4").replace("up: 2", "up: 4");
    let compiled = compile(&text.replace("os: linux", "os: none"), "vm");
    let full = Orders {
        seed,
        stall,
        burst_interval: None,
        message_bytes: 900,
        unit: SLOW_UNIT,
        port_mbps: SLOW_MBPS,
        // A NIC with only one receiver does not fill a queue with two messages.
        max_in_flight: if pattern == Pattern::AllToAll { 8 } else { 2 },
        ..orders(Transport::Spray, pattern)
    };
    run(&compiled, "duration: 1400ms\nsteps:\n  - { at: 1s, cut: p0-t1-001 }\n", &full)
}

const SLOW_MBPS: u32 = 5;
const SLOW_UNIT: u32 = 60;

/// Packets in flight determine the number of retransmissions. Lost packets are those over the dead T1, one path in 4 of
/// one plane in 2, between the cut and its detection. Detection takes at most 50 ms for the delay of an
/// acknowledgement, and 50 ms for the timeout.
///
/// Duplicates are the few packets that a sender considers lost before it has measured the delay of acknowledgements:
/// two per pair after 5 ms, and two after 15 ms. A pause of a host adds its length to the detection time, and two
/// packets per pair to the duplicates.
#[test]
fn no_more_is_sent_again_than_was_under_way() {
    let seeds = std::env::var("CLOSC_SEEDS").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
    let (nics, pairs) = (8.0, 56.0);
    // Headers have 170 bytes, and acknowledgements use a sixteenth of the rate.
    let over_a_path = f64::from(SLOW_MBPS) * 1e6 * (15.0 / 16.0) / (8.0 * f64::from(SLOW_UNIT + 170)) / 4.0;
    for seed in 1..=seeds.max(1) {
        for stall in [None, Some(Duration::from_millis(30))] {
            for (pattern, most_pairs) in [(Pattern::AllToAll, pairs), (Pattern::Permutation, nics)] {
                let report = t1_dies_under_slow_ports(pattern, seed, stall);
                let (m, switched) = (&report.messages, report.switches.as_ref().unwrap());
                assert_eq!((m.lost, report.wrong_bytes), (0, 0), "{m:?}");
                assert_eq!((switched.trimmed, switched.dropped), (0, 0), "no queue overflows: {switched:?}");
                let known_s = 0.1 + stall.map_or(0.0, |stall| stall.as_secs_f64());
                let lost = nics * over_a_path * known_s;
                let guessed = most_pairs * if stall.is_some() { 6.0 } else { 4.0 };
                let (resent, repeated) = (m.resent as f64, m.repeated as f64);
                println!("{pattern} {stall:?} {seed}: {resent} of {lost:.0} + {guessed}, {repeated} twice");
                assert!(repeated <= guessed, "{pattern} {stall:?} {seed}: {repeated} of {guessed}");
                assert!(
                    resent <= lost + guessed,
                    "{pattern} {stall:?} {seed}: {resent} of {lost} + {guessed}"
                );
            }
        }
    }
}

/// Message times while a T1 fails and a cable is lossy, for each seed. Use them to compare versions of the agent.
#[test]
fn messages_take_no_longer_with_any_seed() {
    let seeds = std::env::var("CLOSC_SEEDS").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(3);
    let compiled = compile(&shipped("lab/two-planes-p4"), "vl");
    let mut slowest = Vec::new();
    for seed in 1..=seeds.max(1) {
        let report = run(&compiled, T1_DIES, &Orders { seed, ..orders(Transport::Spray, Pattern::AllToAll) });
        assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "seed {seed}: {:?}", report.messages);
        slowest.push(report.messages.slowest_ms.unwrap());
    }
    println!("slowest messages, ms: {slowest:.1?}");
    // With 12 seeds: 41.4 to 42.7 ms. It is 133 ms if the timeout does not grow after unnecessary retransmissions.
    assert!(slowest.iter().all(|ms| *ms < 50.0), "{slowest:.1?}");
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

/// Ports are full all the time. The remaining goodput is that of the other plane, so the loss of one of two planes has
/// no other effect.
#[test]
fn a_dead_plane_costs_its_share() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vh");
    let dead = "duration: 2s\nsteps:\n  - { at: 1s, plane: 1 }\n";
    let full =
        Orders { burst_interval: None, max_in_flight: 4, ..orders(Transport::Spray, Pattern::Permutation) };
    let report = run(&compiled, dead, &full);
    assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{:?}", report.messages);
    let phase = &report.phases[1];
    assert!((phase.plan_percent - 50.0).abs() < 0.01, "{phase:?}");
    // The goodput is within one percentage point of the expected one.
    assert!((phase.percent.unwrap() - phase.plan_percent).abs() < 1.0, "{phase:?}");
}

/// Two planes of two T0s, with as many uplinks as NICs, so without spare uplinks.
fn no_spare_topology(uplinks: u32) -> String {
    let text = shipped("lab/two-planes-p4");
    let text = text.replace("per_group: 2", &format!("per_group: {uplinks}"));
    text.replace("up: 2", &format!("up: {uplinks}")).replace("os: linux", "os: none")
}

/// All NICs send over T1s at line rate, and a T0 loses one of its uplinks in one plane. Hosts load planes equally, so
/// that plane also limits the other one, and 1 / uplinks of goodput is lost. The share of lost paths is half of that.
fn a_cut_uplink_costs_its_share_of_all_planes(uplinks: u32) {
    let compiled = compile(&no_spare_topology(uplinks), "vi");
    let cut = "duration: 2200ms\nsteps:\n  - { at: 1s, cut: p0-t0-001--p0-t1-001 }\n";
    // Messages of ten packets fill three quarters of the queues of the remaining uplinks, which hold 64 packets each.
    // So there is space for acknowledgements, and working paths are not marked bad.
    let outstanding = (48 * (uplinks - 1) / (10 * uplinks)) as usize;
    let full = Orders {
        burst_interval: None,
        max_in_flight: outstanding,
        ..orders(Transport::Spray, Pattern::Bisection)
    };
    let report = run(&compiled, cut, &full);
    assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{:?}", report.messages);
    let switched = report.switches.clone().unwrap();
    assert_eq!((switched.trimmed, switched.dropped), (0, 0), "no queue overflows: {switched:?}");
    // Line rate: a frame of 1166 bytes carries 1000 bytes of a message, and acknowledgements use a sixteenth.
    let line = f64::from(uplinks) * 2.0 * 2.0 * 25.0 * (1000.0 / 1166.0) * (15.0 / 16.0);
    let before = report.before_mbps.unwrap() / line;
    assert!(before > 0.88, "{before} of line rate");
    let (least, most) = (report.planes[0].min(report.planes[1]), report.planes[0].max(report.planes[1]));
    assert!(least * 100 >= most * 98, "planes are not equal: {:?}", report.planes);
    let left = 100.0 * f64::from(uplinks - 1) / f64::from(uplinks);
    let found = report.phases[1].percent.unwrap();
    let phase = &report.phases[1];
    assert!((phase.plan_percent - left).abs() < 0.01, "{phase:?}");
    assert!((phase.paths_percent - (50.0 + left / 2.0)).abs() < 0.01, "{phase:?}");
    assert!((found - left).abs() < 3.0, "{found} % of {left} %, {:.1} % of line rate before", 100.0 * before);
}

#[test]
fn one_of_two_uplinks_costs_a_half() {
    a_cut_uplink_costs_its_share_of_all_planes(2);
}

#[test]
fn one_of_four_uplinks_costs_a_quarter() {
    a_cut_uplink_costs_its_share_of_all_planes(4);
}

#[test]
fn one_of_eight_uplinks_costs_an_eighth() {
    a_cut_uplink_costs_its_share_of_all_planes(8);
}

#[test]
fn the_scenario_of_an_uplink_is_met() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vj");
    let full =
        Orders { burst_interval: None, max_in_flight: 2, ..orders(Transport::Spray, Pattern::Bisection) };
    let report = run(&compiled, &shipped("lab/scenarios/t0-t1-link"), &full);
    assert!(report.is_met(), "{:?}", report.unmet);
    let left: Vec<f64> = report.phases.iter().filter_map(|phase| phase.percent).collect();
    assert!(left.len() == 3 && (left[1] - 50.0).abs() < 3.0 && (left[2] - 100.0).abs() < 3.0, "{left:?}");
}

/// There are enough NICs to use several threads, whose order must not influence the result.
#[test]
fn a_seed_gives_one_report_of_256_nics() {
    let text =
        shipped("lab/two-planes-p4").replace("groups: 2", "groups: 16").replace("os: linux", "os: none");
    let compiled = compile(&text.replace("per_group: 2", "per_group: 16").replace("up: 2", "up: 4"), "vk");
    let dies = "duration: 1300ms\nsteps:\n  - { at: 1s, cut: p0-t1-001 }\n  \
        - { at: 1050ms, loss: { cable: p1-t0-001--p1-t1-002, percent: 50 } }\n";
    let small = Orders {
        message_bytes: 2_000,
        max_in_flight: 1,
        burst_interval: Some(Duration::from_millis(250)),
        ..orders(Transport::Spray, Pattern::AllToAll)
    };
    let json = |threads: usize, orders: &Orders| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let report = pool.install(|| run(&compiled, dies, orders));
        assert_eq!((report.setting.nics, report.messages.lost, report.wrong_bytes), (256, 0, 0));
        assert!(report.steps.iter().all(|step| step.lost_packets > 0), "{:?}", report.steps);
        serde_json::to_string(&report).unwrap()
    };
    let first = json(1, &small);
    assert!(first == json(4, &small), "the same seed, another number of threads");
    // The report contains the seed, so replace it.
    let other = json(4, &Orders { seed: 2, ..small });
    assert_ne!(first.replacen("\"seed\":1", "\"seed\":2", 1), other);
}

#[test]
fn every_fault_of_a_scenario_is_made_and_repaired() {
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
    let count = |qos: &str, pattern, groups: &str| {
        // This also sets four NICs per group.
        let text = shipped("lab/two-planes-p4").replace("up: 2", "up: 4");
        let text = text.replace("groups: 2", groups).replace("os: linux", "os: none");
        let text = text.replace("qos: lossy-trim", &format!("qos: {qos}"));
        // Two bursts, each longer than a queue.
        let burst = Orders {
            max_in_flight: 12,
            burst_interval: Some(Duration::from_millis(500)),
            ..orders(Transport::Spray, pattern)
        };
        let report = run(&compile(&text, "vd"), "duration: 1s\n", &burst);
        assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{qos}: {:?}", report.messages);
        (report.switches.clone().unwrap(), report)
    };
    let marking = |min: &str, max: &str| {
        format!(
            "{{ base: lossy-trim, ecn_last_hop: true, classes: {{ data: {{ ecn: {{ thresholds: {{ min: \
             {min}, max: {max}, probability: 100 }} }} }} }} }}"
        )
    };
    let spray = |qos: &str| count(qos, Pattern::AllToAll, "groups: 4").0;
    let (early, late) = (spray(&marking("10KB", "30KB")), spray(&marking("200KB", "300KB")));
    let never = spray("{ base: lossy-trim, classes: { data: { ecn: off } } }");
    assert!(early.ecn_marked > late.ecn_marked, "{early:?} {late:?}");
    assert_eq!(never.ecn_marked, 0);
    // The first windows of 31 senders to one NIC exceed its queues.
    let (cut, report) = count("lossy-trim", Pattern::Incast, "groups: 8");
    assert!(cut.trimmed > 0 && report.messages.resent >= cut.trimmed, "{cut:?} {:?}", report.messages);
}

#[test]
fn bursts_come_at_their_times() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "ve");
    let orders = Orders {
        burst_interval: Some(Duration::from_millis(250)),
        ..orders(Transport::Spray, Pattern::Ring)
    };
    let report = run(&compiled, "duration: 1s\n", &orders);
    // Four NICs send four bursts of two messages each.
    assert_eq!((report.messages.sent, report.messages.lost), (32, 0), "{:?}", report.messages);
}

#[test]
fn what_cannot_be_is_refused() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vf");
    let scenario = Scenario::parse("duration: 1s\n").unwrap();
    let slow = Orders { port_mbps: 1, ..orders(Transport::Spray, Pattern::Ring) };
    let refused = |compiled: &CompiledTree, orders: &Orders| {
        quietly(|watch| simulate(&compiled.tree, Digests::Compared, &scenario, orders, watch)).unwrap_err()
    };
    let error = refused(&compiled, &slow);
    assert!(matches!(error, JobError::Slow { .. }), "{error}");
    let said = "takes 9.4 ms to leave a port of 1 Mb/s";
    let advice = "`--port-mbps` to at least 24";
    assert!(error.to_string().contains(said) && error.to_string().contains(advice), "{error}");
    let linux = compile(&shipped("lab/two-planes"), "vg");
    let error = refused(&linux, &orders(Transport::Spray, Pattern::Ring));
    assert!(error.to_string().contains("target `embedded` cannot run switch"), "{error}");
}

/// All planes go down while NICs send a new message after each arrival. Messages stop arriving, the job ends when
/// planned, and messages in flight are lost. An interrupt in between ends it immediately.
#[test]
fn a_total_outage_ends_and_a_job_can_be_interrupted() {
    let compiled = compile(&shipped("lab/two-planes-p4"), "vt");
    let full = Orders { burst_interval: None, ..orders(Transport::Spray, Pattern::Permutation) };
    let outage = "duration: 2s\nsteps:\n  - { at: 1s, plane: 0 }\n  - { at: 1s, plane: 1 }\n";
    let report = run(&compiled, outage, &full);
    assert!((1..=8).contains(&report.messages.lost), "{:?}", report.messages);
    let sent = "duration: 2s\nsteps:\n  - { at: 1s, plane: 0 }\n  - { at: 1s, plane: 1 }\n  - { at: 1500ms, restore: all }\n";
    assert_eq!(run(&compiled, sent, &full).messages.lost, 0);
    let interrupt = Interrupt::default();
    let steps = std::sync::atomic::AtomicU32::new(0);
    let progress = |step: Progress| {
        if step.operation == "run the job" {
            steps.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            interrupt.set();
        }
    };
    let scenario = Scenario::parse(outage).unwrap();
    let watch = Watch::new(&progress, &interrupt);
    let ended = simulate(&compiled.tree, Digests::Compared, &scenario, &full, &watch);
    assert!(matches!(ended, Err(JobError::Lab(LabError::Interrupted))), "{ended:?}");
    assert_eq!(steps.into_inner(), 1, "not one sample later");
}

/// Runs a job on 16 NICs without a fault. Each sends as fast as it can, with large messages, over ports of 32 Mb/s.
fn run_busy(name: &str, duration: &str, orders: Orders) -> Report {
    let text = shipped("lab/two-planes-p4").replace("groups: 2", "groups: 4").replace("up: 2", "up: 4");
    let compiled = compile(&text.replace("os: linux", "os: none"), name);
    let full =
        Orders { burst_interval: None, message_bytes: 32_768, max_in_flight: 8, port_mbps: 32, ..orders };
    run(&compiled, duration, &full)
}

/// Fifteen NICs send to one, without a fault. Their windows could fill the last queue many times, so the receiver grants
/// each of them an equal share.
#[test]
fn an_incast_is_shared_equally_and_condemns_no_path() {
    let report = run_busy("vn", "duration: 2500ms\n", orders(Transport::Spray, Pattern::Incast));
    assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{:?}", report.messages);
    let of_plan = report.before_mbps.unwrap() / report.plan_mbps.unwrap();
    let (by, switched) = (&report.states.by, report.switches.as_ref().unwrap());
    println!("{of_plan:.3} of plan, fairness {:?}, {by:?}, {switched:?}", report.fairness);
    assert!(!by.keys().any(|change| change.ends_with("ASSUMED_BAD")), "{by:?}");
    assert_eq!(switched.dropped, 0, "{switched:?}");
    assert!(of_plan >= 0.95 && report.fairness.unwrap() >= 0.99, "{of_plan} {:?}", report.fairness);
}

/// All NICs begin at once, and each sends to one other NIC. Windows grow during the first 0.2 s. After that, goodput is
/// close to its final value.
#[test]
fn a_job_reaches_its_rate_soon() {
    let large = Orders { unit: 1400, ..orders(Transport::Spray, Pattern::Permutation) };
    let report = run_busy("vp", "duration: 1s\n", large);
    let plan = report.plan_mbps.unwrap();
    let of_plan: Vec<f64> = report.curve.iter().map(|(_, mbps)| mbps / plan).collect();
    println!("{of_plan:.3?}");
    assert!(of_plan[1] >= 0.92 && of_plan[2..].iter().all(|share| *share >= 0.95), "{of_plan:.3?}");
}
