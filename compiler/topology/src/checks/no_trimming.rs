//! E0703: a profile that trims meets a platform that cannot.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// A profile that trims meets a platform that cannot.
pub(crate) static RULE: Rule = Rule {
    code: "E0703",
    title: "the platform cannot trim packets",
    what: "With a profile that trims, every switch with a packet buffer of its own can trim packets.",
    why: "Senders count on the header of a packet that had no room; where it is dropped instead, they wait \
           for a timeout.",
    example: "routing: ecmp-static\n\
           tiers:\n\
           \x20 t0: { platform: th4-64x400g, down: { breakout: 2x200G }, up: { count: 64, breakout: 2x200G, first_cage: 32 } }\n\
           hosts: { per_group: 64 }",
    fix: "Use a profile without trimming such as `sonic-ai-lossy`, or another platform.",
};

/// Checks every kind of switch; software forwards without a buffer to overflow.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(profile) = draft.qos.as_ref().ok().filter(|profile| profile.trimming().is_some()) else {
        return;
    };
    let stated = draft.states(field!("qos"));
    for hardware in &draft.hardware {
        let platform = &hardware.platform;
        if platform.features.trimming || platform.buffer.is_none() {
            continue;
        }
        let diagnostic = Diagnostic::error(
            &RULE,
            format!("`{}` cannot trim packets, and QoS profile `{}` does", platform.id, profile.name()),
        )
        .at(hardware.platform_span, format!("for {}", hardware.who));
        let diagnostic = if stated {
            diagnostic.and(draft.at(field!("qos")), "trims")
        } else {
            diagnostic.note(format!("`{}` is the profile where `qos` is not given", profile.name()))
        };
        out.push(
            diagnostic.help("use a profile without trimming such as `sonic-ai-lossy`, or another platform"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const TH4: &str = "routing: ecmp-static, hosts: { per_group: 64 }, tiers: { t0: { platform: th4-64x400g, down: { breakout: 2x200G }, up: { count: 64, breakout: 2x200G } } }";

    #[test]
    fn trimming_needs_hardware() {
        assert!(codes(&format!("{{ {TH4} }}")).contains(&"E0703"));
        assert!(!codes(&format!("{{ {TH4}, qos: sonic-ai-lossy }}")).contains(&"E0703"));
        assert_eq!(
            message(&format!("{{ {TH4} }}"), "E0703"),
            "`th4-64x400g` cannot trim packets, and QoS profile `lossy-trim` does"
        );
    }
}
