//! Random faults in a fabric with agents. Exactly the faulty elements must be named.

use std::collections::BTreeSet;

use closc_collect::{Collector, Element, Options};
use closc_nic::schedule::TurnPoint;
use closc_plan::Plan;
use closc_topology::{Link, NicPort, PlaneId, Switch};

use crate::support::cases::{expected, hides, named, random};
use crate::support::{self, Fabric, Fault, Numbers, Pace, crowded_planes, eight_planes, sonic, three_tiers};

/// Numbers of reports before the fault, after it, and after a gray fault. They are enough to detect a loss of 0.5 %.
const BEFORE: usize = 3;
const AFTER: usize = 45;
const AFTER_GRAY: usize = 180;
/// Number of reports with the same result after which a run ends.
const THE_SAME: usize = 10;

fn run(plan: &std::sync::Arc<Plan>, faults: &[Fault], seed: u64) -> (Fabric, Collector) {
    let mut fabric = Fabric::new(plan.clone(), seed);
    let mut collector = fabric.collector(Options { settle_ms: 4_000, fresh_ms: 5_000, ..Options::default() });
    fabric.rounds(&mut collector, BEFORE);
    assert!(named(&collector).is_empty(), "nothing is broken yet");
    fabric.faults = faults.to_vec();
    let is_gray = faults.iter().any(|fault| matches!(fault, Fault::Gray(..) | Fault::GraySwitch(..)));
    let wanted: BTreeSet<_> = faults.iter().copied().flat_map(expected).collect();
    let mut same = 0;
    for _ in 0..if is_gray { AFTER_GRAY } else { AFTER } {
        fabric.rounds(&mut collector, 1);
        same = if named(&collector) == wanted { same + 1 } else { 0 };
        if same == THE_SAME {
            break;
        }
    }
    (fabric, collector)
}

#[test]
fn single_faults_are_named_exactly() {
    let plan = eight_planes();
    let mut numbers = Numbers(12);
    for seed in 0..100 {
        let fault = random(&plan, &mut numbers);
        let (_, collector) = run(&plan, &[fault], seed);
        let wanted: BTreeSet<_> = expected(fault).into_iter().collect();
        assert_eq!(named(&collector), wanted, "{fault:?}");
    }
}

#[test]
fn single_faults_of_three_tiers_are_named_exactly() {
    let plan = three_tiers();
    let mut numbers = Numbers(3);
    for seed in 0..30 {
        let fault = random(&plan, &mut numbers);
        let (_, collector) = run(&plan, &[fault], seed);
        let wanted: BTreeSet<_> = expected(fault).into_iter().collect();
        assert_eq!(named(&collector), wanted, "{fault:?}");
    }
}

