//! What fails together: switches by position, or things by name.
//!
//! In: a topology and a switch. Out: the domain of each kind that the switch is in. Invariants: a function of position, so
//! growth moves nobody to another domain.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, format_smolstr};

use crate::coordinate::{Switch, TierId};
use crate::lower::Target;
use crate::model::Topology;

/// Kinds of domains, by name.
pub type Domains = BTreeMap<SmolStr, DomainRule>;

/// What tells the domains of a kind apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DomainRule {
    /// Position.
    Position(DomainPosition),
    /// A list: one domain with the name of its kind.
    Members(BTreeSet<Target>),
}

/// A function of position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPosition {
    /// What is looked at.
    pub by: DomainBy,
    /// Numbers in a row that share a domain; at least 1.
    pub run: u16,
    /// Domains that are taken in turn; absent: as many as it takes.
    pub count: Option<u16>,
    /// The tiers whose switches it is about.
    pub tiers: BTreeSet<TierId>,
}

/// What a function of position looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DomainBy {
    /// Coordinates; the last is counted, and those before it tell runs of numbers apart.
    Coordinates(Vec<Coordinate>),
    /// The number of the domain of another kind.
    Kind(SmolStr),
}

/// A coordinate of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub fn word(self) -> &'static str {
        match self {
            Coordinate::Tier => "tier",
            Coordinate::Plane => "plane",
            Coordinate::Zone => "zone",
            Coordinate::Index => "index",
        }
    }

    fn number(self, switch: Switch) -> Option<u16> {
        match self {
            Coordinate::Tier => Some(u16::from(switch.tier.level())),
            Coordinate::Plane => Some(u16::from(switch.plane.0)),
            Coordinate::Zone => (switch.tier != TierId::T2).then_some(switch.zone.0),
            Coordinate::Index => Some(switch.index),
        }
    }

    /// Names a value where it only tells runs of numbers apart.
    fn part(self, switch: Switch) -> Option<SmolStr> {
        let number = self.number(switch)?;
        Some(match self {
            Coordinate::Tier => SmolStr::new_static(switch.tier.word()),
            Coordinate::Plane => format_smolstr!("p{number}"),
            Coordinate::Zone => format_smolstr!("z{number}"),
            Coordinate::Index => format_smolstr!("{}", number + 1),
        })
    }
}

impl Topology {
    /// Returns the domain of a kind that a switch is in by position: `rack-t0-3`, `power-2`, numbers from 1.
    pub fn domain(&self, kind: &str, switch: Switch) -> Option<SmolStr> {
        let (parts, number) = self.placed(kind, switch, self.domains.len())?;
        let mut name = SmolStr::from(kind);
        for part in parts {
            name = format_smolstr!("{name}-{part}");
        }
        Some(format_smolstr!("{name}-{}", number + 1))
    }

    /// Returns what tells runs of numbers apart, and the number. `depth` bounds how often a kind goes by another.
    fn placed(&self, kind: &str, switch: Switch, depth: usize) -> Option<(Vec<SmolStr>, u16)> {
        let DomainRule::Position(position) = self.domains.get(kind)? else { return None };
        if !position.tiers.contains(&switch.tier) {
            return None;
        }
        let (parts, number) = match &position.by {
            DomainBy::Coordinates(by) => {
                let (last, before) = by.split_last()?;
                let parts: Option<Vec<SmolStr>> = before.iter().map(|by| by.part(switch)).collect();
                (parts?, last.number(switch)?)
            }
            DomainBy::Kind(other) => (Vec::new(), self.placed(other, switch, depth.checked_sub(1)?)?.1),
        };
        let number = number / position.run.max(1);
        Some((parts, position.count.map_or(number, |count| number % count.max(1))))
    }
}
