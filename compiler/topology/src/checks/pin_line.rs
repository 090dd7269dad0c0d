//! E0714: a line of the file of pins is not a pin.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::{Draft, ListFault, PinFault};
use crate::field;

/// A line of the file of pins is not a pin.
pub(crate) static RULE: Rule = Rule {
    code: "E0714",
    title: "a line of the list is not a pin",
    condition: "The file of `ecmp.pins` starts with `switch,nic,uplink`. Every line names a T0, a NIC on another \
           T0 that its uplinks lead to, and an uplink of the T0, from 0.",
    impact: "Without the pin, packets to the NIC would be hashed.",
    example: "# far.csv pins to an uplink beyond the last\n\
           { routing: ecmp-static, ecmp: { pins: far.csv } }",
    fix: "Correct the line, or create the file again with `closc te --out`.",
};

/// Checks the lines.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.pins.unusable == Some(ListFault::Foreign) {
        out.push(
            Diagnostic::error(&RULE, "the file of pins does not name its columns")
                .at(draft.at(field!("ecmp.pins")), "its first line does not have exactly these columns")
                .help("its first line must be `switch,nic,uplink`"),
        );
    }
    for (span, fault) in &draft.pins.faults {
        let found = match fault {
            PinFault::Form => Diagnostic::error(&RULE, "expected a switch, a NIC and a number")
                .at(*span, "")
                .help("write `p0-t0-001,su002-n001/nic0,3`"),
            PinFault::Name(why) => Diagnostic::error(&RULE, why.clone()).at(*span, ""),
            PinFault::Uplink(uplink) => {
                let last = draft.t0.up.count.saturating_sub(1);
                Diagnostic::error(&RULE, format!("a T0 has no uplink {uplink}; the last one is {last}"))
                    .at(*span, "")
                    .and(draft.at(field!("tiers.t0.up")), "uplinks are numbered from 0")
            }
            PinFault::Own => Diagnostic::error(&RULE, "the NIC is attached to this T0 itself")
                .at(*span, "no uplink leads there")
                .help("remove the line"),
            PinFault::Unjoined => {
                Diagnostic::error(&RULE, "no switch connects the zones of the T0 and of the NIC")
                    .at(*span, "no uplink leads there")
                    .and(draft.at(field!("tiers")), "has no `t2`")
                    .help("remove the line")
            }
            PinFault::Twice(_) => continue,
        };
        out.push(found);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn lines_are_pins() {
        let fragment = |file: &str| format!("{{ routing: ecmp-static, ecmp: {{ pins: {file} }} }}");
        assert_eq!(message(&fragment("far.csv"), "E0714"), "a T0 has no uplink 128; the last one is 127");
        assert!(codes(&fragment("lines.csv")).contains(&"E0714"));
        assert!(!codes(&fragment("good.csv")).contains(&"E0714"));
        let by_nic = "zones: 2, hosts: { groups: 2, nics_per_node: 2, rails: 2, zones_per_node: 2 }";
        let across = format!("{{ routing: ecmp-static, {by_nic}, ecmp: {{ pins: across.csv }} }}");
        assert_eq!(message(&across, "E0714"), "no switch connects the zones of the T0 and of the NIC");
    }
}
