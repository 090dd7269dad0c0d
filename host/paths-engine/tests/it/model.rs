//! Compares the engine with the reference over random sequences of packets, losses, marks, probes, ports, denials and
//! reloads.

#[path = "common/reference.rs"]
mod reference;

use closc_paths::{Scope, Table};
use closc_paths_engine::{
    Capacity, Denial, DenialId, DenyFault, Engine, PathId, Reason, Settings, State, ValueView,
};
use proptest::prelude::*;

use crate::common::{Shape, nic, table};
use reference::{Health, Reference};

#[derive(Debug, Clone)]
enum Step {
    Pick(u8),
    Answered(u8, u8),
    Congested(u8, u8),
    Lost(u8, u8),
    Missed(u8, u8),
    OwnPort(u8, bool),
    FarPorts(u8),
    DenyPlane(u8, u8),
    DenyUplink(u8, u8, u8),
    Allow(u8),
    Wait(u8),
    Reload,
}

fn step() -> impl Strategy<Value = Step> {
    let any2 = || (any::<u8>(), any::<u8>());
    prop_oneof![
        6 => (1u8..40).prop_map(Step::Pick),
        5 => any2().prop_map(|(p, v)| Step::Answered(p, v)),
        3 => any2().prop_map(|(p, v)| Step::Congested(p, v)),
        5 => any2().prop_map(|(p, v)| Step::Lost(p, v)),
        3 => any2().prop_map(|(p, v)| Step::Missed(p, v)),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(p, up)| Step::OwnPort(p, up)),
        1 => any::<u8>().prop_map(Step::FarPorts),
        1 => any2().prop_map(|(p, t)| Step::DenyPlane(p, t)),
        2 => (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(p, u, t)| Step::DenyUplink(p, u, t)),
        2 => any::<u8>().prop_map(Step::Allow),
        2 => any::<u8>().prop_map(Step::Wait),
        1 => Just(Step::Reload),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    (1u8..5, 1u16..5, 0u16..4).prop_flat_map(|(planes, active, backup)| {
        (0..=u16::from(planes) * active).prop_map(move |min_active| Shape {
            planes,
            active,
            backup,
            min_active,
            denied: Vec::new(),
        })
    })
}

const SETTINGS: Settings = Settings { good_answers: 3, missed_answers: 2, relapse_ns: 50 };

/// The engine and the reference, side by side.
struct Pair {
    bytes: Vec<u8>,
    shape: Shape,
    engine: Engine,
    path: PathId,
    reference: Reference,
    denials: Vec<(DenialId, Denial)>,
    now: u64,
}

impl Pair {
    fn new(shape: Shape) -> Pair {
        let bytes = table(&shape);
        let opened = Table::open(&bytes).unwrap();
        let mut engine = Engine::new(&opened, 0, SETTINGS, Capacity::of(&opened, 2)).unwrap();
        let path = engine.open(&opened, nic(1, 1), 0).unwrap();
        let values: Vec<Vec<u32>> =
            (0..shape.planes).map(|plane| opened.entropy_values(plane, 0).collect()).collect();
        let patience = (3, 2, 50);
        let mut reference =
            Reference::new(&values, usize::from(shape.active), usize::from(shape.min_active), patience);
        reference.restart(&firsts(&engine, path));
        Pair { bytes, shape, engine, path, reference, denials: Vec::new(), now: 0 }
    }

    fn value(&self, plane: u8, position: u8) -> (u8, u32) {
        let plane = plane % self.shape.planes;
        let values = &self.reference.planes[usize::from(plane)];
        (plane, values[usize::from(position) % values.len()].entropy)
    }

    fn covers(denial: &Denial, plane: usize, entropy: u32) -> bool {
        let uplink = (entropy & 0x7ff) as u16;
        denial.plane.is_none_or(|p| usize::from(p) == plane)
            && denial.scope.uplinks.is_none_or(|(first, last)| first <= uplink && uplink <= last)
    }

    fn deny(&mut self, denial: Denial) {
        let before = self.reference.usable(|_, _| false);
        let after = self.reference.usable(|plane, ev| Pair::covers(&denial, plane, ev));
        let guard = (before.0 > 0 && after.0 == 0) || (before.1 > 0 && after.1 == 0);
        match self.engine.deny(denial, self.now) {
            Ok(id) => {
                assert!(!guard, "the guard let the last path go");
                self.denials.push((id, denial));
                for (n, plane) in self.reference.planes.iter_mut().enumerate() {
                    let covered = plane.iter_mut().filter(|path| Pair::covers(&denial, n, path.entropy));
                    covered.for_each(|path| path.denials.push(id.0));
                }
                self.reference.settle();
            }
            Err(fault) => {
                assert_eq!(fault, DenyFault::LastPath(self.path));
                assert!(guard, "refused without a reason");
            }
        }
    }