#[test]
fn double_faults_are_named() {
    let plan = eight_planes();
    let mut numbers = Numbers(50);
    let mut wrong = Vec::new();
    for seed in 0..50 {
        let (one, other) = loop {
            let (one, other) = (random(&plan, &mut numbers), random(&plan, &mut numbers));
            if !hides(&plan, one, other) {
                break (one, other);
            }
        };
        let (_, collector) = run(&plan, &[one, other], 1000 + seed);
        let wanted: BTreeSet<_> = [one, other].into_iter().flat_map(expected).collect();
        let found = named(&collector);
        if found != wanted {
            wrong.push(format!("{one:?} and {other:?}: {found:?}"));
        }
    }
    // At least 95 % must be correct.
    assert!(wrong.len() <= 2, "{} of 50 wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Swaps of arbitrary ports, each port in one swap at most: within one NIC, and between NICs of one T0.
#[test]
fn any_number_of_swaps_is_named_pair_by_pair() {
    let plan = crowded_planes();
    let ports: Vec<NicPort> = plan
        .fabric()
        .links()
        .filter_map(|link| if let Link::Host(port) = link { Some(port) } else { None })
        .collect();
    let mut numbers = Numbers(77);
    for seed in 0..12 {
        let mut free = ports.clone();
        let mut faults = Vec::new();
        // The first swaps are of one NIC, so that it has several.
        let (crowd, swaps) = (numbers.of(&ports).nic, 2 + numbers.below(7));
        while faults.len() < swaps {
            let some: Vec<NicPort> =
                free.iter().filter(|port| faults.len() > 3 || port.nic == crowd).copied().collect();
            let Some(one) = (!some.is_empty()).then(|| *numbers.of(&some)) else { break };
            let in_nic = faults.len() <= 3 || numbers.chance(0.5);
            let fits = |other: &&NicPort| {
                if in_nic {
                    other.nic == one.nic && **other != one
                } else {
                    other.nic != one.nic && other.nic.t0(other.plane) == one.nic.t0(one.plane)
                }
            };
            let others: Vec<NicPort> = free.iter().filter(fits).copied().collect();
            free.retain(|port| *port != one);
            if others.is_empty() {
                continue;
            }
            let other = *numbers.of(&others);
            free.retain(|port| *port != other);
            faults.push(Fault::Swapped(one, other));
        }
        let (_, collector) = run(&plan, &faults, seed);
        let wanted: BTreeSet<_> = faults.iter().copied().flat_map(expected).collect();
        assert_eq!(named(&collector), wanted, "{faults:?}");
    }
}

#[test]
fn three_cables_that_went_round_are_named_by_where_they_are() {
    let plan = eight_planes();
    let nic = plan.fabric().nics().nth(3).expect("there are eight");
    let port = |plane| NicPort { plane: PlaneId(plane), nic };
    let faults = [Fault::Round([1, 6, 2].map(port)), Fault::Swapped(port(0), port(7))];
    let (_, collector) = run(&plan, &faults, 4);
    let wanted: BTreeSet<_> = faults.into_iter().flat_map(expected).collect();
    assert_eq!(named(&collector), wanted);
}

#[test]
fn dead_t0s_of_a_group_are_not_swapped_cables() {
    let plan = eight_planes();
    let nic = plan.fabric().nics().next().expect("there are eight");
    let faults = [2, 5].map(|plane| Fault::Switch(nic.t0(PlaneId(plane))));
    let (_, collector) = run(&plan, &faults, 6);
    let wanted: BTreeSet<_> = faults.into_iter().flat_map(expected).collect();
    assert_eq!(named(&collector), wanted);
}

/// T0s that discover their neighbours answer only the port that belongs there. Dead cables are named, but a swap is
/// named only if there is one possibility.
#[test]
fn where_t0s_answer_nobody_else_one_swap_of_a_nic_is_named() {
    let plan = sonic();
    let nic = plan.fabric().nics().next().expect("it has NICs");
    let port = |plane| NicPort { plane: PlaneId(plane), nic };
    let (one, other) = (Fault::Swapped(port(0), port(3)), Fault::Swapped(port(1), port(4)));
    let (_, collector) = run(&plan, &[one], 6);
    assert_eq!(named(&collector), expected(one).into_iter().collect());
    let (_, collector) = run(&plan, &[one, other], 7);
    let cables = [0, 1, 3, 4].map(|plane| (Element::Cable(Link::Host(port(plane))), "dead".to_owned()));
    assert_eq!(named(&collector), cables.into());
}

/// Three ports of one NIC: one is swapped with a port of another NIC, two with each other.
#[test]
fn a_port_that_receives_for_another_nic_is_not_exchanged_within_its_own() {
    let plan = eight_planes();
    let nics: Vec<_> = plan.fabric().nics().take(2).collect();
    let port = |plane, nic: usize| NicPort { plane: PlaneId(plane), nic: nics[nic] };
    let faults = [Fault::Swapped(port(0, 0), port(0, 1)), Fault::Swapped(port(3, 0), port(5, 0))];
    let (_, collector) = run(&plan, &faults, 5);
    let wanted: BTreeSet<_> = faults.into_iter().flat_map(expected).collect();
    assert_eq!(named(&collector), wanted);
}

#[test]
fn a_whole_plane_and_a_whole_nic_are_one_verdict_each() {
    let plan = eight_planes();
    let plane = |switch: &Switch| switch.plane == PlaneId(3);
    let faults: Vec<Fault> = plan.fabric().switches().filter(plane).map(Fault::Switch).collect();
    let (_, collector) = run(&plan, &faults, 1);
    let lines: Vec<String> = collector.verdicts().map(|v| v.line(&plan, v.since_ms)).collect();
    assert_eq!(lines, ["plane 3, carries nothing since 12:00"]);
    let nic = plan.fabric().nics().nth(2).expect("there are eight");
    let faults: Vec<Fault> =
        plan.topology().plane_ids().map(|plane| Fault::Port(NicPort { plane, nic })).collect();
    let (_, collector) = run(&plan, &faults, 2);
    let lines: Vec<String> = collector.verdicts().map(|v| v.line(&plan, v.since_ms)).collect();
    assert_eq!(lines, ["NIC su002-n001/nic0, carries nothing since 12:00"]);
}

#[test]
fn a_verdict_says_how_much_and_since_when_and_ends() {
    let plan = eight_planes();
    let link = plan.topology().parse_link("p3-t0-002--p3-t1-004").expect("it is a cable");
    let (mut fabric, mut collector) = run(&plan, &[Fault::Gray(link, 0.02)], 7);
    let verdict = collector.verdicts().next().expect("it is named").clone();
    let line = verdict.line(&plan, fabric.now_ms);
    assert!(
        line.starts_with("cable p3-t0-002--p3-t1-004, ") && line.contains(" % loss since 12:0"),
        "{line}"
    );
    assert!(
        (0.01..0.03).contains(&verdict.share()) && verdict.witnesses == 2 && verdict.confidence > 0.999_999
    );
    fabric.faults.clear();
    fabric.rounds(&mut collector, 30);
    assert_eq!(collector.verdicts().count(), 0);
}

#[test]
fn an_agent_that_lies_accuses_nobody_but_its_own_cable() {
    let plan = eight_planes();
    let mut fabric = Fabric::new(plan, 9);
    let mut collector = fabric.collector(Options { settle_ms: 4_000, fresh_ms: 5_000, ..Options::default() });
    fabric.rounds(&mut collector, 2);
    let liar = fabric.nics()[0];
    for round in 1..40 {
        fabric.pass();
        for (at, nic) in fabric.nics().into_iter().enumerate() {
            let mut report = fabric.report(nic);
            if nic == liar {
                // None of its probes over any uplink returns.
                for count in
                    report.counts.iter_mut().filter(|c| !matches!(c.turn_point, TurnPoint::T0 { .. }))
                {
                    count.lost = count.sent.min(round * support::PROBES);
                }
            }
            let source = collector.source(&format!("/run/{at}"));
            collector.take(source, report, fabric.now_ms).expect("it is a report");
        }
        collector.judge(fabric.now_ms);
    }
    assert_eq!(collector.verdicts().count(), 0);
    // It cannot report for another NIC.
    let other = fabric.nics()[1];
    let source = collector.source("/run/0");
    let fault = collector.take(source, fabric.report(other), fabric.now_ms).expect_err("it is another's");
    assert!(fault.to_string().contains("also reports for `su001-n002/nic0`, so neither counts"), "{fault}");
}

/// A NIC cable is lossy. By chance, probes are lost that turn at T1s, but none that turn at the T0. There are more
/// losses than chance explains, but no evidence against the uplinks.
#[test]
fn losses_of_a_nic_cable_are_not_laid_on_uplinks() {
    let plan = eight_planes();
    let mut fabric = Fabric::new(plan, 5);
    let mut collector = fabric.collector(Options { settle_ms: 4_000, fresh_ms: 5_000, ..Options::default() });
    let nic = fabric.nics()[4];
    // Losses per round: of probes that turn at the T0, and over each uplink.
    let rounds = [[0, 0, 0, 0, 0], [0, 2, 0, 3, 1], [0, 0, 0, 1, 0], [0, 1, 2, 0, 0], [0, 0, 0, 0, 1]];
    let then = [
        [1, 1, 0, 0, 1],
        [2, 1, 1, 0, 0],
        [1, 0, 2, 1, 0],
        [2, 2, 0, 1, 1],
        [1, 0, 1, 1, 2],
        [2, 1, 0, 0, 1],
        [1, 1, 1, 0, 0],
        [1, 0, 1, 0, 1],
    ];
    let mut sums = [0; 5];
    for (round, lost) in rounds.into_iter().chain(then).enumerate() {
        fabric.pass();
        for (sum, lost) in sums.iter_mut().zip(lost) {
            *sum += lost;
        }
        for (at, other) in fabric.nics().into_iter().enumerate() {
            let mut report = fabric.report(other);
            for count in
                report.counts.iter_mut().filter(|count| other == nic && count.turn_point.plane() == 4)
            {
                count.lost = match count.turn_point {
                    TurnPoint::T0 { .. } => sums[0],
                    TurnPoint::T1 { uplink, .. } | TurnPoint::T2 { uplink, .. } => {
                        sums[1 + usize::from(uplink)]
                    }
                };
            }
            let source = collector.source(&format!("/run/{at}"));
            collector.take(source, report, fabric.now_ms).expect("it is a report");
        }
        collector.judge(fabric.now_ms);
        assert!(round > 8 || named(&collector).is_empty(), "round {round}: {:?}", named(&collector));
    }
    let cable = (Element::Cable(Link::Host(NicPort { plane: PlaneId(4), nic })), "gray".to_owned());
    assert_eq!(named(&collector), [cable].into());
}

/// Cables and switches that pass short packets only. Exactly these are named, with lengths above and below the limit.
#[test]
fn what_passes_short_packets_only_is_named_exactly() {
    for (plan, n) in [(eight_planes(), 40), (three_tiers(), 20)] {
        let mut numbers = Numbers(7);
        let links: Vec<Link> = plan.fabric().links().collect();
        let switches: Vec<Switch> = plan.fabric().switches().collect();
        for seed in 0..n {
            let fault = match seed % 4 {
                3 => Fault::NarrowSwitch(*numbers.of(&switches), 1300),
                _ => Fault::Narrow(*numbers.of(&links), 1300),
            };
            let (_, collector) = run(&plan, &[fault], seed);
            let wanted: BTreeSet<_> = expected(fault).into_iter().collect();
            assert_eq!(named(&collector), wanted, "{fault:?}");
            let lengths =
                collector.verdicts().next().and_then(|verdict| verdict.lengths).expect("it has lengths");
            assert_eq!((lengths.passes, lengths.loses), (1296, 1304));
        }
    }
}

/// Only a full-length probe that returns ends the verdict. Missing reports, restarts of agents and short probes do not.
#[test]
fn only_long_probes_clear_what_passes_short_packets_only() {
    let plan = eight_planes();
    let link = plan.topology().parse_link("p3-t0-002--p3-t1-004").expect("it is a cable");
    let fault = Fault::Narrow(link, 1300);
    let (mut fabric, mut collector) = run(&plan, &[fault], 1);
    let wanted: BTreeSet<_> = expected(fault).into_iter().collect();
    let verdict = collector.verdicts().next().expect("it is named");
    let line = verdict.line(&plan, fabric.now_ms);
    assert!(line.starts_with("cable p3-t0-002--p3-t1-004, passes short packets only since "), "{line}");
    assert!(line.ends_with("; packets of 1296 bytes pass, packets of 1304 bytes do not"), "{line}");
    for (at, nic) in fabric.nics().into_iter().enumerate() {
        fabric.restart(nic);
        let source = collector.source(&format!("/run/{at}"));
        collector.take(source, fabric.report(nic), fabric.now_ms).expect("it is a report");
    }
    collector.judge(fabric.now_ms);
    assert_eq!(named(&collector), wanted, "agents that began anew know nothing");
    for nic in fabric.nics() {
        fabric.freeze(nic, 9);
    }
    fabric.rounds(&mut collector, 8);
    assert_eq!(named(&collector), wanted, "all witnesses are silent");
    for nic in fabric.nics() {
        fabric.freeze(nic, 0);
    }
    fabric.faults.clear();
    fabric.rounds(&mut collector, 4);
    assert_eq!(named(&collector), BTreeSet::new());
}

/// Partial losses do not count if the agent had no processor for most of the time. Total losses do.
#[test]
fn losses_of_an_agent_without_processor_time_are_no_evidence_unless_all_are_lost() {
    let plan = eight_planes();
    let link = plan.topology().parse_link("p3-t0-002--p3-t1-004").expect("it is a cable");
    for (share, fault, is_named) in [
        (0.2, Fault::Gray(link, 0.3), false),
        (0.9, Fault::Gray(link, 0.3), true),
        (0.2, Fault::Cut(link), true),
    ] {
        let mut fabric = Fabric::new(plan.clone(), 1);
        let options = Options { settle_ms: 4_000, fresh_ms: 5_000, ..Options::default() };
        let mut collector = fabric.collector(options);
        fabric.runs = Some(share);
        fabric.rounds(&mut collector, BEFORE);
        fabric.faults = vec![fault];
        fabric.rounds(&mut collector, AFTER);
        let wanted: BTreeSet<_> =
            if is_named { expected(fault).into_iter().collect() } else { BTreeSet::new() };
        assert_eq!(named(&collector), wanted, "{share} {fault:?}");
    }
}

/// A bundle of cables is bad: the same uplink of a T0 group loses packets in all planes. Late answers also affect all
/// planes, but all of them at once. Each cable is named.
#[test]
fn an_uplink_that_loses_in_all_planes_is_named() {
    let plan = eight_planes();
    for (seed, share) in [(1, 0.004), (2, 0.01), (3, 0.03)] {
        let mut fabric = Fabric::new(plan.clone(), seed);
        fabric.pace = Pace { poll_ms: 300, probes: 8, is_busy: true };
        let mut collector =
            fabric.collector(Options { settle_ms: 1_500, fresh_ms: 5_000, ..Options::default() });
        fabric.rounds(&mut collector, BEFORE);
        let nic = fabric.nics()[2];
        let cables = plan.topology().plane_ids().map(|plane| Link::Fabric { lower: nic.t0(plane), up: 1 });
        fabric.faults = cables.map(|cable| Fault::Gray(cable, share)).collect();
        let wanted: BTreeSet<_> = fabric.faults.iter().copied().flat_map(expected).collect();
        let mut rounds = 0;
        while named(&collector) != wanted && rounds < 2_000 {
            fabric.rounds(&mut collector, 1);
            rounds += 1;
            let found = named(&collector);
            assert!(found.is_subset(&wanted), "{share}: {:?}", found.difference(&wanted));
        }
        println!("{share}: all {} named after {:.0} s", wanted.len(), rounds as f64 * 0.3);
        assert_eq!(named(&collector), wanted, "{share}");
    }
}

/// Late answers of the last hours do not delay the name of a NIC cable that begins to lose packets.
#[test]
fn late_answers_of_long_ago_do_not_hide_a_nic_cable() {
    const SHARE: f64 = 0.012;
    let plan = eight_planes();
    for seed in 0..4 {
        let mut fabric = Fabric::new(plan.clone(), seed);
        fabric.pace = Pace { poll_ms: 300, probes: 8, is_busy: true };
        let mut collector =
            fabric.collector(Options { settle_ms: 1_500, fresh_ms: 5_000, ..Options::default() });
        // Another cable of the same NIC is gray, so late answers of its other ports are kept for comparison.
        let nic = fabric.nics()[2];
        let cable = |plane| Link::Host(NicPort { plane: PlaneId(plane), nic });
        fabric.faults = vec![Fault::Gray(cable(2), SHARE)];
        fabric.rounds(&mut collector, 2_000);
        fabric.faults.push(Fault::Gray(cable(3), SHARE));
        let wanted: BTreeSet<_> = fabric.faults.iter().copied().flat_map(expected).collect();
        let rounds = (1..400).find(|_| {
            fabric.rounds(&mut collector, 1);
            named(&collector) == wanted
        });
        let seconds = rounds.map(|rounds| rounds as f64 * 0.3);
        println!("seed {seed}: named after {seconds:?} s");
        assert!(seconds.is_some_and(|seconds| seconds < 90.0), "seed {seed}: {seconds:?}");
    }
}

/// Probes of one NIC are lost over cables that work for another NIC. No element is to blame, but the losses are reported.
#[test]
fn losses_that_no_element_explains_are_an_alarm() {
    let plan = eight_planes();
    let mut fabric = Fabric::new(plan.clone(), 5);
    let mut collector = fabric.collector(Options { fresh_ms: 5_000, settle_ms: 4_000, ..Options::default() });
    fabric.rounds(&mut collector, 3);
    let nic = fabric.nics()[0];
    fabric.faults = vec![Fault::NoRoute(nic)];
    fabric.rounds(&mut collector, 15);
    assert!(named(&collector).is_empty(), "{:?}", named(&collector));
    let alarms = collector.summary(fabric.now_ms).alarms;
    assert!(
        alarms.len() == 1 && alarms[0].starts_with("NIC su001-n001/nic0: its probes over 32 cables"),
        "{alarms:?}"
    );
    fabric.faults.clear();
    fabric.rounds(&mut collector, 3);
    assert_eq!(collector.summary(fabric.now_ms).alarms, Vec::<String>::new());
}
