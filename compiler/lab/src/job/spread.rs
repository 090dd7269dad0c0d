//! What is left of the planes between NICs while cables are down.
//!
//! In: the model, the NICs, the cables that are down. Out: the share of planes that join NICs. Invariants: it costs what the
//! fabric has of cables and NICs, not of pairs.

use std::collections::{BTreeMap, BTreeSet};

use super::pattern::{Pattern, Work};
use super::seat::Seat;
use crate::model::{CableId, Model};
use crate::tree::DeviceKind;

/// Planes that there may be.
const PLANES: usize = 32;

/// What a NIC is joined with.
#[derive(Debug, Clone)]
struct Reach {
    /// The planes it has a port in.
    has: u32,
    /// In each plane the island that its port is on; none where its cable is down.
    islands: Vec<Option<usize>>,
}

/// Returns the share of goodput that is left of a pattern: for each pair of NICs that talk, the planes that join them still.
/// Where all wait for each other, the worst pair decides; elsewhere the mean.
pub(super) fn left(model: &Model, seats: &[Seat], work: &Work, dead: &BTreeSet<CableId>) -> f64 {
    let islands = islands(model, dead);
    let reaches: Vec<Reach> = seats.iter().map(|seat| reach(model, seat, dead, &islands)).collect();
    let shares = || {
        let pairs =
            (0..seats.len()).flat_map(|from| work.destinations(from).into_iter().map(move |to| (from, to)));
        pairs.map(|(from, to)| share(&reaches[from], &reaches[to]))
    };
    match work.pattern() {
        Pattern::AllToAll => mean_of_all(&reaches),
        Pattern::Ring => shares().fold(1.0, f64::min),
        Pattern::Permutation | Pattern::Incast | Pattern::Bisection => {
            let (sum, count) = shares().fold((0.0, 0), |(sum, count), share| (sum + share, count + 1));
            if count == 0 { 1.0 } else { sum / f64::from(count) }
        }
    }
}

/// Finds the island of each device: switches that cables join.
fn islands(model: &Model, dead: &BTreeSet<CableId>) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..model.devices.len()).collect();
    for (number, cable) in model.cables.iter().enumerate() {
        let [(a, _), (b, _)] = &cable.ends;
        let joins = [a, b].iter().all(|device| model.devices[device.0].kind == DeviceKind::Switch);
        if joins && !dead.contains(&CableId(number)) {
            let (a, b) = (root(&mut parent, a.0), root(&mut parent, b.0));
            parent[a] = b;
        }
    }
    (0..parent.len()).map(|device| root(&mut parent, device)).collect()
}

fn root(parent: &mut [usize], mut device: usize) -> usize {
    while parent[device] != device {
        parent[device] = parent[parent[device]];
        device = parent[device];
    }
    device
}

fn reach(model: &Model, seat: &Seat, dead: &BTreeSet<CableId>, islands: &[usize]) -> Reach {
    let mut reach = Reach { has: 0, islands: Vec::with_capacity(seat.ports.len()) };
    for (plane, port) in seat.ports.iter().enumerate().take(PLANES) {
        reach.has |= u32::from(port.is_some()) << plane;
        let alive = port.filter(|port| !dead.contains(&port.cable()));
        reach.islands.push(alive.map(|port| islands[model.end(port.far()).0.0]));
    }
    reach
}

/// The share of planes over which two NICs reach each other.
fn share(from: &Reach, to: &Reach) -> f64 {
    let there = (from.has & to.has).count_ones();
    let joined = from.islands.iter().zip(&to.islands).filter(|(a, b)| a.is_some() && a == b).count();
    if there == 0 { 0.0 } else { joined as f64 / f64::from(there) }
}

/// The mean share of all pairs.
fn mean_of_all(reaches: &[Reach]) -> f64 {
    // Planes that join pairs, by the number of planes that the pairs have in common.
    let mut joined = [0u64; PLANES + 1];
    let planes = reaches.iter().map(|reach| reach.islands.len()).max().unwrap_or(0);
    for plane in 0..planes {
        let mut crowds: BTreeMap<usize, BTreeMap<u32, u64>> = BTreeMap::new();
        for reach in reaches {
            if let Some(island) = reach.islands.get(plane).copied().flatten() {
                *crowds.entry(island).or_default().entry(reach.has).or_default() += 1;
            }
        }
        for crowd in crowds.values() {
            for (a, many) in crowd {
                for (b, others) in crowd {
                    // Nobody talks to itself.
                    let pairs = if a == b { many * (many - 1) } else { many * others };
                    joined[(a & b).count_ones() as usize] += pairs;
                }
            }
        }
    }
    let sum: f64 = (1..=PLANES).map(|there| joined[there] as f64 / there as f64).sum();
    let pairs = reaches.len() as f64 * (reaches.len() as f64 - 1.0);
    if pairs > 0.0 { sum / pairs } else { 1.0 }
}
