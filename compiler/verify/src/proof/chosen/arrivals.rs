//! Counts arriving deliveries by propagating sets of classes tier by tier, down and up.
//!
//! In: one plane. Out: for each switch, the classes that its cables lead to, and the numbers of deliveries that arrive
//! for every choice of the switches and for some choices. Invariants: a packet goes up, then down. A packet from above
//! that is sent up again does not count as arriving. Each switch is therefore examined once, and looping packets never
//! count.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::attempts::{Attempts, Paths, Places};
use super::counts::DeliveryCounts;
use super::network::{Network, Step};
use crate::finding::{Findings, Violation};
use crate::model::cabling::{DeviceId, Side, SwitchId};
use crate::model::choice::Row;
use crate::model::fact::FactKind;
use crate::model::segment::Tier;
use crate::proof::bits::Bits;
use crate::rules::choices::DROPPED;

/// Two values for each switch of a plane: for packets from below, and for packets from above.
#[derive(Debug, Clone)]
pub(crate) struct SwitchValues<T> {
    from_below: HashMap<SwitchId, T>,
    from_above: HashMap<SwitchId, T>,
}

impl<T> SwitchValues<T> {
    pub(crate) fn new() -> Self {
        SwitchValues { from_below: HashMap::new(), from_above: HashMap::new() }
    }

    pub(crate) fn get(&self, id: SwitchId, above: bool) -> Option<&T> {
        if above { self.from_above.get(&id) } else { self.from_below.get(&id) }
    }

    pub(crate) fn insert(&mut self, id: SwitchId, above: bool, value: T) {
        let map = if above { &mut self.from_above } else { &mut self.from_below };
        map.insert(id, value);
    }

    pub(crate) fn entry(&mut self, id: SwitchId, above: bool, new: impl FnOnce() -> T) -> &mut T {
        let map = if above { &mut self.from_above } else { &mut self.from_below };
        map.entry(id).or_insert_with(new)
    }
}

/// Returns the classes that cables lead to from each switch: first up, then down, and inside a zone only through T1s. A
/// flag states whether drained cables count.
pub(crate) fn possible(
    network: &Network<'_>,
    plane: u8,
    tiers: &[Vec<SwitchId>; 3],
    with_drained: bool,
) -> SwitchValues<Bits> {
    let len = network.classes.len();
    let mut each = SwitchValues::new();
    let mut of_zone: HashMap<u32, Bits> = HashMap::new();
    for class in network.accepted.iter() {
        if let Some(t0) =
            network.t0(class, plane).filter(|_| with_drained || !network.is_drained(class, plane))
        {
            each.entry(t0, true, || Bits::new(len)).set(class as usize);
            of_zone.entry(network.zones[t0.0 as usize]).or_insert_with(|| Bits::new(len)).set(class as usize);
        }
    }
    for id in &tiers[Tier::T0 as usize] {
        each.entry(*id, true, || Bits::new(len));
    }
    for tier in [Tier::T1, Tier::T2] {
        for id in &tiers[tier as usize] {
            let mut own = Bits::new(len);
            for below in neighbours(network, *id, Side::Upper, with_drained) {
                if let Some(bits) = each.get(below, true) {
                    own.add(bits);
                }
            }
            each.insert(*id, true, own);
        }
    }
    for tier in [Tier::T2, Tier::T1, Tier::T0] {
        for id in &tiers[tier as usize] {
            let mut own = Bits::new(len);
            for above in neighbours(network, *id, Side::Lower, with_drained) {
                if let Some(bits) = each.get(above, false) {
                    own.add(bits);
                }
            }
            if let (Tier::T1, Some(home)) = (tier, of_zone.get(&network.zones[id.0 as usize])) {
                own.remove(home);
            }
            if let Some(down) = each.get(*id, true) {
                own.add(down);
            }
            each.insert(*id, false, own);
        }
    }
    each
}

/// Returns the switches at the far ends of the cables that have their `side` end at this switch. Drained cables count
/// only if `with_drained`.
fn neighbours<'a>(
    network: &'a Network<'_>,
    id: SwitchId,
    side: Side,
    with_drained: bool,
) -> impl Iterator<Item = SwitchId> + use<'a> {
    let cabling = &network.fabric.cabling;
    let mut last = None;
    cabling.at_switch(id).iter().filter_map(move |plug| {
        let cable = cabling.cable(plug.cable());
        let DeviceId::Switch(far) = cable.ends(side).1.party else { return None };
        if cable.drained && !with_drained {
            return None;
        }
        // Cables to the same switch are usually adjacent.
        (plug.side() == side && last.replace(far) != Some(far)).then_some(far)
    })
}

