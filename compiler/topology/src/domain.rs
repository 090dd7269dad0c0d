//! A failure domain: switches by position, or elements by name.
//!
//! In: a topology and a switch. Out: the domain of each kind that the switch is in. Invariants: a domain by
//! position depends only on the switch's coordinates, so growth does not move a switch to another domain.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};

use crate::coordinate::{Subject, Switch, TierId};

/// Kinds of domains, by name.
pub type Domains = BTreeMap<SmolStr, DomainRule>;

/// Rule that assigns elements to the domains of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum DomainRule {
    /// Position.
    Position(DomainPosition),
    /// A list: one domain with the name of its kind.
    Members(BTreeSet<Subject>),
}

/// A function of position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DomainPosition {
    /// Inputs of the function.
    pub by: DomainBy,
    /// Consecutive numbers that share a domain; at least 1.
    pub run: u16,
    /// Number of domains, assigned in turn; absent if there are as many as needed.
    pub count: Option<u16>,
    /// The tiers whose switches have such a domain.
    pub tiers: BTreeSet<TierId>,
}

/// Inputs of a function of position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum DomainBy {
    /// Coordinates. The last one numbers the domains, separately for each value of the others.
    Coordinates(Vec<Coordinate>),
    /// The number of the domain of another kind.
    Kind(SmolStr),
}

/// A coordinate of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Coordinate {
    /// T0, T1 or T2.
    Tier,
    /// The plane.
    Plane,
    /// The zone; T2s have none.
    Zone,
    /// The number in tier, plane and zone.
    Index,
}

impl Coordinate {
    /// Every coordinate.
    pub const ALL: [Coordinate; 4] =
        [Coordinate::Tier, Coordinate::Plane, Coordinate::Zone, Coordinate::Index];

    /// Returns the word used in YAML.
    pub fn keyword(self) -> &'static str {
        match self {
            Coordinate::Tier => "tier",
            Coordinate::Plane => "plane",
            Coordinate::Zone => "zone",
            Coordinate::Index => "index",
        }
    }

    pub(crate) fn number(self, switch: Switch) -> Option<u16> {
        match self {
            Coordinate::Tier => Some(u16::from(switch.tier.level())),
            Coordinate::Plane => Some(u16::from(switch.plane.0)),
            Coordinate::Zone => (switch.tier != TierId::T2).then_some(switch.zone.0),
            Coordinate::Index => Some(switch.index),
        }
    }

    /// Returns the part of a domain's name for a coordinate other than the last.
    pub(crate) fn part(self, switch: Switch) -> Option<SmolStr> {
        let number = self.number(switch)?;
        Some(match self {
            Coordinate::Tier => SmolStr::new_static(switch.tier.keyword()),
            Coordinate::Plane => format_smolstr!("p{number}"),
            Coordinate::Zone => format_smolstr!("z{number}"),
            Coordinate::Index => format_smolstr!("{}", number + 1),
        })
    }
}
