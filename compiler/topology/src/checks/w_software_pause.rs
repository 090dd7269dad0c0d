//! W0701: a lossless profile is used on a software switch.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Platform;

use crate::draft::Draft;
use crate::field;

/// A lossless profile is used on a software switch.
pub(crate) static RULE: Rule = Rule {
    code: "W0701",
    title: "software switches do not pause",
    condition: "With a lossless profile, no switch is a software switch without priority flow control.",
    impact: "Software targets have the classes and marks of a lossless profile but no flow control. A lab shows \
           paths and counters, but not losslessness.",
    example: "qos: lossless\n\
           hosts: { nic: { speed: 200G, lanes: 2 } }\n\
           cables: { nic-t0: { length: 3m }, t0-t1: { length: 3m } }\n\
           tiers:\n\
           \x20 t0: { platform: bmv2, os: p4, up: 128 }\n\
           \x20 t1: { platform: bmv2, os: p4 }",
    fix: "For a lab, ignore the warning. For a real fabric, use platforms with priority flow control.",
};

/// Reports the first kind of software switch without pauses, if the profile is lossless.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(profile) = draft.qos.as_ref().ok().filter(|profile| profile.is_lossless()) else { return };
    let software = |platform: &Platform| platform.is_software() && !platform.features.pfc;
    if let Some(hardware) = draft.hardware.iter().find(|hardware| software(&hardware.platform)) {
        out.push(
            Diagnostic::warning(
                &RULE,
                format!(
                    "`{}` is a software switch and does not pause, although QoS profile `{}` is lossless",
                    hardware.platform.id,
                    profile.name()
                ),
            )
            .at(hardware.platform_span, format!("for {}", hardware.subject))
            .and(draft.at(field!("qos")), "lossless")
            .help("ignore this for a lab; a real fabric needs platforms with priority flow control"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const LAB: &str = "hosts: { nic: { speed: 400G, lanes: 2 } }, cables: { nic-t0: { length: 3m }, t0-t1: { length: 3m } }, tiers: { t0: { platform: bmv2, os: p4, down: { breakout: 1x200G }, up: { count: 128, breakout: 1x200G } }, t1: { platform: bmv2, os: p4, down: { breakout: 1x200G } } }";

    #[test]
    fn labs_are_warned_of() {
        assert!(codes(&format!("{{ qos: lossless, {LAB} }}")).contains(&"W0701"));
        assert!(!codes(&format!("{{ qos: lossy-trim, {LAB} }}")).contains(&"W0701"));
        assert_eq!(
            message(&format!("{{ qos: lossless, {LAB} }}"), "W0701"),
            "`bmv2` is a software switch and does not pause, although QoS profile `lossless` is lossless"
        );
    }
}
