//! Load of every cable between switches when every NIC sends to every other, where switches choose the path.
//!
//! In: the treatment of each class by each switch, with the weights of its routes. Out: [`LoadCounts`]: for each tier
//! and direction, the load of the busiest cable compared with the mean of all cables in use. Invariants: a switch
//! divides traffic to a class in proportion to the weights, as a hash does over many flows. Pairs of NICs are not
//! enumerated, and the same tree always gives the same figures.
//!
//! The traffic at a switch is a number per class. T0s send it up, and T1s and T2s divide it further. Packets go up and
//! then down, so the traffic of a switch is complete before it is divided.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use rayon::prelude::*;

use super::arrivals::{self, SwitchValues};
use super::network::{Network, Step};
use crate::model::cabling::{Kind, Side, SwitchId};
use crate::model::choice::ClassId;
use crate::model::segment::Tier;
use crate::proof::bits::Bits;
use crate::proof::load::{LoadCounts, LoadSums, STEPS_MAX};

/// Traffic from one NIC to another over a plane, in units chosen so that most numbers of next hops divide it.
const WHOLE: u128 = 720_720 << 44;

/// Number of low bits that are ignored when cables are compared. They exceed the error of divisions with remainder.
const ROUNDED: u32 = 24;

/// Measures the load of all cables.
pub(crate) fn measure(network: &Network<'_>) -> LoadCounts {
    let planes = network.planes();
    let steps = planes.par_iter().map(|(_, tiers)| steps(network, tiers)).sum();
    let mut sums = LoadSums { steps, ..LoadSums::default() };
    if steps <= STEPS_MAX {
        let of_plane =
            |(plane, tiers): &(u8, [Vec<SwitchId>; 3])| Load::of(network, *plane, tiers).sums(tiers);
        let planes: Vec<LoadSums> = planes.par_iter().map(of_plane).collect();
        for plane in &planes {
            sums.add(plane);
        }
    }
    sums.counts()
}

/// Returns the number of additions for a plane: one per class and next hop.
fn steps(network: &Network<'_>, tiers: &[Vec<SwitchId>; 3]) -> u64 {
    let rows = tiers.iter().flatten().flat_map(|id| &network.choices[id.0 as usize].rows);
    rows.map(|row| {
        row.next_hops.len() as u64 * row.classes.runs().iter().map(|run| run.len() as u64).sum::<u64>()
    })
    .sum()
}

/// Traffic at a switch for each class of a window.
type ClassTraffic = Vec<u128>;

/// A range of classes whose traffic is divided together.
type Window = Range<usize>;

/// Share of a next hop: its classes, as indices in the window, with their amounts.
type NextHopShare = Vec<(usize, u128)>;

/// Traffic sent by switches of a plane.
struct Load<'a> {
    network: &'a Network<'a>,
    /// Traffic sent, by switch and slot.
    sent: HashMap<SwitchId, Vec<u128>>,
    /// Traffic at each switch from below, and from above.
    arrivals: [HashMap<SwitchId, ClassTraffic>; 2],
}

/// Maximum number of classes in a window. It limits memory, because every switch stores a number for each class of the
/// window. Classes do not depend on each other, so windows are computed separately.
const TOGETHER: usize = 256;

impl<'a> Load<'a> {
    fn of(network: &'a Network<'a>, plane: u8, tiers: &[Vec<SwitchId>; 3]) -> Self {
        let mut load = Load { network, sent: HashMap::new(), arrivals: [HashMap::new(), HashMap::new()] };
        let reached = arrivals::possible(network, plane, tiers, false);
        let senders = |id: &SwitchId| {
            let in_use =
                network.senders(*id).filter(|(_, cable)| !network.fabric.cabling.cable(*cable).drained);
            (*id, in_use.map(|(nic, _)| nic).collect::<HashSet<u32>>().len())
        };
        let senders: Vec<(SwitchId, usize)> = tiers[Tier::T0 as usize].iter().map(senders).collect();
        let all = network.classes.len();
        for first in (0..all).step_by(TOGETHER) {
            load.window(tiers, (&senders, &reached), &(first..all.min(first + TOGETHER)));
        }
        load
    }

