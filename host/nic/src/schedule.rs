//! The schedule of switch probes.
//!
//! In: the table and the period. Out: the probes that are due. Invariants: in every period a NIC probes each of its own
//! T0s. The NICs of a group together probe every uplink of those T0s twice, from two NICs. So all NICs together probe
//! every cable between T0 and T1 in every period, even if one NIC is down. The cables between T1 and T2 are distributed
//! over all NICs of the zone in the same way, also twice.

use closc_paths::{Header, Reason, Table};

/// The switch at which a probe turns back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TurnPoint {
    /// At the NIC's T0.
    T0 {
        /// The plane.
        plane: u8,
    },
    /// At a T1, over an uplink of the NIC's T0.
    T1 {
        /// The plane.
        plane: u8,
        /// The uplink.
        uplink: u16,
    },
    /// At a T2, over an uplink of the NIC's T0 and one of the T1.
    T2 {
        /// The plane.
        plane: u8,
        /// The T0's uplink.
        uplink: u16,
        /// The T1's uplink.
        t1_uplink: u16,
    },
}

impl TurnPoint {
    /// Returns its plane.
    pub fn plane(self) -> u8 {
        match self {
            TurnPoint::T0 { plane } | TurnPoint::T1 { plane, .. } | TurnPoint::T2 { plane, .. } => plane,
        }
    }

    /// Returns its sort key; schedules are sorted by it.
    pub(crate) fn order(self) -> (u8, u8, u16, u16) {
        let (uplink, t1_uplink) = match self {
            TurnPoint::T0 { .. } => (0, 0),
            TurnPoint::T1 { uplink, .. } => (uplink, 0),
            TurnPoint::T2 { uplink, t1_uplink, .. } => (uplink, t1_uplink),
        };
        (self.plane(), self.tier(), uplink, t1_uplink)
    }

    /// Returns the tier of the switch.
    pub(crate) fn tier(self) -> u8 {
        match self {
            TurnPoint::T0 { .. } => 0,
            TurnPoint::T1 { .. } => 1,
            TurnPoint::T2 { .. } => 2,
        }
    }
}

/// Minimum number of probes sent together. A single probe costs several times as much, because both ends wake up for
/// it.
const BURST_MIN: u64 = 8;
/// Maximum number of probes sent together, so that a batch has room for answers to frames.
const BURST_MAX: u64 = 24;
/// If there are many probes, all those that are due within this time are sent together.
const BURST_NS: u64 = 12_500_000;

/// Number of NICs that probe the same cable.
const TWICE: u16 = 2;

/// Returns the cables between T1 and T2 that a NIC probes: a T0 uplink to each T1, and the T1's uplink. They are
/// distributed over all NICs of the zone. The two NICs that probe a cable are in different groups if there are several.
fn t2_turns(h: &Header, downlink: u16) -> Vec<(u16, u16)> {
    let (nics, groups) = (u32::from(h.nics.max(1)), u32::from(h.groups.max(1)));
    let all = nics * groups;
    let own = u32::from(h.group) * nics + u32::from(downlink);
    let t1s = (0..h.t0_uplinks).step_by(usize::from(h.parallel0.max(1)));
    let cables = t1s.flat_map(|uplink| (0..h.t1_uplinks).map(move |t1_uplink| (uplink, t1_uplink)));
    let mine = |at: u32| (0..u32::from(TWICE)).any(|n| (at + n * nics) % all == own || all < 2);
    cables.zip(0u32..).filter(|(_, at)| mine(*at)).map(|(cable, _)| cable).collect()
}

/// Returns whether all paths over the switch and cable of a turn point are absent.
fn is_absent(table: &Table<'_>, downlink: u16, turn: TurnPoint) -> bool {
    let within = |range: Option<(u16, u16)>, value: Option<u16>| match (range, value) {
        (None, _) => true,
        (Some((first, last)), Some(value)) => (first..=last).contains(&value),
        (Some(_), None) => false,
    };
    let (uplink, t1_uplink) = match turn {
        TurnPoint::T0 { .. } => (None, None),
        TurnPoint::T1 { uplink, .. } => (Some(uplink), None),
        TurnPoint::T2 { uplink, t1_uplink, .. } => (Some(uplink), Some(t1_uplink)),
    };
    table.denials().filter(|d| d.plane == turn.plane() && d.reason == Reason::Absent).any(|d| {
        let s = d.scope;
        s.zone.is_none()
            && s.group.is_none()
            && s.downlink.is_none()
            && s.source.is_none_or(|source| source == downlink)
            && within(s.uplinks, uplink)
            && within(s.t1_uplinks, t1_uplink)
    })
}

