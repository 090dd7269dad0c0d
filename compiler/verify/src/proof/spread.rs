//! Load of every cable between switches when every NIC sends to every other, by the path tables.
//!
//! In: the tables and the usable cables. Out: [`LoadCounts`]: for each tier and direction, the load of the busiest
//! cable compared with the mean of all cables in use. V0904 is also checked where no path is denied. Invariants: loads
//! are integers, so the same tables always give the same figures. Pairs of NICs are not enumerated.
//!
//! A NIC sends the same amount to every other NIC over each plane, in equal parts over its active values, with denied
//! values replaced by backup values. This choice depends only on the denials that affect the destination, so it is
//! computed once per distinct set of denials.

use std::collections::BTreeMap;

use closc_paths::{Kind, Table, TableDenial};
use rayon::prelude::*;

use super::load::{LoadCounts, LoadSums, STEPS_MAX, Tiers};
use super::path_cables::{Level, PathCables};
use crate::finding::{Findings, Violation};
use crate::model::fabric::Fabric;
use crate::model::group::Group;
use crate::rules::load::T1_UPLINKS;

/// Traffic from one NIC to another over a plane, in units. It is divisible by every number of values up to 16. For
/// other numbers, the remainder is negligible.
const WHOLE: u128 = 720_720 << 12;

/// Measures the load of all cables.
pub(crate) fn measure(fabric: &Fabric, ways: &PathCables, findings: &mut Findings) -> LoadCounts {
    let open = fabric.groups.iter().all(|group| group.table().denials().next().is_none());
    if open {
        t1_uplinks(fabric, ways, findings);
    }
    let senders = |plane: usize, at: usize| Senders::new(fabric, plane, at, &fabric.groups[at]);
    let groups = || (0..fabric.groups.len()).into_par_iter();
    // The traffic of a group is computed on demand, because that of all groups needs more memory than the fabric
    // itself.
    let of_plane =
        |plane: usize| groups().map(|at| senders(plane, at).choices()).reduce(|| 0, u64::saturating_add);
    let planes = ways.judged_planes.iter().filter(|_| !open);
    let steps = planes.map(|plane| of_plane(*plane)).fold(0, u64::saturating_add);
    let mut sums = LoadSums { steps, ..LoadSums::default() };
    if steps > STEPS_MAX {
        return sums.counts();
    }
    // One accumulator per thread, because each contains every cable.
    let share = fabric.groups.len().div_ceil(rayon::current_num_threads()).max(1);
    for plane in &ways.judged_planes {
        let load = groups()
            .with_min_len(share)
            .map(|at| senders(*plane, at))
            .fold(|| Load::new(fabric, ways), |load, senders| senders.send(load))
            .reduce_with(|load, other| load.plus(&other))
            .unwrap_or_else(|| Load::new(fabric, ways));
        load.count(fabric, ways, *plane, &mut sums.tiers);
    }
    sums.counts()
}

/// Checks V0904 over all groups of a zone. Every downlink counts, even without a NIC.
fn t1_uplinks(fabric: &Fabric, ways: &PathCables, findings: &mut Findings) {
    let numbers = ways.numbers;
    if numbers.t1_uplinks == 0 {
        return;
    }
    let parallel = usize::from(numbers.parallel0);
    let rows = numbers.uplinks / parallel;
    // If values do not divide evenly, some T0 uplinks of each group have one value more. Their position is
    // pseudo-random.
    let h = fabric.groups.first().map(|group| *group.table().header());
    let values = h.map_or(0, |h| usize::from(h.active) * usize::from(h.nics));
    let uneven = u64::from(!values.is_multiple_of(numbers.uplinks));
    for plane in ways.judged_planes.iter().copied() {
        let mut used: BTreeMap<u16, (u64, &Group, Vec<u64>)> = BTreeMap::new();
        for group in &fabric.groups {
            let (groups, _, used) =
                used.entry(group.zone).or_insert_with(|| (0, group, vec![0; rows * numbers.t1_uplinks]));
            *groups += 1;
            let table = group.table();
            let active = usize::from(table.header().active);
            let nics = 0..table.header().nics;
            for value in nics.flat_map(|nic| table.entropy_values(plane as u8, nic).take(active)) {
                let choice = table.choice(value);
                let at = usize::from(choice.t0_uplink) / parallel * numbers.t1_uplinks;
                if let Some(used) = used.get_mut(at + usize::from(choice.t1_uplink)) {
                    *used += 1;
                }
            }
        }
        for (zone, (groups, group, used)) in used {
            for (row, used) in used.chunks(numbers.t1_uplinks).enumerate() {
                let (most, sum) = (used.iter().max().copied().unwrap_or(0), used.iter().sum::<u64>());
                let count = numbers.t1_uplinks as u64;
                let whole = parallel as u64 * (2 + uneven * groups.div_ceil(count));
                let holds =
                    most * count * 20 <= sum * 21 || (most * count).saturating_sub(sum) <= whole * count;
                findings.expect(holds, &T1_UPLINKS, || {
                    let mean = sum as f64 / count as f64;
                    let message = format!(
                        "over zone {zone} in plane {plane}, the busiest uplink of T1 {} is used {most} times, and its \
                         uplinks {mean:.2} times on average",
                        row + 1
                    );
                    Violation::new(&T1_UPLINKS, group.place(&["\"t1_start\":"]), message)
                });
            }
        }
    }
}

