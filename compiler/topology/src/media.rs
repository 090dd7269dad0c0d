//! Cable media and their reach.
//!
//! In: the keyword in a fabric file, the speed of a serial lane, and whether a cable splits a cage. Out: the medium and
//! its reach. Invariants: each reach has its source.

use closc_platform::Breakout;
use closc_qos::units::{Length, Speed};

/// A kind of cable or transceiver.
#[derive(Debug, PartialEq, Eq)]
pub struct Medium {
    /// The word used in YAML.
    pub keyword: &'static str,
    /// One-line description for users.
    pub title: &'static str,
    /// Whether it is copper end to end, so that both ends must use lanes of one speed.
    pub copper: bool,
    /// Reach, slowest lanes first.
    reach: &'static [Reach],
}

/// Reach of a medium.
#[derive(Debug, PartialEq, Eq)]
pub struct Reach {
    /// Minimum speed of a lane.
    from: Speed,
    /// Whether it applies only to cables that do not split a cage. Longer splitters with the same lanes are sold.
    straight: bool,
    /// Maximum length of a cable.
    pub length: Length,
    /// Source.
    pub source: &'static str,
}

impl Medium {
    /// Returns the medium of a word.
    pub fn find(word: &str) -> Option<&'static Medium> {
        MEDIA.iter().find(|medium| medium.keyword == word)
    }

    /// Returns whether its transceivers use no error correction at 100G over four lanes: 100GBASE-LR4 and -ER4 (IEEE
    /// 802.3ba clause 88). Those of other media need it on lanes of 25G.
    pub fn is_uncoded(&self) -> bool {
        matches!(self.keyword, "lr" | "lr4" | "er" | "er4")
    }

    /// Returns whether its plugs are parts of the cable, as of copper and active optical cables. All ends of such a
    /// cable are made with one length.
    pub fn is_assembly(&self) -> bool {
        self.copper || matches!(self.keyword, "aec" | "aoc")
    }

    /// Returns every medium.
    pub fn all() -> &'static [Medium] {
        MEDIA
    }

    /// Returns its reaches, slowest lanes first; empty if its reach is unlimited.
    pub fn reaches(&self) -> &'static [Reach] {
        self.reach
    }

    /// Returns its reach with the given lanes; `None` if it is unlimited.
    pub fn reach(&self, lanes: Lanes) -> Option<&'static Reach> {
        let mut fitting = self.reach.iter().rev().filter(|reach| lanes.straight || !reach.straight);
        fitting.find(|reach| reach.from <= lanes.speed).or(self.reach.first())
    }
}

/// Maximum number of lanes of a NIC cage: OSFP and QSFP-DD.
const NIC_CAGE_LANES: u8 = 8;

/// Serial lanes of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lanes {
    /// Speed of each.
    pub speed: Speed,
    /// Whether the cable connects one cage with one cage. A splitter connects one cage with several.
    pub straight: bool,
}

impl Lanes {
    /// Returns the lanes of a cable between switches. `near` and `far` are the breakouts of the cages at its ends. If
    /// both cages are split, one cable carries the ports of both.
    pub fn from_breakouts(near: Breakout, cage_lanes: u8, far: Option<Breakout>) -> Option<Self> {
        let straight = far.is_none_or(|far| is_split(near) == is_split(far));
        Some(Lanes { speed: lane(near, cage_lanes)?, straight })
    }

    /// Returns the lanes of a cable between a NIC and a T0. A NIC with several ports in a cage may split the
    /// cage, unless the T0's cage has as many lanes as the largest NIC cage. A T0 that splits its cage may
    /// reach several NICs.
    pub fn of_nic(down: Breakout, cage_lanes: u8, ports_per_cage: u64) -> Option<Self> {
        let fills_cages = ports_per_cage == 1 || cage_lanes >= NIC_CAGE_LANES;
        Some(Lanes { speed: lane(down, cage_lanes)?, straight: !is_split(down) && fills_cages })
    }
}

fn is_split(breakout: Breakout) -> bool {
    breakout.ports > 1 || breakout.share.is_some()
}

