//! Cables whose ends have lanes of different speeds.
//!
//! In: a design. Out: the kinds of cables for which the usual modules of both ends do not match. Invariants: optical
//! lanes are those of the electrical side from 200 Gb/s on (IEEE 802.3dj); slower ports have modules with a gearbox to
//! 100 Gb/s (400GBASE-DR4, IEEE 802.3 clause 124, on 8 lanes of 50 Gb/s).

use std::fmt;

use closc_qos::units::Speed;

use crate::design::{Design, Side, Tier};

/// Lanes of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lanes {
    /// Number.
    count: u32,
    /// Speed of each.
    speed: Speed,
}

/// Cables with different lanes at their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnequalLanes {
    /// Ends, as fabric files name them.
    ends: &'static str,
    /// Lanes of the lower port.
    lower: Lanes,
    /// Lanes of the upper port.
    upper: Lanes,
}

/// From this speed on, modules have as many optical as electrical lanes.
const WITHOUT_GEARBOX: Speed = Speed::gbps(200);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.count, self.speed)
    }
}

impl fmt::Display for UnequalLanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ports have {} and {} lanes: order modules with equal optical lanes",
            self.ends, self.lower, self.upper
        )
    }
}

impl Lanes {
    fn of(tier: &Tier<'_>, side: Side) -> Self {
        let cage = side.breakout.share.map_or(tier.platform.panel.lanes, |share| share.lanes);
        let count = (u32::from(cage) / u32::from(side.breakout.ports).max(1)).max(1);
        let speed = side.breakout.speed;
        Lanes { count, speed: Speed::from_mbps(speed.mbps() / count).unwrap_or(speed) }
    }
}

impl Design<'_> {
    /// Returns a line for each kind of cables between switches whose ends have different lanes, one of them without a
    /// gearbox.
    pub fn unequal_lanes(&self) -> Vec<String> {
        let pair = |ends, lower: &Tier<'_>, upper: &Tier<'_>| {
            let (lower, upper) = (Lanes::of(lower, lower.up?), Lanes::of(upper, upper.down));
            let is_unequal = lower != upper && lower.speed.max(upper.speed) >= WITHOUT_GEARBOX;
            is_unequal.then_some(UnequalLanes { ends, lower, upper })
        };
        let t1 = self.has_t1().then(|| pair("t0-t1", &self.t0, &self.t1)).flatten();
        let t2 = self.third.as_ref().and_then(|third| pair("t1-t2", &self.t1, &third.tier));
        t1.into_iter().chain(t2).map(|unequal| unequal.to_string()).collect()
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
            let down = Side { count: 1, breakout };
            let chassis = catalogue.chassis(platform);
            Lanes::of(&Tier { platform, chassis, switches: 1, down, up: None }, down).to_string()
        };
        assert_eq!(lanes("th6-1024x100g", "2x400G"), "4 x 100G");
        assert_eq!(lanes("spectrum6-sn6600", "4x400G"), "2 x 200G");
        assert_eq!(lanes("spectrum3-sn4700", "1x400G"), "8 x 50G");
    }
}
