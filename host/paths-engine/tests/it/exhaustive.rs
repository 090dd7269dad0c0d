//! Visits every state that a small destination can reach, and checks the conditions in each.
//!
//! There are two planes with one active and one backup value each. One answer or one missed probe changes the state. So
//! there are few enough states to visit all.

use std::collections::{HashSet, VecDeque};

use closc_paths::{Scope, Table};
use closc_paths_engine::{Capacity, Denial, DenialId, Engine, PathId, Reason, Settings, State};

use crate::common::{Shape, nic, table};

const PLANES: u8 = 2;
const FLOOR: usize = 1;

#[derive(Debug, Clone, Copy)]
enum Step {
    Pick,
    Answered(u8, u32),
    Congested(u8, u32),
    Lost(u8, u32),
    OwnPort(u8, bool),
    FarPorts(u32),
    Doubt(u8),
    Deny(u8, Option<u16>),
    Allow(DenialId),
}

/// Everything that determines the next states, except the time.
type Key = (Vec<(State, bool, bool)>, Option<(u8, u32)>, Vec<(Option<u8>, Option<u16>)>, u32, u32);

#[derive(Clone)]
struct Node {
    engine: Engine,
    far_ports: u32,
    evidence: Vec<bool>,
}

fn key(node: &Node, path: PathId) -> Key {
    let values = node.engine.values(path).zip(&node.evidence).map(|(v, bad)| (v.state, v.in_use, *bad));
    let next = node.engine.clone().pick(path).map(|pick| (pick.plane, pick.entropy));
    let mut denials: Vec<_> =
        node.engine.denials().map(|(_, d)| (d.plane, d.scope.uplinks.map(|(first, _)| first))).collect();
    denials.sort_unstable();
    (values.collect(), next, denials, node.engine.local_ports() & 3, node.far_ports)
}

fn steps(node: &Node, values: &[(u8, u32)]) -> Vec<Step> {
    let mut out = vec![Step::Pick, Step::FarPorts(0b01), Step::FarPorts(0b11)];
    for &(plane, ev) in values {
        out.extend([Step::Answered(plane, ev), Step::Congested(plane, ev), Step::Lost(plane, ev)]);
    }
    out.extend((0..PLANES).flat_map(|p| [Step::OwnPort(p, true), Step::OwnPort(p, false), Step::Doubt(p)]));
    let denied: Vec<_> = node.engine.denials().map(|(_, d)| (d.plane, d.scope.uplinks)).collect();
    for (plane, uplink) in [(0, None), (1, None), (0, Some(0)), (1, Some(1))] {
        if !denied.contains(&(Some(plane), uplink.map(|u| (u, u)))) {
            out.push(Step::Deny(plane, uplink));
        }
    }
    out.extend(node.engine.denials().map(|(id, _)| Step::Allow(id)));
    out
}

fn take(node: &mut Node, path: PathId, values: &[(u8, u32)], step: Step) {
    let mut mark = |ev: u32, bad: bool| {
        let at = values.iter().position(|(_, other)| *other == ev).unwrap();
        node.evidence[at] = bad;
    };
    match step {
        Step::Pick => {
            let states: Vec<_> = node.engine.values(path).collect();
            if let Some(pick) = node.engine.pick(path) {
                let at = states.iter().find(|v| v.entropy == pick.entropy).unwrap();
                assert!(at.in_use && at.state != State::Denied, "{pick:?} {states:?}");
            } else {
                assert!(states.iter().all(|v| !v.in_use));
            }
        }
        Step::Answered(plane, ev) => {
            node.engine.record_answer(path, plane, ev, 0);
            mark(ev, false);
        }
        Step::Congested(plane, ev) => node.engine.record_congestion(path, plane, ev),
        Step::Lost(plane, ev) => {
            node.engine.record_loss(path, plane, ev, 0);
            mark(ev, true);
        }
        Step::OwnPort(plane, up) => node.engine.set_local_port(plane, up),
        Step::FarPorts(up) => {
            node.engine.set_far_ports(path, up);
            node.far_ports = up;
        }
        Step::Doubt(plane) => {
            node.engine.doubt(path, plane, 0);
            values.iter().filter(|(own, _)| *own == plane).for_each(|(_, ev)| mark(*ev, true));
        }
        Step::Deny(plane, uplink) => {
            let scope = Scope { uplinks: uplink.map(|u| (u, u)), ..Scope::default() };
            let before = node.engine.pick(path).is_some();
            let made = node
                .engine
                .deny(Denial { plane: Some(plane), scope, reason: Reason::Drain, until_ns: None }, 0);
            assert!(
                made.is_err() || !before || node.engine.clone().pick(path).is_some(),
                "the last path went"
            );
        }
        Step::Allow(id) => assert!(node.engine.allow(id, 0)),
    }
    while node.engine.next_event().is_some() {}
}

/// Conditions in every state.
fn look(node: &Node, path: PathId) {
    let ports = node.engine.local_ports() & node.far_ports;
    let up = |plane: u8| ports >> plane & 1 == 1;
    let values: Vec<_> = node.engine.values(path).collect();
    let eligible = values.iter().filter(|v| up(v.plane) && v.state != State::Denied);
    let in_use = values.iter().filter(|v| v.in_use);
    assert!(in_use.clone().all(|v| up(v.plane) && v.state != State::Denied));
    assert!(in_use.clone().count() >= eligible.clone().count().min(FLOOR), "below the floor: {values:?}");
    for plane in (0..PLANES).filter(|p| up(*p)) {
        let fine = eligible.clone().any(|v| v.plane == plane && v.state != State::AssumedBad);
        assert!(
            !fine || node.engine.planes_in_use(path) >> plane & 1 == 1,
            "plane {plane} is idle: {values:?}"
        );
    }
}

#[test]
fn no_reachable_state_breaks_a_rule() {
    let shape = Shape { planes: PLANES, active: 1, backup: 1, min_active: FLOOR as u16, denied: Vec::new() };
    let bytes = table(&shape);
    let opened = Table::open(&bytes).unwrap();
    let settings = Settings { good_answers: 1, missed_answers: 1, relapse_ns: 0 };
    let capacity = Capacity { denials: 2, events: 16, ..Capacity::of(&opened, 1) };
    let mut engine = Engine::new(&opened, 0, settings, capacity).unwrap();
    let path = engine.open(&opened, nic(1, 0), 0).unwrap();
    let values: Vec<(u8, u32)> = engine.values(path).map(|v| (v.plane, v.entropy)).collect();
    let first = Node { engine, far_ports: 0b11, evidence: vec![false; values.len()] };
    let mut seen = HashSet::from([key(&first, path)]);
    let mut queue = VecDeque::from([first]);
    let mut steps_taken = 0u64;
    while let Some(node) = queue.pop_front() {
        for step in steps(&node, &values) {
            let mut next = node.clone();
            take(&mut next, path, &values, step);
            look(&next, path);
            steps_taken += 1;
            if seen.insert(key(&next, path)) {
                queue.push_back(next);
            }
        }
    }
    println!("{} states, {steps_taken} steps", seen.len());
    assert!(seen.len() > 5_000, "{} states: the search did not get far", seen.len());
}
