//! Cable lengths between racks of a floor plan, for many pairs.
//!
//! In: a floor plan. Out: lengths that are equal to those of [`Floor::length`]. Invariants: the time for one length
//! does not depend on the number of crossing trays.

use closc_qos::units::Length;

use super::super::{Floor, standard_length};

/// A sum of cable lengths: first the standard lengths to order, then the lengths along trays. Both are in
/// millimetres.
pub(super) type LengthSum = i128;

/// Position of the standard length in [`LengthSum`].
const STANDARD: u32 = 64;

/// Lengths are rounded with a table in steps of this many millimetres. Every standard length is a multiple.
const STEP: u64 = 500;

/// A rack of the floor plan.
struct Spot {
    row: u32,
    x: i64,
    y: i64,
    /// The nearest crossing trays on both sides.
    before: Option<i64>,
    after: Option<i64>,
}

pub(super) struct Distances {
    spots: Vec<Spot>,
    is_free: bool,
    drop: u64,
    standard: Vec<u64>,
}

impl Distances {
    pub(super) fn new(floor: &Floor) -> Self {
        let mut crossings = floor.trays.crossings.clone();
        crossings.sort_unstable();
        let mut rows: Vec<&str> = floor.racks.iter().map(|rack| rack.row.as_str()).collect();
        rows.sort_unstable();
        rows.dedup();
        let spots: Vec<Spot> = floor
            .racks
            .iter()
            .map(|rack| {
                let above = crossings.partition_point(|crossing| *crossing < rack.x);
                let below = crossings.partition_point(|crossing| *crossing <= rack.x);
                Spot {
                    row: rows.partition_point(|row| *row < rack.row.as_str()) as u32,
                    x: rack.x,
                    y: rack.y,
                    before: below.checked_sub(1).map(|at| crossings[at]),
                    after: crossings.get(above).copied(),
                }
            })
            .collect();
        let mut found =
            Distances { spots, is_free: crossings.is_empty(), drop: floor.trays.drop, standard: Vec::new() };
        let longest = found.upper_bound(&crossings);
        let round = |step| standard_length(Length::from_millimeters(step * STEP)).millimeters();
        found.standard = (0..=longest.div_ceil(STEP)).map(round).collect();
        found
    }

    /// Returns a length that no cable exceeds.
    fn upper_bound(&self, crossings: &[i64]) -> u64 {
        let extent = |values: &mut dyn Iterator<Item = i64>| {
            let (least, most) = values.fold((i64::MAX, i64::MIN), |(a, b), at| (a.min(at), b.max(at)));
            most.saturating_sub(least).max(0).cast_unsigned()
        };
        let xs = &mut self.spots.iter().map(|spot| spot.x).chain(crossings.iter().copied());
        let ys = &mut self.spots.iter().map(|spot| spot.y);
        2 * self.drop + 2 * extent(xs) + extent(ys)
    }

    /// Returns the length along trays.
    pub(super) fn along_trays(&self, from: usize, to: usize) -> u64 {
        if from == to {
            return self.drop;
        }
        let (a, b) = (&self.spots[from], &self.spots[to]);
        let (left, right) = if a.x <= b.x { (a, b) } else { (b, a) };
        let mut along = (right.x - left.x).cast_unsigned();
        let crosses_between = left.after.is_some_and(|crossing| crossing <= right.x);
        if a.row != b.row && !self.is_free && !crosses_between {
            let detours = [
                left.before.map(|crossing| left.x.abs_diff(crossing)),
                right.after.map(|crossing| right.x.abs_diff(crossing)),
            ];
            along += 2 * detours.into_iter().flatten().min().unwrap_or_default();
        }
        2 * self.drop + along + a.y.abs_diff(b.y)
    }

    /// Returns the length of a cable.
    pub(super) fn length(&self, from: usize, to: usize) -> LengthSum {
        let raw = self.along_trays(from, to);
        let standard = self.standard[raw.div_ceil(STEP) as usize];
        (i128::from(standard) << STANDARD) + i128::from(raw)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::super::TrayOptions;
    use super::*;

    #[test]
    fn lengths_equal_those_of_the_floor() {
        let mut text = "rack,row,x,y,units\n".to_owned();
        for (at, (row, x, y)) in
            [("a", 0.0, 0.0), ("a", 2.4, 0.1), ("b", -3.0, 3.0), ("b", 7.2, 3.0), ("c", 7.2, 61.3)]
                .iter()
                .enumerate()
        {
            writeln!(text, "{at},{row},{x},{y},42").expect("memory is sufficient");
        }
        for crossings in [vec![], vec![0], vec![-9_000, 2_400], vec![1_000, 8_000], vec![7_200, 90_000]] {
            let trays = TrayOptions { crossings: Some(crossings), drop: Some(1_300) };
            let floor = Floor::read(&text, trays).unwrap();
            let distances = Distances::new(&floor);
            for (from, to) in (0..5).flat_map(|from| (0..5).map(move |to| (from, to))) {
                let length = floor.length(from, to);
                let standard = i128::from(standard_length(length).millimeters());
                let raw = i128::from(length.millimeters());
                assert_eq!(distances.length(from, to), (standard << STANDARD) + raw, "{from} {to}");
            }
        }
    }
}
