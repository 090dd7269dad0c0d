//! Plane and uplinks that an entropy value selects, and the distance of a destination.
//!
//! Out: plain data types that the reader and denials share.

/// Distance of a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Same T0 group.
    Local,
    /// Same zone.
    Zone,
    /// Another zone.
    Far,
}

/// Plane and uplinks that an entropy value selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The plane.
    pub plane: u8,
    /// Uplink of the T0.
    pub t0_uplink: u16,
    /// Uplink of the T1.
    pub t1_uplink: u16,
}
