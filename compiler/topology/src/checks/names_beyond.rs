//! E0802: a name in exceptions is beyond the counts of the fabric.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::names::NameFault;
use crate::suggest::shorten;

/// A name in exceptions is beyond the counts of the fabric.
pub(crate) static RULE: Rule = Rule {
    code: "E0802",
    title: "an exception for something that does not exist",
    condition: "Every name in `exceptions`, and in `members` of `domains`, is within the counts of the fabric.",
    impact: "A device beyond the counts usually belongs to a larger or older fabric. The exception has no \
           effect.",
    example: "exceptions: { absent: [p0-t0-257] }",
    fix: "Correct the name, or remove the exception.",
};

/// Reports names beyond the counts.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for entry in draft.name_entries() {
        if let Err(NameFault::Beyond { last }) = &entry.subject {
            out.push(
                Diagnostic::error(&RULE, format!("no `{}` in this fabric", shorten(&entry.name)))
                    .at(entry.span, last.clone())
                    .help("correct the name, or remove the exception"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn names_lie_inside_the_numbers() {
        for name in [
            "p0-t0-257",
            "p2-t0-001",
            "p0-t1-129",
            "p0-t2-001",
            "su257-n001",
            "su001-n033",
            "su001-n001/nic4",
            "su001-n001/nic0.p2",
        ] {
            assert_eq!(codes(&format!("exceptions: {{ absent: [{name}] }}")), ["E0802"], "{name}");
        }
        assert_eq!(codes("exceptions: { drained: [plane 2] }"), ["E0802"]);
        // The correct spelling, `p0-t0-999`, is not there either.
        assert_eq!(codes("exceptions: { absent: [P0_T0_999] }"), ["E0802"]);
        assert_eq!(codes("exceptions: { absent: [P0_T0_9] }"), ["E0801"]);
        assert_eq!(message("exceptions: { absent: [p0-t0-257] }", "E0802"), "no `p0-t0-257` in this fabric");
    }
}
