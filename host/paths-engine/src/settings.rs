//! Timing and capacity of the engine.

use closc_paths::Table;

/// Values of a plane that an engine can hold, active and backup together: positions are bits of one word.
pub const VALUES_PER_PLANE_MAX: usize = 128;

/// Thresholds at which a path changes its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Good answers in a row after which a bad path is used again.
    pub good_answers: u16,
    /// Missed probes in a row that make a path bad. One lost packet is enough.
    pub missed_answers: u16,
    /// If a path fails again within this time after its recovery, it needs twice as many good answers. The factor grows
    /// to 32 at most.
    pub relapse_ns: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { good_answers: 4, missed_answers: 2, relapse_ns: 10_000_000_000 }
    }
}

/// Number of objects that an engine allocates at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Destinations open at a time.
    pub destinations: usize,
    /// Planes.
    pub planes: usize,
    /// Values of a plane, active and backup together.
    pub values_per_plane: usize,
    /// Denials.
    pub denials: usize,
    /// Events kept until the caller reads them; further ones are counted and dropped.
    pub events: usize,
}

impl Capacity {
    /// Returns the capacity for some destinations of a table, and for tables of the same shape.
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