/// The probes of one NIC.
#[derive(Debug, Clone)]
pub struct Schedule {
    turn_points: Vec<TurnPoint>,
    period_ns: u64,
    next: usize,
    started_ns: u64,
    /// Probes sent since the start, or since the last long pause.
    count: u64,
    /// Probes sent together.
    burst: u64,
}

impl Schedule {
    /// Makes the schedule of the NIC on a downlink. `tiers` is the reach of its probes (0 to T0s, 1 to T1s, 2
    /// to T2s), `period_ns` the length of a round. Turn points that the table denies as absent are omitted.
    pub fn new(table: &Table<'_>, downlink: u16, (tiers, period_ns): (u8, u64), now_ns: u64) -> Schedule {
        let h = table.header();
        let beyond = t2_turns(h, downlink);
        let mine = |uplink: u16| {
            let nics = h.nics.max(1);
            let shared = (0..TWICE.min(nics)).any(|n| (uplink % nics + n) % nics == downlink);
            // An element behind a T1 can be blamed only if the T1 itself is known to be good.
            shared || beyond.iter().any(|(other, _)| *other == uplink)
        };
        let planes = || 0..h.planes;
        let mut turns: Vec<TurnPoint> = planes().map(|plane| TurnPoint::T0 { plane }).collect();
        for uplink in (0..h.t0_uplinks).filter(|uplink| mine(*uplink)) {
            turns.extend(planes().map(|plane| TurnPoint::T1 { plane, uplink }));
        }
        for (uplink, t1_uplink) in beyond {
            turns.extend(planes().map(|plane| TurnPoint::T2 { plane, uplink, t1_uplink }));
        }
        turns.retain(|turn| turn.tier() <= tiers && !is_absent(table, downlink, *turn));
        // Sort by plane. Probes of a cable and of the elements before it are then sent together, and probes interleave
        // with fewer data packets of a port.
        turns.sort_by_key(|turn| turn.order());
        let period_ns = period_ns.max(1);
        let many = turns.len() as u128 * u128::from(BURST_NS) / u128::from(period_ns);
        // Do not probe a switch twice in a burst, unless there are very few switches.
        let burst = (many as u64).min(turns.len() as u64).clamp(BURST_MIN, BURST_MAX);
        Schedule { turn_points: turns, period_ns, next: 0, started_ns: now_ns, count: 0, burst }
    }

    /// Returns all turn points.
    pub fn turn_points(&self) -> &[TurnPoint] {
        &self.turn_points
    }

