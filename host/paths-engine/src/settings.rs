//! Timing and capacity of the engine.

use closc_paths::Table;

/// Values of a plane that an engine can hold, active and backup together: positions are bits of one integer.
pub const VALUES_PER_PLANE_MAX: usize = 128;

/// Thresholds at which a path changes its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Number of consecutive answers after which a bad path is used again.
    pub good_answers: u16,
    /// Number of consecutive missed probes that make a path bad. For packets, a single loss is enough.
    pub missed_answers: u16,
    /// If a path fails again within this time after its recovery, it needs twice as many answers. The factor is at most
    /// 32.
    pub relapse_ns: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { good_answers: 4, missed_answers: 2, relapse_ns: 10_000_000_000 }
    }
}

/// Numbers of objects for which an engine allocates memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Maximum number of open destinations.
    pub destinations: usize,
    /// Maximum number of planes.
    pub planes: usize,
    /// Maximum number of values of a plane, active and backup together.
    pub values_per_plane: usize,
    /// Maximum number of denials.
    pub denials: usize,
    /// Maximum number of events that wait for the caller. Further ones are counted and dropped.
    pub events: usize,
}

impl Capacity {
    /// Returns the capacity for a number of destinations of this table, or of another one with the same numbers of
    /// planes and values.
    pub fn of(table: &Table<'_>, destinations: usize) -> Self {
        let h = table.header();
        let values = usize::from(h.active) + usize::from(h.backup);
        Capacity {
            destinations,
            planes: usize::from(h.planes),
            values_per_plane: values.clamp(1, VALUES_PER_PLANE_MAX),
            denials: 256,
            events: 4096,
        }
    }
}
