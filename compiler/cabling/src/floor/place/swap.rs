//! Shorter cables by swaps of two racks.
//!
//! In: placed racks and the cables between them. Out: the same racks, placed so that no swap of two racks and no move
//! to a free rack shortens the sum of all cables. If the search needs too much work, racks keep their places, because
//! an unfinished search can leave single cables much longer. Invariants: the sum never grows. Racks keep their limits.
//! The result depends only on the input: work is counted, not timed.

use std::collections::BTreeMap;

use super::super::Floor;
use super::Cabinet;
use super::assign::fits_rack;
use super::distance::{Distances, LengthSum};
use super::links::{Neighbors, RackLinks};

/// Maximum number of sums in memory.
const SUMS_MAX: usize = 4_000_000;

/// Sums of the cable lengths of racks with equal neighbours, for each position.
struct Attraction {
    at: Vec<LengthSum>,
}

struct Search<'a> {
    floor: &'a Floor,
    distances: &'a Distances,
    links: &'a RackLinks,
    cabinets: &'a mut [Cabinet],
    /// For each position, the index of the rack there.
    occupant: Vec<Option<usize>>,
    attractions: Vec<Attraction>,
    /// For each rack, its attractions by lower and by upper devices.
    of_rack: Vec<[usize; 2]>,
    /// For each rack, the attractions that it is part of, with its cables.
    watchers: Vec<Vec<(usize, u32)>>,
}

/// Swaps racks until no swap shortens the sum. If this needs more than `work` lengths, all racks keep their places.
pub(super) fn refine(
    floor: &Floor,
    distances: &Distances,
    links: &RackLinks,
    cabinets: &mut [Cabinet],
    work: &mut u64,
) {
    let mut occupant = vec![None; floor.racks.len()];
    for (rack, cabinet) in cabinets.iter().enumerate() {
        occupant[cabinet.at] = Some(rack);
    }
    let mut search = Search {
        floor,
        distances,
        links,
        cabinets,
        occupant,
        attractions: Vec::new(),
        of_rack: Vec::new(),
        watchers: Vec::new(),
    };
    let start: Vec<usize> = search.cabinets.iter().map(|cabinet| cabinet.at).collect();
    if search.fill(work) {
        let is_finished = loop {
            match search.pass(work) {
                Some(true) => {}
                Some(false) => break true,
                None => break false,
            }
        };
        if !is_finished {
            for (cabinet, at) in search.cabinets.iter_mut().zip(start) {
                cabinet.at = at;
            }
        }
    }
}