    /// Returns the next probe if it is due, and its index in [`Self::turn_points`]. After a long pause,
    /// missed probes are not made up for.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<(usize, TurnPoint)> {
        if self.turn_points.is_empty() || now_ns < self.next_due_ns() {
            return None;
        }
        if now_ns - self.next_due_ns() > self.period_ns {
            (self.started_ns, self.count) = (now_ns, 0);
        }
        let place = self.next;
        self.next = (place + 1) % self.turn_points.len();
        self.count += 1;
        Some((place, self.turn_points[place]))
    }

    /// Returns when the next probe is due.
    pub fn next_due_ns(&self) -> u64 {
        let n = self.turn_points.len().max(1) as u128;
        let first = self.count - self.count % self.burst;
        self.started_ns + (u128::from(first) * u128::from(self.period_ns) / n) as u64
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use closc_paths::write::{Body, write};
    use closc_paths::{Kind, PlaneAt};

    use super::*;

    /// A table with two groups of three NICs. The T1s have two cables to each T0, and three uplinks.
    pub(crate) fn table(group: u16) -> Vec<u8> {
        let header = Header {
            planes: 2,
            plane: PlaneAt::Usids { shift: 11 },
            uplink_bits: 8,
            plane_bits: 3,
            t1_uplink_bits: 8,
            pool_len: 48,
            pool: 0xfd00_c105_0001 << 80,
            parallel0: 2,
            parallel1: 1,
            per_t1: 2,
            t0_uplinks: 8,
            t1_uplinks: 3,
            t2_step: 1,
            t2_row: 0,
            t2_rows: 0,
            zone_bits: 4,
            zone: 0,
            group,
            zones: 1,
            groups: 2,
            nics: 3,
            active: 4,
            backup: 2,
            min_active: 4,
            udp_port: 4791,
            mtu: 9000,
            t1_start: 0,
            t2_usid: 0xc001,
        };
        let body = Body {
            destinations: vec![(Some(Kind::Local), 0), (Some(Kind::Zone), 0)],
            orders: vec![(0..8).collect(); 2],
            ..Body::default()
        };
        write(&header, &body)
    }

    #[test]
    fn all_nics_together_probe_every_cable_twice() {
        let mut uplinks: BTreeMap<(u16, u8, u16), u32> = BTreeMap::new();
        let mut beyond: BTreeMap<(u8, u16, u16), u32> = BTreeMap::new();
        for group in 0..2 {
            let bytes = table(group);
            let table = Table::open(&bytes).unwrap();
            for downlink in 0..3 {
                let schedule = Schedule::new(&table, downlink, (2, 1000), 0);
                let t0s =
                    schedule.turn_points().iter().filter(|turn| matches!(turn, TurnPoint::T0 { .. })).count();
                assert_eq!(t0s, 2, "every NIC probes its own T0s");
                for turn in schedule.turn_points() {
                    match *turn {
                        TurnPoint::T0 { .. } => {}
                        TurnPoint::T1 { plane, uplink } => {
                            *uplinks.entry((group, plane, uplink)).or_default() += 1;
                        }
                        TurnPoint::T2 { plane, uplink, t1_uplink } => {
                            *beyond.entry((plane, uplink / 2, t1_uplink)).or_default() += 1;
                            assert!(schedule.turn_points().contains(&TurnPoint::T1 { plane, uplink }));
                        }
                    }
                }
            }
        }
        assert_eq!(uplinks.len(), 2 * 2 * 8);
        assert!(uplinks.values().all(|n| *n >= 2), "{uplinks:?}");
        assert_eq!(beyond.len(), 2 * 4 * 3);
        assert!(beyond.values().all(|n| *n == 2), "{beyond:?}");
    }

    #[test]
    fn a_round_takes_a_period_and_lost_time_is_not_made_up_for() {
        let bytes = table(0);
        let table = Table::open(&bytes).unwrap();
        let mut schedule = Schedule::new(&table, 0, (2, 1_000_000), 0);
        let n = schedule.turn_points().len();
        let mut count = 0;
        for now in 0..3_000_000 {
            count += usize::from(schedule.pop_due(now).is_some());
        }
        assert!(count.abs_diff(3 * n) <= BURST_MAX as usize, "{count} of {n} a round");
        let burst = std::iter::from_fn(|| schedule.pop_due(100_000_000)).count();
        assert!(burst <= 1 + n, "{burst}");
    }

    #[test]
    fn many_probes_leave_in_large_bursts_and_few_ones_are_not_kept_back() {
        let bytes = table(0);
        let table = Table::open(&bytes).unwrap();
        let burst = |period_ns: u64| {
            let mut schedule = Schedule::new(&table, 0, (2, period_ns), 0);
            let places: Vec<usize> =
                std::iter::from_fn(|| schedule.pop_due(0)).map(|(place, _)| place).collect();
            assert!(places.iter().copied().eq(0..places.len()), "{places:?}");
            places.len()
        };
        let turns = Schedule::new(&table, 0, (2, 1), 0).turn_points().len();
        assert!(turns > BURST_MIN as usize, "{turns}");
        let most = turns.min(BURST_MAX as usize);
        assert_eq!((burst(1_000_000_000), burst(10_000_000)), (BURST_MIN as usize, most));
    }
}
