//! Cable media and their reach.
//!
//! In: the keyword in a fabric file and the speed of a serial lane. Out: the medium and its reach. Invariants: each
//! reach has its source.

use closc_qos::units::{Length, Speed};

/// A kind of cable or transceiver.
#[derive(Debug, PartialEq, Eq)]
pub struct Medium {
    /// The word used in YAML.
    pub word: &'static str,
    /// A line for people.
    pub title: &'static str,
    /// Whether it is copper end to end, so that both ends must use lanes of one speed.
    pub copper: bool,
    /// Reach, slowest lanes first.
    reach: &'static [Reach],
}

/// Reach of a medium.
#[derive(Debug, PartialEq, Eq)]
pub struct Reach {
    /// Lanes from this speed on.
    from: Speed,
    /// The longest cable.
    pub length: Length,
    /// Source.
    pub source: &'static str,
}

impl Medium {
    /// Returns the medium of a word.
    pub fn find(word: &str) -> Option<&'static Medium> {
        MEDIA.iter().find(|medium| medium.word == word)
    }

    /// Returns every medium.
    pub fn all() -> &'static [Medium] {
        MEDIA
    }

    /// Returns its reaches, slowest lanes first; empty if its reach is unlimited.
    pub fn reaches(&self) -> &'static [Reach] {
        self.reach
    }

    /// Returns its reach at a speed of a lane; `None` if it is unlimited.
    pub fn reach(&self, lane: Speed) -> Option<&'static Reach> {
        self.reach.iter().rev().find(|reach| reach.from <= lane).or(self.reach.first())
    }
}

const ANY: Speed = Speed::gbps(1);

const fn up_to(millimeters: u64, source: &'static str) -> Reach {
    Reach { from: ANY, length: Length::from_millimeters(millimeters), source }
}

const fn optic(word: &'static str, title: &'static str, reach: &'static [Reach]) -> Medium {
    Medium { word, title, copper: false, reach }
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
        word: "dac",
        title: "passive copper",
        copper: true,
        reach: &[
            up_to(
                5 * M,
                "5 m of 25G lanes: IEEE 802.3bj clause 92 (100GBASE-CR4), 802.3by clause 110 (25GBASE-CR)",
            ),
            Reach {
                from: Speed::gbps(50),
                length: Length::from_meters(3),
                source: "3 m of 50G lanes: IEEE 802.3cd clause 136; of 100G lanes: NVIDIA's splitters (LinkX MCP7Y00), \
                         although 802.3ck clause 162 has 2 m",
            },
        ],
    },
    Medium {
        word: "acc",
        title: "active copper with redrivers",
        copper: true,
        reach: &[up_to(5 * M, "5 m: the longest of NVIDIA's and Amphenol's 400G and 800G ACC lists")],
    },
    Medium {
        word: "aec",
        title: "active copper with retimers",
        copper: false,
        reach: &[up_to(7 * M, "7 m: HiWire AEC specification; Credo's 400G and 800G lists")],
    },
    optic(
        "aoc",
        "active optical cable",
        &[up_to(100 * M, "100 m: the longest of common 100G to 800G AOC lists")],
    ),
    optic("vr", "multimode, very short", &[up_to(50 * M, "50 m of OM4: IEEE 802.3db (VR1 to VR8)")]),
    optic("sr", "multimode, short", &[up_to(100 * M, SR)]),
    optic("sr2", "multimode, short", &[up_to(100 * M, SR)]),
    optic("sr4", "multimode, short", &[up_to(100 * M, SR)]),
    optic("sr8", "multimode, short", &[up_to(100 * M, SR)]),
    optic("psm4", "parallel single mode", &[up_to(500 * M, "500 m: 100G PSM4 MSA")]),
    optic("dr", "single mode, data centre", &[up_to(500 * M, DR)]),
    optic("dr2", "single mode, data centre", &[up_to(500 * M, DR)]),
    optic("dr4", "single mode, data centre", &[up_to(500 * M, DR)]),
    optic("dr8", "single mode, data centre", &[up_to(500 * M, DR)]),
    optic("fr", "single mode, 2 km", &[up_to(2 * KM, FR)]),
    optic("fr4", "single mode, 2 km", &[up_to(2 * KM, FR)]),
    optic("fr8", "single mode, 2 km", &[up_to(2 * KM, FR)]),
    optic("lr", "single mode, 10 km", &[up_to(10 * KM, LR)]),
    optic("lr4", "single mode, 10 km", &[up_to(10 * KM, LR)]),
    optic("lr8", "single mode, 10 km", &[up_to(10 * KM, LR)]),
    optic("er", "single mode, 40 km", &[up_to(40 * KM, ER)]),
    optic("er4", "single mode, 40 km", &[up_to(40 * KM, ER)]),
    optic("er8", "single mode, 40 km", &[up_to(40 * KM, ER)]),
    optic("zr", "coherent, 120 km", &[up_to(120 * KM, ZR)]),
    optic("dwdm", "a separate line system, any length", &[]),
    optic("virtual", "no cable: between namespaces or processes", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copper_gets_shorter_with_speed() {
        let dac = Medium::find("dac").unwrap();
        assert_eq!(dac.reach(Speed::gbps(25)).unwrap().length, Length::from_meters(5));
        assert_eq!(dac.reach(Speed::gbps(50)).unwrap().length, Length::from_meters(3));
        assert_eq!(dac.reach(Speed::gbps(100)).unwrap().length, Length::from_meters(3));
        assert_eq!(dac.reach(Speed::from_mbps(10).unwrap()).unwrap().length, Length::from_meters(5));
    }

    #[test]
    fn words_differ_and_have_sources() {
        for (at, medium) in Medium::all().iter().enumerate() {
            assert_eq!(Medium::find(medium.word), Some(&Medium::all()[at]));
            assert!(medium.reach.iter().all(|reach| !reach.source.is_empty()));
        }
        assert!(Medium::find("virtual").unwrap().reach(Speed::gbps(100)).is_none());
    }
}