/// Identifies destinations with the same denials: their distance, and the indices of the denials.
type DenialKey = (u8, Vec<u16>);

/// The NICs of a group as senders in a plane.
struct Senders<'a> {
    at: usize,
    group: &'a Group,
    table: Table<'a>,
    plane: u8,
    denied: Vec<TableDenial>,
    /// Destination groups by the denials on paths to their NICs, each with the number of these NICs.
    towards: BTreeMap<DenialKey, Vec<(usize, u64)>>,
}

impl<'a> Senders<'a> {
    fn new(fabric: &'a Fabric, plane: usize, at: usize, group: &'a Group) -> Self {
        let table = group.table();
        let plane = plane as u8;
        let denied: Vec<TableDenial> = table.denials().filter(|denied| denied.plane == plane).collect();
        let mut towards: BTreeMap<DenialKey, Vec<(usize, u64)>> = BTreeMap::new();
        // Without denials, traffic to all groups of a zone is equal, so groups are not examined one by one.
        let others = if denied.is_empty() { &[][..] } else { &fabric.groups[..] };
        for (to, other) in others.iter().enumerate().filter(|(to, _)| *to != at) {
            let far = u8::from(other.zone != group.zone);
            let named = |denied: &TableDenial| {
                denied.scope.zone.is_none_or(|zone| zone == other.zone)
                    && denied.scope.group.is_none_or(|number| number == other.group)
                    && (far == 1 || denied.scope.t1_uplinks.is_none())
            };
            let met = |downlink: Option<u16>| -> Vec<u16> {
                let is_met = |denied: &TableDenial| {
                    named(denied) && denied.scope.downlink.is_none_or(|d| Some(d) == downlink)
                };
                (0..).zip(&denied).filter(|(_, denied)| is_met(denied)).map(|(at, _)| at).collect()
            };
            let single: Vec<u16> =
                denied.iter().filter(|d| named(d)).filter_map(|d| d.scope.downlink).collect();
            let mut rest = other.nics.len() as u64;
            let is_single = |downlink: &u16| single.contains(downlink);
            let own = other.nics.iter().map(|nic| nic.downlink).filter(|_| !single.is_empty());
            for downlink in own.filter(is_single) {
                towards.entry((far, met(Some(downlink)))).or_default().push((to, 1));
                rest -= 1;
            }
            if rest > 0 {
                towards.entry((far, met(None))).or_default().push((to, rest));
            }
        }
        Senders { at, group, table, plane, denied, towards }
    }

    /// Returns the number of values to examine, times the number of denials that each is compared with.
    fn choices(&self) -> u64 {
        let h = self.table.header();
        let values = (u64::from(h.active) + u64::from(h.backup)) * self.group.nics.len() as u64;
        self.towards.keys().map(|(_, met)| values * met.len() as u64).sum()
    }

    /// Returns the traffic of all NICs to one NIC with these denials, by pair of uplinks.
    fn shares(&self, (far, met): &DenialKey) -> Vec<((u16, u16), u128)> {
        let h = *self.table.header();
        let kind = if *far == 1 { Kind::Far } else { Kind::Zone };
        let denies = |source: u16, value: u32| {
            let choice = self.table.choice(value);
            // Zone, group and downlink were matched before.
            met.iter().map(|at| self.denied[usize::from(*at)]).any(|denied| {
                let scope = denied.scope;
                let to = (scope.zone.unwrap_or(0), scope.group.unwrap_or(0), scope.downlink.unwrap_or(0));
                denied.covers(kind, source, to, choice)
            })
        };
        let width = if *far == 1 { usize::from(h.t1_uplinks.max(1)) } else { 1 };
        let mut shares = vec![0; usize::from(h.t0_uplinks) * width];
        for nic in &self.group.nics {
            let values = self.table.entropy_values(self.plane, nic.downlink);
            // A value without a valid uplink is a fault of the table, which is reported elsewhere.
            let named = values.filter(|value| self.table.in_range(self.table.choice(*value)));
            let open = named.filter(|value| met.is_empty() || !denies(nic.downlink, *value));
            let open: Vec<u32> = open.take(h.active.into()).collect();
            for value in &open {
                let choice = self.table.choice(*value);
                let t1 = if *far == 1 { choice.t1_uplink } else { 0 };
                // Values without a valid uplink were removed above.
                if let Some(share) = shares.get_mut(usize::from(choice.t0_uplink) * width + usize::from(t1)) {
                    *share += WHOLE / open.len() as u128;
                }
            }
        }
        let pair = |at: usize| ((at / width) as u16, (at % width) as u16);
        let used = shares.into_iter().enumerate().filter(|(_, share)| *share > 0);
        used.map(|(at, share)| (pair(at), share)).collect()
    }