/// Arrivals in a plane.
struct Arrivals<'a> {
    network: &'a Network<'a>,
    guaranteed_classes: SwitchValues<Bits>,
    some: SwitchValues<Bits>,
    places: Places,
    attempts: SwitchValues<Attempts>,
    /// Sums by set of next switches; all switches of a tier may share one.
    sums: HashMap<Vec<Option<(SwitchId, bool)>>, Arc<Attempts>>,
}

/// Counts the deliveries of a plane.
pub(crate) fn count(
    network: &Network<'_>,
    tiers: &[Vec<SwitchId>; 3],
    reachable_classes: &SwitchValues<Bits>,
    findings: &mut Findings,
) -> DeliveryCounts {
    let mut arrivals = Arrivals {
        network,
        guaranteed_classes: SwitchValues::new(),
        some: SwitchValues::new(),
        places: Places::of(&network.accepted, network.classes.len()),
        attempts: SwitchValues::new(),
        sums: HashMap::new(),
    };
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        for id in &tiers[tier as usize] {
            arrivals.switch(*id, true);
        }
    }
    for tier in [Tier::T2, Tier::T1] {
        for id in &tiers[tier as usize] {
            arrivals.switch(*id, false);
        }
    }
    let mut counts = DeliveryCounts::default();
    for id in &tiers[Tier::T0 as usize] {
        arrivals.switch(*id, false);
        counts = counts.add(arrivals.deliveries(*id, reachable_classes));
        arrivals.report_losses(*id, reachable_classes, findings);
        // A T0 receives packets from below only from its own NICs, so no other switch needs the result.
        arrivals.attempts.from_below.remove(id);
    }
    counts
}

