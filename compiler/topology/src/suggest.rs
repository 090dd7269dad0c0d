//! Probable meanings of misspelled words, and lists of words for messages.
//!
//! In: a word and the words that exist. Out: the nearest word, if it is near enough. Invariants: the same words in
//! the same order give the same result.

use closc_diagnostics::{Diagnostic, Span, printable};

/// Returns the known word with the same parts as `word` in any order. If there is none, returns the nearest word that
/// `word` can be a misspelling of. Otherwise returns the only known word that contains `word` as a part.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let allowed = (length / 3).max(1);
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let known: Vec<&str> = known.into_iter().collect();
    let wanted = simple(word);
    // `t0-t1` for `t1-t0`: the same parts in another order.
    let turned = known.iter().copied().find(|candidate| parts(&simple(candidate)) == parts(&wanted));
    let slip = known
        .iter()
        .copied()
        // Skip candidates of very different length.
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &simple(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate);
    // `bgp` for `bgp-unnumbered`: a part of exactly one known word.
    let is_part =
        |candidate: &&str| wanted.len() >= 2 && simple(candidate).split('-').any(|part| part == wanted);
    let mut of_parts = known.iter().copied().filter(is_part);
    turned.or(slip).or_else(|| of_parts.next().filter(|_| of_parts.next().is_none()))
}

/// Maximum length of a misspelt word.
const LONGEST: usize = 100;

/// Minimum length of a word for a certain correction.
const CERTAIN_LETTERS: usize = 5;

/// Minimum length of a singular for a certain correction to its plural.
const SINGULAR_LETTERS: usize = 4;

/// A misspelling is uncertain if a second known word is within this many edits.
const CERTAIN_MARGIN: usize = 2;

/// Returns the sorted parts of a simple word, which hyphens separate.
fn parts(simple: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = simple.split('-').collect();
    parts.sort_unstable();
    parts
}

fn simple(text: &str) -> String {
    text.to_lowercase().replace(['_', ' '], "-")
}

/// Returns whether a key is certainly a misspelling of `meant`. It is if only letter case and separators differ, or
/// if it is the singular of `meant` and has four letters or more. For a word of five letters or more, one edit is
/// certain, too, unless a second known key is near.
fn is_certain<'a>(key: &str, meant: &str, known: impl IntoIterator<Item = &'a str>) -> bool {
    let distance = |known: &str| strsim::damerau_levenshtein(&simple(key), &simple(known));
    let is_near = |other: &&str| *other != meant && distance(other) <= CERTAIN_MARGIN;
    match distance(meant) {
        0 => true,
        1 if key.chars().count() >= SINGULAR_LETTERS && format!("{}s", simple(key)) == simple(meant) => true,
        1 => key.chars().count() >= CERTAIN_LETTERS && !known.into_iter().any(|other| is_near(&other)),
        _ => false,
    }
}

/// Adds the probable correction of a key: an edit if it is certain, otherwise a suggestion.
pub(crate) fn correct_key<'a>(
    finding: Diagnostic,
    span: Span,
    (key, meant): (&str, &str),
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let help = match synonym_of_key(key) {
        Some((to, help)) if to == meant => help.to_owned(),
        Some(_) | None => format!("did you mean `{meant}`?"),
    };
    if is_certain(key, meant, known) {
        finding.replace(span, meant, help)
    } else {
        finding.propose(span, meant, help)
    }
}

/// Adds the probable correction of a value from a closed list, such as media or routing modes. In such lists a
/// misspelling is often the correct spelling of another word (`cr4` is not `sr4`). So only differences in
/// letter case and separators give an edit, and never one to `none` or `off`.
pub(crate) fn correct_value<'a>(
    finding: Diagnostic,
    span: Span,
    (what, word): (&str, &str),
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    match (instead(what, word), nearest(word, known)) {
        (Some(help), _) => finding.help(help),
        (None, Some(meant)) => {
            let help = format!("did you mean `{meant}`?");
            let turns_off = matches!(meant, "none" | "off");
            if simple(word) == simple(meant) && !turns_off {
                finding.replace(span, meant, help)
            } else {
                finding.propose(span, meant, help)
            }
        }
        (None, None) => finding,
    }
}

/// Returns the key that was probably meant: a synonym from other tools, otherwise the nearest spelling.
pub(crate) fn intended_key<'a>(key: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let synonym = synonym_of_key(key).and_then(|(meant, _)| known.clone().find(|known| *known == meant));
    synonym.or_else(|| nearest(key, known))
}