    fn end_denial(&mut self, id: DenialId) {
        self.denials.retain(|(other, _)| *other != id);
        self.reference.planes.iter_mut().flatten().for_each(|path| path.denials.retain(|d| *d != id.0));
        self.reference.settle();
    }

    fn wait(&mut self, time: u64) {
        self.now += time;
        let over = |d: &Denial| d.until_ns.is_some_and(|until| until <= self.now);
        let ended: Vec<DenialId> = self.denials.iter().filter(|(_, d)| over(d)).map(|(id, _)| *id).collect();
        assert_eq!(self.engine.tick(self.now), ended.len());
        for id in ended {
            self.end_denial(id);
        }
    }

    fn reload(&mut self) {
        let table = Table::open(&self.bytes).unwrap();
        let (before, in_use) = (self.healths(), self.in_use());
        self.engine.reload(&table, &table, self.now, |_| panic!("no destination is closed")).unwrap();
        assert_eq!(
            (before, in_use),
            (self.healths(), self.in_use()),
            "a reload of the same forgot something"
        );
        // Turns start again, and no value is skipped.
        self.reference.restart(&firsts(&self.engine, self.path));
    }

    fn step(&mut self, step: &Step) {
        self.now += 1;
        match *step {
            Step::Pick(count) => self.picks(usize::from(count)),
            Step::Answered(p, v) => {
                let (plane, ev) = self.value(p, v);
                self.engine.record_answer(self.path, plane, ev, self.now);
                self.reference.answered(usize::from(plane), ev, self.now);
            }
            Step::Congested(p, v) => {
                let (plane, ev) = self.value(p, v);
                self.engine.record_congestion(self.path, plane, ev);
                self.reference.congested(usize::from(plane), ev);
            }
            Step::Lost(p, v) => {
                let (plane, ev) = self.value(p, v);
                self.engine.record_loss(self.path, plane, ev, self.now);
                self.reference.lost(usize::from(plane), ev, self.now);
            }
            Step::Missed(p, v) => {
                let (plane, ev) = self.value(p, v);
                self.engine.record_miss(self.path, plane, ev, self.now);
                self.reference.missed(usize::from(plane), ev, self.now);
            }
            Step::OwnPort(p, up) => {
                let plane = p % self.shape.planes;
                self.engine.set_local_port(plane, up);
                self.reference.own[usize::from(plane)] = up;
                self.reference.settle();
            }
            Step::FarPorts(up) => {
                self.engine.set_far_ports(self.path, u32::from(up));
                self.reference.far.iter_mut().enumerate().for_each(|(n, port)| *port = up >> n & 1 == 1);
                self.reference.settle();
            }
            Step::DenyPlane(p, time) => {
                let plane = p % self.shape.planes;
                self.deny(denial(plane, Scope::default(), self.now, time));
            }
            Step::DenyUplink(p, u, time) => {
                let uplinks = self.shape.active + self.shape.backup;
                let uplink = u16::from(u) % uplinks;
                let scope = Scope { uplinks: Some((uplink, uplink)), ..Scope::default() };
                self.deny(denial(p % self.shape.planes, scope, self.now, time));
            }
            Step::Allow(n) => {
                if let Some((id, _)) = self.denials.get(usize::from(n) % self.denials.len().max(1)).copied() {
                    assert!(self.engine.allow(id, self.now));
                    self.end_denial(id);
                }
            }
            Step::Wait(time) => self.wait(u64::from(time)),
            Step::Reload => self.reload(),
        }
    }

    fn healths(&self) -> Vec<(u32, bool, u32)> {
        self.engine.values(self.path).map(|v| (v.entropy, v.state == State::Denied, v.lost)).collect()
    }

    fn in_use(&self) -> Vec<u32> {
        self.engine.values(self.path).filter(|v| v.in_use).map(|v| v.entropy).collect()
    }

