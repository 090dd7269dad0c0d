//! E0509: the longest name of a pattern has more than 63 characters.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::same_names::patterns;
use crate::draft::Draft;
use crate::naming::{NAME_MAX, Numbers};

/// The longest name of a pattern has more than 63 characters.
pub(crate) static RULE: Rule = Rule {
    code: "E0509",
    title: "a name is too long",
    condition: "The longest name of each pattern has at most 63 characters.",
    impact: "Host names are labels of the domain name system, which have at most 63 characters (RFC 1035).",
    example: "naming: { node: \
           \"a-very-long-name-for-every-server-of-the-second-building-su{unit:03}-n{node:03}\" }",
    fix: "Shorten the pattern.",
};

/// Writes the longest name of each pattern.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.names.faults.is_empty() {
        return;
    }
    for (path, pattern, fields) in patterns(draft) {
        let last = |count: u64| u16::try_from(count.saturating_sub(1)).unwrap_or(u16::MAX);
        let numbers = fields
            .iter()
            .fold(Numbers::default(), |numbers, (field, count)| numbers.with(*field, last(*count)));
        let name = pattern.write(numbers);
        if name.len() <= NAME_MAX {
            continue;
        }
        out.push(
            Diagnostic::error(
                &RULE,
                format!("names of `{path}` have up to {} characters; the maximum is {NAME_MAX}", name.len()),
            )
            .at(draft.at(path), format!("for example `{name}`"))
            .help("shorten the pattern"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn names_are_labels() {
        let long = "a".repeat(60);
        assert_eq!(codes(&format!("naming: {{ t0: \"{long}-{{plane}}-{{index}}\" }}")), ["E0509"]);
        assert_eq!(codes("naming: { t0: \"leaf-{plane}-{index}\" }"), Vec::<&str>::new());
        assert_eq!(
            message(&format!("naming: {{ t0: \"{long}-{{plane}}-{{index}}\" }}"), "E0509"),
            "names of `naming.t0` have up to 66 characters; the maximum is 63"
        );
    }
}
