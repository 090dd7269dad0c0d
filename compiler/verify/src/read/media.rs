//! Reach of media according to their standards, and comparison of cables with the manifest.

use closc_artefacts::StatedPort;

use crate::model::cabling::Kind;
use crate::model::stated::StatedValues;

/// Reach in metres by the letters that begin a medium's name; the number of lanes follows, as in `dr4`. `None` means
/// unlimited.
const REACH: [(&str, Option<u32>); 13] = [
    // Passive copper: IEEE 802.3bj clause 92.
    ("dac", Some(5)),
    ("acc", Some(5)),
    // HiWire AEC specification.
    ("aec", Some(7)),
    ("aoc", Some(100)),
    // IEEE 802.3db.
    ("vr", Some(50)),
    // 802.3bm, 802.3cm, 802.3db.
    ("sr", Some(100)),
    // 802.3cd, 802.3bs, 802.3df; 100G PSM4 MSA.
    ("dr", Some(500)),
    ("psm", Some(500)),
    // 802.3cu, 802.3bs.
    ("fr", Some(2_000)),
    // 802.3cu, 802.3ba.
    ("lr", Some(10_000)),
    // 802.3ba, 802.3cn.
    ("er", Some(40_000)),
    // OIF-400ZR-02.0, amplified.
    ("zr", Some(120_000)),
    ("dwdm", None),
];

/// Reach of copper with fast lanes: medium, minimum speed and number of lanes, reach in metres. Shorter reaches come
/// first.
const FAST_COPPER: [(&str, Lane, u32); 4] = [
    // Clause 179 of IEEE P802.3dj, a draft.
    ("dac", Lane { mbps: 200_000, of: 1 }, 1),
    // 802.3df clause 162. A port of eight lanes is a complete cage. Smaller ports may use a breakout cable.
    ("dac", Lane { mbps: 100_000, of: 8 }, 2),
    // 802.3cd clause 136 (50G lanes); breakout cables with 100G lanes on the market.
    ("dac", Lane { mbps: 50_000, of: 1 }, 3),
    // The longest cables on the market.
    ("acc", Lane { mbps: 200_000, of: 1 }, 3),
];

/// The medium of cables between network namespaces, which have any length.
const VIRTUAL: &str = "virtual";

/// A serial lane of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane {
    /// Speed in Mb/s.
    mbps: u32,
    /// Number of lanes of the port.
    of: u8,
}

/// Returns the slowest serial lane at the lower end of cables of a kind, or at the upper end for NIC cables.
pub(super) fn lane(stated: &StatedValues, kind: Kind) -> Option<Lane> {
    let (tier, down) = match kind {
        Kind::NicT0 => ("t0", true),
        Kind::T0T1 => ("t0", false),
        Kind::T1T2 => ("t1", false),
    };
    let ports = stated.switches.iter().filter(|switch| switch.tier == tier).flat_map(|switch| &switch.ports);
    let lane =
        |port: &StatedPort| Lane { mbps: port.speed_mbps / u32::from(port.lanes.max(1)), of: port.lanes };
    ports.filter(|port| port.down == down).map(lane).min()
}

/// Returns whether a medium is copper without retimers, so that the ports at both ends train the link.
pub(super) fn is_copper(medium: &str) -> bool {
    matches!(medium, "dac" | "acc")
}

/// Returns whether transceivers of a medium use no error correction at 100G over four lanes: 100GBASE-LR4 and -ER4
/// (IEEE 802.3 clause 88).
pub(super) fn is_uncoded(medium: &str) -> bool {
    ["lr", "er"].iter().any(|word| medium.starts_with(word))
}

/// Returns the reason why a cable does not match any cable in the manifest.
pub(super) fn not_stated(stated: &StatedValues, kind: &str, medium: &str, meters: u32) -> Option<String> {
    let alike = || stated.cables.iter().filter(|cable| cable.kind == kind);
    if alike().any(|cable| cable.medium == medium && cable.meters == u64::from(meters)) {
        return None;
    }
    let known: Vec<String> =
        alike().take(3).map(|cable| format!("{} m of `{}`", cable.meters, cable.medium)).collect();
    let known = match (known.is_empty(), alike().count()) {
        (true, _) => "no such cable".to_owned(),
        (false, count) if count > known.len() => format!("{} and others", known.join(", ")),
        (false, _) => known.join(" and "),
    };
    Some(format!("{meters} m of `{medium}`; the manifest states {known} for `{kind}`"))
}

