//! W0712: the site sets the scheduling of hardware queues.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;

use crate::checks::words::and;
use crate::draft::Draft;
use crate::field;

/// The site sets the scheduling of hardware queues.
pub(crate) static RULE: Rule = Rule {
    code: "W0712",
    title: "queue scheduling must be set by the site",
    condition: "Priorities, weights and buffer shares of the profile's queues are rendered for all hardware.",
    impact: "P4Runtime programs tables, not the traffic manager. Packets are marked and enter the queues of \
           their classes. All queues are served equally until the site sets the rest with the SDE of the \
           switch.",
    example: "qos: sonic-ai-lossy\n\
              hosts: { per_group: 16, nic: { speed: 400G, lanes: 8 } }\n\
              tiers:\n\
              \x20 t0: { platform: tofino2-32x400g, os: p4, up: 16 }\n\
              \x20 t1: { platform: tofino2-32x400g, os: p4 }",
    fix: "Set priorities, weights and thresholds of the queues as `closc explain device` lists them. `qos: \
           none` needs none.",
};

/// Checks the first switch of each operating system for which the site sets the scheduling.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    for os in Os::ALL.into_iter().filter(|os| os.leaves_queues()) {
        let hardware = draft.hardware.iter().find(|hardware| {
            hardware.os == os && hardware.platform.buffer.is_some() && hardware.platform.supports(os)
        });
        let Some(hardware) = hardware else { continue };
        let (unset, _) = os.lost_hardware_capabilities(profile);
        if unset.is_empty() {
            continue;
        }
        let what = and(unset.iter().map(|capability| capability.description()));
        let message = format!(
            "{what} of `{}` must be set by the site; `{}` does not configure them",
            hardware.platform.id,
            os.keyword()
        );
        let diagnostic =
            Diagnostic::warning(&RULE, message).at(hardware.os_span, format!("for {}", hardware.subject));
        let diagnostic = if draft.states(field!("qos")) {
            diagnostic.and(draft.at(field!("qos")), format!("`{}` requires them", profile.name()))
        } else {
            diagnostic.note(format!("`{}` is the default profile", profile.name()))
        };
        out.push(
            diagnostic.help("set them with the SDE of the switch; until then all queues are served equally"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn a_traffic_manager_is_set_by_the_site() {
        assert_eq!(
            message(RULE.example, "W0712"),
            "scheduler weights and buffer thresholds of `tofino2-32x400g` must be set by the site; `p4` does not configure them"
        );
        assert!(!codes(RULE.example).contains(&"E0716"));
        assert!(!codes(&RULE.example.replace("qos: sonic-ai-lossy", "qos: none")).contains(&"W0712"));
        // Profiles with PFC or trimming are rejected on this switch instead.
        assert!(codes(&RULE.example.replace("sonic-ai-lossy", "lossless")).contains(&"E0716"));
        assert!(codes(&RULE.example.replace("sonic-ai-lossy", "lossy-trim")).contains(&"E0703"));
    }
}