    fn picks(&mut self, count: usize) {
        let skips = self.reference.planes.iter().flatten().any(|path| path.skip);
        let mut planes = vec![0u32; usize::from(self.shape.planes)];
        let mut values = std::collections::BTreeMap::new();
        for _ in 0..count {
            let picked = self.engine.pick(self.path).map(|pick| (usize::from(pick.plane), pick.entropy));
            assert_eq!(picked, self.reference.pick());
            let Some((plane, ev)) = picked else { return };
            planes[plane] += 1;
            *values.entry((plane, ev)).or_insert(0) += 1;
            let at = self.reference.planes[plane].iter().position(|path| path.entropy == ev).unwrap();
            assert_ne!(self.reference.state(plane, at), State::Denied, "sent on a denied value");
        }
        let used: Vec<usize> = (0..planes.len()).filter(|n| !self.reference.used[*n].is_empty()).collect();
        let counts = || used.iter().map(|n| planes[*n]);
        assert!(counts().max().unwrap() - counts().min().unwrap() <= 1, "planes are not equal: {planes:?}");
        for plane in used.into_iter().filter(|_| !skips) {
            let of = |at: &usize| {
                values.get(&(plane, self.reference.planes[plane][*at].entropy)).copied().unwrap_or(0)
            };
            let turns: Vec<i32> = self.reference.used[plane].iter().map(of).collect();
            let uneven = turns.iter().max().unwrap() - turns.iter().min().unwrap();
            assert!(uneven <= 1, "values of plane {plane} are not equal: {turns:?}");
        }
    }

    /// Conditions after every step.
    fn look(&self) {
        let views: Vec<_> = self.engine.values(self.path).collect();
        let mut n = 0;
        for (p, plane) in self.reference.planes.iter().enumerate() {
            for m in 0..plane.len() {
                let view = views[n];
                assert_eq!(view.state, self.reference.state(p, m), "plane {p} value {m}");
                assert_eq!(view.in_use, self.reference.used[p].contains(&m), "plane {p} value {m}");
                n += 1;
            }
        }
        assert_eq!(n, views.len());
        let is_out = |view: &ValueView| matches!(view.state, State::AssumedBad | State::Denied);
        let wanted: Vec<_> = views.iter().copied().enumerate().filter(|(_, view)| is_out(view)).collect();
        assert_eq!(self.engine.values_out(self.path).collect::<Vec<_>>(), wanted);
        let (eligible, healthy) = self.reference.usable(|_, _| false);
        let silent = if healthy > 0 { self.reference.silent() } else { 0 };
        let in_use = views.iter().filter(|v| v.in_use).count();
        assert!(in_use >= (eligible - silent).min(usize::from(self.shape.min_active)), "below the floor");
        let floor = usize::from(self.shape.min_active);
        let more = self.engine.in_use(self.path).any(|n| n > u32::from(self.shape.active));
        assert!(!more || in_use <= floor, "more than the active set without need");
        let bad = views.iter().any(|v| v.in_use && v.state == State::AssumedBad);
        assert!(!bad || in_use <= floor, "a bad value is in use without need");
    }

    /// Sets all ports up, ends denials, and answers on every value. All values must then be in use again.
    fn recovers(&mut self) {
        for plane in 0..self.shape.planes {
            self.step(&Step::OwnPort(plane, true));
        }
        self.step(&Step::FarPorts(255));
        while !self.denials.is_empty() {
            self.step(&Step::Allow(0));
        }
        for plane in 0..self.shape.planes {
            for position in 0..self.shape.active + self.shape.backup {
                for _ in 0..3 << 5 {
                    self.step(&Step::Answered(plane, position as u8));
                }
            }
        }
        self.step(&Step::Pick(39));
        assert!(self.engine.in_use(self.path).all(|n| n == u32::from(self.shape.active)));
        assert!(self.reference.planes.iter().flatten().all(|path| path.health == Health::Good));
    }
}

/// Returns the first value of each plane in use, by picking once per plane.
fn firsts(engine: &Engine, path: PathId) -> Vec<(usize, u32)> {
    let mut engine = engine.clone();
    let planes = engine.planes_in_use(path).count_ones();
    let picks = (0..planes).filter_map(|_| engine.pick(path));
    picks.map(|pick| (usize::from(pick.plane), pick.entropy)).collect()
}

fn denial(plane: u8, scope: Scope, now: u64, time: u8) -> Denial {
    let until_ns = time.is_multiple_of(2).then_some(now + u64::from(time));
    Denial { plane: Some(plane), scope, reason: Reason::Drain, until_ns }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_engine_does_what_the_reference_does(
        shape in shape(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut pair = Pair::new(shape);
        pair.look();
        for step in &steps {
            pair.step(step);
            pair.look();
        }
        pair.recovers();
        pair.look();
    }
}
