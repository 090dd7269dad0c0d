//! Which switch is probed when.
//!
//! In: the table and the period. Out: the probes that are due. Invariants: in every period a NIC probes each of its own
//! T0s, and with the other NICs of its group every uplink of those T0s twice, by two NICs; so all NICs together probe
//! every cable between T0 and T1 in every period, also if one of them is down.

use closc_paths::Table;

/// Where a probe turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Turn {
    /// At the own T0.
    T0 {
        /// The plane.
        plane: u8,
    },
    /// At the T1 over an uplink of the own T0.
    T1 {
        /// The plane.
        plane: u8,
        /// The uplink.
        uplink: u16,
    },
}

impl Turn {
    /// Returns its plane.
    pub fn plane(self) -> u8 {
        match self {
            Turn::T0 { plane } | Turn::T1 { plane, .. } => plane,
        }
    }
}

/// NICs of a group that probe the same uplink.
const TWICE: u16 = 2;

/// The probes of one NIC.
#[derive(Debug, Clone)]
pub struct Schedule {
    turns: Vec<Turn>,
    period_ns: u64,
    next: usize,
    started_ns: u64,
    /// Probes sent since the start.
    count: u64,
}

impl Schedule {
    /// Makes the schedule of the NIC on a downlink. What the table denies because it is absent is left out.
    pub fn new(table: &Table<'_>, downlink: u16, period_ns: u64, now_ns: u64) -> Schedule {
        let h = table.header();
        let nics = h.nics.max(1);
        let mut turns = Vec::new();
        for uplink in 0..h.t0_uplinks {
            let first = uplink % nics;
            if (0..TWICE.min(nics)).any(|n| (first + n) % nics == downlink) {
                turns.extend((0..h.planes).map(|plane| Turn::T1 { plane, uplink }));
            }
        }
        let absent = |turn: &Turn| {
            table.denied().any(|d| {
                let wide = d.scope.zone.is_none() && d.scope.group.is_none() && d.scope.downlink.is_none();
                let uplink = match *turn {
                    Turn::T0 { .. } => d.scope.uplinks.is_none(),
                    Turn::T1 { uplink, .. } => d.scope.uplinks.is_none_or(|(a, b)| (a..=b).contains(&uplink)),
                };
                let source = d.scope.source.is_none_or(|s| s == downlink);
                let whole = wide && source && uplink && d.scope.t1_uplinks.is_none();
                d.plane == turn.plane() && d.reason == closc_paths::Reason::Absent && whole
            })
        };
        turns.retain(|turn| !absent(turn));
        let t0s: Vec<Turn> = (0..h.planes).map(|plane| Turn::T0 { plane }).filter(|t| !absent(t)).collect();
        // A T0 probe before each round of planes would be more than needed: one a period is as often as any other.
        turns.splice(0..0, t0s);
        Schedule { turns, period_ns: period_ns.max(1), next: 0, started_ns: now_ns, count: 0 }
    }

    /// Returns all turns.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns the next probe if it is due. Time that was lost is not made up for by a burst.
    pub fn due(&mut self, now_ns: u64) -> Option<Turn> {
        if self.turns.is_empty() || now_ns < self.due_at() {
            return None;
        }
        if now_ns - self.due_at() > self.period_ns {
            (self.started_ns, self.count) = (now_ns, 0);
        }
        let turn = self.turns[self.next];
        self.next = (self.next + 1) % self.turns.len();
        self.count += 1;
        Some(turn)
    }

    /// Returns when the next probe is due.
    pub fn due_at(&self) -> u64 {
        let n = self.turns.len().max(1) as u128;
        self.started_ns + (u128::from(self.count) * u128::from(self.period_ns) / n) as u64
    }
}