/// Returns the message for a cable that exceeds the reach of its medium, or whose medium is unknown.
pub(super) fn too_long(medium: &str, meters: u32, lane: Option<Lane>) -> Option<String> {
    if medium == VIRTUAL {
        return None;
    }
    let fast = lane.and_then(|lane| {
        let applies = |from: Lane| lane.mbps >= from.mbps && lane.of >= from.of;
        FAST_COPPER.into_iter().find(|(word, from, _)| *word == medium && applies(*from)).zip(Some(lane))
    });
    if let Some(((.., most), lane)) = fast
        && meters > most
    {
        let gigabits = lane.mbps / 1_000;
        return Some(format!(
            "{meters} m of `{medium}`, which reaches at most {most} m with lanes of {gigabits}G"
        ));
    }
    let kind = medium.trim_end_matches(|c: char| c.is_ascii_digit());
    match REACH.into_iter().find(|(word, _)| *word == kind) {
        None => Some(format!("`{medium}` is not a known medium")),
        Some((_, Some(most))) if meters > most => {
            Some(format!("{meters} m of `{medium}`, which reaches at most {most} m"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use closc_artefacts::{StatedCable, StatedSwitch};

    use super::*;

    #[test]
    fn copper_ends_before_glass() {
        assert_eq!(too_long("dac", 3, None), None);
        assert!(too_long("dac", 60, None).is_some_and(|message| message.contains("at most 5 m")));
        assert_eq!(too_long("dr4", 500, None), None);
        assert!(too_long("fr8", 2_001, None).is_some());
        assert_eq!(too_long("dwdm", 80_000, None), None);
        assert_eq!(too_long("virtual", 1_000_000, None), None);
        assert!(too_long("smf", 3, None).is_some());
    }

    /// Speed and lanes of a port, a medium, and its reach.
    #[test]
    fn reach_is_by_lane_and_not_by_port() {
        for (gigabits, lanes, medium, most) in [
            (100, 4, "dac", 5),
            (400, 8, "dac", 3),
            (100, 1, "dac", 3),
            (400, 4, "dac", 3),
            (800, 8, "dac", 2),
            (200, 1, "dac", 1),
            (1_600, 8, "dac", 1),
            (800, 8, "acc", 5),
            (1_600, 8, "acc", 3),
        ] {
            let port =
                StatedPort { down: true, speed_mbps: gigabits * 1_000, lanes, ..StatedPort::default() };
            let t0 = StatedSwitch { tier: "t0".into(), ports: vec![port], ..StatedSwitch::default() };
            let lane = lane(&StatedValues { switches: vec![t0], ..StatedValues::default() }, Kind::NicT0);
            assert_eq!(too_long(medium, most, lane), None, "{gigabits}G {lanes} {medium}");
            let message = too_long(medium, most + 1, lane).unwrap();
            assert!(message.contains(&format!("at most {most} m")), "{message}");
        }
    }

    #[test]
    fn cables_are_those_that_are_stated() {
        let cable = |kind: &str, meters, medium: &str| StatedCable {
            kind: kind.to_owned(),
            meters,
            medium: medium.to_owned(),
        };
        let cables = [cable("nic-t0", 3, "dac"), cable("nic-t0", 5, "aoc"), cable("t0-t1", 30, "dr4")];
        let stated = StatedValues { cables: cables.into_iter().collect(), ..StatedValues::default() };
        assert_eq!(not_stated(&stated, "nic-t0", "dac", 3), None);
        assert_eq!(not_stated(&stated, "nic-t0", "aoc", 5), None);
        for (kind, medium, meters) in [("nic-t0", "aoc", 3), ("nic-t0", "dac", 2), ("t0-t1", "fr4", 30)] {
            assert!(not_stated(&stated, kind, medium, meters).is_some(), "{kind} {medium} {meters}");
        }
        assert_eq!(
            not_stated(&stated, "t1-t2", "dr4", 30).as_deref(),
            Some("30 m of `dr4`; the manifest states no such cable for `t1-t2`")
        );
    }
}
