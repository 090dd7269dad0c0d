//! A floor plan: racks with their coordinates, height and power, and the trays above them.
//!
//! In: a CSV file. Out: a [`Floor`]. Invariants: every rack has a name and a height. A cable runs up from a device to
//! the tray of its row, along trays, and down again, so it never crosses rows diagonally.

mod place;
mod read;

use std::collections::BTreeMap;

use closc_qos::units::Length;

pub use place::{Cabinet, CableLengths, NodeSize, PlaceError, Placement, UnpublishedSizes, place};
pub use read::{FloorError, TrayOptions};

/// A rack of a floor plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloorRack {
    /// Name of this rack in the floor plan.
    pub name: String,
    /// Row, which has its own tray.
    pub row: String,
    /// Position along the row in millimetres.
    pub x: i64,
    /// Position across the rows in millimetres.
    pub y: i64,
    /// Rack units.
    pub units: u16,
    /// Maximum power in watts; `None` if the plan has no limit.
    pub watts: Option<u32>,
    /// Name of this rack in the fabric file. Only floor plans that `closc place --placed` wrote contain it.
    pub device_rack: Option<String>,
}

/// A floor plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// Racks, in the order of the file.
    pub racks: Vec<FloorRack>,
    /// Trays, which the options or the file state.
    pub trays: Trays,
}

/// Trays above the racks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trays {
    /// Positions of trays that cross all rows, in millimetres along the rows. Empty if trays cross the rows
    /// at every position.
    pub crossings: Vec<i64>,
    /// Cable length from a device to the tray, in millimetres, including slack.
    pub drop: u64,
}

/// Standard cable lengths in millimetres, up to 100 m. Longer cables are available in steps of 50 m.
const STANDARD_LENGTHS: [u64; 22] = [
    500, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000, 7_000, 10_000, 15_000, 20_000, 25_000, 30_000,
    35_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000, 100_000,
];

/// Returns the shortest standard length that is sufficient.
pub(crate) fn standard_length(length: Length) -> Length {
    let needed = length.millimeters();
    let listed = STANDARD_LENGTHS.into_iter().find(|listed| *listed >= needed);
    Length::from_millimeters(listed.unwrap_or_else(|| needed.next_multiple_of(50_000)))
}

impl Floor {
    /// Returns the length of a cable between devices of two racks, along the trays. Within a rack it is one drop.
    pub fn length(&self, from: usize, to: usize) -> Length {
        let (a, b) = (&self.racks[from], &self.racks[to]);
        if from == to {
            return Length::from_millimeters(self.trays.drop);
        }
        let along = if a.row == b.row {
            a.x.abs_diff(b.x) + a.y.abs_diff(b.y)
        } else {
            let over = |crossing: &i64| a.x.abs_diff(*crossing) + b.x.abs_diff(*crossing);
            let shortest = self.trays.crossings.iter().map(over).min();
            shortest.unwrap_or_else(|| a.x.abs_diff(b.x)) + a.y.abs_diff(b.y)
        };
        Length::from_millimeters(2 * self.trays.drop + along)
    }
}

/// Positions of the racks of a fabric file, by name.
#[derive(Debug)]
pub struct Positions<'f> {
    floor: &'f Floor,
    by_name: BTreeMap<&'f str, usize>,
}

impl<'f> Positions<'f> {
    /// Returns the rack positions of a floor plan, usually one that `closc place --placed` wrote. Without a
    /// column `device_rack`, the floor plan must use the rack names of the fabric file.
    pub fn of(floor: &'f Floor) -> Self {
        let is_placed = floor.racks.iter().any(|rack| rack.device_rack.is_some());
        let name = |rack: &'f FloorRack| match &rack.device_rack {
            Some(name) => Some(name.as_str()),
            None => (!is_placed).then_some(rack.name.as_str()),
        };
        let racks = floor.racks.iter().enumerate();
        Positions { floor, by_name: racks.filter_map(|(at, rack)| Some((name(rack)?, at))).collect() }
    }

    /// Returns the standard length for a cable between two racks of the fabric file. The error is the name of
    /// a rack that is not in the floor plan.
    pub(crate) fn length<'n>(&self, from: &'n str, to: &'n str) -> Result<Length, &'n str> {
        let at = |name: &'n str| self.by_name.get(name).copied().ok_or(name);
        Ok(standard_length(self.floor.length(at(from)?, at(to)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor(crossings: Vec<i64>) -> Floor {
        let text = "rack,row,x,y,units\nA1,A,0,0,42\nA9,A,4.8,0,42\nB1,B,0,3,42\nB9,B,4.8,3,42\n";
        Floor::read(text, TrayOptions { crossings: Some(crossings), drop: Some(2_000) })
            .expect("it is a plan")
    }

    #[test]
    fn cables_follow_trays() {
        let length = |crossings: &[i64], from, to| floor(crossings.to_vec()).length(from, to).to_string();
        assert_eq!(length(&[], 0, 0), "2m");
        assert_eq!(length(&[], 0, 1), "8.8m");
        assert_eq!(length(&[], 0, 3), "11.8m");
        // With one crossing tray at the end of the rows.
        assert_eq!(length(&[0], 1, 3), "16.6m");
        assert_eq!(length(&[0, 4_800], 1, 3), "7m");
        assert_eq!(length(&[10_000], 0, 2), "27m");
    }

    #[test]
    fn cable_lengths_are_rounded_up_to_standard_lengths() {
        let text = |millimeters| standard_length(Length::from_millimeters(millimeters)).to_string();
        assert_eq!(
            [0, 500, 501, 8_800, 100_000, 100_001].map(text),
            ["0.5m", "0.5m", "1m", "10m", "100m", "150m"]
        );
    }
}
