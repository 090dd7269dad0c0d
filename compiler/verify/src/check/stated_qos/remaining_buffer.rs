//! The buffer of a switch that remains for its pools. It is computed from the stated hardware and the listed cables, so
//! a wrong pool is detected even if all switches have it.

use crate::check::profile::{port, stated_switch};
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;
use crate::model::stated::{StatedBuffer, StatedValues};
use crate::model::switch::Switch;

/// Buffer that remains for the pools of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RemainingBuffer {
    buffer: StatedBuffer,
    /// Bytes that are reserved neither for groups nor for headroom.
    shared_bytes: u64,
    /// Bytes of the headroom pool; absent without PFC.
    headroom: Option<u64>,
}

impl RemainingBuffer {
    /// Returns the bytes of the shared pool, rounded down to whole cells.
    pub(super) fn shared_pool(self) -> u64 {
        self.shared_bytes - self.shared_bytes % self.buffer.cell_bytes.max(1)
    }

    /// Returns the bytes of the headroom pool, rounded up to whole cells.
    pub(super) fn headroom(self) -> u64 {
        let cell = self.buffer.cell_bytes.max(1);
        self.headroom.unwrap_or(0).div_ceil(cell).saturating_mul(cell)
    }

    /// Returns the bytes of the complete buffer.
    pub(super) fn total(self) -> u64 {
        self.buffer.total_bytes
    }
}

/// Computes the remaining buffer of a switch; `None` if its buffer or the length of one of its cables is unknown.
pub(super) fn of(
    fabric: &Fabric,
    id: SwitchId,
    (switch, stated): (&Switch, &StatedValues),
) -> Option<RemainingBuffer> {
    let own = stated_switch(fabric, stated, (id, switch), switch.tier?)?;
    let buffer = own.buffer?;
    let classes = stated.qos.classes.iter().filter(|class| class.pauses.is_some()).count() as u64;
    let (mut reserved, mut pooled, mut largest, mut cables) = (0_u64, 0_u64, 0_u64, 0_u64);
    for slot in 0..switch.ends.len() {
        let (_, cable, side) = fabric.slot_cable(id, slot as u16);
        cables += 1;
        if classes == 0 {
            continue;
        }
        let port = port(own, &cable, side).filter(|port| port.meters == u64::from(cable.meters))?;
        let each = port.pooled_bytes?;
        reserved = reserved.saturating_add(port.reserved_bytes?.saturating_mul(classes));
        pooled = pooled.saturating_add(each.saturating_mul(classes));
        largest = largest.max(each);
    }
    let beyond = pooled.saturating_sub(cables.saturating_mul(buffer.private_bytes));
    // A ratio of 0 leaves no bytes for the shared pool, so no pool size fits such a profile.
    let ratio = u64::from(buffer.headroom_ratio);
    let share = if ratio == 0 { u64::MAX } else { beyond.div_ceil(ratio) };
    let headroom = if pooled == 0 { 0 } else { share.max(largest) };
    let shared = buffer.free_bytes.saturating_sub(reserved).saturating_sub(headroom);
    Some(RemainingBuffer { buffer, shared_bytes: shared, headroom: (classes > 0).then_some(headroom) })
}

/// Returns whether thresholds are as stated: the same bytes, or the same shares of a pool whose size differs from the
/// stated one.
pub(super) fn marks(
    found: (u64, u64, u64),
    stated: (u64, u64, u64),
    room: Option<(RemainingBuffer, &u64)>,
    mtu: u16,
) -> bool {
    if found == stated {
        return true;
    }
    let Some((room, for_bytes)) = room.filter(|(room, for_bytes)| room.shared_bytes != **for_bytes) else {
        return false;
    };
    let scaled = |bytes: u64| {
        let scaled = u128::from(bytes) * u128::from(room.shared_bytes) / u128::from((*for_bytes).max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    };
    let cell = room.buffer.cell_bytes.max(1);
    // Minimum and maximum are whole cells, and the maximum is a multiple of the minimum.
    let multiple = stated.1.div_ceil(stated.0.max(1));
    let close = |found: u64, meant: u64, cells: u64| found.abs_diff(meant) <= cells.saturating_mul(cell);
    let least = (2 * u64::from(mtu)).checked_next_multiple_of(cell).unwrap_or(u64::MAX);
    let shares = close(found.0, scaled(stated.0), 3) && close(found.1, scaled(stated.1), 3 * multiple);
    let floor = found.0 == least && close(found.1, least.saturating_mul(multiple), multiple);
    (shares || floor) && found.2 == stated.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_follow_the_room_and_nothing_else() {
        let buffer = StatedBuffer { cell_bytes: 100, ..StatedBuffer::default() };
        let room = RemainingBuffer { buffer, shared_bytes: 500_000, headroom: None };
        let stated = (100_000, 400_000, 20);
        let judge = |found, stated_for| marks(found, stated, Some((room, stated_for)), 1_500);
        assert!(judge(stated, &1_000_000));
        assert!(judge((50_000, 200_000, 20), &1_000_000));
        assert!(judge((3_000, 12_000, 20), &1_000_000), "no less than two packets");
        assert!(!judge((50_000, 200_000, 20), &500_000), "the same room");
        assert!(!judge((52_000, 208_000, 20), &1_000_000));
        assert!(!judge((50_000, 200_000, 19), &1_000_000));
        assert!(!marks((100_100, 400_000, 20), stated, None, 1_500), "not a share of anything");
    }

    #[test]
    fn pools_are_whole_cells() {
        let buffer = StatedBuffer { cell_bytes: 256, total_bytes: 2_560, ..StatedBuffer::default() };
        let room = RemainingBuffer { buffer, shared_bytes: 1_000, headroom: Some(300) };
        assert_eq!((room.shared_pool(), room.headroom(), room.total()), (768, 512, 2_560));
    }
}
