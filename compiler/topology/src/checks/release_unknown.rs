//! E0216: a release of an operating system is none whose grammar is known.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;

use crate::draft::Draft;
use crate::suggest::listed;

/// A release of an operating system is none whose grammar is known.
pub(crate) static RULE: Rule = Rule {
    code: "E0216",
    title: "the grammar of the release is not known",
    what: "Every release that `releases` names is one whose grammar was looked at: for `nvue` those from 5.13 to 5.18. Other \
           operating systems are written in one way whatever their release, and have no line there.",
    why: "`nv config replace` refuses a whole file for one key that its release has under another name: before 5.15 addresses \
          are below `ip`, from then on below `ipv4` and `ipv6`.",
    example: "releases: { nvue: \"5.9\" }",
    fix: "Name a release that the message lists, or leave the line out.",
};

/// Checks every release.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (os, release) in draft.doc.releases.iter().flat_map(|named| &named.0) {
        let word = os.value.word();
        let Some(releases) = os.value.releases() else {
            let able = Os::ALL.into_iter().filter(|os| os.releases().is_some()).map(Os::word);
            out.push(
                Diagnostic::error(&RULE, format!("`{word}` has no releases here: all are written alike"))
                    .at(os.span, "")
                    .help(format!("remove the line; releases count for {}", listed(able))),
            );
            continue;
        };
        if releases.known.contains(&release.value) {
            continue;
        }
        let known: Vec<String> = releases.known.iter().map(ToString::to_string).collect();
        out.push(
            Diagnostic::error(&RULE, format!("the grammar of `{word}` {} is not known", release.value))
                .at(release.span, "")
                .help(format!("use {}", listed(known.iter().map(String::as_str)))),
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
        assert_eq!(message("releases: { nvue: 5.10 }", "E0216"), "the grammar of `nvue` 5.10 is not known");
    }
}