    /// Adds the traffic to all other NICs, without denials.
    fn send_everywhere(&self, mut load: Load) -> Load {
        let zone = usize::from(self.group.zone);
        let in_zone = load.nics[zone] - self.group.nics.len() as u64;
        let elsewhere = load.nics.iter().sum::<u64>() - load.nics[zone];
        for (far, nics) in [(false, in_zone), (true, elsewhere)].into_iter().filter(|(_, nics)| *nics > 0) {
            for ((t0, t1), share) in self.shares(&(u8::from(far), Vec::new())) {
                let at = self.at * load.uplinks + usize::from(t0);
                load.t0_up[at] += share * u128::from(nics);
                load.add_everywhere(self.group.zone, at, far, share);
                if far {
                    let at = load.over(t0, t1);
                    load.far_t1_uplinks[zone][at] += share;
                }
            }
        }
        load
    }

    fn send(&self, mut load: Load) -> Load {
        if self.denied.is_empty() {
            return self.send_everywhere(load);
        }
        for (met, towards) in &self.towards {
            let mut by_zone: BTreeMap<u16, u64> = BTreeMap::new();
            for (to, nics) in towards {
                *by_zone.entry(load.zones[*to]).or_default() += nics;
            }
            let mut by_uplink: BTreeMap<u16, u128> = BTreeMap::new();
            for ((t0, t1), share) in self.shares(met) {
                *by_uplink.entry(t0).or_default() += share;
                if met.0 == 1 {
                    load.add_far(self.group.zone, (t0, t1), share, &by_zone);
                }
            }
            let nics: u64 = by_zone.values().sum();
            for (t0, share) in by_uplink {
                let at = self.at * load.uplinks + usize::from(t0);
                load.t0_up[at] += share * u128::from(nics);
                load.add_down(usize::from(t0), share, towards);
            }
        }
        load
    }
}

/// Load of cables of a plane.
struct Load {
    uplinks: usize,
    t1_uplinks: usize,
    parallel0: usize,
    /// Zone of each group.
    zones: Vec<u16>,
    /// NICs of each zone.
    nics: Vec<u64>,
    /// Upward traffic by group and T0 uplink.
    t0_up: Vec<u128>,
    t0_down: Vec<u128>,
    /// Traffic to each NIC of a zone from the groups of the same zone, by zone and T0 uplink. `not_own` is the traffic
    /// that the sending group does not receive itself, by group and T0 uplink.
    zone_down: Vec<Vec<u128>>,
    not_own: Vec<u128>,
    /// Traffic of a zone to each NIC of all other zones, by zone and T0 uplink.
    far_down: Vec<Vec<u128>>,
    /// Traffic of a zone to each NIC of all other zones, by zone, T1 and T1 uplink.
    far_t1_uplinks: Vec<Vec<u128>>,
    /// Upward traffic by zone, T1 and T1 uplink.
    t1_up: Vec<Vec<u128>>,
    t1_down: Vec<Vec<u128>>,
}

impl Load {
    fn new(fabric: &Fabric, ways: &PathCables) -> Self {
        let numbers = ways.numbers;
        let rows = numbers.uplinks / usize::from(numbers.parallel0);
        let t0 = vec![0; fabric.groups.len() * numbers.uplinks];
        let t1 = vec![vec![0; rows * numbers.t1_uplinks]; numbers.zones];
        let mut nics = vec![0; numbers.zones];
        for group in &fabric.groups {
            nics[usize::from(group.zone)] += group.nics.len() as u64;
        }
        Load {
            nics,
            uplinks: numbers.uplinks,
            t1_uplinks: numbers.t1_uplinks,
            parallel0: numbers.parallel0.into(),
            zones: fabric.groups.iter().map(|group| group.zone).collect(),
            t0_up: t0.clone(),
            t0_down: t0.clone(),
            not_own: t0,
            zone_down: vec![vec![0; numbers.uplinks]; numbers.zones],
            far_down: vec![vec![0; numbers.uplinks]; numbers.zones],
            far_t1_uplinks: t1.clone(),
            t1_up: t1.clone(),
            t1_down: t1,
        }
    }

