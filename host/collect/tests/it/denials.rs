//! The stages of denials, and the denials that remain if the collector is killed at any point.

use closc_collect::{Collector, Denials, Options, Order, OrderFault, Stage};
use closc_topology::{Link, NicPort, PlaneId};

use crate::support::{Fabric, Fault, Numbers, eight_planes};

const APPLY: Options = Options {
    apply: true,
    fresh_ms: 5_000,
    settle_ms: 4_000,
    good_probes: 200,
    deny_ms: 600_000,
    plane_share: 0.2,
    confidence: 0.999,
};

fn cable(fabric: &Fabric, name: &str) -> Link {
    fabric.plan.topology().parse_link(name).expect("it is a cable")
}

fn stages(collector: &Collector) -> Vec<(String, Stage)> {
    collector.denials().list.iter().map(|denial| (denial.element.clone(), denial.stage)).collect()
}

/// Checks that every agent has exactly the applied denials.
fn agrees(fabric: &Fabric, collector: &Collector) {
    for nic in fabric.nics() {
        let mut own: Vec<f64> = fabric.bans(nic).iter().filter_map(|ban| ban.until).collect();
        let mut wanted: Vec<f64> =
            collector.denials().applied_denials().map(|denial| denial.until_ms as f64 / 1e3).collect();
        own.sort_by(f64::total_cmp);
        wanted.sort_by(f64::total_cmp);
        assert_eq!(own, wanted, "{nic:?}");
    }
}

#[test]
fn a_dry_run_proposes_and_asks_agents_for_nothing() {
    let mut fabric = Fabric::new(eight_planes(), 1);
    let mut collector = fabric.collector(Options { apply: false, ..APPLY });
    fabric.rounds(&mut collector, 2);
    fabric.faults = vec![Fault::Gray(cable(&fabric, "p3-t0-002--p3-t1-004"), 0.03)];
    fabric.rounds(&mut collector, 30);
    assert_eq!(stages(&collector), [("p3-t0-002--p3-t1-004".to_owned(), Stage::Proposed)]);
    assert!(fabric.nics().iter().all(|nic| fabric.bans(*nic).is_empty()));
    assert_eq!(collector.drain("p0-t0-001", "work", 1, fabric.now_ms), Err(OrderFault::DryRun));
    fabric.faults.clear();
    fabric.rounds(&mut collector, 30);
    assert_eq!(stages(&collector), []);
}

#[test]
fn a_denial_is_applied_everywhere_and_returned_after_good_probes() {
    let mut fabric = Fabric::new(eight_planes(), 2);
    let mut collector = fabric.collector(APPLY);
    fabric.rounds(&mut collector, 2);
    fabric.faults = vec![Fault::Gray(cable(&fabric, "p3-t0-002--p3-t1-004"), 0.03)];
    fabric.rounds(&mut collector, 20);
    assert_eq!(stages(&collector), [("p3-t0-002--p3-t1-004".to_owned(), Stage::Applied)]);
    agrees(&fabric, &collector);
    let denial = collector.denials().list[0].clone();
    assert_eq!((denial.reason.as_str(), collector.denial_state(denial.id).in_force), ("gray-loss", 8));
    assert!(denial.why.starts_with("cable p3-t0-002--p3-t1-004, "), "{}", denial.why);
    let ban = &fabric.bans(fabric.nics()[0])[0];
    assert_eq!((ban.plane, ban.uplinks, ban.group), (Some(3), Some((3, 3)), Some(1)));
    fabric.faults.clear();
    fabric.rounds(&mut collector, 2);
    assert_eq!(stages(&collector)[0].1, Stage::Applied, "two rounds are not enough good probes");
    fabric.rounds(&mut collector, 20);
    assert_eq!(stages(&collector)[0].1, Stage::Returned);
    agrees(&fabric, &collector);
    assert_eq!(collector.denial_state(denial.id).in_force, 0);
}

#[test]
fn a_denial_expires_and_is_renewed_while_there_is_a_reason() {
    let mut fabric = Fabric::new(eight_planes(), 3);
    let mut collector = fabric.collector(Options { deny_ms: 60_000, ..APPLY });
    fabric.rounds(&mut collector, 2);
    fabric.faults = vec![Fault::Cut(cable(&fabric, "p1-t0-001--p1-t1-002"))];
    fabric.rounds(&mut collector, 50);
    let applied = stages(&collector).iter().filter(|(_, stage)| *stage == Stage::Applied).count();
    let expired = stages(&collector).iter().filter(|(_, stage)| *stage == Stage::Expired).count();
    assert_eq!((applied, expired), (1, 1));
    agrees(&fabric, &collector);
}

