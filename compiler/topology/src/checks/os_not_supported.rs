//! E0202: an operating system does not run on a platform.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::suggest::format_list;

/// An operating system does not run on a platform.
pub(crate) static RULE: Rule = Rule {
    code: "E0202",
    title: "the operating system does not run on the platform",
    condition: "The platform of a switch runs its operating system.",
    impact: "A configuration for a system that cannot be installed is useless.",
    example: "tiers: { t0: { os: linux } }",
    fix: "Use one of the systems that the message lists, or another platform.",
};

/// Checks every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let (platform, os) = (&hardware.platform, hardware.os);
        if platform.supports(os) {
            continue;
        }
        let offered = format_list(platform.oses.iter().map(|os| os.keyword()));
        out.push(
            Diagnostic::error(&RULE, format!("`{}` does not run on `{}`", os.keyword(), platform.id))
                .at(hardware.os_span, format!("for {}", hardware.subject))
                .and(hardware.platform_span, format!("runs {offered}"))
                .help(format!("use {offered}, or another platform")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn knows_what_runs_where() {
        assert_eq!(codes("tiers: { t0: { os: linux } }"), ["E0202"]);
        assert!(!codes("tiers: { t0: { os: frr } }").contains(&"E0202"));
        assert_eq!(
            message("tiers: { t0: { by_plane: { 1: { os: p4 } } } }", "E0202"),
            "`p4` does not run on `box-256x200g`"
        );
    }
}
