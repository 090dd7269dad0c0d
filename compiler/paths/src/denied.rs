//! Denials: records of exactly the paths that an absent or drained element affects.

use crate::choice::{Choice, Kind};
use crate::layout::u16_at;

/// Reason why a path must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// An element of the path is absent.
    Absent,
    /// An element of the path is drained.
    Drained,
}

/// The set of denied paths of a plane. Each field that is set restricts it; `None` matches every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// Downlink of the sending NIC, from 0.
    pub source: Option<u16>,
    /// First and last T0 uplink; matches only paths that leave the group.
    pub uplinks: Option<(u16, u16)>,
    /// First and last T1 uplink; matches only paths that leave the zone.
    pub t1_uplinks: Option<(u16, u16)>,
    /// Destination zone.
    pub zone: Option<u16>,
    /// Destination group.
    pub group: Option<u16>,
    /// Downlink of the destination NIC, from 0.
    pub downlink: Option<u16>,
}

/// Paths of a plane that must not be used, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableDenial {
    /// The plane.
    pub plane: u8,
    /// The reason.
    pub reason: Reason,
    /// The denied paths of the plane.
    pub scope: Scope,
}

pub(crate) const SOURCE: u16 = 1;
pub(crate) const UPLINKS: u16 = 2;
pub(crate) const T1_UPLINKS: u16 = 4;
pub(crate) const ZONE: u16 = 8;
pub(crate) const GROUP: u16 = 16;
pub(crate) const DOWNLINK: u16 = 32;

impl TableDenial {
    pub(crate) fn read(bytes: &[u8]) -> TableDenial {
        let flags = u16_at(bytes, 2);
        let field = |flag: u16, at: usize| (flags & flag != 0).then(|| u16_at(bytes, at));
        let pair = |flag: u16, at: usize| field(flag, at).map(|first| (first, u16_at(bytes, at + 2)));
        TableDenial {
            plane: bytes.first().copied().unwrap_or(0),
            reason: if bytes.get(1) == Some(&1) { Reason::Drained } else { Reason::Absent },
            scope: Scope {
                source: field(SOURCE, 4),
                uplinks: pair(UPLINKS, 6),
                t1_uplinks: pair(T1_UPLINKS, 10),
                zone: field(ZONE, 14),
                group: field(GROUP, 16),
                downlink: field(DOWNLINK, 18),
            },
        }
    }

    /// Returns whether the denial covers a path from a sender, given by its downlink, to a NIC.
    pub fn covers(&self, kind: Kind, source: u16, to: (u16, u16, u16), choice: Choice) -> bool {
        let (zone, group, downlink) = to;
        let within = |range: Option<(u16, u16)>, value: u16| {
            range.is_none_or(|(first, last)| (first..=last).contains(&value))
        };
        let s = self.scope;
        self.plane == choice.plane
            && s.source.is_none_or(|d| d == source)
            && (s.uplinks.is_none() || kind != Kind::Local)
            && within(s.uplinks, choice.t0_uplink)
            && (s.t1_uplinks.is_none() || kind == Kind::Far)
            && within(s.t1_uplinks, choice.t1_uplink)
            && s.zone.is_none_or(|z| z == zone)
            && s.group.is_none_or(|g| g == group)
            && s.downlink.is_none_or(|d| d == downlink)
    }
}
