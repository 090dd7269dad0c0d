//! E0702: a profile is lossless, and the hardware does not support PFC.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;
use crate::suggest::listed;

/// A profile is lossless, and the hardware does not support PFC.
pub(crate) static RULE: Rule = Rule {
    code: "E0702",
    title: "the platform has no priority flow control",
    what: "With a lossless profile, every hardware switch supports priority flow control.",
    why: "A switch that cannot pause its senders drops packets, and a class that is lossless elsewhere \
           recovers badly from loss, or not at all.",
    example: "# box-without-pfc is a platform of a site's own, without PFC\n\
           qos: lossless\n\
           cables: { nic-t0: { length: 3m }, t0-t1: { length: 3m } }\n\
           tiers: { t0: { platform: box-without-pfc, os: frr } }",
    fix: "Use a lossy profile such as `lossy-trim`, or another platform.",
};

/// Checks every kind of hardware; software has a warning of its own.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(profile) = draft.qos.as_ref().ok().filter(|profile| profile.is_lossless()) else { return };
    for hardware in draft.hardware.iter().filter(|hardware| !hardware.platform.features.pfc) {
        if hardware.platform.is_software() {
            continue;
        }
        let classes: Vec<&str> = profile.lossless().map(|class| class.name.as_str()).collect();
        out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "`{}` does not support priority flow control, but QoS profile `{}` is lossless",
                    hardware.platform.id,
                    profile.name()
                ),
            )
            .at(hardware.platform_span, format!("for {}", hardware.who))
            .and(draft.at(field!("qos")), format!("lossless: {}", listed(classes)))
            .help("use a lossy profile such as `lossy-trim`, or another platform"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const CABLES: &str = "cables: { nic-t0: { length: 3m }, t0-t1: { length: 3m } }";
    const PLAIN: &str = "tiers: { t0: { platform: box-without-pfc, os: frr } }";

    #[test]
    fn lossless_needs_pause() {
        assert!(codes(&format!("{{ qos: lossless, {CABLES}, {PLAIN} }}")).contains(&"E0702"));
        assert!(!codes(&format!("{{ qos: lossy-trim, {PLAIN} }}")).contains(&"E0702"));
        assert_eq!(
            message(&format!("{{ qos: lossless, {CABLES}, {PLAIN} }}"), "E0702"),
            "`box-without-pfc` does not support priority flow control, but QoS profile `lossless` is lossless"
        );
    }
}