/// Returns the key of this language for a key of other tools, with a help text.
fn synonym_of_key(key: &str) -> Option<(&'static str, &'static str)> {
    Some(match simple(key).as_str() {
        "leaf" | "leaves" | "leafs" | "tor" | "tors" => ("t0", "this tier is called `t0` here"),
        "spine" | "spines" | "aggregation" | "agg" => ("t1", "this tier is called `t1` here"),
        "super-spine" | "super-spines" | "superspine" | "superspines" | "core" => {
            ("t2", "this tier is called `t2` here")
        }
        "gpus-per-node" | "gpus-per-server" | "nics-per-server" | "nics-per-host" => {
            ("nics_per_node", "write `nics_per_node`, the number of NICs in a node")
        }
        "name" => ("fabric", "the name of a fabric is `fabric: NAME`"),
        "switch" | "model" | "hwsku" => ("platform", "write `platform`, a name that `closc platforms` lists"),
        "nos" => ("os", "write `os`"),
        "uplinks" => ("up", "uplinks are `up` here"),
        "downlinks" => ("down", "downlinks are `down` here"),
        "links" | "cabling" | "optics" => ("cables", "write `cables`"),
        "profile" | "preset" => ("base", "use `base`, the built-in profile that this one changes"),
        "pods" | "pod" => ("zones", "a pod with switches of its own is a zone: write `zones`"),
        _ => return None,
    })
}

/// Returns advice for terms of other tools and fields. It is tried before spelling.
fn instead(what: &str, word: &str) -> Option<&'static str> {
    const COPPER: &str = "this is copper: write `dac`, or `acc` or `aec` with electronics";
    let word = word.to_lowercase();
    match (what, word.as_str()) {
        ("operating system", "nxos" | "nx-os" | "junos" | "ios-xr" | "iosxr" | "sros" | "srlinux") => {
            Some("closc does not configure this system: use `sonic`, or `frr` on Linux")
        }
        ("operating system", "cumulus" | "cumulus-linux") => Some("use `nvue`"),
        ("operating system", "arista") => Some("use `eos`"),
        ("operating system", "dent" | "debian" | "ubuntu" | "vyos") => {
            Some("use `frr` for FRRouting on Linux, or `linux` for the kernel only")
        }
        ("operating system", "bmv2" | "tofino") => Some("use `p4`"),
        ("medium", "smf" | "os2" | "singlemode" | "single-mode" | "fiber" | "fibre") => Some(
            "this is the fibre; write the optic: `dr`, `fr` or `lr`, by the length, or `sr` over multimode",
        ),
        ("medium", "mmf" | "om3" | "om4" | "om5" | "multimode" | "multi-mode") => {
            Some("this is the fibre; write the optic: `sr`")
        }
        ("medium", "copper" | "cu" | "twinax" | "cr" | "cr2" | "cr4" | "cr8") => Some(COPPER),
        ("medium", "zr4" | "zr8" | "zr+" | "zrp" | "400zr" | "800zr" | "openzr+") => {
            Some("write `zr` for coherent optics, or `dwdm` with a line system")
        }
        ("routing mode", "evpn" | "vxlan" | "evpn-vxlan") => {
            Some("closc configures no EVPN overlay; `bgp-unnumbered` is an eBGP underlay")
        }
        ("routing mode", "ospf" | "ospfv3" | "isis" | "is-is") => Some(
            "closc configures no link-state routing: use `bgp-unnumbered`, or static paths with `srv6-static`",
        ),
        ("routing mode", "ecmp") => Some("write `ecmp-static`, or `bgp-unnumbered` for ECMP with BGP"),
        ("QoS profile", "roce" | "rocev2" | "roce-v2" | "pfc" | "dcqcn" | "ecn") => {
            Some("use `lossless` for RoCE with PFC and ECN, or `lossy-trim` for packet trimming without PFC")
        }
        ("QoS profile", "lossy" | "trim" | "trimming") => {
            Some("use `lossy-trim` for packet trimming, or `sonic-ai-lossy` without it")
        }
        ("QoS profile", "off" | "no" | "default" | "best-effort" | "besteffort" | "disabled") => Some(
            "`none` is one class for all traffic, without PFC, marking or trimming; `lossless` is for RoCE",
        ),
        _ => None,
    }
}

/// Lists words for a message, each in backticks.
pub(crate) fn format_list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Cuts a text so that a message stays readable.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    let clean: String = text
        .chars()
        .map(|c| if printable::is_unsafe(c) { '\u{fffd}' } else { c })
        .take(LONGEST + 1)
        .collect();
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
        assert_eq!(nearest("t1-t0", ["t1-t2", "t0-t1"]), Some("t0-t1"));
        assert_eq!(nearest("bgp", ["srv6-static", "ecmp-static", "bgp-unnumbered"]), Some("bgp-unnumbered"));
        assert_eq!(nearest("static", ["srv6-static", "ecmp-static", "bgp-unnumbered"]), None);
        assert_eq!(nearest("", known), None);
        // Two of four letters differ: not a misspelling.
        assert_eq!(nearest("roce", ["lossless", "none"]), None);
    }

    #[test]
    fn misspellings_of_keys_are_certain_only_where_one_key_is_near() {
        let known = ["groups", "per_group", "up", "t0", "t1", "rack_a", "rack_b"];
        assert!(is_certain("grops", "groups", known));
        assert!(is_certain("per-group", "per_group", known));
        assert!(is_certain("Up", "up", known));
        assert!(!is_certain("ip", "up", known), "short");
        assert!(!is_certain("gruops_", "groups", known), "two edits");
        assert!(!is_certain("rack_c", "rack_a", known), "two candidates");
    }
}
