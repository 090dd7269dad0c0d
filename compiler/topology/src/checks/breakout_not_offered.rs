//! E0204: a platform does not offer the stated breakout.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::suggest::format_list;

/// A platform does not offer the stated breakout.
pub(crate) static RULE: Rule = Rule {
    code: "E0204",
    title: "the platform does not offer the breakout",
    condition: "Cages are split only in ways that the platform offers.",
    impact: "The switch would reject the breakout and with it the ports.",
    example: "tiers: { t0: { up: { count: 128, breakout: 3x200G } } }",
    fix: "Use one of the breakouts that the message lists.",
};

/// Checks both sides of every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        for block in [&hardware.down, &hardware.up] {
            let Some(breakout) = block.breakout.filter(|_| block.count > 0) else { continue };
            let (platform, os) = (&hardware.platform, hardware.os);
            let splits = platform.splits(os, breakout);
            if platform.panel.offers(breakout) && splits {
                continue;
            }
            let offered = platform.panel.breakouts.iter().filter(|offered| platform.splits(os, **offered));
            let offered: Vec<String> = offered.map(ToString::to_string).collect();
            let offered = format_list(offered.iter().map(String::as_str));
            let stated = draft.stated_breakout(hardware, block.side);
            let with = if splits { String::new() } else { format!(" with `{}`", os.keyword()) };
            let message = format!("`{}` does not offer breakout `{breakout}`{with}", platform.id);
            let mut diagnostic = Diagnostic::error(&RULE, message);
            if !splits {
                diagnostic = diagnostic.note("Cumulus Linux disables the cage behind one that is split in 8");
            }
            out.push(if let Some(span) = stated {
                diagnostic
                    .at(span, format!("for {}", hardware.subject))
                    .and(hardware.platform_span, format!("offers {offered}"))
                    .help(format!("use one of {offered}"))
            } else {
                diagnostic
                    .at(hardware.platform_span, format!("offers {offered}"))
                    .and(draft.tier_span(hardware.tier), format!("the tier uses breakout {breakout}"))
                    .help("use a platform that offers this breakout")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn refuses_what_is_not_offered() {
        assert_eq!(
            codes("tiers: { t0: { up: { count: 96, breakout: 3x200G }, oversubscription: \"4:3\" } }"),
            ["E0204"]
        );
        assert_eq!(
            message("tiers: { t0: { by_plane: { 0: { platform: th4-64x400g } } } }", "E0204"),
            "`th4-64x400g` does not offer breakout `4x200G`"
        );
    }

    /// Cumulus Linux disables the next cage, which only a panel with every other cage can leave empty.
    #[test]
    fn adjacent_cages_are_not_split_in_eight_under_cumulus_linux() {
        let with = |platform: &str, os: &str| {
            format!("tiers: {{ t1: {{ platform: {platform}, os: {os}, down: {{ breakout: 8x100G }} }} }}")
        };
        assert_eq!(
            message(&with("spectrum6-sn6600", "nvue"), "E0204"),
            "`spectrum6-sn6600` does not offer breakout `8x100G` with `nvue`"
        );
        for (platform, os) in [("spectrum6-sn6600", "sonic"), ("spectrum4-sn5600-256x100g", "nvue")] {
            assert!(!codes(&with(platform, os)).contains(&"E0204"), "{platform} {os}");
        }
    }
}