    /// Adds the traffic to a window of classes. Each T0 is given with its number of sending NICs and the classes that
    /// it reaches.
    fn window(
        &mut self,
        tiers: &[Vec<SwitchId>; 3],
        (senders, reached): (&[(SwitchId, usize)], &SwitchValues<Bits>),
        window: &Window,
    ) {
        let network = self.network;
        for (id, senders) in senders {
            let reached = reached.get(*id, false);
            let to = |class: usize| {
                let reached = reached.is_some_and(|reached| reached.get(class));
                let nics = if reached { network.classes.nics[class].len() } else { 0 };
                WHOLE * (senders * nics) as u128
            };
            let own: ClassTraffic = window.clone().map(to).collect();
            self.divide(*id, Side::Lower, &own, window);
        }
        for (tier, from) in [(Tier::T1, Side::Lower), (Tier::T2, Side::Lower), (Tier::T1, Side::Upper)] {
            for id in &tiers[tier as usize] {
                if let Some(arrived) = self.arrivals[from as usize].remove(id) {
                    self.divide(*id, from, &arrived, window);
                }
            }
        }
        // Traffic that goes up again after going down is dropped here.
        self.arrivals.iter_mut().for_each(HashMap::clear);
    }

    /// Divides the traffic of a switch from one side among its next hops.
    fn divide(&mut self, id: SwitchId, from: Side, arrived: &[u128], window: &Window) {
        let network = self.network;
        let slots = network.fabric.cabling.at_switch(id).len();
        for row in &network.choices[id.0 as usize].rows {
            let all: u128 = row.next_hops.iter().map(|way| u128::from(way.weight)).sum();
            let within = |run: &Range<ClassId>| {
                (run.start as usize).max(window.start)..(run.end as usize).min(window.end)
            };
            let own = row.classes.runs().iter().flat_map(within).map(|class| class - window.start);
            let arrived = own.map(|class| (class, arrived[class]));
            let arrived: NextHopShare = arrived.filter(|(_, parts)| *parts > 0).collect();
            if all == 0 || arrived.is_empty() {
                continue;
            }
            // Next hops of equal weight get the same share, so it is computed once.
            let mut shares: BTreeMap<u32, NextHopShare> = BTreeMap::new();
            for way in row.next_hops.iter() {
                let share = |(class, parts): &(usize, u128)| (*class, parts * u128::from(way.weight) / all);
                let shares = shares.entry(way.weight).or_insert_with(|| arrived.iter().map(share).collect());
                // Frames to NICs are not counted, and lost ones are reported by another rule.
                let (Some(slot), Step::Switch { id: next, up }) = (way.slot, network.step(id, way)) else {
                    continue;
                };
                self.sent.entry(id).or_insert_with(|| vec![0; slots])[usize::from(slot)] +=
                    shares.iter().map(|(_, parts)| parts).sum::<u128>();
                // Packets from above that go up again are not followed. Packets from above end at a T0, which delivers
                // them to NICs.
                let side = if up { Side::Lower } else { Side::Upper };
                let last = network.positions.get(&next).is_none_or(|(tier, _)| *tier == Tier::T0);
                if last || (up && from == Side::Upper) {
                    continue;
                }
                let next = self.arrivals[side as usize].entry(next).or_insert_with(|| vec![0; window.len()]);
                for (class, parts) in shares {
                    next[*class] += *parts;
                }
            }
        }
    }

    /// Adds up the load of cables in use.
    fn sums(&self, tiers: &[Vec<SwitchId>; 3]) -> LoadSums {
        let cabling = &self.network.fabric.cabling;
        let mut sums = LoadSums::default();
        for id in tiers.iter().flatten() {
            let sent = self.sent.get(id);
            for (slot, plug) in cabling.at_switch(*id).iter().enumerate() {
                let cable = cabling.cable(plug.cable());
                let tier = match cable.kind {
                    Kind::NicT0 => continue,
                    Kind::T0T1 => 0,
                    Kind::T1T2 => 2,
                };
                if !cable.drained {
                    let parts = sent.map_or(0, |sent| sent[slot]);
                    let rounded = (parts + (1 << (ROUNDED - 1))) >> ROUNDED;
                    sums.tiers[tier + usize::from(plug.side() == Side::Upper)].cable(rounded);
                }
            }
        }
        sums
    }
}
