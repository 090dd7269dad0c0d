//! E0806: a link in exceptions does not exist.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::names::NameFault;
use crate::suggest::shorten;

/// A link in exceptions does not exist.
pub(crate) static RULE: Rule = Rule {
    code: "E0806",
    title: "no such cable between two switches",
    condition: "A link in `exceptions` exists in the wiring. It connects a switch to one of the tier above in its \
           plane and zone, and its number is within `parallel`.",
    impact: "The exception would have no effect. Two names are confused or belong to different planes.",
    example: "exceptions: { absent: [p0-t0-001--p1-t1-001] }",
    fix: "Correct the names. The message explains why there is no cable.",
};

/// Reports links that the wiring does not have.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (_, entry) in draft.exceptions.all() {
        if let Err(NameFault::NoCable { reason: why }) = &entry.subject {
            out.push(
                Diagnostic::error(&RULE, format!("no cable `{}` in this fabric", shorten(&entry.name)))
                    .at(entry.span, why.clone())
                    .help("links are named `LOWER--UPPER`, and the second of parallel ones `LOWER--UPPER#2`"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn links_exist() {
        for name in
            ["p0-t0-001--p1-t1-001", "p0-t1-001--p0-t0-001", "p0-t0-001--p0-t0-002", "p0-t0-001--p0-t1-001#2"]
        {
            assert_eq!(codes(&format!("exceptions: {{ absent: [{name:?}] }}")), ["E0806"], "{name}");
        }
        assert_eq!(
            message("exceptions: { absent: [p0-t0-001--p1-t1-001] }", "E0806"),
            "no cable `p0-t0-001--p1-t1-001` in this fabric"
        );
    }
}
