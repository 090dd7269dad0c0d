//! The eBGP settings of one switch, as a part of its intent.
//!
//! Plain data for renderers. Invariants: directions without neighbours are omitted.

use std::net::Ipv4Addr;

use closc_artefacts::{BgpTimers, Prefix};

/// eBGP of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BgpIntent {
    /// Own autonomous system number.
    pub asn: u32,
    /// 32-bit identifier.
    pub router_id: Ipv4Addr,
    /// Maximum number of paths to one prefix that are used at the same time.
    pub multipath: u16,
    /// Its own announcements.
    pub networks: Vec<Prefix>,
    /// Prefixes accepted from all neighbours. Each entry is a pool and a prefix length.
    pub accepts: Vec<AcceptedPrefixes>,
    /// Its neighbours, in the order of their ports.
    pub neighbours: Vec<BgpNeighbour>,
    /// Common values of all neighbours in one direction. Directions without neighbours are omitted.
    pub sides: Vec<BgpSide>,
    /// Timers of its sessions.
    pub timers: BgpTimers,
}

/// Prefixes that are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedPrefixes {
    /// The pool they are in.
    pub pool: Prefix,
    /// Their length.
    pub length: u8,
}

/// Direction of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BgpDirection {
    /// Nearer to the NICs.
    Below,
    /// Farther from the NICs.
    Above,
}

impl BgpDirection {
    /// Returns its name in configurations.
    pub fn keyword(self) -> &'static str {
        match self {
            BgpDirection::Below => "BELOW",
            BgpDirection::Above => "ABOVE",
        }
    }
}

/// A neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BgpNeighbour {
    /// Index in [`crate::DeviceIntent::ports`].
    pub port: usize,
    /// Its autonomous system number.
    pub asn: u32,
    /// Its direction.
    pub direction: BgpDirection,
    /// Whether its routes are a last resort, because the cable, one of its ends or the plane is drained.
    pub drained: bool,
}

/// Common values of all neighbours in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BgpSide {
    /// The direction.
    pub direction: BgpDirection,
    /// Maximum length of AS paths accepted from this direction; `None` accepts any.
    pub longest_accepted: Option<u8>,
    /// Maximum length of AS paths announced in this direction, without the own AS; `None` announces any.
    pub longest_announced: Option<u8>,
    /// Maximum number of prefixes from one neighbour. If there are more, the session is closed.
    pub prefixes_max: u32,
    /// Bandwidth attribute of each announced route, from which receivers compute weights. Absent if neighbours cannot
    /// lose only part of the capacity behind them, or if the switch cannot announce the attribute.
    pub bandwidth: Option<BgpBandwidth>,
}

/// The bandwidth that is announced with a route (draft-ietf-idr-link-bandwidth).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BgpBandwidth {
    /// A nominal value for one cable, in Mb/s. All uplinks of a T0 have the same speed, so weights depend
    /// only on the number of cables.
    Cable(u16),
    /// The sum over all paths in use.
    Sum,
}
