//! W0805: the file names a release of an operating system that no switch runs.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::unknown_platform;
use crate::draft::Draft;

/// The file names a release of an operating system that no switch runs.
pub(crate) static RULE: Rule = Rule {
    code: "W0805",
    title: "a release has no effect",
    condition: "Every operating system in `releases` runs on a switch.",
    impact: "The line is obsolete, or the intended switches run another system.",
    example: "releases: { nvue: \"5.16\" }",
    fix: "Remove the line, or set the operating system of the switches.",
};

/// Looks for operating systems that no switch runs.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    // The hardware of a tier with an unknown platform is not known, nor is its operating system.
    if unknown_platform::names(draft).any(|name| draft.catalogue.get(&name.value).is_none()) {
        return;
    }
    for (os, _) in draft.doc.releases.iter().flat_map(|named| &named.0) {
        if draft.hardware.iter().any(|hardware| hardware.os == os.value) {
            continue;
        }
        let word = os.value.keyword();
        out.push(
            Diagnostic::warning(&RULE, format!("no switch runs `{word}`, but a release of it is set"))
                .at(os.span, "")
                .help("remove the line"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn a_release_is_of_a_system_in_use() {
        assert_eq!(message(RULE.example, "W0805"), "no switch runs `nvue`, but a release of it is set");
        let used = "{ releases: { nvue: \"5.16\" }, tiers: { t1: { os: nvue } } }";
        assert!(!codes(used).contains(&"W0805"));
        let unknown =
            "{ releases: { sonic: 202511 }, tiers: { t0: { platform: abc }, t1: { platform: abc } } }";
        assert!(codes(unknown).contains(&"E0201") && !codes(unknown).contains(&"W0805"));
    }
}
