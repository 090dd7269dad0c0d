//! Probable meanings, and words as messages show them.
//!
//! In: a word and the words that exist. Out: the nearest, if it is near. Invariants: the same answer for the same
//! words in the same order.

use closc_diagnostics::printable;

/// Returns the known word that is nearest to `word`, if it is near enough to be a slip of the keyboard.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = word.chars().count().div_ceil(3);
    let simple = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    // A word of many times the length is nobody's slip, and comparing it takes time for nothing.
    let near = |candidate: &str| candidate.chars().count().abs_diff(word.chars().count()) <= allowed;
    if word.len() > LONGEST {
        return None;
    }
    let known: Vec<&str> = known.into_iter().collect();
    let wanted = simple(word);
    let slip = known
        .iter()
        .copied()
        .filter(|candidate| near(candidate))
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &simple(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate);
    // `bgp` for `bgp-unnumbered`: a whole part of one word alone, or how it starts.
    let is_part =
        |candidate: &&str| wanted.len() >= 2 && simple(candidate).split('-').any(|part| part == wanted);
    let mut parts = known.iter().copied().filter(is_part);
    slip.or_else(|| parts.next().filter(|_| parts.next().is_none()))
}

/// The longest word that somebody may have meant as another one.
const LONGEST: usize = 100;

/// Says what to write for words of other tools and trades, which are near to none of ours.
pub(crate) fn instead(what: &str, word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    match (what, word.as_str()) {
        ("operating system", "nxos" | "nx-os" | "junos" | "ios-xr" | "iosxr" | "sros" | "srlinux") => {
            Some("configurations of this system are not made: use `sonic`, or `frr` on a Linux")
        }
        ("operating system", "cumulus" | "cumulus-linux") => Some("use `nvue`"),
        ("operating system", "dent" | "debian" | "ubuntu" | "vyos") => {
            Some("use `frr` for FRRouting on a Linux, or `linux` for the kernel alone")
        }
        ("operating system", "bmv2" | "tofino") => Some("use `p4`"),
        ("medium", "smf" | "os2" | "singlemode" | "single-mode" | "fiber" | "fibre") => Some(
            "this is the glass; write the optic: `dr`, `fr` or `lr`, by the length, or `sr` over multimode",
        ),
        ("medium", "mmf" | "om3" | "om4" | "om5" | "multimode" | "multi-mode") => {
            Some("this is the glass; write the optic: `sr`")
        }
        ("medium", "copper" | "cu" | "twinax") => Some("write `dac`, or `acc` or `aec` with electronics"),
        _ => None,
    }
}

/// Lists words for a message, each in backticks.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Cuts a text so that a message stays readable.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    let clean: String =
        text.chars().map(|c| if printable::acts(c) { '\u{fffd}' } else { c }).take(LONGEST + 1).collect();
    match clean.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &clean[..end]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_far() {
        let known = ["groups", "per_group", "nics_per_node"];
        assert_eq!(nearest("grops", known), Some("groups"));
        assert_eq!(nearest("per-group", known), Some("per_group"));
        assert_eq!(nearest("NicsPerNode", known), Some("nics_per_node"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("bgp", ["srv6-static", "ecmp-static", "bgp-unnumbered"]), Some("bgp-unnumbered"));
        assert_eq!(nearest("static", ["srv6-static", "ecmp-static", "bgp-unnumbered"]), None);
        assert_eq!(nearest("", known), None);
    }
}
