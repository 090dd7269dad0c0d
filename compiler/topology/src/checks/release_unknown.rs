//! E0216: a release of an operating system is not supported.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;

use crate::draft::Draft;
use crate::suggest::format_list;

/// A release of an operating system is not supported.
pub(crate) static RULE: Rule = Rule {
    code: "E0216",
    title: "an unsupported release",
    condition: "Every release in `releases` is supported: `sonic` and `pins` from branch 202411, `frr` from 10.4, \
           `eos` from 4.33, `nvue` 5.13 to 5.18. `linux` and `p4` have no releases.",
    impact: "An operating system rejects keys of another release. `nv config replace` rejects the whole file \
           because of one key. For example, addresses are below `ip` before 5.15, and below `ipv4` and \
           `ipv6` from 5.15.",
    example: "releases: { nvue: \"5.9\" }",
    fix: "Set a release that the message lists, or remove the line.",
};

/// Checks every release.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (os, release) in draft.doc.releases.iter().flat_map(|named| &named.0) {
        let word = os.value.keyword();
        let Some(releases) = os.value.releases() else {
            let able = Os::ALL.into_iter().filter(|os| os.releases().is_some()).map(Os::keyword);
            out.push(
                Diagnostic::error(&RULE, format!("`{word}` has no releases"))
                    .at(os.span, "")
                    .help(format!("remove the line; systems with releases: {}", format_list(able))),
            );
            continue;
        };
        if releases.supports(release.value) {
            continue;
        }
        out.push(
            Diagnostic::error(&RULE, format!("`{word}` {} is not supported", release.value))
                .at(release.span, "")
                .help(format!("use {}", releases.description())),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn releases_are_known_ones() {
        assert!(codes("releases: { nvue: \"5.9\" }").contains(&"E0216"));
        assert!(codes("releases: { sonic: \"5.16\" }").contains(&"E0216"));
        assert!(!codes("releases: { nvue: 5.14 }").contains(&"E0216"));
        assert_eq!(message("releases: { nvue: 5.10 }", "E0216"), "`nvue` 5.10 is not supported");
        for wrong in ["sonic: 202305", "frr: 10.3", "frr: 202511", "eos: 4.32.1F", "linux: 6.18"] {
            assert!(codes(&format!("releases: {{ {wrong} }}")).contains(&"E0216"), "{wrong}");
        }
        for right in ["sonic: 202511", "sonic: master", "frr: 10.4", "frr: 10.10.0", "eos: 4.33.1F"] {
            assert!(!codes(&format!("releases: {{ {right} }}")).contains(&"E0216"), "{right}");
        }
    }
}