/// Returns the speed of a lane of ports: 1x800G and 8x100G of one cage have lanes of 100G.
fn lane(breakout: Breakout, cage_lanes: u8) -> Option<Speed> {
    Speed::from_mbps(breakout.speed.mbps() / u32::from(breakout.width(cage_lanes)).max(1))
}

const ANY: Speed = Speed::gbps(1);

const fn any_speed_reach(millimeters: u64, source: &'static str) -> Reach {
    at(ANY, millimeters, source)
}

const fn at(from: Speed, millimeters: u64, source: &'static str) -> Reach {
    Reach { from, straight: false, length: Length::from_millimeters(millimeters), source }
}

const fn optic(word: &'static str, title: &'static str, reach: &'static [Reach]) -> Medium {
    Medium { keyword: word, title, copper: false, reach }
}

const SR: &str = "100 m of OM4: IEEE 802.3bm (100GBASE-SR4), 802.3cm (400GBASE-SR8), 802.3db (SR1 to SR4)";
const DR: &str = "500 m: IEEE 802.3cd (100GBASE-DR), 802.3bs (400GBASE-DR4), 802.3df (800GBASE-DR8)";
const FR: &str = "2 km: IEEE 802.3cu (100GBASE-FR1, 400GBASE-FR4), 802.3bs (FR8)";
const LR: &str = "10 km: IEEE 802.3cu (100GBASE-LR1), 802.3bs (400GBASE-LR8), 802.3ba (100GBASE-LR4)";
const ER: &str = "40 km: IEEE 802.3ba (100GBASE-ER4), 802.3cn (400GBASE-ER8)";
const ZR: &str = "120 km amplified: OIF-400ZR-02.0, application code 0x01";

const KM: u64 = 1_000_000;
const M: u64 = 1_000;

