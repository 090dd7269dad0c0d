//! How far media carry, by the standards that define them.

/// Metres by the first letters of a medium's name, which its lanes follow: `dr4`. Nothing: as far as one likes.
const REACH: [(&str, Option<u32>); 13] = [
    // Passive copper: IEEE 802.3bj clause 92 below 400G; from there on 3 m and less.
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

/// Cables between namespaces, of any length.
const VIRTUAL: &str = "virtual";

/// Says why a cable cannot be of a medium.
pub(super) fn too_long(medium: &str, meters: u32) -> Option<String> {
    if medium == VIRTUAL {
        return None;
    }
    let kind = medium.trim_end_matches(|c: char| c.is_ascii_digit());
    match REACH.into_iter().find(|(word, _)| *word == kind) {
        None => Some(format!("`{medium}` is no medium that is known")),
        Some((_, Some(most))) if meters > most => {
            Some(format!("{meters} m of `{medium}`, which carries {most} m at the most"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copper_ends_before_glass() {
        assert_eq!(too_long("dac", 3), None);
        assert!(too_long("dac", 60).is_some_and(|message| message.contains("5 m at the most")));
        assert_eq!(too_long("dr4", 500), None);
        assert!(too_long("fr8", 2_001).is_some());
        assert_eq!(too_long("dwdm", 80_000), None);
        assert_eq!(too_long("virtual", 1_000_000), None);
        assert!(too_long("smf", 3).is_some());
    }
}
