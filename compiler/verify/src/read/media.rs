//! Reach of media by their standards, and the cables in the manifest.

use crate::model::cabling::Kind;
use crate::model::stated::Stated;

/// Reach in metres by the first letters of a medium's name, which precede the number of lanes, as in `dr4`. `None`:
/// unlimited.
const REACH: [(&str, Option<u32>); 13] = [
    // Passive copper: IEEE 802.3bj clause 92 below 400G.
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

/// Reach in metres of passive copper from 400G on: IEEE 802.3cd clause 136 (50G lanes); it is shorter in 802.3ck clause
/// 162.
const FAST_COPPER: (&str, u32, u32) = ("dac", 400_000, 3);

/// Cables between namespaces, of any length.
const VIRTUAL: &str = "virtual";

/// Returns the speed of the slowest ports at the lower end of a kind of cable (at its upper end for NICs), in Mb/s.
pub(super) fn speed(stated: &Stated, kind: Kind) -> Option<u32> {
    let (tier, down) = match kind {
        Kind::NicT0 => ("t0", true),
        Kind::T0T1 => ("t0", false),
        Kind::T1T2 => ("t1", false),
    };
    let ports = stated.switches.iter().filter(|switch| switch.tier == tier).flat_map(|switch| &switch.ports);
    ports.filter(|port| port.down == down).map(|port| port.speed_mbps).min()
}

/// Returns why a cable is not one of those in the manifest.
pub(super) fn not_stated(stated: &Stated, kind: &str, medium: &str, meters: u32) -> Option<String> {
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
    Some(format!("{meters} m of `{medium}`, and the manifest states {known} for `{kind}`"))
}

/// Returns why a cable exceeds the reach of its medium.
pub(super) fn too_long(medium: &str, meters: u32, mbps: Option<u32>) -> Option<String> {
    if medium == VIRTUAL {
        return None;
    }
    let (copper, fast, shorter) = FAST_COPPER;
    if medium == copper && meters > shorter && mbps.is_some_and(|mbps| mbps >= fast) {
        return Some(format!(
            "{meters} m of `{medium}`, which carries {shorter} m at the most at such a speed"
        ));
    }
    let kind = medium.trim_end_matches(|c: char| c.is_ascii_digit());
    match REACH.into_iter().find(|(word, _)| *word == kind) {
        None => Some(format!("`{medium}` is not a medium that is known")),
        Some((_, Some(most))) if meters > most => {
            Some(format!("{meters} m of `{medium}`, which carries {most} m at the most"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use closc_artefacts::StatedCable;

    use super::*;

    #[test]
    fn copper_ends_before_glass() {
        assert_eq!(too_long("dac", 3, None), None);
        assert!(too_long("dac", 60, None).is_some_and(|message| message.contains("5 m at the most")));
        assert_eq!(too_long("dr4", 500, None), None);
        assert!(too_long("fr8", 2_001, None).is_some());
        assert_eq!(too_long("dwdm", 80_000, None), None);
        assert_eq!(too_long("virtual", 1_000_000, None), None);
        assert_eq!(too_long("dac", 5, Some(200_000)), None);
        assert!(too_long("dac", 5, Some(400_000)).is_some_and(|message| message.contains("3 m at the most")));
        assert!(too_long("smf", 3, None).is_some());
    }
    #[test]
    fn cables_are_those_that_are_stated() {
        let cable = |kind: &str, meters, medium: &str| StatedCable {
            kind: kind.to_owned(),
            meters,
            medium: medium.to_owned(),
        };
        let cables = [cable("nic-t0", 3, "dac"), cable("nic-t0", 5, "aoc"), cable("t0-t1", 30, "dr4")];
        let stated = Stated { cables: cables.into_iter().collect(), ..Stated::default() };
        assert_eq!(not_stated(&stated, "nic-t0", "dac", 3), None);
        assert_eq!(not_stated(&stated, "nic-t0", "aoc", 5), None);
        for (kind, medium, meters) in [("nic-t0", "aoc", 3), ("nic-t0", "dac", 2), ("t0-t1", "fr4", 30)] {
            assert!(not_stated(&stated, kind, medium, meters).is_some(), "{kind} {medium} {meters}");
        }
        assert_eq!(
            not_stated(&stated, "t1-t2", "dr4", 30).as_deref(),
            Some("30 m of `dr4`, and the manifest states no such cable for `t1-t2`")
        );
    }
}
