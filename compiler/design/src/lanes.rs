//! Cables that do not match the ports at their ends.
//!
//! In: the ports at both ends of a cable. Out: a message if the usual cable or modules do not match.
//! Invariants: cables of copper end to end (DAC, ACC) do not convert the speed of lanes. Modules have a gearbox if
//! their optical lanes are faster than those of the port. An example is 400GBASE-DR4 (IEEE 802.3 clause 124) on 8
//! lanes of 50 Gb/s.

use std::fmt;

use closc_platform::{Breakout, Platform};
use closc_qos::units::Speed;

use crate::design::{Design, Side, Tier};
use crate::optics::{COPPER, is_assembly};

/// Lanes of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lanes {
    count: u32,
    speed: Speed,
}

/// Ports at the ends of a kind of cable.
#[derive(Debug, Clone, Copy)]
pub struct CableEnds<'a> {
    /// Name of the kind in fabric files.
    pub kind: &'static str,
    /// Medium of the cables.
    pub medium: &'a str,
    /// Whether the medium is copper end to end.
    pub is_copper: bool,
    /// Lanes of the lower port.
    pub lower: Lanes,
    /// Lanes of the upper port.
    pub upper: Lanes,
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.count, self.speed)
    }
}

impl Lanes {
    /// Returns the lanes of a port of this speed with `count` lanes.
    pub fn of(port: Speed, count: u32) -> Self {
        let count = count.max(1);
        Lanes { count, speed: Speed::from_mbps(port.mbps() / count).unwrap_or(port) }
    }

    /// Returns the number of lanes.
    pub(crate) fn count(self) -> u32 {
        self.count
    }

    /// Returns the speed of each lane.
    pub(crate) fn speed(self) -> Speed {
        self.speed
    }

    /// Returns the lanes of a port of a switch.
    pub fn of_port(platform: &Platform, breakout: Breakout) -> Self {
        Lanes::of(breakout.speed, breakout.width(platform.panel.lanes).into())
    }
}

impl CableEnds<'_> {
    /// Returns a message if the lanes of the ends differ.
    pub fn unequal(self) -> Option<String> {
        let CableEnds { kind, medium, is_copper, lower, upper } = self;
        let remedy = if is_copper {
            format!("`{medium}` does not convert: use an optical or retimed cable")
        } else if is_assembly(medium) {
            "order cables that convert between them".to_owned()
        } else {
            "order modules with equal optical lanes".to_owned()
        };
        (lower != upper).then(|| format!("{kind} ports have {lower} and {upper} lanes: {remedy}"))
    }
}

/// Returns a message if copper would have to connect several cages of NICs with several cages of T0s. A copper
/// assembly has one cage at one of its ends.
pub fn crossed_copper(medium: &str, nic_ports: u32, t0_ports: u32) -> Option<String> {
    let is_crossed = COPPER.contains(&medium) && nic_ports > 1 && t0_ports > 1;
    is_crossed.then(|| {
        format!(
            "nic-t0: NIC cages have {nic_ports} ports and T0 cages {t0_ports}, but `{medium}` has a single cage at one end: use fibre"
        )
    })
}

impl Design<'_> {
    /// Returns a message if the copper of NICs would have to connect several cages with several cages.
    pub fn crossed_copper(&self) -> Option<String> {
        crossed_copper(self.media().nic_t0.medium, self.planes.into(), self.t0.down.breakout.ports.into())
    }

    /// Returns a message for each kind of cable between switches whose ends have different lanes.
    pub fn unequal_lanes(&self) -> Vec<String> {
        let media = self.media();
        let pair = |kind, medium, lower: &Tier<'_>, upper: &Tier<'_>| {
            let lanes = |tier: &Tier<'_>, side: Side| Lanes::of_port(tier.platform, side.breakout);
            let (lower, upper) = (lanes(lower, lower.up?), lanes(upper, upper.down));
            CableEnds { kind, medium, is_copper: false, lower, upper }.unequal()
        };
        let t1 = self.has_t1().then(|| pair("t0-t1", media.t0_t1.medium, &self.t0, &self.t1)).flatten();
        let t2 =
            self.third.as_ref().and_then(|third| pair("t1-t2", media.t1_t2.medium, &self.t1, &third.tier));
        t1.into_iter().chain(t2).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_those_of_a_port() {
        let catalogue = closc_platform::Catalogue::builtin();
        let lanes = |name: &str, breakout: &str| {
            let platform = catalogue.get(name).unwrap();
            let breakout =
                *platform.panel.breakouts.iter().find(|split| split.to_string() == breakout).unwrap();
            Lanes::of_port(platform, breakout).to_string()
        };
        assert_eq!(lanes("th6-1024x100g", "2x400G"), "4 x 100G");
        assert_eq!(lanes("spectrum6-sn6600", "4x400G"), "2 x 200G");
        assert_eq!(lanes("spectrum3-sn4700", "1x400G"), "8 x 50G");
    }

    #[test]
    fn the_medium_decides_the_remedy() {
        let port = Speed::gbps(400);
        let ends = |medium, is_copper| {
            let (lower, upper) = (Lanes::of(port, 4), Lanes::of(port, 8));
            CableEnds { kind: "nic-t0", medium, is_copper, lower, upper }.unequal().unwrap()
        };
        assert_eq!(
            ends("dac", true),
            "nic-t0 ports have 4 x 100G and 8 x 50G lanes: `dac` does not convert: use an optical or retimed cable"
        );
        assert!(ends("aoc", false).ends_with("order cables that convert between them"));
        assert!(ends("dr4", false).ends_with("order modules with equal optical lanes"));
        let lanes = Lanes::of(port, 4);
        let equal = CableEnds { kind: "nic-t0", medium: "dac", is_copper: true, lower: lanes, upper: lanes };
        assert_eq!(equal.unequal(), None);
    }

    #[test]
    fn copper_has_one_cage_at_one_end() {
        assert!(crossed_copper("dac", 2, 2).unwrap().contains("NIC cages have 2 ports and T0 cages 2,"));
        for (medium, nic_ports, t0_ports) in [("dr4", 2, 2), ("dac", 1, 8), ("aec", 8, 1)] {
            assert_eq!(crossed_copper(medium, nic_ports, t0_ports), None);
        }
    }
}