/// A plane that is back is used again long before its denial expires, even if one of its NICs stays cut off.
#[test]
fn the_denial_of_a_plane_ends_by_good_probes() {
    let mut fabric = Fabric::new(eight_planes(), 11);
    let mut collector = fabric.collector(APPLY);
    fabric.rounds(&mut collector, 2);
    let plane = PlaneId(4);
    let ports: Vec<Fault> =
        fabric.nics().into_iter().map(|nic| Fault::Port(NicPort { plane, nic })).collect();
    fabric.faults.clone_from(&ports);
    fabric.rounds(&mut collector, 10);
    assert_eq!(stages(&collector), [("plane 4".to_owned(), Stage::Applied)]);
    fabric.faults = ports[..1].to_vec();
    fabric.rounds(&mut collector, 20);
    assert_eq!(stages(&collector)[0], ("plane 4".to_owned(), Stage::Returned));
    agrees(&fabric, &collector);
}

/// Restarts the collector from its saved state.
fn restart(fabric: &Fabric, collector: Collector, options: Options) -> Collector {
    let text = serde_json::to_string(collector.denials()).expect("it is JSON");
    drop(collector);
    let disk = serde_json::from_str(&text).expect("it reads");
    let (collector, gone) = Collector::new(fabric.plan.clone(), options, disk, fabric.now_ms);
    assert!(gone.is_empty());
    collector
}

#[test]
fn a_proposal_outlives_the_collector_and_is_applied_by_what_the_next_one_sees() {
    let mut fabric = Fabric::new(eight_planes(), 9);
    let dry = Options { apply: false, ..APPLY };
    let mut collector = fabric.collector(dry);
    fabric.rounds(&mut collector, 2);
    fabric.faults = vec![Fault::Gray(cable(&fabric, "p3-t0-002--p3-t1-004"), 0.03)];
    fabric.rounds(&mut collector, 30);
    let proposed = collector.denials().list.clone();
    assert_eq!((proposed.len(), proposed[0].stage), (1, Stage::Proposed));
    // Without evidence, the collector neither withdraws nor applies it.
    let mut collector = restart(&fabric, collector, APPLY);
    fabric.rounds(&mut collector, 1);
    assert_eq!(collector.denials().list, proposed);
    fabric.rounds(&mut collector, 20);
    let applied = &collector.denials().list[..];
    assert_eq!((applied.len(), applied[0].id, applied[0].stage), (1, proposed[0].id, Stage::Applied));
    agrees(&fabric, &collector);
    // If the element was repaired in the meantime, enough good probes withdraw the proposal.
    let mut collector = fabric.collector(dry);
    fabric.rounds(&mut collector, 30);
    assert_eq!(collector.denials().list[0].stage, Stage::Proposed);
    fabric.faults.clear();
    let mut collector = restart(&fabric, collector, dry);
    fabric.rounds(&mut collector, 1);
    assert_eq!(collector.denials().list.len(), 1, "a round is not enough good probes");
    fabric.rounds(&mut collector, 30);
    assert_eq!(collector.denials().list, []);
    assert!(collector.denials().next > 1, "its number is not used again");
}

#[test]
fn a_denial_ends_at_its_time_though_no_collector_runs() {
    for is_kept in [false, true] {
        let mut fabric = Fabric::new(eight_planes(), 10);
        let options = Options { deny_ms: 60_000, ..APPLY };
        let mut collector = fabric.collector(options);
        fabric.rounds(&mut collector, 2);
        fabric.faults = vec![Fault::Gray(cable(&fabric, "p3-t0-002--p3-t1-004"), 0.03)];
        while stages(&collector).iter().all(|(_, stage)| *stage != Stage::Applied) {
            fabric.rounds(&mut collector, 1);
        }
        let first = collector.denials().list[0].clone();
        fabric.rounds(&mut collector, 1);
        agrees(&fabric, &collector);
        if !is_kept {
            fabric.faults.clear();
        }
        while fabric.now_ms <= first.until_ms {
            fabric.pass();
        }
        assert!(fabric.nics().iter().all(|nic| fabric.bans(*nic).is_empty()), "agents end it by themselves");
        let mut collector = restart(&fabric, collector, options);
        fabric.rounds(&mut collector, 1);
        assert_eq!(stages(&collector), [(first.element.clone(), Stage::Expired)]);
        agrees(&fabric, &collector);
        fabric.rounds(&mut collector, 25);
        let applied: Vec<u64> = collector.denials().applied_denials().map(|denial| denial.id).collect();
        assert_eq!(applied, if is_kept { vec![first.id + 1] } else { vec![] });
        agrees(&fabric, &collector);
    }
}

