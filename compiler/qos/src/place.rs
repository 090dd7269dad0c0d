//! Where on a path a port is.
//!
//! In: nothing. Out: [`Place`]. Invariants: profiles, ECN rules and targets all speak of these three places.

/// Where on a path a port is, seen from the packets that leave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A first-tier port to a NIC.
    LastHop,
    /// A first-tier port to the tier above.
    Edge,
    /// A port of any higher tier.
    Fabric,
}
