//! Finds where packets are lost. Each switch is examined only with its arriving packets and its next switches.
//!
//! In: one plane, and the classes that cables lead to from each of its switches. Out: violations. Invariants: a packet
//! for a NIC is followed only through switches from which cables lead to the NIC. A switch that drops the packet could
//! therefore have forwarded it, so every fault is reported at the switch that causes it. Packets for unused addresses
//! are also followed: they may be dropped anywhere, but must not loop.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use super::arrivals::SwitchValues;
use super::network::{Network, Step};
use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, SwitchId};
use crate::model::choice::{ClassId, ClassSet, Row};
use crate::model::fact::FactKind;
use crate::model::segment::Tier;
use crate::proof::bits::Bits;
use crate::rules::choices::{ASTRAY, DEAD_END, DROPPED, ROUND, UNUSED_ADDRESSES, VALLEY};

/// Maximum number of reversals that are checked for loops. Further ones are reported only as reversals.
const TURNS: usize = 256;

/// Follows all packets through a plane.
pub(crate) fn check(
    network: &Network<'_>,
    tiers: &[Vec<SwitchId>; 3],
    could: &SwitchValues<Bits>,
    findings: &mut Findings,
) {
    let len = network.classes.len();
    let mut reach = SwitchValues::new();
    for id in &tiers[Tier::T0 as usize] {
        let Some(possible) = could.get(*id, false).filter(|_| network.senders(*id).next().is_some()) else {
            continue;
        };
        let mut all = Bits::new(len);
        all.set_run(&(0..len as u32));
        all.remove(&network.accepted);
        all.add(possible);
        reach.insert(*id, false, all);
    }
    let mut follow = TrafficTracer {
        network,
        reachable_classes: could,
        reach,
        findings,
        reversal_count: 0,
        lost: Vec::new(),
    };
    let order = [(Tier::T0, false), (Tier::T1, false), (Tier::T2, false), (Tier::T1, true), (Tier::T0, true)];
    for (tier, above) in order {
        for id in &tiers[tier as usize] {
            follow.switch(*id, above);
        }
    }
    follow.frames();
}

struct TrafficTracer<'a> {
    network: &'a Network<'a>,
    reachable_classes: &'a SwitchValues<Bits>,
    /// Classes of packets that arrive at each switch.
    reach: SwitchValues<Bits>,
    findings: &'a mut Findings,
    reversal_count: usize,
    /// Lost frames: the switch, the route, the cable if there is one, and the first class.
    lost: Vec<(SwitchId, Row, Option<CableId>, ClassId)>,
}

/// Faults of a route, each with the first affected class.
#[derive(Default)]
struct RouteFaults {
    lost: Option<(Option<CableId>, ClassId)>,
    astray: Option<(u32, ClassId)>,
    unused_address: Option<(u32, ClassId)>,
    reversal: Option<ClassId>,
    dead_end: Option<(SwitchId, ClassId, u64)>,
}

