//! One collector through many cycles of break and repair, beside busy machines, in virtual time. It names every fault
//! and nothing else, and reports no repair before there was one.
//!
//! Each cycle has one to three faults of any kind, and a disturbance: witnesses freeze, the collector receives no
//! reports or is suspended, or the wall clock is set. In some cycles, packets are reordered from before the faults until
//! after their repair. So reports contain results of earlier probes. A cable of a faulty switch is a wrong name, because it sends a
//! technician to the wrong place. If its line also contains that switch (`; or switch ...`), it counts as undecided.
//!
//! By default there are only a few cycles. `CLOSC_SOAK=500` sets their number, `CLOSC_SOAK_SEED` the seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_collect::{Collector, Element, Options};
use closc_plan::Plan;
use closc_topology::{Link, Nic, Switch};

use crate::support::cases::{Name, expected, hides, keyword, random_of_any_kind, switches_at};
use crate::support::{Fabric, Fault, Numbers, Pace, eight_planes};

/// Numbers of polls: between cycles, at most until all faults are named or cleared, and while a verdict must stay.
const BETWEEN: usize = 10;
const PATIENCE: usize = 2_000;
/// Maximum number of polls until all are cleared. A loss of 0.5 % ends slowly, because busy machines cause a
/// tenth of it.
const PATIENCE_CLEAR: usize = 6_000;
const STAYS: usize = 60;
/// Number of polls after a repair during which switches next to it lose packets, and the share that they lose.
const SHAKEN: usize = 3;
const SHAKEN_SHARE: f64 = 0.4;
/// Share of the cycles in which packets are reordered, and share of the probes that are then overtaken by a report.
const REORDERED_CYCLES: f64 = 0.3;
const REORDERED_SHARE: f64 = 0.3;

const PACE: Pace = Pace { poll_ms: 300, probes: 8, is_busy: true };

/// A fault without loss of single packets is late after this time: settling (1.5 s), agents that are silent (2.4 s), and
/// twice the time for which a report is valid (10 s).
const LATE_MS: u64 = 15_000;
/// A gray fault is late once this many more packets were lost. Excluding chance takes a fifth of them, and
/// excluding other explanations three times as many.
const LATE_LOSSES: f64 = 30.0;

type Names = BTreeSet<Name>;

/// An event besides the faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    None,
    /// NICs at the faulty elements report nothing for this many polls.
    FrozenWitnesses(usize),
    /// The collector receives nothing for this many polls.
    Partition(usize),
    /// The collector does not run for this many polls.
    Suspension(usize),
    /// The wall clock of all machines is set by this many seconds.
    ClockJump(i64),
}

impl Disturbance {
    fn draw(numbers: &mut Numbers) -> Self {
        let polls = 5 + numbers.below(35);
        match numbers.below(6) {
            0 => Disturbance::None,
            1 => Disturbance::FrozenWitnesses(polls),
            2 => Disturbance::Partition(polls),
            3 => Disturbance::Suspension(polls),
            4 => Disturbance::ClockJump(1 + i64::from(numbers.below(7_200) as u16)),
            _ => Disturbance::ClockJump(-1 - i64::from(numbers.below(7_200) as u16)),
        }
    }

    /// Returns its duration.
    fn polls(self) -> usize {
        match self {
            Disturbance::None | Disturbance::ClockJump(_) => 0,
            Disturbance::FrozenWitnesses(polls)
            | Disturbance::Partition(polls)
            | Disturbance::Suspension(polls) => polls,
        }
    }
}

/// Results of all cycles.
#[derive(Debug, Default)]
struct Counts {
    cycles: usize,
    /// Cycles in which packets were reordered.
    reordered: usize,
    faults: usize,
    /// Names of elements without a fault.
    wrong: BTreeSet<String>,
    /// Names that contain the faulty element as the alternative.
    undecided: BTreeSet<String>,
    /// Elements that were no longer named although they were faulty.
    all_clear: Vec<String>,
    /// Faults that were not named, or remained named after their repair.
    missed: Vec<String>,
    late: Vec<String>,
    dead_ms: Vec<u64>,
    gray_ms: Vec<u64>,
    cleared_ms: Vec<u64>,
}

/// The faults of a cycle.
#[derive(Debug, Default)]
struct Cycle {
    label: String,
    wanted: Names,
    /// Names given so far, with the number of polls since the start of the soak.
    named: BTreeMap<Name, u64>,
    is_broken: bool,
}

struct Soak {
    fabric: Fabric,
    collector: Collector,
    numbers: Numbers,
    counts: Counts,
    cycle: Cycle,
    polls: u64,
}

