//! Cables of a design, by kind.
//!
//! In: a design, and the media and lengths of its cables. Out: counts. Invariants: a design does not have a
//! floor plan, so lengths are assumed. They are the longest of each kind.

use closc_qos::units::{Length, Speed};
use closc_topology::media::{Lanes, Medium};

use crate::design::{Design, Side, Tier};
use crate::lanes::Lanes as PortLanes;
use crate::optics::COPPER;

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

/// Returns the usual single-mode medium between ports with these lanes. Modules with four optical lanes of 25G are
/// 100G PSM4, because 100GBASE-DR (IEEE 802.3 clause 140) has one lane of 100G. Modules of that type convert from
/// slower lanes, and also connect ports whose lanes differ. Ports with one lane of at most 25G have 25GBASE-LR (clause
/// 114) or 10GBASE-LR. Faster ones have a DR4, DR8 or twin-port module.
pub fn optical_medium(ends: [PortLanes; 2]) -> &'static str {
    const SLOW: Speed = Speed::gbps(25);
    let is_slow = ends.map(|lanes| lanes.speed() <= SLOW);
    match (is_slow, ends[0].count()) {
        ([true, true], 1) => "lr",
        ([true, true], _) => "psm4",
        ([true, false] | [false, true], _) => "dr",
        ([false, false], _) => Media::DEFAULT.t0_t1.medium,
    }
}

/// Returns the medium of the module in a cage with these lanes. A cage with several ports of 100GBASE-DR holds one
/// module with an optical lane for each.
pub fn module_medium(medium: &str, lanes: u8, lane: Speed) -> &str {
    match (medium, u32::from(lanes) * lane.mbps() / Speed::gbps(100).mbps()) {
        ("dr", 4) => "dr4",
        ("dr", 8) => "dr8",
        _ => medium,
    }
}

impl Design<'_> {
    /// Returns the cables of the design's file. Cables to NICs are of the first copper medium whose reach is
    /// sufficient at the lane speed, otherwise optical.
    pub fn media(&self) -> Media<'static> {
        if self.tiers().any(|tier| tier.platform.is_software()) {
            return Media::VIRTUAL;
        }
        let length = self.nic_cable;
        let (t0, planes) = (&self.t0, self.planes.into());
        let lanes = Lanes::of_nic(t0.down.breakout, t0.platform.panel.lanes, planes);
        let reaches = |word: &&str| {
            let reach = Medium::find(word).and_then(|medium| medium.reach(lanes?));
            reach.is_none_or(|reach| reach.length >= length)
        };
        let nic_port = || {
            let per_port = (self.nic_lanes() / u32::from(self.planes.max(1))).max(1);
            PortLanes::of(self.port_speed, per_port)
        };
        let t0_port = || PortLanes::of_port(t0.platform, t0.down.breakout);
        let copper = COPPER.into_iter().find(reaches);
        let medium = copper.unwrap_or_else(|| optical_medium([nic_port(), t0_port()]));
        let optic = |lower: &Tier<'_>, upper: Option<&Tier<'_>>| {
            let ports = [(lower, lower.up?), (upper?, upper?.down)];
            Some(optical_medium(ports.map(|(tier, side)| PortLanes::of_port(tier.platform, side.breakout))))
        };
        let kind = |usual: CableKind<'static>, medium: Option<&'static str>| CableKind {
            medium: medium.unwrap_or(usual.medium),
            ..usual
        };
        let t0_t1 = optic(&self.t0, self.has_t1().then_some(&self.t1));
        let t1_t2 = optic(&self.t1, self.third.as_ref().map(|third| &third.tier));
        Media {
            nic_t0: CableKind { medium, length },
            t0_t1: kind(Media::DEFAULT.t0_t1, t0_t1),
            t1_t2: kind(Media::DEFAULT.t1_t2, t1_t2),
        }
    }

    /// Returns the number of cables to NICs. Free places have none.
    pub fn nic_cables(&self) -> u64 {
        u64::from(self.nics) * u64::from(self.planes)
    }

    /// Returns the cables by kind: the ends as named in fabric files, the kind, and the number of cables.
    pub fn cables_by_kind<'m>(
        &self,
        media: &Media<'m>,
    ) -> impl Iterator<Item = (&'static str, CableKind<'m>, u64)> + use<'m> {
        let above = |switches: u32, up: Option<Side>| {
            u64::from(switches) * up.map_or(0, |side| u64::from(side.count))
        };
        let all = [
            ("nic-t0", media.nic_t0, self.nic_cables()),
            ("t0-t1", media.t0_t1, above(self.t0.switches, self.t0.up)),
            ("t1-t2", media.t1_t2, above(self.t1.switches, self.t1.up)),
        ];
        all.into_iter().filter(|(.., count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_have_the_names_of_their_optical_lanes() {
        let lanes = |gbps: u32, count: u32| PortLanes::of(Speed::gbps(gbps), count);
        for (ends, medium) in [
            ([lanes(100, 4), lanes(100, 4)], "psm4"),
            ([lanes(100, 4), lanes(100, 1)], "dr"),
            ([lanes(100, 2), lanes(100, 4)], "dr"),
            ([lanes(25, 1), lanes(25, 1)], "lr"),
            ([lanes(200, 4), lanes(200, 4)], "dr4"),
            ([lanes(400, 8), lanes(400, 4)], "dr4"),
            ([lanes(100, 1), lanes(100, 1)], "dr4"),
        ] {
            assert_eq!(optical_medium(ends), medium, "{} {}", ends[0], ends[1]);
        }
        for (medium, lanes, gbps, module) in [
            ("dr", 4, 25, "dr"),
            ("dr", 8, 50, "dr4"),
            ("dr", 8, 100, "dr8"),
            ("dr4", 8, 100, "dr4"),
            ("psm4", 4, 25, "psm4"),
        ] {
            assert_eq!(module_medium(medium, lanes, Speed::gbps(gbps)), module, "{medium} {lanes} x {gbps}G");
        }
    }
}
