//! Cables of a design, by kind.
//!
//! In: a design, and the media and lengths of its cables. Out: counts. Invariants: a design does not have a
//! floor plan, so lengths are assumed. They are the longest of each kind.

use closc_qos::units::Length;
use closc_topology::media::{Lanes, Medium};

use crate::design::{Design, Side};

/// A kind of cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CableKind<'a> {
    /// Medium, as a keyword of fabric files.
    pub medium: &'a str,
    /// Length of the longest cable of the kind.
    pub length: Length,
}

/// Cables of each kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media<'a> {
    /// Between NICs and T0s.
    pub nic_t0: CableKind<'a>,
    /// Between T0s and T1s.
    pub t0_t1: CableKind<'a>,
    /// Between T1s and T2s.
    pub t1_t2: CableKind<'a>,
}

/// Copper media. The one without electronics is first.
pub(crate) const COPPER: [&str; 3] = ["dac", "acc", "aec"];

impl Media<'_> {
    /// Default cables in the files of designs.
    pub const DEFAULT: Media<'static> = Media {
        nic_t0: CableKind { medium: "dac", length: Length::from_meters(2) },
        t0_t1: CableKind { medium: "dr4", length: Length::from_meters(30) },
        t1_t2: CableKind { medium: "dr4", length: Length::from_meters(100) },
    };

    /// Cables between software switches.
    pub const VIRTUAL: Media<'static> = {
        let virtual_cable = CableKind { medium: "virtual", length: Length::from_meters(1) };
        Media { nic_t0: virtual_cable, t0_t1: virtual_cable, t1_t2: virtual_cable }
    };
}

impl Design<'_> {
    /// Returns the cables of the design's file. Cables to NICs are of the first copper medium whose reach is
    /// sufficient at the lane speed.
    pub fn media(&self) -> Media<'static> {
        if self.tiers().any(|tier| tier.platform.is_software()) {
            return Media::VIRTUAL;
        }
        let usual = Media::DEFAULT.nic_t0;
        let (t0, planes) = (&self.t0, self.planes.into());
        let lanes = Lanes::of_nic(t0.down.breakout, t0.platform.panel.lanes, planes);
        let reaches = |word: &&str| {
            let reach = Medium::find(word).and_then(|medium| medium.reach(lanes?));
            reach.is_none_or(|reach| reach.length >= usual.length)
        };
        let medium = COPPER.into_iter().find(reaches).unwrap_or(usual.medium);
        Media { nic_t0: CableKind { medium, ..usual }, ..Media::DEFAULT }
    }

    /// Returns the cables by kind: the ends as named in fabric files, the kind, and the number of cables.
    pub fn cables_by_kind<'m>(
        &self,
        media: &Media<'m>,
    ) -> impl Iterator<Item = (&'static str, CableKind<'m>, u64)> + use<'m> {
        let nics = u64::from(self.places()) * u64::from(self.planes);
        let above = |switches: u32, up: Option<Side>| {
            u64::from(switches) * up.map_or(0, |side| u64::from(side.count))
        };
        let all = [
            ("nic-t0", media.nic_t0, nics),
            ("t0-t1", media.t0_t1, above(self.t0.switches, self.t0.up)),
            ("t1-t2", media.t1_t2, above(self.t1.switches, self.t1.up)),
        ];
        all.into_iter().filter(|(.., count)| *count > 0)
    }
}