impl Arrivals<'_> {
    /// Computes the results of a switch for packets from one side. The results of its next hops must be known.
    fn switch(&mut self, id: SwitchId, above: bool) {
        let network = self.network;
        let choice = &network.choices[id.0 as usize];
        let len = network.classes.len();
        let (mut every, mut some) = (Bits::new(len), Bits::new(len));
        let mut ways = vec![Paths::LOST; self.places.len()];
        for run in choice.delivered_classes.runs() {
            every.set_run(run);
            some.set_run(run);
            ways[self.places.range(run)].fill(Paths::ARRIVES);
        }
        for row in &choice.rows {
            if row.next_hops.is_empty() {
                continue;
            }
            let steps: Vec<Step> = row.next_hops.iter().map(|way| network.step(id, way)).collect();
            self.sets(row, &steps, above, (&mut every, &mut some));
            self.numbers(row, &steps, above, &mut ways);
        }
        self.guaranteed_classes.insert(id, above, every);
        self.some.insert(id, above, some);
        self.attempts.insert(id, above, Attempts::of(&ways));
    }

    fn sets(&self, row: &Row, steps: &[Step], above: bool, (every, some): (&mut Bits, &mut Bits)) {
        for run in row.classes.runs() {
            for (at, step) in steps.iter().enumerate() {
                let own;
                let (all, any) = match step {
                    Step::Switch { id, up } if !(*up && above) => {
                        (self.guaranteed_classes.get(*id, !up), self.some.get(*id, !up))
                    }
                    Step::Nic(nic, _) => {
                        own = self.singleton_class(*nic);
                        (Some(&own), Some(&own))
                    }
                    Step::Switch { .. } | Step::Lost(_) => (None, None),
                };
                match all {
                    Some(all) if at == 0 => every.add_run(all, run),
                    Some(all) => every.keep_run(all, run),
                    None => every.clear_run(run),
                }
                if let Some(any) = any {
                    some.add_run(any, run);
                }
            }
        }
    }

    /// Returns the set with the class of a NIC; an empty set if the class contains other NICs.
    fn singleton_class(&self, nic: u32) -> Bits {
        let mut bits = Bits::new(self.network.classes.len());
        if let Some(class) = self.network.class_of(nic).filter(|class| self.network.serves(nic, *class)) {
            bits.set(class as usize);
        }
        bits
    }

    fn numbers(&mut self, row: &Row, steps: &[Step], above: bool, own: &mut [Paths]) {
        if steps.len() > 4 {
            let sums = self.sums(steps, above);
            for run in row.classes.runs() {
                sums.copy_to(self.places.range(run), own);
            }
            return;
        }
        for run in row.classes.runs() {
            own[self.places.range(run)].fill(Paths::NONE);
            for step in steps {
                self.add(*step, above, run, own);
            }
        }
    }

    /// Adds the paths through one next step for a range of classes.
    fn add(&self, step: Step, above: bool, run: &Range<u32>, sum: &mut [Paths]) {
        let behind = match step {
            Step::Switch { id, up } if !(up && above) => self.attempts.get(id, !up),
            Step::Switch { .. } | Step::Nic(..) | Step::Lost(_) => None,
        };
        if let Some(behind) = behind {
            behind.add_to(self.places.range(run), sum);
            return;
        }
        sum[self.places.range(run)].iter_mut().for_each(|own| own.add(Paths::LOST));
        if let Step::Nic(nic, _) = step
            && let Some(class) = self.network.class_of(nic).filter(|class| self.network.serves(nic, *class))
            && run.contains(&class)
        {
            sum[self.places.range(&(class..class + 1))].iter_mut().for_each(|own| own.arrive += 1);
        }
    }

    fn sums(&mut self, steps: &[Step], above: bool) -> Arc<Attempts> {
        let mut key: Vec<Option<(SwitchId, bool)>> = Vec::with_capacity(steps.len());
        let mut shared = true;
        for step in steps {
            key.push(match step {
                Step::Switch { id, up } if !(*up && above) => Some((*id, *up)),
                Step::Switch { .. } | Step::Lost(_) => None,
                Step::Nic(..) => {
                    shared = false;
                    None
                }
            });
        }
        key.sort_unstable();
        if let Some(known) = self.sums.get(&key).filter(|_| shared) {
            return Arc::clone(known);
        }
        let mut sums = vec![Paths::NONE; self.places.len()];
        for step in steps {
            self.add(*step, above, &(0..self.network.classes.len() as u32), &mut sums);
        }
        let sums = Arc::new(Attempts::of(&sums));
        if shared {
            self.sums.insert(key, Arc::clone(&sums));
        }
        sums
    }

    /// Counts the deliveries from the NICs of a T0.
    fn deliveries(&self, id: SwitchId, could: &SwitchValues<Bits>) -> DeliveryCounts {
        let network = self.network;
        let (Some(every), Some(some), Some(ways), Some(could)) = (
            self.guaranteed_classes.get(id, false),
            self.some.get(id, false),
            self.attempts.get(id, false),
            could.get(id, false),
        ) else {
            return DeliveryCounts::default();
        };
        let mut own: HashMap<u32, u128> = HashMap::new();
        let mut senders = 0u128;
        for (nic, _) in network.senders(id) {
            senders += 1;
            if let Some(class) = network.class_of(nic) {
                *own.entry(class).or_default() += 1;
            }
        }
        let mut counts = DeliveryCounts::default();
        let plane = network.positions.get(&id).map(|(_, plane)| *plane);
        if senders == 0 {
            return counts;
        }
        let ways = ways.paths_in_range(0..self.places.len()).flat_map(|(run, ways)| run.map(move |_| ways));
        for (class, ways) in network.accepted.iter().zip(ways) {
            let at = class as usize;
            let receivers = network.classes.nics[at].len() as u128;
            // A NIC does not send to itself over the fabric.
            let pairs = senders * receivers - own.get(&class).copied().unwrap_or(0);
            counts.deliveries += pairs;
            counts.possible += if could.get(at) { pairs } else { 0 };
            counts.arrive += if every.get(at) { pairs } else { 0 };
            counts.doubtful += if some.get(at) && !every.get(at) { pairs } else { 0 };
            counts.ways = counts.ways.saturating_add(pairs.saturating_mul(ways.arrive));
            // NICs without a cable in the plane are not counted, because a part of the fabric may not contain them.
            if plane.is_some_and(|plane| network.t0(class, plane).is_some()) {
                counts.tried = counts.tried.saturating_add(pairs.saturating_mul(ways.tried));
            }
        }
        counts
    }

    /// Reports possible deliveries that do not arrive. Without other violations, all of them must.
    fn report_losses(&self, id: SwitchId, could: &SwitchValues<Bits>, findings: &mut Findings) {
        let network = self.network;
        let (Some(every), Some(could)) = (self.guaranteed_classes.get(id, false), could.get(id, false))
        else {
            return;
        };
        let mut lost = could.clone();
        lost.remove(every);
        findings.count_facts(&DROPPED, could.count());
        if !findings.is_clean() || network.senders(id).next().is_none() {
            return;
        }
        if let Some(class) = lost.iter().next() {
            let fabric = network.fabric;
            let name = fabric.cabling.switch(id);
            let address = network.classes.address(class);
            let message = format!("from `{name}`, not every choice of the switches leads to {address}");
            let place = fabric.place(id, FactKind::Routes);
            findings.report(Violation::new(&DROPPED, place, message).towards(id, address));
        }
    }
}