impl Search<'_> {
    /// Computes the sums. Returns `false` if this would need too much work or memory.
    fn fill(&mut self, work: &mut u64) -> bool {
        let positions = self.floor.racks.len();
        let mut known: BTreeMap<&Neighbors, usize> = BTreeMap::new();
        for sides in &self.links.neighbors {
            let ids = sides.each_ref().map(|side| {
                let next = known.len();
                *known.entry(side).or_insert(next)
            });
            self.of_rack.push(ids);
        }
        let cost = known.keys().map(|side| (side.len() + 1) as u64).sum::<u64>() * positions as u64;
        if known.len() * positions > SUMS_MAX || cost > *work {
            return false;
        }
        *work -= cost;
        let mut sides: Vec<(&Neighbors, usize)> = known.into_iter().collect();
        sides.sort_unstable_by_key(|(_, id)| *id);
        self.watchers = vec![Vec::new(); self.cabinets.len()];
        for (side, id) in sides {
            let sum = |at: usize| -> LengthSum {
                let length = |(rack, cables): &(u32, u32)| {
                    self.distances.length(at, self.cabinets[*rack as usize].at) * LengthSum::from(*cables)
                };
                side.iter().map(length).sum()
            };
            self.attractions.push(Attraction { at: (0..positions).map(sum).collect() });
            for (rack, cables) in side {
                self.watchers[*rack as usize].push((id, *cables));
            }
        }
        true
    }

    /// Returns the length of a rack's cables if it were at a position.
    fn sum(&self, rack: usize, at: usize) -> LengthSum {
        let [lower, upper] = self.of_rack[rack];
        self.attractions[lower].at[at] + self.attractions[upper].at[at]
    }

    /// Gives every rack its best swap. Returns whether there was one; `None` if the work does not suffice.
    fn pass(&mut self, work: &mut u64) -> Option<bool> {
        let mut has_swapped = false;
        for rack in 0..self.cabinets.len() {
            let positions = self.floor.racks.len() as u64;
            if *work < positions {
                return None;
            }
            *work -= positions;
            if let Some(to) = self.best_swap(rack) {
                let from = self.cabinets[rack].at;
                let other = self.occupant[to];
                self.move_rack(rack, to, work);
                if let Some(other) = other {
                    self.move_rack(other, from, work);
                }
                self.occupant[from] = other;
                self.occupant[to] = Some(rack);
                has_swapped = true;
            }
        }
        Some(has_swapped)
    }

    /// Returns the position whose swap with a rack's position shortens the sum most.
    fn best_swap(&self, rack: usize) -> Option<usize> {
        let from = self.cabinets[rack].at;
        let here = self.sum(rack, from);
        let mut best: Option<(LengthSum, usize)> = None;
        for to in 0..self.floor.racks.len() {
            // One of the two racks must gain. If it is the other one, its own turn finds the swap.
            let gain = here - self.sum(rack, to);
            if gain <= 0 || !fits_rack(self.floor, to, &self.cabinets[rack]) {
                continue;
            }
            let gain = match self.occupant[to] {
                None => gain,
                Some(other) if fits_rack(self.floor, from, &self.cabinets[other]) => {
                    gain + self.sum(other, to) - self.sum(other, from) - self.common(rack, other)
                }
                Some(_) => continue,
            };
            if gain > best.map_or(0, |(most, _)| most) {
                best = Some((gain, to));
            }
        }
        best.map(|(_, to)| to)
    }

    /// Returns the part of the gain of both racks that is wrong, because cables between them keep their length.
    fn common(&self, a: usize, b: usize) -> LengthSum {
        let cables = self.links.cables(a, b) + self.links.cables(b, a);
        if cables == 0 {
            return 0;
        }
        let (from, to) = (self.cabinets[a].at, self.cabinets[b].at);
        let length = |x, y| self.distances.length(x, y);
        LengthSum::from(cables) * (2 * length(from, to) - length(from, from) - length(to, to))
    }

    /// Moves a rack, and updates the sums of its neighbours.
    fn move_rack(&mut self, rack: usize, to: usize, work: &mut u64) {
        let from = std::mem::replace(&mut self.cabinets[rack].at, to);
        for (id, cables) in &self.watchers[rack] {
            let cables = LengthSum::from(*cables);
            for (at, sum) in self.attractions[*id].at.iter_mut().enumerate() {
                *sum += cables * (self.distances.length(at, to) - self.distances.length(at, from));
            }
            *work = work.saturating_sub(2 * self.floor.racks.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::super::TrayOptions;
    use super::super::assign::Block;
    use super::*;

    const RACKS: usize = 9;

    /// Racks 0 to 5 have nodes and low switches, 6 to 8 have high ones. They start in an order that is far from good.
    fn case() -> (Floor, RackLinks, Vec<Cabinet>) {
        let mut text = "rack,row,x,y,units\n".to_owned();
        for at in 0..16 {
            let (x, y) = (f64::from(at % 4) * 0.7, at / 4 * 3);
            let units = if at == 5 { 10 } else { 48 };
            writeln!(text, "{at},{y},{x},{y},{units}").expect("memory is sufficient");
        }
        let trays = TrayOptions { crossings: Some(vec![0]), drop: None };
        let floor = Floor::read(&text, trays).expect("it is a floor plan");
        let pairs: Vec<(u32, u32, u32)> =
            (0..6).flat_map(|low| (6..9).map(move |high| (low, high, 1 + (low * 5 + high) % 4))).collect();
        let mut neighbors = vec![[Vec::new(), Vec::new()]; RACKS];
        for &(low, high, cables) in &pairs {
            neighbors[high as usize][0].push((low, cables));
            neighbors[low as usize][1].push((high, cables));
        }
        let cabinet = |at: usize| Cabinet {
            name: at.to_string().into(),
            kind: "t0",
            devices: 1,
            units: if at.is_multiple_of(4) { 40 } else { 4 },
            watts: None,
            at: at * 7 % 16,
            block: Block { zone: 0, unit: 0 },
        };
        (floor, RackLinks { pairs, neighbors }, (0..RACKS).map(cabinet).collect())
    }

    /// Computes the sum from the lengths of the floor plan.
    fn sum(floor: &Floor, links: &RackLinks, at: &[usize]) -> (u64, u64) {
        links.pairs.iter().fold((0, 0), |sum, &(low, high, cables)| {
            let length = floor.length(at[low as usize], at[high as usize]);
            let standard = super::super::super::standard_length(length).millimeters();
            let cables = u64::from(cables);
            (sum.0 + cables * standard, sum.1 + cables * length.millimeters())
        })
    }

    #[test]
    fn no_swap_of_two_racks_shortens_the_result() {
        let (floor, links, mut cabinets) = case();
        let positions = |cabinets: &[Cabinet]| cabinets.iter().map(|rack| rack.at).collect::<Vec<_>>();
        let before = sum(&floor, &links, &positions(&cabinets));
        refine(&floor, &Distances::new(&floor), &links, &mut cabinets, &mut 1_000_000);
        let at = positions(&cabinets);
        let least = sum(&floor, &links, &at);
        assert!(least < before, "{least:?} {before:?}");
        for rack in 0..RACKS {
            for to in 0..floor.racks.len() {
                let mut other = at.clone();
                let occupant = at.iter().position(|known| *known == to);
                other[rack] = to;
                if let Some(occupant) = occupant {
                    other[occupant] = at[rack];
                }
                let fits = (0..RACKS).all(|rack| fits_rack(&floor, other[rack], &cabinets[rack]));
                assert!(!fits || sum(&floor, &links, &other) >= least, "{rack} to {to}: {at:?}");
            }
        }
    }

    #[test]
    fn too_little_work_leaves_all_racks_in_place() {
        for work in [0, 100, 400, 500] {
            let (floor, links, mut cabinets) = case();
            let before: Vec<usize> = cabinets.iter().map(|rack| rack.at).collect();
            refine(&floor, &Distances::new(&floor), &links, &mut cabinets, &mut work.clone());
            let after: Vec<usize> = cabinets.iter().map(|rack| rack.at).collect();
            assert_eq!(after, before, "{work}");
        }
    }
}