    /// Adds the downward traffic to each group from a sender with denials.
    fn add_down(&mut self, uplink: usize, share: u128, towards: &[(usize, u64)]) {
        for (to, nics) in towards {
            self.t0_down[to * self.uplinks + uplink] += share * u128::from(*nics);
        }
    }

    /// Adds the downward traffic to all other groups of a zone, or of all other zones.
    fn add_everywhere(&mut self, zone: u16, at: usize, far: bool, share: u128) {
        let (zone, uplink) = (usize::from(zone), at % self.uplinks);
        if far {
            self.far_down[zone][uplink] += share;
        } else {
            self.zone_down[zone][uplink] += share;
            self.not_own[at] += share;
        }
    }

    fn add_far(&mut self, zone: u16, (t0, t1): (u16, u16), share: u128, by_zone: &BTreeMap<u16, u64>) {
        let at = self.over(t0, t1);
        self.t1_up[usize::from(zone)][at] += share * u128::from(by_zone.values().sum::<u64>());
        for (to, nics) in by_zone {
            self.t1_down[usize::from(*to)][at] += share * u128::from(*nics);
        }
    }

    /// Returns the index of a T1 and its uplink.
    fn over(&self, t0: u16, t1: u16) -> usize {
        usize::from(t0) / self.parallel0 * self.t1_uplinks + usize::from(t1)
    }

    /// Returns the upward and downward traffic of the T1s of a zone, by T1 and T1 uplink. Traffic without denials is
    /// included.
    fn of_t1s(&self, zone: usize, everywhere: &[u128]) -> impl Iterator<Item = (u128, u128)> {
        let own = u128::from(self.nics[zone]);
        let others = u128::from(self.nics.iter().sum::<u64>()) - own;
        let all = self.t1_up[zone].iter().zip(&self.t1_down[zone]);
        all.zip(self.far_t1_uplinks[zone].iter().zip(everywhere))
            .map(move |((up, down), (each, all))| (up + each * others, down + (all - each) * own))
    }

    /// Returns the downward traffic to a group over an uplink.
    fn down(&self, fabric: &Fabric, group: usize, uplink: usize) -> u128 {
        let at = group * self.uplinks + uplink;
        let zone = usize::from(self.zones[group]);
        let far: u128 = self.far_down.iter().map(|zone| zone[uplink]).sum();
        let each = self.zone_down[zone][uplink] - self.not_own[at] + far - self.far_down[zone][uplink];
        self.t0_down[at] + each * fabric.groups[group].nics.len() as u128
    }

    fn plus(mut self, other: &Load) -> Load {
        let add = |own: &mut [u128], other: &[u128]| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        };
        add(&mut self.t0_up, &other.t0_up);
        add(&mut self.t0_down, &other.t0_down);
        add(&mut self.not_own, &other.not_own);
        let by_zone = [
            (&mut self.zone_down, &other.zone_down),
            (&mut self.far_down, &other.far_down),
            (&mut self.far_t1_uplinks, &other.far_t1_uplinks),
            (&mut self.t1_up, &other.t1_up),
            (&mut self.t1_down, &other.t1_down),
        ];
        for (own, other) in by_zone {
            own.iter_mut().zip(other).for_each(|(own, other)| add(own, other));
        }
        self
    }

    /// Adds the cables in use to the extremes.
    fn count(&self, fabric: &Fabric, ways: &PathCables, plane: usize, tiers: &mut Tiers) {
        for group in 0..fabric.groups.len() {
            let ways = ways.group(group, plane);
            for uplink in 0..self.uplinks {
                let at = group * self.uplinks + uplink;
                if ways.up.level(uplink) == Level::Fine {
                    tiers[0].cable(self.t0_up[at]);
                }
                if ways.down.level(uplink) == Level::Fine {
                    tiers[1].cable(self.down(fabric, group, uplink));
                }
            }
        }
        let places = self.far_t1_uplinks.first().map_or(0, Vec::len);
        let everywhere: Vec<u128> =
            (0..places).map(|at| self.far_t1_uplinks.iter().map(|zone| zone[at]).sum()).collect();
        for zone in 0..self.t1_up.len() {
            let Some(ways) = ways.zone(zone as u16, plane) else { continue };
            for (at, (up, down)) in self.of_t1s(zone, &everywhere).enumerate() {
                if ways.up.level(at) == Level::Fine {
                    tiers[2].cable(up);
                }
                if ways.down.level(at) == Level::Fine {
                    tiers[3].cable(down);
                }
            }
        }
    }
}