#[test]
fn the_guard_holds_what_is_too_much_and_says_why() {
    let mut fabric = Fabric::new(eight_planes(), 4);
    let mut collector = fabric.collector(Options { plane_share: 0.0625, ..APPLY });
    fabric.rounds(&mut collector, 2);
    let names = ["p1-t0-001--p1-t1-002", "p1-t0-003--p1-t1-001"];
    fabric.faults = names.map(|name| Fault::Gray(cable(&fabric, name), 0.05)).to_vec();
    fabric.rounds(&mut collector, 40);
    let list = &collector.denials().list;
    let applied: Vec<_> = list.iter().filter(|denial| denial.stage == Stage::Applied).collect();
    let held: Vec<_> = list.iter().filter_map(|denial| denial.held.clone()).collect();
    assert_eq!((applied.len(), held.len()), (1, 1));
    assert_eq!(held[0], "12.5 % of plane 1 would be denied; at most 6.25 % is allowed");
    let fault = collector.drain("plane 4", "", 1, fabric.now_ms).expect_err("all of a plane");
    assert_eq!(
        fault.to_string(),
        "`plane 4` is not denied: 100 % of plane 4 would be denied; at most 6.25 % is allowed"
    );
}

#[test]
fn people_drain_and_lift() {
    let mut fabric = Fabric::new(eight_planes(), 5);
    let mut collector = fabric.collector(Options { plane_share: 0.5, ..APPLY });
    fabric.rounds(&mut collector, 2);
    let next = collector.drain("p2-t1-003", "new optics", 600_000, fabric.now_ms).expect("it leaves paths");
    assert_eq!((next.changes.len(), next.changes[0].stage), (1, Stage::Applied));
    collector.commit(next.denials);
    fabric.rounds(&mut collector, 2);
    agrees(&fabric, &collector);
    assert!(matches!(collector.drain("p2-t1-003", "", 1, fabric.now_ms), Err(OrderFault::Already(_))));
    assert!(matches!(collector.drain("p2-t1-777", "", 1, fabric.now_ms), Err(OrderFault::Unknown(_))));
    assert_eq!(collector.lift(77, fabric.now_ms), Err(OrderFault::NoDenial(77)));
    let id = collector.denials().list[0].id;
    let next = collector.lift(id, fabric.now_ms).expect("it is in force");
    collector.commit(next.denials);
    fabric.rounds(&mut collector, 2);
    agrees(&fabric, &collector);
    assert!(fabric.bans(fabric.nics()[0]).is_empty());
}

#[test]
fn denials_of_others_are_left_alone() {
    let mut fabric = Fabric::new(eight_planes(), 6);
    let mut collector = fabric.collector(APPLY);
    let nic = fabric.nics()[3];
    let until = Some((fabric.now_ms + 900_000) as f64 / 1e3);
    let foreign =
        closc_nic::agent::Ban { plane: Some(2), reason: "administrator".into(), until, ..Default::default() };
    fabric.order(nic, &Order::Deny(0, foreign)).expect("an agent takes it");
    fabric.rounds(&mut collector, 5);
    assert_eq!(fabric.bans(nic).len(), 1);
}

/// Runs a round in which the collector may be killed at its n-th action. Returns whether it was.
fn dying_round(
    fabric: &mut Fabric,
    collector: &mut Collector,
    disk: &mut Denials,
    dies_at: Option<usize>,
) -> bool {
    let mut calls = 0;
    let mut dies = || {
        calls += 1;
        dies_at == Some(calls)
    };
    for (at, nic) in fabric.nics().into_iter().enumerate() {
        let source = collector.source(&format!("/run/{at}"));
        collector.take(source, fabric.report(nic), fabric.now_ms).expect("it is a report");
        for order in collector.orders(nic, fabric.now_ms) {
            if dies() {
                return true;
            }
            let answer = fabric.order(nic, &order);
            if dies() {
                return true;
            }
            collector.handle_answer(nic, &order, answer);
        }
    }
    collector.judge(fabric.now_ms);
    if let Some(next) = collector.next(fabric.now_ms) {
        if dies() {
            return true;
        }
        let text = serde_json::to_string(&next.denials).expect("it is JSON");
        *disk = serde_json::from_str(&text).expect("it reads");
        if dies() {
            return true;
        }
        collector.commit(next.denials);
    }
    false
}

