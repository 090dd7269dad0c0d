//! Thousands of random faults with busy machines, in virtual time. All of them are named eventually, and nothing else
//! is named at any time.
//!
//! The rates are those of the lab's fault tests: 25 probes per second, reports every 300 ms. By default, only a few
//! faults are tested. `CLOSC_LOCALISE=3000` sets the number of single and of double faults, `CLOSC_LOCALISE_SEED` the
//! seed.

use std::collections::BTreeSet;
use std::sync::Arc;

use closc_collect::{Collector, Options};
use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, PlaneId};

use crate::support::cases::{expected, hides, named, random, random_cable, switches_at};
use crate::support::{Fabric, Fault, Numbers, Pace, eight_planes};

/// Numbers of reports: before the fault, at most until it is named, and while the verdict must stay.
const BEFORE: usize = 6;
const PATIENCE: usize = 1_000;
const AFTER: usize = 20;

const PACE: Pace = Pace { poll_ms: 300, probes: 8, is_busy: true };

/// Creates a fabric of busy machines, and a collector with the settings of lab tests.
fn site(plan: &Arc<Plan>, seed: u64) -> (Fabric, Collector) {
    let mut fabric = Fabric::new(plan.clone(), seed);
    fabric.pace = PACE;
    let collector = fabric.collector(Options { settle_ms: 1_500, fresh_ms: 5_000, ..Options::default() });
    (fabric, collector)
}

/// Injects faults, and returns the milliseconds until they were named.
fn attempt(plan: &Arc<Plan>, faults: &[Fault], seed: u64) -> Result<u64, String> {
    let (mut fabric, mut collector) = site(plan, seed);
    fabric.rounds(&mut collector, BEFORE);
    fabric.faults = faults.to_vec();
    let wanted: BTreeSet<_> = faults.iter().copied().flat_map(expected).collect();
    let (mut done_at, struck_ms) = (None, fabric.now_ms);
    let mut stays = 0;
    for _ in 0..PATIENCE {
        fabric.rounds(&mut collector, 1);
        let found = named(&collector);
        if let Some(other) = found.difference(&wanted).next() {
            let after_ms = fabric.now_ms - struck_ms;
            return Err(format!("{faults:?}, seed {seed}: after {after_ms} ms also {other:?}"));
        }
        if found == wanted {
            done_at = done_at.or(Some(fabric.now_ms - struck_ms));
        }
        stays += usize::from(done_at.is_some());
        if stays > AFTER {
            break;
        }
    }
    done_at.ok_or_else(|| format!("{faults:?}, seed {seed}: only {:?}", named(&collector)))
}

