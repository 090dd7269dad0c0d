//! E0710: a profile uses ECN marking, which the hardware does not support.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_qos::ecn::Ecn;

use crate::draft::Draft;
use crate::field;
use crate::suggest::format_list;

/// A profile uses ECN marking, which the hardware does not support.
pub(crate) static RULE: Rule = Rule {
    code: "E0710",
    title: "the platform cannot mark packets",
    condition: "With a profile that marks packets, every hardware switch supports ECN.",
    impact: "Senders slow down when packets are marked. Without marks, queues fill until packets are dropped or \
           everything is paused.",
    example: "# box-without-ecn is a platform of a site's own, without ECN\n\
           tiers: { t0: { platform: box-without-ecn, os: frr } }",
    fix: "Use another platform, or a profile whose classes have `ecn: off`.",
};

/// Checks every kind of hardware; software has a warning of its own (W0703).
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    let marking = profile.classes().filter(|class| class.ecn != Ecn::Off);
    let marking: Vec<&str> = marking.map(|class| class.name.as_str()).collect();
    for hardware in draft.hardware.iter().filter(|_| !marking.is_empty()) {
        let platform = &hardware.platform;
        if platform.features.ecn || platform.is_software() {
            continue;
        }
        let diagnostic = Diagnostic::error(
            &RULE,
            format!(
                "`{}` cannot mark packets, but QoS profile `{}` requires it",
                platform.id,
                profile.name()
            ),
        )
        .at(hardware.platform_span, format!("for {}", hardware.subject));
        let diagnostic = if draft.states(field!("qos")) {
            diagnostic.and(draft.at(field!("qos")), format!("marks {}", format_list(marking.iter().copied())))
        } else {
            diagnostic.note(format!("`{}` is the default profile", profile.name()))
        };
        out.push(diagnostic.help("use another platform, or a profile whose classes have `ecn: off`"));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn marking_needs_hardware() {
        let fragment = "tiers: { t0: { platform: box-without-ecn, os: frr } }";
        assert!(codes(fragment).contains(&"E0710"));
        assert_eq!(
            message(fragment, "E0710"),
            "`box-without-ecn` cannot mark packets, but QoS profile `lossy-trim` requires it"
        );
    }
}