/// The collector is killed at random points, and only its saved state remains.
#[test]
fn no_death_forgets_or_invents_a_denial() {
    let mut numbers = Numbers(99);
    let mut fabric = Fabric::new(eight_planes(), 8);
    let options = Options { plane_share: 0.5, deny_ms: 40_000, ..APPLY };
    let mut disk = Denials::default();
    let names = ["p1-t0-001--p1-t1-002", "p5-t0-003--p5-t1-001", "p6-t0-004--p6-t1-004"];
    let mut deaths = 0;
    let mut collector = fabric.collector(options);
    for step in 0..500 {
        if step % 20 == 5 {
            let fault = Fault::Gray(cable(&fabric, names[numbers.below(names.len())]), 0.05);
            fabric.faults = if numbers.chance(0.8) { vec![fault] } else { Vec::new() };
        }
        fabric.pass();
        let dies_at = numbers.chance(0.5).then(|| 1 + numbers.below(8));
        if dying_round(&mut fabric, &mut collector, &mut disk, dies_at) || numbers.chance(0.03) {
            deaths += 1;
            let (again, gone) = Collector::new(fabric.plan.clone(), options, disk.clone(), fabric.now_ms);
            assert!(gone.is_empty());
            collector = again;
        }
        assert_eq!(collector.denials(), &disk, "step {step}");
    }
    assert!(deaths > 10, "{deaths}");
    fabric.faults.clear();
    fabric.rounds(&mut collector, 3);
    agrees(&fabric, &collector);
    assert!(disk.next > 5, "{} denials", disk.next);
}

/// Missing reports do not mean recovery. If no witness of a dead cable reports, the verdict and its denial are kept.
/// Both end after good probes.
#[test]
fn a_verdict_that_no_agent_reports_on_is_kept() {
    for apply in [false, true] {
        let mut fabric = Fabric::new(eight_planes(), 7);
        let mut collector = fabric.collector(Options { apply, ..APPLY });
        fabric.rounds(&mut collector, 2);
        let broken = cable(&fabric, "p3-t0-002--p3-t1-004");
        fabric.faults = vec![Fault::Cut(broken)];
        fabric.rounds(&mut collector, 6);
        let stage = if apply { Stage::Applied } else { Stage::Proposed };
        let wanted = [("p3-t0-002--p3-t1-004".to_owned(), stage)];
        assert_eq!(stages(&collector), wanted);
        let witnesses: Vec<_> = fabric.nics().into_iter().filter(|nic| nic.group == 1).collect();
        for nic in &witnesses {
            fabric.freeze(*nic, 1);
        }
        fabric.rounds(&mut collector, 30);
        assert_eq!(stages(&collector), wanted, "nothing is known but that it was broken");
        let line = collector.verdicts().next().expect("it is kept").line(&fabric.plan, fabric.now_ms);
        assert!(line.contains("carries nothing") && line.contains("; no reports since 12:00"), "{line}");
        for nic in &witnesses {
            fabric.freeze(*nic, 0);
        }
        fabric.rounds(&mut collector, 2);
        let line = collector.verdicts().next().expect("it is broken").line(&fabric.plan, fabric.now_ms);
        assert!(!line.contains("unheard"), "{line}");
        assert_eq!(stages(&collector), wanted);
        fabric.faults.clear();
        fabric.rounds(&mut collector, 30);
        assert_eq!((collector.verdicts().count(), collector.denials().applied_denials().count()), (0, 0));
    }
}

/// A cable that changes bytes is named for that, once, although its damaged probes also count as lost.
#[test]
fn a_cable_that_changes_bytes_is_named_with_the_reason() {
    let mut fabric = Fabric::new(eight_planes(), 8);
    let mut collector = fabric.collector(APPLY);
    fabric.rounds(&mut collector, 2);
    fabric.faults = vec![Fault::Corrupt(cable(&fabric, "p3-t0-002--p3-t1-004"), 0.05)];
    fabric.rounds(&mut collector, 30);
    let lines: Vec<String> =
        collector.verdicts().map(|verdict| verdict.line(&fabric.plan, fabric.now_ms)).collect();
    let [line] = lines.as_slice() else { panic!("{lines:#?}") };
    assert!(line.starts_with("cable p3-t0-002--p3-t1-004, changes bytes of "), "{line}");
    fabric.faults.clear();
    fabric.rounds(&mut collector, 60);
    assert_eq!(collector.verdicts().count(), 0);
}
