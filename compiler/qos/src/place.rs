//! The position of a port on a path.
//!
//! Out: [`Place`]. Invariants: profiles, ECN rules and targets all use these three positions.

/// The position of a port on the path of packets that leave through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A first-tier port to a NIC.
    LastHop,
    /// A first-tier port to the tier above.
    Edge,
    /// A port of any higher tier.
    Fabric,
}
