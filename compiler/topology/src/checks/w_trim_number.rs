//! W0710: trimmed packets are identified by a number other than the stated one.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::Capability;

use crate::draft::Draft;
use crate::field;

/// Trimmed packets are identified by a number other than the stated one.
pub(crate) static RULE: Rule = Rule {
    code: "W0710",
    title: "trimmed packets use a traffic class other than the stated one",
    condition: "Every operating system in use supports the traffic class in `trimming.tc`. NVUE's switch \
           priorities are 0 to 7.",
    impact: "The number is internal to the switch, and any unused one works. But counters and `nv show` use the \
           effective one.",
    example: "qos: { base: lossy-trim, trimming: { class: trimmed, tc: 9, fabric_dscp: 12, last_hop_dscp: 16 } }\n\
              hosts: { nic: { speed: 800G, lanes: 8 } }\n\
              tiers:\n\
              \x20 t0: { platform: spectrum4-sn5600, os: nvue, up: 128 }\n\
              \x20 t1: { platform: spectrum4-sn5600, os: nvue }",
    fix: "Set an unused `tc` up to 7, or remove it.",
};

/// Checks every system, once.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    let Some(trimming) = profile.trimming() else { return };
    if !draft.states(field!("qos.trimming.tc")) {
        return;
    }
    let mut said = Vec::new();
    for hardware in draft.hardware.iter().filter(|hardware| hardware.os.renders(Capability::Trimming)) {
        let used = hardware.os.trim_priority_max().and_then(|most| profile.trim_priority(most));
        let Some(used) = used.filter(|used| *used != trimming.tc.get()) else { continue };
        if said.contains(&hardware.os) {
            continue;
        }
        said.push(hardware.os);
        let os = hardware.os.keyword();
        let message = format!("`{os}` identifies trimmed packets by {used}, not by {}", trimming.tc);
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(draft.at(field!("qos.trimming.tc")), "")
                .and(hardware.os_span, format!("for {}", hardware.subject))
                .help(format!("set `tc: {used}`, or remove `tc`")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn numbers_end_at_seven() {
        assert_eq!(message(RULE.example, "W0710"), "`nvue` identifies trimmed packets by 7, not by 9");
        assert!(!codes(&RULE.example.replace("tc: 9", "tc: 5")).contains(&"W0710"));
        assert!(!codes(&RULE.example.replace(", tc: 9", "")).contains(&"W0710"));
        assert!(!codes(&RULE.example.replace("nvue", "sonic")).contains(&"W0710"));
    }
}
