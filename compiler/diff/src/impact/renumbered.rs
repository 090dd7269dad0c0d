//! Counts pairs of NICs if a rule that assigns NICs to T0s differs, for example the number of rails.
//!
//! In: two fabrics. Out: kinds of pairs, each with the number of pairs and their places on both sides. Invariants: a
//! NIC is the same if its node and its number in the node are the same. Every pair of NICs of either side is counted
//! once. The work grows with the number of NICs, not with the number of pairs.

use std::collections::BTreeMap;

use closc_fabric::{Fabric, UsablePaths};
use closc_plan::PathKind;
use closc_topology::{Nic, ZoneId};

use super::kinds::lost_planes;
use crate::population::{old_nic, same_nic};

/// The place of a NIC in one of the fabrics, as far as its paths depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NicPlace {
    /// Its zone.
    pub(super) zone: ZoneId,
    /// Profile of its group.
    pub(super) profile: usize,
    /// The planes that it has lost, one bit per plane.
    pub(super) lost: u16,
}

/// NICs with equal places on both sides; `None` on a side without the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NicKind {
    pub(super) old: Option<NicPlace>,
    pub(super) new: Option<NicPlace>,
}

/// A T0 group.
type Group = (ZoneId, u16);

/// The coordinates of a NIC, before and after.
type BothNics = [Option<Nic>; 2];

/// NICs of one kind that share their group on each side.
#[derive(Debug)]
struct Cell {
    groups: [Option<Group>; 2],
    count: u64,
    /// The first two of the NICs.
    samples: Vec<BothNics>,
}

/// Pairs of NICs of two kinds that are equally far apart on each side.
#[derive(Debug)]
pub(super) struct PairKind<'a> {
    pub(super) nics: [NicKind; 2],
    /// Whether both NICs are on the same T0, before and after.
    pub(super) is_local: [bool; 2],
    /// Number of pairs.
    pub(super) pairs: u64,
    cells: [&'a [Cell]; 2],
}

impl PairKind<'_> {
    /// Returns the distance on one side; `None` if the pair is not there.
    fn distance_on(&self, side: usize) -> Option<PathKind> {
        let place = |kind: NicKind| [kind.old, kind.new][side];
        let [one, other] = self.nics.map(place);
        Some(match (one?.zone == other?.zone, self.is_local[side]) {
            (_, true) => PathKind::Local,
            (true, false) => PathKind::Zone,
            (false, false) => PathKind::Far,
        })
    }

    /// Returns the distance in the new fabric, or else in the old one.
    pub(super) fn distance(&self) -> Option<PathKind> {
        self.distance_on(1).or_else(|| self.distance_on(0))
    }

    /// Returns the NICs of one of the pairs, by their coordinates in the new fabric, or else in the old one.
    pub(super) fn example(&self) -> Option<(Nic, Nic)> {
        let side = usize::from(self.distance_on(1).is_some());
        let same = |one: &Cell, other: &Cell, side: usize| {
            one.groups[side].is_some() && one.groups[side] == other.groups[side]
        };
        let fits = |one: &Cell, other: &Cell| [0, 1].map(|side| same(one, other, side)) == self.is_local;
        let [first, second] = self.cells;
        let pairs = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
        let sample = |(one, other): (&Cell, &Cell)| {
            let at = usize::from(std::ptr::eq(one, other));
            one.samples[0][side].zip(other.samples.get(at)?[side])
        };
        pairs.filter(|(one, other)| fits(one, other)).find_map(sample)
    }
}

/// The NICs of both fabrics, by kind.
pub(super) struct RenumberedNics {
    kinds: Vec<NicKind>,
    cells: Vec<Vec<Cell>>,
}

impl RenumberedNics {
    /// Visits the NICs of both fabrics.
    pub(super) fn of(old: &Fabric, new: &Fabric, ways: [&UsablePaths<'_>; 2]) -> Self {
        let mut found: BTreeMap<NicKind, BTreeMap<[Option<Group>; 2], Cell>> = BTreeMap::new();
        let place = |fabric: &Fabric, side: usize, nic: Option<Nic>| {
            let nic = nic?;
            let profile = ways[side].profile(nic.zone, nic.group)?;
            Some(NicPlace { zone: nic.zone, profile, lost: lost_planes(fabric, nic)? })
        };
        let mut add = |nics: BothNics| {
            let kind = NicKind { old: place(old, 0, nics[0]), new: place(new, 1, nics[1]) };
            let groups = nics.map(|nic| nic.map(|nic| (nic.zone, nic.group)));
            let cells = found.entry(kind).or_default();
            let cell = cells.entry(groups).or_insert(Cell { groups, count: 0, samples: Vec::new() });
            cell.count += 1;
            if cell.samples.len() < 2 {
                cell.samples.push(nics);
            }
        };
        for nic in new.nics() {
            add([old_nic(old, new, nic), Some(nic)]);
        }
        let is_gone = |nic: &Nic| {
            same_nic(new.topology(), old.topology(), *nic).is_none_or(|other| !new.has_nic(other))
        };
        for nic in old.nics().filter(is_gone) {
            add([Some(nic), None]);
        }
        let (kinds, cells) =
            found.into_iter().map(|(kind, cells)| (kind, cells.into_values().collect())).unzip();
        RenumberedNics { kinds, cells }
    }

    /// Returns every kind of pairs.
    pub(super) fn pairs(&self) -> Vec<PairKind<'_>> {
        let all = self.count_pairs(|_| Some(()));
        let [old, new] = [0, 1].map(|side| self.count_pairs(|cell| cell.groups[side]));
        let both = self.count_pairs(|cell| cell.groups[0].zip(cell.groups[1]));
        let mut found = Vec::new();
        for (at, all) in all {
            let count = |counts: &PairCounts| counts.get(&at).copied().unwrap_or(0);
            let [old, new, both] = [&old, &new, &both].map(count);
            let counts = [
                ([true, true], both),
                ([true, false], old - both),
                ([false, true], new - both),
                ([false, false], all + both - old - new),
            ];
            let (first, second) = at;
            found.extend(counts.into_iter().filter(|(_, pairs)| *pairs > 0).map(|(is_local, pairs)| {
                PairKind {
                    nics: [self.kinds[first], self.kinds[second]],
                    is_local,
                    pairs,
                    cells: [&self.cells[first], &self.cells[second]],
                }
            }));
        }
        found
    }

    /// Counts the pairs of NICs with the same key, by their two kinds. NICs without a key are in no pair.
    fn count_pairs<K: Ord>(&self, key: impl Fn(&Cell) -> Option<K>) -> PairCounts {
        let mut shared: BTreeMap<K, BTreeMap<usize, u64>> = BTreeMap::new();
        for (kind, cells) in self.cells.iter().enumerate() {
            for cell in cells {
                if let Some(key) = key(cell) {
                    *shared.entry(key).or_default().entry(kind).or_default() += cell.count;
                }
            }
        }
        let mut pairs = PairCounts::new();
        for counts in shared.values() {
            for (first, nics) in counts {
                for (second, others) in counts.range(first..) {
                    let number = if first == second { nics * (nics - 1) / 2 } else { nics * others };
                    *pairs.entry((*first, *second)).or_default() += number;
                }
            }
        }
        pairs
    }
}

/// Numbers of pairs by the indices of both kinds of NICs, the lower index first.
type PairCounts = BTreeMap<(usize, usize), u64>;
