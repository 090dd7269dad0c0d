//! Losses that coincide in several planes.
//!
//! In: the probes of one report. Out: for each turn, whether most of its peers in other planes lost probes too.
//! Invariants: turns without any answer are not counted.
//!
//! An agent sends the probes for one place in all planes together. If it reads their answers too late, it loses all of
//! them at once. Cables of different planes lose packets independently.

use std::collections::BTreeMap;

use closc_nic::schedule::TurnPoint;

/// Losses of one report, by the place of the turn in its plane.
#[derive(Debug, Default)]
pub(crate) struct Coincidences(BTreeMap<TurnPoint, Planes>);

/// Numbers of planes in which probes for one place returned, and in which some of them were lost.
#[derive(Debug, Clone, Copy, Default)]
struct Planes {
    all: u32,
    lossy: u32,
}

impl Coincidences {
    /// Counts probes sent and lost. Turns without any answer are not counted.
    pub(crate) fn of(results: &[(TurnPoint, (u64, u64))]) -> Self {
        let mut out = Coincidences::default();
        for (turn, (sent, lost)) in results.iter().filter(|(_, (sent, lost))| lost < sent) {
            debug_assert!(*sent > 0, "a probe returned");
            let planes = out.0.entry(in_plane(*turn, 0)).or_default();
            planes.all += 1;
            planes.lossy += u32::from(*lost > 0);
        }
        out
    }

    /// Returns whether at least half of the peers of a turn with losses lost probes too.
    pub(crate) fn is_shared(&self, turn: TurnPoint) -> bool {
        let Planes { all, lossy } = self.0.get(&in_plane(turn, 0)).copied().unwrap_or_default();
        all > 1 && 2 * lossy.saturating_sub(1) >= all - 1
    }
}

/// Returns the turn with the same place in another plane.
pub(crate) fn in_plane(turn: TurnPoint, plane: u8) -> TurnPoint {
    match turn {
        TurnPoint::T0 { .. } => TurnPoint::T0 { plane },
        TurnPoint::T1 { uplink, .. } => TurnPoint::T1 { plane, uplink },
        TurnPoint::T2 { uplink, t1_uplink, .. } => TurnPoint::T2 { plane, uplink, t1_uplink },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_half_of_the_peers_coincide() {
        let turn = |plane| TurnPoint::T1 { plane, uplink: 2 };
        // The last plane is dead, and the losses of another uplink do not count.
        let of = |lossy: u8| -> Vec<(TurnPoint, (u64, u64))> {
            let live = (0..7).map(|plane| (turn(plane), (8, u64::from(plane < lossy))));
            live.chain([(turn(7), (8, 8)), (TurnPoint::T1 { plane: 0, uplink: 1 }, (8, 1))]).collect()
        };
        for (lossy, is_shared) in [(1, false), (3, false), (4, true), (7, true)] {
            assert_eq!(Coincidences::of(&of(lossy)).is_shared(turn(0)), is_shared, "{lossy}");
        }
        let only = Coincidences::of(&[(turn(0), (8, 1))]);
        assert!(!only.is_shared(turn(0)), "a fabric of one plane");
    }
}
