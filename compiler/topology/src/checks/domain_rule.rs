//! E0322: a domain cannot be resolved.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;

/// A domain cannot be resolved.
pub(crate) static RULE: Rule = Rule {
    code: "E0322",
    title: "a domain cannot be resolved",
    condition: "Every kind of domain has either `by` or `members`. `by` lists coordinates, or one other kind that \
           has `by` itself. `run`, `count` and `tiers` need `by`, and `run` and `count` are at least 1. \
           Lists are not empty. The name of a kind has letters, digits, `-` and `_`. A fabric has at most \
           256 kinds with `by` and 4,096 kinds in all.",
    impact: "Failure domains determine which failures are tested. A domain without members tests none.",
    example: "domains: { power: { by: [rack], count: 2 } }",
    fix: "Write coordinates (`tier`, `plane`, `zone`, `index`) or a kind of domain in `by`, or list names in \
           `members`.",
};

/// Checks that domains can be resolved.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (span, why) in &draft.domains.faults {
        out.push(Diagnostic::error(&RULE, "this domain cannot be resolved").at(*span, why.clone()));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::codes;

    #[test]
    fn domains_have_a_rule() {
        for domains in [
            "a: {}",
            "a: { by: [index], members: [p0-t0-001] }",
            "a: { run: 2, members: [p0-t0-001] }",
            "a: { by: [] }",
            "a: { members: [] }",
            "a: { by: [index], tiers: [] }",
            "a: { by: [index], run: 0 }",
            "a: { by: [plane, plane] }",
            "a: { by: [b] }",
            "a: { by: [b] }, b: { members: [p0-t0-001] }",
            "a: { by: [b] }, b: { by: [a] }",
            "a: { by: [a] }",
            "a: { by: [b] }, b: { by: [c] }, c: { by: [b] }",
            "a: { by: [plane, b] }, b: { by: [index] }",
            "a b: { by: [index] }",
            "rack: { by: [index] }, rack-1: { members: [p0-t0-001] }",
        ] {
            assert_eq!(codes(&format!("domains: {{ {domains} }}")), ["E0322"], "{domains}");
        }
        for domains in [
            "rack: { by: [tier, zone, index], run: 4 }, power: { by: [rack], count: 2 }",
            "row: { members: [\"p[0-1]-t0-[001-016]\", su001-n001, plane 1] }",
        ] {
            assert_eq!(codes(&format!("domains: {{ {domains} }}")), Vec::<&str>::new(), "{domains}");
        }
        let kinds = |n: usize, rule: &str| {
            let kinds: Vec<String> = (0..n).map(|kind| format!("k{kind}: {{ {rule} }}")).collect();
            codes(&format!("domains: {{ {} }}", kinds.join(", ")))
        };
        assert_eq!(kinds(257, "by: [index]"), ["E0322"]);
        assert_eq!(kinds(256, "by: [index]"), Vec::<&str>::new());
        assert_eq!(kinds(4_097, "members: [p0-t0-001]"), ["E0322"]);
        assert_eq!(codes("domains: { row: { members: [p0-t0-999] } }"), ["E0802"]);
        assert_eq!(codes("domains: { row: { members: [leaf-1] } }"), ["E0801"]);
    }
}
