//! Media of NetBox cable types.
//!
//! In: a length, and a type in NetBox's import form, `dac-passive`, or export form, `Direct Attach Copper
//! (Passive)`. Out: a medium, and whether the type determines it. Source: `CableTypeChoices` of NetBox's
//! `dcim/choices.py`. A type that names the fibre does not name the optic, so the optic with the shortest
//! reach that covers the length is assumed. A row does not contain the speed of a lane, so the reach over the
//! slowest lanes is used. The compiler checks the reach over the actual lanes.

use closc_qos::units::Length;
use closc_topology::media::Medium;

/// A possible medium of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MediumMatch {
    pub(super) medium: &'static str,
    /// Whether the type cannot mean any other medium.
    pub(super) is_sure: bool,
}

/// Returns the meaning of a type; `None` if fabric files do not have such a medium.
pub(super) fn medium(kind: &str, length: Option<Length>) -> Option<MediumMatch> {
    let kind = kind.to_lowercase();
    let is = |value: &str, label: &str| {
        // The grade of fibre follows the word: `mmf-om4`, `Multimode Fiber (OM4)`.
        let begins = |word: &str| {
            kind.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ' ']))
        };
        begins(value) || begins(label)
    };
    let media: &[&'static str] = if is("dac-passive", "direct attach copper (passive)") {
        &["dac"]
    } else if is("dac-active", "direct attach copper (active)") {
        &["acc", "aec"]
    } else if is("aoc", "active optical cabling") {
        &["aoc"]
    } else if is("mmf", "multimode fiber") {
        &["sr"]
    } else if is("smf", "singlemode fiber") || is("smf", "single-mode fiber") {
        &["dr", "fr", "lr", "er"]
    } else {
        return None;
    };
    let carries = |word: &&&'static str| {
        let reach = Medium::find(word).and_then(|medium| medium.reaches().first());
        length.is_none_or(|length| reach.is_none_or(|reach| length <= reach.length))
    };
    let medium = media.iter().find(carries).or(media.last())?;
    Some(MediumMatch { medium, is_sure: matches!(*medium, "dac" | "aoc") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values and labels are those of NetBox 4.
    #[test]
    fn values_and_labels_are_media() {
        for (kind, meters, medium) in [
            ("dac-passive", Some(2), Some("dac")),
            ("Direct Attach Copper (Passive)", None, Some("dac")),
            ("dac-active", Some(3), Some("acc")),
            ("dac-active", Some(5), Some("acc")),
            ("Direct Attach Copper (Active)", Some(6), Some("aec")),
            ("aoc", Some(30), Some("aoc")),
            ("Active Optical Cabling (AOC)", None, Some("aoc")),
            ("mmf", Some(30), Some("sr")),
            ("Multimode Fiber (OM4)", None, Some("sr")),
            ("mmf-om5", None, Some("sr")),
            ("smf", None, Some("dr")),
            ("smf-os2", Some(501), Some("fr")),
            ("Single-mode Fiber (OS1)", Some(2_001), Some("lr")),
            ("Singlemode Fiber", Some(90_000), Some("er")),
            ("cat6a", None, None),
            ("Power", None, None),
            ("smfx", None, None),
        ] {
            let found = super::medium(kind, meters.map(Length::from_meters));
            assert_eq!(found.map(|meant| meant.medium), medium, "{kind} {meters:?}");
            let is_sure = matches!(medium, Some("dac" | "aoc"));
            assert!(found.is_none_or(|meant| meant.is_sure == is_sure), "{kind}");
        }
    }
}
