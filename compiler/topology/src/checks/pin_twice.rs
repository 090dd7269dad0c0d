//! E0715: a NIC has two pins on one switch.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::{Draft, PinFault};

/// A NIC has two pins on one switch.
pub(crate) static RULE: Rule = Rule {
    code: "E0715",
    title: "a NIC has two pins on one switch",
    condition: "The file of `ecmp.pins` has at most one line for each T0 and NIC.",
    impact: "A route uses one uplink. With two lines, the one in effect would depend on their order.",
    example: "# twice.csv names a T0 and a NIC in two lines\n\
           { routing: ecmp-static, ecmp: { pins: twice.csv } }",
    fix: "Remove one of the lines.",
};

/// Checks that no NIC has two pins on a switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (span, fault) in &draft.pins.faults {
        let PinFault::Twice(earlier) = fault else { continue };
        out.push(
            Diagnostic::error(&RULE, "this T0 and NIC have a pin already")
                .at(*span, "")
                .and(*earlier, "the first pin")
                .help("remove one of the lines"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::codes;

    #[test]
    fn pins_are_single() {
        let fragment = |file: &str| format!("{{ routing: ecmp-static, ecmp: {{ pins: {file} }} }}");
        assert!(codes(&fragment("twice.csv")).contains(&"E0715"));
        assert!(!codes(&fragment("good.csv")).contains(&"E0715"));
    }
}
