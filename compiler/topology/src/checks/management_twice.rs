//! E0515: two lines of the list of management ports have the same switch or address.

use std::collections::BTreeMap;
use std::net::IpAddr;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::draft::{Draft, ManagementFault};

/// Two lines of the list of management ports have the same switch or address.
pub(crate) static RULE: Rule = Rule {
    code: "E0515",
    title: "a switch or a management address is listed twice",
    condition: "In the file of `addresses.management_list`, no switch has two lines, and no two switches have \
           the same address.",
    impact: "If two switches have one address, packets reach one or the other at random. If a switch had two \
           addresses, the one in effect would depend on the order of lines.",
    example: "# shared.csv:\n\
           #   p0-t0-001,10.20.1.7/24,10.20.1.1\n\
           #   p0-t0-002,10.20.1.7/24,10.20.1.1\n\
           addresses: { management_list: shared.csv }",
    fix: "Correct the switch or the address in one of the two lines, or remove that line.",
};

/// Checks that each switch and each address occurs once.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (span, fault) in &draft.management.faults {
        let ManagementFault::Twice(earlier) = fault else { continue };
        out.push(
            Diagnostic::error(&RULE, "this switch has a management port already")
                .at(*span, "")
                .and(*earlier, "the first one")
                .help("remove one of the lines"),
        );
    }
    let mut owners: BTreeMap<IpAddr, Span> = BTreeMap::new();
    for (port, span) in draft.management.lines() {
        let earlier = *owners.entry(port.address.addr()).or_insert(span);
        if earlier != span {
            out.push(
                Diagnostic::error(&RULE, format!("{} is listed for two switches", port.address.addr()))
                    .at(span, "")
                    .and(earlier, "the first one"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn ports_are_single() {
        let fragment = |file: &str| format!("addresses: {{ management_list: {file} }}");
        assert_eq!(message(&fragment("shared.csv"), "E0515"), "10.20.1.7 is listed for two switches");
        assert_eq!(codes(&fragment("lines-twice.csv")), ["E0515"]);
        assert_eq!(codes(&fragment("listed.csv")), Vec::<&str>::new());
    }
}
