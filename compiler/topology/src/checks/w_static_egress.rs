//! W0707: a lossless class states an egress threshold, and its queue has a fixed limit.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;
use closc_platform::capability::{Capability, Support};

use crate::draft::Draft;
use crate::field;

/// A lossless class states an egress threshold, and its queue has a fixed limit.
pub(crate) static RULE: Rule = Rule {
    code: "W0707",
    title: "the egress threshold of a lossless class has no effect",
    condition: "If a lossless class has `egress_threshold`, its queue uses a dynamic pool on every platform in \
           use.",
    impact: "Some platforms have one static egress pool. A lossless queue there has a limit in bytes that is \
           large enough for every accepted packet. A share of the pool has no effect.",
    example: "qos: { base: lossless, classes: { data: { egress_threshold: 1 } } }\n\
              cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } }",
    fix: "Remove `egress_threshold` from lossless classes. `ingress_threshold` sets when they pause.",
};

/// Checks every lossless class with a stated `egress_threshold` on every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    for class in profile.lossless() {
        let Some(span) = draft.stated_span(field!("qos.classes.*.egress_threshold").with_key(&class.name))
        else {
            continue;
        };
        let mut said = Vec::new();
        // Another warning covers partial support of a system.
        let divides =
            |os: Os| os.renders(Capability::Pauses) && os.support(Capability::Thresholds) == Support::Whole;
        for hardware in draft.hardware.iter().filter(|hardware| divides(hardware.os)) {
            let platform = &hardware.platform;
            let hwsku = platform.hwsku(hardware.cages_in_use()).unwrap_or_default();
            let buffer = platform.buffer.as_ref().map(|own| own.under(hardware.os, hardware.release, hwsku));
            let most = buffer.and_then(|buffer| buffer.lossless_queue_max);
            let Some(most) = most.filter(|_| !said.contains(&platform.id)) else { continue };
            said.push(platform.id.clone());
            let name = &class.name;
            let message =
                format!("`egress_threshold` of lossless class `{name}` has no effect on `{}`", platform.id);
            out.push(
                Diagnostic::warning(&RULE, message)
                    .at(span, "")
                    .and(hardware.platform_span, format!("for {}", hardware.subject))
                    .note(format!("its egress pool is static: a lossless queue takes up to {most}"))
                    .help("remove it; `ingress_threshold` sets when the class pauses"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn thresholds_beside_a_fixed_limit_are_named() {
        let text = "`egress_threshold` of lossless class `data` has no effect on `box-256x200g`";
        assert_eq!(message(RULE.example, "W0707"), text);
        assert!(!codes("qos: lossless").contains(&"W0707"));
    }
}