/// Tests random faults. Returns those with wrong results, and prints the times of the others.
fn sweep(n: usize, seed: u64, is_double: bool) -> Vec<String> {
    let plan = eight_planes();
    let mut numbers = Numbers(seed);
    let (mut wrong, mut times, mut gray) = (Vec::new(), Vec::new(), Vec::new());
    for case in 0..n as u64 {
        let faults = loop {
            let (one, other) = (random_cable(&plan, &mut numbers), random_cable(&plan, &mut numbers));
            if !is_double {
                break vec![one];
            }
            if !hides(&plan, one, other) {
                break vec![one, other];
            }
        };
        match attempt(&plan, &faults, seed ^ case << 20) {
            Ok(ms) if faults.iter().any(|fault| matches!(fault, Fault::Gray(..))) => gray.push(ms),
            Ok(ms) => times.push(ms),
            Err(why) => wrong.push(why),
        }
    }
    for (what, times) in [("gray cables", &mut gray), ("other faults", &mut times)] {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        println!("{what}: {} named, median {} ms, 99 % within {} ms", times.len(), at(50), at(99));
    }
    println!("{} of {n} wrong: {wrong:#?}", wrong.len());
    wrong
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn single_faults_beside_busy_machines_are_named_and_nothing_else_is() {
    let n = number("CLOSC_LOCALISE").unwrap_or(24);
    let wrong = sweep(n as usize, number("CLOSC_LOCALISE_SEED").unwrap_or(1), false);
    assert!(wrong.is_empty(), "{} of {n}: {wrong:#?}", wrong.len());
}

#[test]
fn double_faults_beside_busy_machines_are_named() {
    let n = number("CLOSC_LOCALISE").unwrap_or(12);
    let wrong = sweep(n as usize, number("CLOSC_LOCALISE_SEED").unwrap_or(2), true);
    assert!(wrong.len() as u64 * 100 <= n, "{} of {n}: {wrong:#?}", wrong.len());
}

/// After a repair, switches at the ends of the faulty element lose probes for a second, because they have links before
/// they have routes. No healthy element is named in that time, and no verdict remains.
#[test]
fn a_repair_beside_busy_machines_names_nothing_that_is_whole() {
    let n = number("CLOSC_LOCALISE").unwrap_or(24);
    let plan = eight_planes();
    let mut numbers = Numbers(number("CLOSC_LOCALISE_SEED").unwrap_or(5));
    let mut wrong = Vec::new();
    for case in 0..n {
        let fault = loop {
            let fault = random(&plan, &mut numbers);
            if matches!(fault, Fault::Cut(_) | Fault::Switch(_) | Fault::Port(_)) {
                break fault;
            }
        };
        if let Err(why) = repair(&plan, fault, case) {
            wrong.push(why);
        }
    }
    assert!(wrong.is_empty(), "{} of {n}: {wrong:#?}", wrong.len());
}

fn repair(plan: &Arc<Plan>, fault: Fault, seed: u64) -> Result<(), String> {
    let (mut fabric, mut collector) = site(plan, seed);
    fabric.rounds(&mut collector, BEFORE);
    fabric.faults = vec![fault];
    let wanted: BTreeSet<_> = expected(fault).into_iter().collect();
    let mut rounds = 0;
    while named(&collector) != wanted {
        fabric.rounds(&mut collector, 1);
        rounds += 1;
        assert!(rounds < PATIENCE, "{fault:?} is not named");
    }
    let shaken =
        |share| switches_at(plan, fault).into_iter().map(move |switch| Fault::GraySwitch(switch, share));
    for round in 0..PATIENCE {
        fabric.faults = if round < 3 { shaken(0.4).collect() } else { Vec::new() };
        fabric.rounds(&mut collector, 1);
        let found = named(&collector);
        if let Some(other) = found.difference(&wanted).next() {
            return Err(format!("{fault:?}, seed {seed}: {round} reports after the repair {other:?}"));
        }
        if round > 200 && found.is_empty() {
            return Ok(());
        }
    }
    Err(format!("{fault:?}, seed {seed}: still {:?}", named(&collector)))
}

/// Machines are busy for three minutes, or an hour per thousand of `CLOSC_LOCALISE`. Without a fault, nothing must be
/// named.
#[test]
fn busy_machines_are_no_fault() {
    let hours = number("CLOSC_LOCALISE").map_or(0, |n| n / 1_000);
    let (mut fabric, mut collector) = site(&eight_planes(), 3);
    for round in 0..if hours > 0 { hours as usize * 12_000 } else { 600 } {
        fabric.rounds(&mut collector, 1);
        assert!(named(&collector).is_empty(), "round {round}: {:?}", named(&collector));
    }
}

/// Returns the NICs of a T0 group, and a fabric without busy machines.
fn calm_site(seed: u64) -> (Fabric, Collector, Vec<Nic>) {
    let (mut fabric, mut collector) = site(&eight_planes(), seed);
    fabric.pace.is_busy = false;
    fabric.rounds(&mut collector, BEFORE);
    let nics = fabric.nics().into_iter().filter(|nic| nic.group == 1).collect();
    (fabric, collector, nics)
}

/// An agent that receives the answers over one uplink too late loses probes in all planes. No cable is named for that.
/// A cable that loses more than that is named.
#[test]
fn late_answers_in_all_planes_are_no_fault_of_a_cable() {
    const UPLINK: u16 = 3;
    let (mut fabric, mut collector, nics) = calm_site(7);
    let gray = Link::Fabric { lower: nics[0].t0(PlaneId(3)), up: UPLINK };
    let wanted: BTreeSet<_> = expected(Fault::Gray(gray, 0.05)).into_iter().collect();
    let mut is_named = false;
    for round in 0..2 * PATIENCE {
        if round == PATIENCE {
            fabric.faults = vec![Fault::Gray(gray, 0.05)];
        }
        fabric.pass();
        for (n, nic) in nics.iter().enumerate() {
            if (round + 5 * n) % 10 == 0 {
                fabric.delay_answers(*nic, UPLINK);
            }
        }
        fabric.round(&mut collector);
        let found = named(&collector);
        is_named = found == wanted;
        assert!(found.is_empty() || is_named && round > PATIENCE, "round {round}: {found:?}");
    }
    assert!(is_named, "the gray cable is not named");
}

/// Overdue reports of two agents show the beginning of the same outage, each as a partial loss. This is one burst, not
/// gray loss that lasts.
#[test]
fn one_outage_in_overdue_reports_of_two_agents_is_not_gray() {
    let (mut fabric, mut collector, nics) = calm_site(8);
    let [one, other] = nics[..] else { panic!("two NICs per T0") };
    let cut = Fault::Cut(Link::Fabric { lower: one.t0(PlaneId(5)), up: 1 });
    let wanted: BTreeSet<_> = expected(cut).into_iter().collect();
    fabric.freeze(one, 1);
    fabric.rounds(&mut collector, 2);
    fabric.freeze(other, 1);
    fabric.rounds(&mut collector, 1);
    fabric.faults = vec![cut];
    // Only one agent reports, and only once.
    fabric.freeze(one, 0);
    fabric.rounds(&mut collector, 1);
    fabric.freeze(one, 1);
    fabric.rounds(&mut collector, 4);
    fabric.freeze(one, 0);
    fabric.freeze(other, 0);
    for _ in 0..PATIENCE {
        fabric.rounds(&mut collector, 1);
        let found = named(&collector);
        assert!(found.is_empty() || found == wanted, "{found:?}");
    }
    assert_eq!(named(&collector), wanted);
}

/// One of the two NICs that probe a narrow uplink is swapped, so its probes are all lost. Full-length ones that returned
/// before do not clear the uplink.
#[test]
fn a_narrow_uplink_beside_a_swapped_nic_is_named() {
    let (mut fabric, mut collector, nics) = calm_site(9);
    let port = |plane| NicPort { plane: PlaneId(plane), nic: nics[1] };
    let uplink = Link::Fabric { lower: nics[0].t0(PlaneId(4)), up: 1 };
    fabric.faults = vec![Fault::Narrow(uplink, 2_784), Fault::Swapped(port(4), port(6))];
    let wanted: BTreeSet<_> = fabric.faults.iter().copied().flat_map(expected).collect();
    fabric.rounds(&mut collector, PATIENCE);
    assert_eq!(named(&collector), wanted);
    fabric.faults.clear();
    fabric.rounds(&mut collector, PATIENCE);
    assert_eq!(named(&collector), BTreeSet::new());
}