static MEDIA: &[Medium] = &[
    Medium {
        keyword: "dac",
        title: "passive copper",
        copper: true,
        reach: &[
            any_speed_reach(
                5 * M,
                "5 m of 25G lanes: IEEE 802.3bj clause 92 (100GBASE-CR4), 802.3by clause 110 (25GBASE-CR)",
            ),
            at(
                Speed::gbps(50),
                3 * M,
                "3 m of 50G lanes, and of 100G lanes behind a split cage: IEEE 802.3cd clause 136, NVIDIA's splitters LinkX \
                 MCP7Y00",
            ),
            Reach {
                from: Speed::gbps(100),
                straight: true,
                length: Length::from_meters(2),
                source: "2 m of 100G lanes from cage to cage: IEEE 802.3ck clause 162 (100GBASE-CR1 to 400GBASE-CR4), \
                         802.3df (800GBASE-CR8), NVIDIA's LinkX MCP4Y10",
            },
            at(
                Speed::gbps(200),
                M,
                "1 m of 200G lanes: clause 179 (200GBASE-CR1 to 1.6TBASE-CR8) of IEEE P802.3dj, a draft, so assumed",
            ),
        ],
    },
    Medium {
        keyword: "acc",
        title: "active copper with redrivers",
        copper: true,
        reach: &[
            any_speed_reach(5 * M, "5 m: the longest of NVIDIA's and Amphenol's 400G and 800G ACC lists"),
            at(
                Speed::gbps(200),
                3 * M,
                "3 m of 200G lanes: NVIDIA's LinkX MCA4K50 (1.6T), the longest of its list",
            ),
        ],
    },
    Medium {
        keyword: "aec",
        title: "active copper with retimers",
        copper: false,
        reach: &[any_speed_reach(7 * M, "7 m: HiWire AEC specification; Credo's 400G and 800G lists")],
    },
    optic(
        "aoc",
        "active optical cable",
        &[any_speed_reach(100 * M, "100 m: the longest of common 100G to 800G AOC lists")],
    ),
    optic(
        "vr",
        "multimode, very short",
        &[any_speed_reach(50 * M, "50 m of OM4: IEEE 802.3db (VR1 to VR8)")],
    ),
    optic("sr", "multimode, short", &[any_speed_reach(100 * M, SR)]),
    optic("sr2", "multimode, short", &[any_speed_reach(100 * M, SR)]),
    optic("sr4", "multimode, short", &[any_speed_reach(100 * M, SR)]),
    optic("sr8", "multimode, short", &[any_speed_reach(100 * M, SR)]),
    optic("psm4", "parallel single mode", &[any_speed_reach(500 * M, "500 m: 100G PSM4 MSA")]),
    optic("dr", "single mode, data centre", &[any_speed_reach(500 * M, DR)]),
    optic("dr2", "single mode, data centre", &[any_speed_reach(500 * M, DR)]),
    optic("dr4", "single mode, data centre", &[any_speed_reach(500 * M, DR)]),
    optic("dr8", "single mode, data centre", &[any_speed_reach(500 * M, DR)]),
    optic("fr", "single mode, 2 km", &[any_speed_reach(2 * KM, FR)]),
    optic("fr4", "single mode, 2 km", &[any_speed_reach(2 * KM, FR)]),
    optic("fr8", "single mode, 2 km", &[any_speed_reach(2 * KM, FR)]),
    optic("lr", "single mode, 10 km", &[any_speed_reach(10 * KM, LR)]),
    optic("lr4", "single mode, 10 km", &[any_speed_reach(10 * KM, LR)]),
    optic("lr8", "single mode, 10 km", &[any_speed_reach(10 * KM, LR)]),
    optic("er", "single mode, 40 km", &[any_speed_reach(40 * KM, ER)]),
    optic("er4", "single mode, 40 km", &[any_speed_reach(40 * KM, ER)]),
    optic("er8", "single mode, 40 km", &[any_speed_reach(40 * KM, ER)]),
    optic("zr", "coherent, 120 km", &[any_speed_reach(120 * KM, ZR)]),
    optic("dwdm", "a separate line system, any length", &[]),
    optic("virtual", "no cable: between namespaces or processes", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(word: &str, mbps: u32, straight: bool) -> Length {
        let speed = Speed::from_mbps(mbps).unwrap();
        Medium::find(word).unwrap().reach(Lanes { speed, straight }).unwrap().length
    }

    #[test]
    fn copper_gets_shorter_with_speed() {
        for straight in [false, true] {
            for (mbps, meters) in [
                (10, 5),
                (25_000, 5),
                (50_000, 3),
                (53_125, 3),
                (100_000, if straight { 2 } else { 3 }),
                (200_000, 1),
            ] {
                assert_eq!(reach("dac", mbps, straight), Length::from_meters(meters), "{mbps} {straight}");
            }
        }
        assert_eq!(reach("acc", 100_000, true), Length::from_meters(5));
        assert_eq!(reach("acc", 200_000, true), Length::from_meters(3));
    }

    /// Ports of 400G over four lanes, over eight lanes, and two of the eight ports of a cage.
    #[test]
    fn lanes_follow_from_cages() {
        let breakout = |ports, gbps| Breakout { ports, speed: Speed::gbps(gbps), share: None };
        let between = |near, cage_lanes, far| {
            let lanes = Lanes::from_breakouts(near, cage_lanes, Some(far)).unwrap();
            (lanes.speed, lanes.straight)
        };
        let (whole, halves) = (breakout(1, 800), breakout(2, 400));
        assert_eq!(between(whole, 8, whole), (Speed::gbps(100), true));
        assert_eq!(between(halves, 8, halves), (Speed::gbps(100), true), "a twin-port cable");
        assert_eq!(between(halves, 8, breakout(1, 400)), (Speed::gbps(100), false), "a splitter");
        assert_eq!(between(breakout(1, 400), 8, breakout(1, 400)), (Speed::gbps(50), true));
        let nic = |down, planes| Lanes::of_nic(down, 8, planes).unwrap().straight;
        assert_eq!([nic(whole, 1), nic(whole, 2), nic(halves, 1)], [true, true, false]);
        let four = |planes| Lanes::of_nic(breakout(1, 400), 4, planes).unwrap().straight;
        assert_eq!([four(1), four(2)], [true, false], "a NIC splits a cage of eight lanes");
    }

    #[test]
    fn words_differ_and_have_sources() {
        for (at, medium) in Medium::all().iter().enumerate() {
            assert_eq!(Medium::find(medium.keyword), Some(&Medium::all()[at]));
            assert!(medium.reach.iter().all(|reach| !reach.source.is_empty()));
        }
        assert!(Medium::find("virtual").unwrap().reaches().is_empty());
    }
}