impl Soak {
    fn new(plan: &Arc<Plan>, seed: u64) -> Self {
        let mut fabric = Fabric::new(plan.clone(), seed);
        fabric.pace = PACE;
        let options = Options { settle_ms: 1_500, fresh_ms: 5_000, ..Options::default() };
        let collector = fabric.collector(options);
        let numbers = Numbers(seed ^ 0x50a4);
        Soak { fabric, collector, numbers, counts: Counts::default(), cycle: Cycle::default(), polls: 0 }
    }

    /// Draws up to three faults that do not hide each other.
    fn draw_faults(&mut self) -> Vec<Fault> {
        let plan = self.fabric.plan.clone();
        let count = [1, 1, 1, 2, 2, 3][self.numbers.below(6)];
        let mut faults: Vec<Fault> = Vec::new();
        while faults.len() < count {
            let fault = random_of_any_kind(&plan, &mut self.numbers);
            if faults.iter().all(|other| !hides(&plan, fault, *other)) {
                faults.push(fault);
            }
        }
        faults
    }

    /// Returns NICs whose probes cross a faulty element first.
    fn witnesses(&self, faults: &[Fault]) -> Vec<Nic> {
        let near = |element: Element| -> Vec<Nic> {
            let at = |t0: Switch| {
                self.fabric.nics().into_iter().filter(move |nic| nic.t0(t0.plane) == t0).collect()
            };
            match element {
                Element::Cable(Link::Host(port)) | Element::Port(port) => vec![port.nic],
                Element::Cable(Link::Fabric { lower, .. }) => at(lower),
                Element::Switch(switch) => at(switch),
                Element::Plane(_) | Element::Nic(_) => Vec::new(),
            }
        };
        faults.iter().flat_map(|fault| expected(*fault)).flat_map(|(element, _)| near(element)).collect()
    }

    /// Runs one poll, and returns the expected names that are given.
    fn poll(&mut self) -> Names {
        self.fabric.rounds(&mut self.collector, 1);
        self.check()
    }

    /// Compares the names with the faults of the cycle.
    fn check(&mut self) -> Names {
        self.polls += 1;
        let (cycle, mut names) = (&mut self.cycle, Names::new());
        for verdict in self.collector.verdicts() {
            let name = (verdict.element, keyword(verdict.kind));
            let is_alternative = |(element, _): &Name| verdict.or == Some(*element);
            if cycle.wanted.contains(&name) {
                cycle.named.entry(name.clone()).or_insert(self.polls);
                names.insert(name);
            } else if cycle.wanted.iter().any(is_alternative) {
                self.counts.undecided.insert(format!("{}: {name:?}", cycle.label));
            } else {
                self.counts.wrong.insert(format!("{}: {name:?}", cycle.label));
            }
        }
        if cycle.is_broken {
            let gone = cycle.named.keys().filter(|name| !names.contains(*name)).cloned();
            for name in gone.collect::<Vec<Name>>() {
                self.counts.all_clear.push(format!("{}: {name:?}", cycle.label));
                cycle.named.remove(&name);
                cycle.is_broken = false;
            }
        }
        names
    }

    /// Lets a disturbance happen while faults last.
    fn disturb(&mut self, disturbance: Disturbance, faults: &[Fault]) {
        match disturbance {
            Disturbance::None => {}
            Disturbance::FrozenWitnesses(polls) => {
                for nic in self.witnesses(faults) {
                    self.fabric.freeze(nic, polls);
                }
            }
            Disturbance::Partition(polls) => {
                for _ in 0..polls {
                    self.fabric.pass();
                    self.collector.judge(self.fabric.now_ms);
                    self.check();
                }
            }
            Disturbance::Suspension(polls) => {
                for _ in 0..polls {
                    self.fabric.pass();
                    self.polls += 1;
                }
            }
            Disturbance::ClockJump(seconds) => {
                self.fabric.now_ms = self.fabric.now_ms.saturating_add_signed(seconds * 1_000);
            }
        }
    }

