//! E0507: a name pattern contains invalid characters or placeholders.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;

/// A name pattern contains invalid characters or placeholders.
pub(crate) static RULE: Rule = Rule {
    code: "E0507",
    title: "a name pattern cannot be read",
    condition: "Patterns in `naming` contain `a`-`z`, `0`-`9`, single `-` and fields such as `{plane}` or \
           `{index:03}`.",
    impact: "Names are in host names, file names and messages of every target. A pattern must give each device \
           its own name and be unambiguous to parse.",
    example: "naming: { t0: \"Leaf_{plane}_{index}\" }",
    fix: "Correct the pattern as the message proposes.",
};

/// Reports the faults of patterns.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (key, span, error) in &draft.names.faults {
        out.push(
            Diagnostic::error(&RULE, format!("`naming.{key}`: {error}"))
                .at(*span, "")
                .help("write, for example, `\"p{plane}-leaf-{index:03}\"`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn patterns_are_readable() {
        assert_eq!(codes("naming: { t0: \"Leaf_{plane}_{index}\" }"), ["E0507"]);
        assert_eq!(codes("naming: { t0: \"p{plane}-leaf-{index:03}\" }"), Vec::<&str>::new());
        assert_eq!(
            message("naming: { t0: \"p{plane}-{rack}\" }", "E0507"),
            "`naming.t0`: `{rack}` is not a field of this pattern: use `{plane}`, `{zone}`, `{index}`"
        );
    }
}