impl TrafficTracer<'_> {
    fn switch(&mut self, id: SwitchId, above: bool) {
        let Some(reach) = self.reach.get(id, above).cloned() else { return };
        self.report_unrouted(id, &reach);
        let network = self.network;
        for row in network.choices[id.0 as usize].rows.iter().filter(|row| !row.next_hops.is_empty()) {
            let mut own = Bits::new(network.classes.len());
            let mut any = false;
            for run in row.classes.runs().iter().filter(|run| reach.meets(run)) {
                own.add_run(&reach, run);
                any = true;
            }
            if any {
                self.row(id, above, row, &own);
            }
        }
    }

    /// Reports packets for a NIC that arrive at a switch without a next hop for them.
    fn report_unrouted(&mut self, id: SwitchId, reach: &Bits) {
        let network = self.network;
        let choice = &network.choices[id.0 as usize];
        let mut left = reach.clone();
        left.keep(&network.accepted);
        self.findings.count_facts(&DROPPED, left.count());
        let leading = choice.rows.iter().filter(|row| !row.next_hops.is_empty()).map(|row| &row.classes);
        for run in leading.chain([&choice.delivered_classes]).flat_map(ClassSet::runs) {
            left.clear_run(run);
        }
        for row in choice.rows.iter().filter(|row| row.next_hops.is_empty()) {
            let mut own = Bits::new(network.classes.len());
            for run in row.classes.runs() {
                own.add_run(&left, run);
                left.clear_run(run);
            }
            self.drops(id, Some(row), &own);
        }
        self.drops(id, None, &left);
    }

    fn drops(&mut self, id: SwitchId, row: Option<&Row>, classes: &Bits) {
        let Some(class) = classes.iter().next() else { return };
        let (fabric, address) = (self.network.fabric, self.network.classes.address(class));
        let name = fabric.cabling.switch(id);
        let nics: usize = classes.iter().map(|class| self.network.classes.nics[class as usize].len()).sum();
        let others = if nics > 1 { format!(" and {} others", nics - 1) } else { String::new() };
        let text = row.map(|row| self.network.prefix(id, row, class).to_string());
        let (why, place) = match &text {
            Some(text) => {
                (format!("has a blackhole, `{text}`, for"), fabric.place(id, FactKind::Blackhole(text)))
            }
            None => ("has no route to".to_owned(), fabric.place(id, FactKind::Routes)),
        };
        let message = format!("`{name}` {why} {address}{others}, although cables lead there");
        self.findings.report(Violation::new(&DROPPED, place, message).towards(id, address));
    }

    fn row(&mut self, id: SwitchId, above: bool, row: &Row, own: &Bits) {
        let network = self.network;
        let mut harm = RouteFaults::default();
        let all = 0..network.classes.len() as u32;
        let none = Bits::new(network.classes.len());
        for rule in [&ASTRAY, &VALLEY, &ROUND, &DEAD_END] {
            self.findings.count_facts(rule, row.next_hops.len() as u64);
        }
        for way in row.next_hops.iter() {
            match network.step(id, way) {
                Step::Lost(cable) => {
                    if let Some(class) = own.intersection_except(&network.accepted, &none, &all).first() {
                        harm.lost = harm.lost.or(Some((cable, *class)));
                    }
                }
                Step::Nic(nic, _) => {
                    for class in own.iter().filter(|class| !network.serves(nic, *class)) {
                        if network.accepted.get(class as usize) {
                            harm.astray = harm.astray.or(Some((nic, class)));
                        } else {
                            harm.unused_address = harm.unused_address.or(Some((nic, class)));
                        }
                    }
                }
                Step::Switch { up: true, .. } if above => harm.reversal = harm.reversal.or(own.iter().next()),
                Step::Switch { id: next, up } => {
                    let Some(could) = self.reachable_classes.get(next, !up) else { continue };
                    let bad = own.intersection_except(&network.accepted, could, &all);
                    if let Some(class) = bad.first() {
                        let known = harm.dead_end.map_or(0, |known| known.2);
                        harm.dead_end =
                            harm.dead_end.or(Some((next, *class, 0))).map(|end| (end.0, end.1, known + 1));
                    }
                    let reach = self.reach.entry(next, !up, || Bits::new(network.classes.len()));
                    reach.add(own);
                    // The packet is reported where it is misrouted, not at every switch after that.
                    for class in bad {
                        reach.clear_run(&(class..class + 1));
                    }
                }
            }
        }
        self.tell(id, row, &harm);
    }

    fn tell(&mut self, id: SwitchId, row: &Row, harm: &RouteFaults) {
        let network = self.network;
        let fabric = network.fabric;
        let name = fabric.cabling.switch(id);
        let prefix = |class: ClassId| network.prefix(id, row, class).to_string();
        let place = |text: &str| fabric.place(id, FactKind::Route(text));
        let address = |class: ClassId| network.classes.address(class);
        if let Some((cable, class)) = harm.lost {
            self.lost.push((id, row.clone(), cable, class));
        }
        if let Some((nic, class)) = harm.astray {
            let text = prefix(class);
            let message = format!(
                "`{name}`: `{text}` leads {} to `{}`, which does not have it",
                address(class),
                network.destinations.name(fabric, nic)
            );
            self.findings.report(Violation::new(&ASTRAY, place(&text), message).towards(id, address(class)));
        }
        if let Some((nic, class)) = harm.unused_address {
            let text = prefix(class);
            let message = format!(
                "`{name}`: `{text}` leads {}, which is unused, to `{}`",
                address(class),
                network.destinations.name(fabric, nic)
            );
            self.findings
                .report(Violation::new(&UNUSED_ADDRESSES, place(&text), message).towards(id, address(class)));
        }
        if let Some((next, class, ways)) = harm.dead_end {
            let text = prefix(class);
            let others = if ways > 1 { format!(", and over {} others", ways - 1) } else { String::new() };
            let message = format!(
                "`{name}`: `{text}` leads {} over `{}`{others}, from which no cable leads there",
                address(class),
                fabric.cabling.switch(next)
            );
            self.findings
                .report(Violation::new(&DEAD_END, place(&text), message).towards(id, address(class)));
        }
        if let Some(class) = harm.reversal {
            let violation = self.report_reversal(id, &prefix(class), class);
            self.findings.report(violation.towards(id, address(class)));
        }
    }

    /// Reports a packet from above that goes up again: either it loops, or it merely uses capacity that it should not
    /// use.
    fn report_reversal(&mut self, id: SwitchId, text: &str, class: ClassId) -> Violation {
        let network = self.network;
        let fabric = network.fabric;
        let (address, place) = (network.classes.address(class), fabric.place(id, FactKind::Route(text)));
        self.reversal_count += 1;
        let ring = if self.reversal_count <= TURNS { self.ring(id, class) } else { None };
        let Some(ring) = ring else {
            let name = fabric.cabling.switch(id);
            let message = format!(
                "`{name}`: `{text}` sends packets to {address} up again, although they came from above"
            );
            return Violation::new(&VALLEY, place, message);
        };
        let names: Vec<String> = ring.iter().map(|id| format!("`{}`", fabric.cabling.switch(*id))).collect();
        let message =
            format!("forwarding loop for packets to {address}: {} -> {}", names.join(" -> "), names[0]);
        let others = ring.iter().skip(1).filter_map(|id| {
            let row = network.choices[id.0 as usize].row(class)?;
            Some(fabric.place(*id, FactKind::Route(&network.prefix(*id, row, class).to_string())))
        });
        others.fold(Violation::new(&ROUND, place, message), Violation::and)
    }

    /// Returns the shortest path on which a packet returns to the switch that sent it.
    fn ring(&self, start: SwitchId, class: ClassId) -> Option<Vec<SwitchId>> {
        let network = self.network;
        let mut before: BTreeMap<SwitchId, SwitchId> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            let Some(row) = network.choices[at.0 as usize].row(class) else { continue };
            for way in row.next_hops.iter() {
                let Step::Switch { id: next, .. } = network.step(at, way) else { continue };
                if next == start {
                    let mut ring = vec![at];
                    while let Some(earlier) =
                        ring.last().filter(|last| **last != start).map(|last| before[last])
                    {
                        ring.push(earlier);
                    }
                    ring.reverse();
                    return Some(ring);
                }
                if let Entry::Vacant(entry) = before.entry(next) {
                    entry.insert(at);
                    open.push_back(next);
                }
            }
        }
        None
    }

    /// Reports frames that a cable does not carry. Does so only if there are no other violations, because another rule
    /// reports the cause of most such losses.
    fn frames(self) {
        if !self.findings.is_clean() {
            return;
        }
        let fabric = self.network.fabric;
        for (id, row, cable, class) in self.lost {
            let (name, text) = (fabric.cabling.switch(id), self.network.prefix(id, &row, class).to_string());
            let address = self.network.classes.address(class);
            let over = cable.map_or("a port without a cable".to_owned(), |cable| {
                format!("`{}`", fabric.cabling.describe(&fabric.cabling.cable(cable)))
            });
            let message = format!(
                "`{name}`: `{text}` sends packets to {address} over {over}, which cannot carry frames"
            );
            let place = fabric.place(id, FactKind::Route(&text));
            let violation = Violation::new(&DROPPED, place, message).towards(id, address);
            self.findings.report(match cable {
                Some(cable) => violation.and(fabric.cabling.place(cable)),
                None => violation,
            });
        }
    }
}