    /// Breaks elements, waits until they are named, disturbs the collector, repairs them, and waits until none is named.
    fn run_cycle(&mut self, number: usize) {
        let (faults, disturbance) = (self.draw_faults(), Disturbance::draw(&mut self.numbers));
        let is_early = self.numbers.chance(0.5);
        let when = if is_early { "at once" } else { "later" };
        let is_reordered = self.numbers.chance(REORDERED_CYCLES);
        self.fabric.reordered = if is_reordered { REORDERED_SHARE } else { 0.0 };
        self.counts.reordered += usize::from(is_reordered);
        let order = if is_reordered { ", reordered" } else { "" };
        let label = format!("cycle {number}, {faults:?}, {disturbance:?} {when}{order}");
        let wanted = faults.iter().copied().flat_map(expected).collect();
        self.cycle = Cycle { label, wanted, named: BTreeMap::new(), is_broken: true };
        self.counts.cycles += 1;
        self.counts.faults += faults.len();
        self.fabric.faults.clone_from(&faults);
        let struck = self.polls;
        if is_early {
            self.disturb(disturbance, &faults);
        }
        let is_named =
            (0..PATIENCE).any(|_| self.poll() == self.cycle.wanted) || self.cycle.wanted.is_empty();
        if !is_named {
            self.counts.missed.push(format!("{}: only {:?}", self.cycle.label, self.cycle.named.keys()));
        }
        self.note_times(&faults, struck, if is_early { disturbance.polls() } else { 0 });
        if is_named && !is_early {
            self.disturb(disturbance, &faults);
        }
        for _ in 0..STAYS {
            self.poll();
        }
        self.repair(&faults);
    }

    /// Records the times until faults were named.
    fn note_times(&mut self, faults: &[Fault], struck: u64, disturbed_polls: usize) {
        for fault in faults {
            let named = expected(*fault).iter().filter_map(|name| self.cycle.named.get(name).copied()).max();
            let Some(at) = named else { continue };
            let after_ms = (at - struck) * PACE.poll_ms;
            let mut late_ms = LATE_MS + disturbed_polls as u64 * PACE.poll_ms;
            match *fault {
                Fault::Gray(_, share) | Fault::GraySwitch(_, share) | Fault::Corrupt(_, share) => {
                    late_ms += (LATE_LOSSES / share / PACE.probes as f64 * PACE.poll_ms as f64) as u64;
                    self.counts.gray_ms.push(after_ms);
                }
                _ => self.counts.dead_ms.push(after_ms),
            }
            if after_ms > late_ms {
                self.counts.late.push(format!("{}, {fault:?}: {after_ms} ms", self.cycle.label));
            }
        }
    }

    /// Repairs all faults. Sometimes, switches next to them have links before they have routes.
    fn repair(&mut self, faults: &[Fault]) {
        self.cycle.is_broken = false;
        self.fabric.faults.clear();
        if self.numbers.chance(0.5) {
            let plan = self.fabric.plan.clone();
            let switches = faults.iter().flat_map(|fault| switches_at(&plan, *fault));
            self.fabric.faults = switches.map(|switch| Fault::GraySwitch(switch, SHAKEN_SHARE)).collect();
            for _ in 0..SHAKEN {
                self.poll();
            }
            self.fabric.faults.clear();
        }
        match (0..PATIENCE_CLEAR).find(|_| self.poll().is_empty()) {
            Some(polls) => self.counts.cleared_ms.push(polls as u64 * PACE.poll_ms),
            None => self.counts.missed.push(format!("{}: still named", self.cycle.label)),
        }
        self.cycle.wanted.clear();
        for _ in 0..BETWEEN {
            self.poll();
        }
    }
}

impl Counts {
    fn print(&mut self) {
        let times =
            [("dead", &mut self.dead_ms), ("gray", &mut self.gray_ms), ("cleared", &mut self.cleared_ms)];
        for (name, times) in times {
            times.sort_unstable();
            let last = times.len().saturating_sub(1);
            let at = |share: usize| times.get(last * share / 100).map_or(0.0, |ms| *ms as f64 / 1e3);
            println!(
                "{name}: {}, median {:.1} s, 99 % within {:.1} s, all {:.1} s",
                times.len(),
                at(50),
                at(99),
                at(100)
            );
        }
        println!(
            "{} cycles ({} with reordered packets), {} faults: {} wrong, {} undecided, {} false all-clears, {} missed, {} late",
            self.cycles,
            self.reordered,
            self.faults,
            self.wrong.len(),
            self.undecided.len(),
            self.all_clear.len(),
            self.missed.len(),
            self.late.len(),
        );
        println!("undecided: {:#?}\nlate: {:#?}", self.undecided, self.late);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn a_collector_names_every_fault_of_many_cycles_and_nothing_else() {
    let cycles = number("CLOSC_SOAK").unwrap_or(12) as usize;
    let mut soak = Soak::new(&eight_planes(), number("CLOSC_SOAK_SEED").unwrap_or(1));
    soak.fabric.rounds(&mut soak.collector, BETWEEN);
    for cycle in 0..cycles {
        soak.run_cycle(cycle);
    }
    let mut counts = soak.counts;
    counts.print();
    let Counts { wrong, all_clear, missed, .. } = counts;
    assert!(
        wrong.is_empty() && all_clear.is_empty() && missed.is_empty(),
        "wrong: {wrong:#?}\nall-clear: {all_clear:#?}\nmissed: {missed:#?}"
    );
}
