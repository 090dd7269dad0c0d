//! W0703: a software target does not render all of a QoS profile.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;
use closc_platform::capability::Capability;

use crate::checks::words::and;
use crate::draft::Draft;
use crate::field;

/// A software target does not render all of a QoS profile.
pub(crate) static RULE: Rule = Rule {
    code: "W0703",
    title: "a software switch supports only part of the QoS profile",
    condition: "Software switches support every setting of the QoS profile except pauses and their watchdog (see \
           W0701), or `qos: none` is set.",
    impact: "The features in the message are missing. A kernel has classes, weights and marks, but drops \
           packets where the fabric trims or pauses. A lab shows paths, but not how full queues behave.",
    example: "hosts: { nic: { speed: 400G, lanes: 2 } }\n\
           tiers:\n\
           \x20 t0: { platform: linux, os: linux, up: 128, down: { breakout: 1x200G } }\n\
           \x20 t1: { platform: linux, os: linux, down: { breakout: 1x200G } }",
    fix: "For a lab, ignore the warning. If you need no QoS, set `qos: none`.",
};

/// Checks the first switch of each operating system that runs in software.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    for os in Os::ALL {
        let software = draft.hardware.iter().find(|hardware| {
            hardware.os == os && hardware.platform.is_software() && hardware.platform.supports(os)
        });
        let Some(hardware) = software else { continue };
        let mut lost = os.lost_capabilities(profile);
        lost.retain(|capability| !matches!(capability, Capability::Pauses | Capability::Watchdog));
        if lost.is_empty() {
            continue;
        }
        let what = and(lost.iter().map(|capability| capability.description()));
        let diagnostic = Diagnostic::warning(
            &RULE,
            format!("closc does not render {what} for `{}` on `{}`", os.keyword(), hardware.platform.id),
        )
        .at(hardware.os_span, format!("for {}", hardware.subject));
        let diagnostic = if draft.states(field!("qos")) {
            diagnostic.and(draft.at(field!("qos")), format!("`{}` requires it", profile.name()))
        } else {
            diagnostic.note(format!("`{}` is the default profile", profile.name()))
        };
        out.push(diagnostic.help("ignore this for a lab; set `qos: none` if you need no QoS"));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const LAB: &str = "hosts: { nic: { speed: 400G, lanes: 2 } }, tiers: { t0: { platform: NAME, os: OS, down: { breakout: 1x200G }, up: { count: 128, breakout: 1x200G } }, t1: { platform: NAME, os: OS, down: { breakout: 1x200G } } }";

    fn lab(platform: &str, os: &str, qos: &str) -> String {
        format!("{{ qos: {qos}, {} }}", LAB.replace("NAME", platform).replace("OS", os))
    }

    #[test]
    fn labs_are_warned_of_what_they_do_not_show() {
        assert_eq!(
            message(&lab("linux", "linux", "lossy-trim"), "W0703"),
            "closc does not render buffer thresholds and packet trimming for `linux` on `linux`"
        );
        assert_eq!(
            message(&lab("bmv2", "p4", "lossy-trim"), "W0703"),
            "closc does not render scheduler weights and buffer thresholds for `p4` on `bmv2`"
        );
        for (platform, os) in [("linux", "linux"), ("linux", "frr"), ("bmv2", "p4")] {
            assert!(!codes(&lab(platform, os, "none")).contains(&"W0703"));
        }
    }
}
