//! E0701: a profile of one's own breaks a rule of profiles.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// A profile of one's own breaks a rule of profiles.
pub(crate) static RULE: Rule = Rule {
    code: "E0701",
    title: "the QoS profile contradicts itself",
    what: "A profile of one's own is whole and consistent: every class has a traffic class, queue and DSCP, \
           and PFC, ECN and trimming do not contradict each other.",
    why: "Switches and hosts are both rendered from the profile; what contradicts itself there drops or \
           stalls traffic on both.",
    example: "qos: { base: lossless, classes: { data: { trim: true } } }",
    fix: "Correct the class that the message names.",
};

/// Reports what lowering the profile found.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Err(faults) = &draft.qos else { return };
    for fault in faults {
        let message = fault.to_string();
        let class = message.split('`').nth(1).unwrap_or_default();
        let path = field!("qos.classes.*").keyed(class);
        let at = if draft.states(&path) { draft.at(&path) } else { draft.at(field!("qos")) };
        out.push(Diagnostic::error(&RULE, format!("QoS profile: {message}")).at(at, ""));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn profiles_are_consistent() {
        let fragment = "qos: { base: lossless, classes: { data: { trim: true } } }";
        assert_eq!(codes(fragment), ["E0701"]);
        assert!(message(fragment, "E0701").starts_with("QoS profile: class `data`"));
    }
}
