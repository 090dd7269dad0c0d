//! E0510: the name has characters that are invalid in folder names and labels.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::naming::NAME_MAX;
use crate::suggest::shorten;

/// The name has characters that are invalid in folder names and labels.
pub(crate) static RULE: Rule = Rule {
    code: "E0510",
    title: "the name of the fabric is not a valid label",
    condition: "The name of a fabric or site has 1 to 63 characters of `a`-`z`, `0`-`9` and `-`. It starts and \
           ends with a letter or digit.",
    impact: "The name is in folders, namespaces and labels of every target.",
    example: "fabric: My Fabric",
    fix: "Write the name that the message proposes, or another.",
};

/// Checks the names of the fabric and its sites.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let sites = draft.doc.sites.iter().flatten().map(|site| ("site", &site.name));
    for (what, name) in std::iter::once(("fabric", &draft.doc.fabric)).chain(sites) {
        if is_label(&name.value) {
            continue;
        }
        let diagnostic = Diagnostic::error(&RULE, format!("`{}` cannot name a {what}", shorten(&name.value)))
            .at(name.span, "")
            .note("names have 1 to 63 characters of `a`-`z`, `0`-`9` and `-`, and start and end with a letter or digit");
        let proposed = propose(&name.value);
        out.push(if is_label(&proposed) {
            diagnostic.help(format!("write `{proposed}`"))
        } else {
            diagnostic
        });
    }
}

fn is_label(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=NAME_MAX).contains(&name.len())
        && name.chars().all(legal)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn propose(name: &str) -> String {
    let simple: String =
        name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    simple.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn names_are_labels() {
        assert_eq!(codes("fabric: My Fabric"), ["E0510"]);
        assert_eq!(codes("fabric: \"\""), ["E0510"]);
        assert_eq!(codes("sites: [{ name: North!, zones: [0] }]"), ["E0510"]);
        assert_eq!(message("fabric: My Fabric", "E0510"), "`My Fabric` cannot name a fabric");
    }
}
