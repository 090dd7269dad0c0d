//! E0807: a range in brackets is malformed or stands for too many names.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::names::NameFault;
use crate::suggest::shorten;

/// A range in brackets is malformed or stands for too many names.
pub(crate) static RULE: Rule = Rule {
    code: "E0807",
    title: "an invalid or too long range in a name",
    condition: "Brackets in a name contain numbers and ascending runs of numbers, as in `[017-024]` or \
           `[001,003,005-007]`, at most 1,000 of them. One name stands for at most 100,000 names. All names \
           of a file together stand for at most 200,000.",
    impact: "A range with an unintended meaning would change the wrong devices.",
    example: "exceptions: { absent: [\"p0-t0-[024-017]\"] }",
    fix: "Correct the range, with numbers as wide as in the names. To omit very many devices, lower the \
           counts instead.",
};

/// Reports ranges that cannot be expanded.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for entry in draft.name_entries() {
        let (why, help) = match &entry.subject {
            Err(NameFault::Range { reason: why }) => (why, "write `[017-024]` or `[001,003,005-007]`"),
            Err(NameFault::TooMany { reason: why }) => {
                (why, "lower the counts, drain a plane, or name fewer elements")
            }
            Ok(_) | Err(NameFault::Unreadable | NameFault::Beyond { .. } | NameFault::NoCable { .. }) => {
                continue;
            }
        };
        let message = format!("the range in `{}` cannot be used: {why}", shorten(&entry.name));
        out.push(Diagnostic::error(&RULE, message).at(entry.span, "").help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn ranges_run_forwards() {
        assert_eq!(codes("exceptions: { absent: [\"p0-t0-[024-017]\"] }"), ["E0807"]);
        assert_eq!(codes("exceptions: { absent: [\"p0-t0-[017-024]\"] }"), Vec::<&str>::new());
        assert_eq!(
            message("exceptions: { absent: [\"p0-t0-[1-9999999999]\"] }", "E0807"),
            "the range in `p0-t0-[1-9999999999]` cannot be used: `[1-9999999999]` has a number of more than 9 digits"
        );
        assert_eq!(
            message("exceptions: { absent: [\"p[0-1]-t0-[1-99999]\"] }", "E0807"),
            "the range in `p[0-1]-t0-[1-99999]` cannot be used: it expands to more than 100,000 names"
        );
    }
}
