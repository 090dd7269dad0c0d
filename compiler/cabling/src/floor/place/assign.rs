//! Positions of racks along a walk over the floor.
//!
//! In: racks with devices. Out: the same racks with positions. Invariants: the T0 racks of a block are in the
//! middle of its node racks. Racks of T1s are in the middle of the blocks of their zone, and racks of T2s in the
//! middle of all blocks. A rack of the floor plan is used at most once.

use std::collections::BTreeMap;

use super::super::Floor;
use super::{Cabinet, PlaceError};

/// T0 groups whose racks are next to each other: those of one unit, or of several units that share a rack of T0s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Block {
    pub(super) zone: u16,
    pub(super) unit: u32,
}

/// Numbers of bands to try. A band is a range of positions along the rows, and a walk covers one band after
/// the other.
const BANDS: [i64; 4] = [1, 2, 3, 4];

/// Returns walks over all racks: along rows, back and forth, over the complete width of the floor or band by band.
pub(super) fn orders(floor: &Floor) -> Vec<Vec<usize>> {
    let xs = || floor.racks.iter().map(|rack| rack.x);
    let (least, most) = (xs().min().unwrap_or_default(), xs().max().unwrap_or_default());
    let mut rows: Vec<(i64, &str)> = floor.racks.iter().map(|rack| (rack.y, rack.row.as_str())).collect();
    rows.sort_unstable();
    rows.dedup_by_key(|(_, row)| *row);
    let mut number: BTreeMap<&str, i64> = BTreeMap::new();
    for (at, (_, row)) in (0_i64..).zip(&rows) {
        number.entry(row).or_insert(at);
    }
    let walk = |bands: i64| {
        let width = ((most - least) / bands + 1).max(1);
        let mut order: Vec<usize> = (0..floor.racks.len()).collect();
        order.sort_by_key(|at| {
            let rack = &floor.racks[*at];
            let (band, row) = ((rack.x - least) / width, number[rack.row.as_str()]);
            let forth = if band % 2 == 0 { row } else { -row };
            (band, forth, if row % 2 == 0 { rack.x } else { -rack.x }, *at)
        });
        order
    };
    BANDS.into_iter().map(walk).collect()
}

/// Assigns each rack a position along a walk.
///
/// # Errors
///
/// [`PlaceError::Small`] with the first rack that fits no free position.
pub(super) fn assign(floor: &Floor, order: &[usize], cabinets: &mut [Cabinet]) -> Result<(), PlaceError> {
    let (mut used, mut from) = (vec![false; order.len()], 0);
    for (placed, at) in sequence(cabinets).into_iter().enumerate() {
        let cabinet = &cabinets[at];
        let free =
            (from..order.len()).chain(0..from).find(|at| !used[*at] && fits_rack(floor, order[*at], cabinet));
        let Some(free) = free else {
            let Cabinet { name, kind, units, watts, .. } = cabinet.clone();
            return Err(PlaceError::Small { cabinets: cabinets.len(), placed, kind, name, units, watts });
        };
        used[free] = true;
        // Continue after this position, so that racks of a block stay together.
        from = free + 1;
        cabinets[at].at = order[free];
    }
    Ok(())
}

/// Returns whether a rack of the floor plan has enough units and power.
pub(super) fn fits_rack(floor: &Floor, at: usize, cabinet: &Cabinet) -> bool {
    let rack = &floor.racks[at];
    let has_power = rack.watts.is_none_or(|most| cabinet.watts.is_some_and(|watts| watts <= u64::from(most)));
    cabinet.units <= u32::from(rack.units) && has_power
}

/// Returns the order of racks along a walk: zone by zone, and T2s in the middle of all zones.
fn sequence(cabinets: &[Cabinet]) -> Vec<usize> {
    let (mut zones, mut top) = (BTreeMap::<u16, ZoneRacks>::new(), Vec::new());
    for (at, cabinet) in cabinets.iter().enumerate() {
        let block = cabinet.block;
        let zone = zones.entry(block.zone);
        match cabinet.kind {
            "nodes" => zone.or_default().blocks.entry(block).or_default()[0].push(at),
            "t0" => zone.or_default().blocks.entry(block).or_default()[1].push(at),
            "t1" => zone.or_default().t1s.push(at),
            _ => top.push(at),
        }
    }
    // A single zone has the T2s beside its T1s.
    if zones.len() == 1
        && let Some(zone) = zones.values_mut().next()
    {
        zone.t1s.append(&mut top);
    }
    let half = zones.len() / 2;
    let mut found = Vec::new();
    for (at, zone) in zones.into_values().enumerate() {
        if at == half {
            found.append(&mut top);
        }
        zone.append_to(&mut found);
    }
    found.append(&mut top);
    found
}

/// Racks of the zones whose T0s share nodes.
#[derive(Default)]
struct ZoneRacks {
    /// Racks of nodes and of T0s.
    blocks: BTreeMap<Block, [Vec<usize>; 2]>,
    t1s: Vec<usize>,
}

impl ZoneRacks {
    /// Adds these racks: blocks with their T0s in the middle, and T1s in the middle of all blocks.
    fn append_to(mut self, found: &mut Vec<usize>) {
        let (half, is_odd) = (self.blocks.len() / 2, self.blocks.len() % 2 == 1);
        for (at, [mut nodes, t0s]) in self.blocks.into_values().enumerate() {
            if at == half && !is_odd {
                found.append(&mut self.t1s);
            }
            let rest = nodes.split_off(nodes.len() / 2);
            found.extend(nodes.into_iter().chain(t0s));
            if at == half {
                found.append(&mut self.t1s);
            }
            found.extend(rest);
        }
        found.append(&mut self.t1s);
    }
}
