//! E0204: a platform does not offer the stated breakout.

use std::sync::Arc;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::{Breakout, Platform};

use crate::draft::{Draft, Hardware};
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
            let offered = platform.panel.listed_breakouts().filter(|offered| platform.splits(os, *offered));
            let offered: Vec<String> = offered.map(|own| own.to_string()).collect();
            let offered = format_list(offered.iter().map(String::as_str));
            let same_box = other_entry(draft, hardware, breakout);
            let same_box =
                same_box.map_or(String::new(), |id| format!(", or `{id}`, the same switch with {breakout}"));
            let stated = draft.stated_breakout(hardware, block.side);
            let with = if splits { String::new() } else { format!(" with `{}`", os.keyword()) };
            let message = format!("`{}` does not offer breakout `{breakout}`{with}", platform.id);
            let mut diagnostic = Diagnostic::error(&RULE, message);
            if !splits {
                diagnostic = diagnostic
                    .note("Cumulus Linux disables the next cage after one that is split into 8 ports");
            }
            out.push(if let Some(span) = stated {
                diagnostic
                    .at(span, format!("for {}", hardware.subject))
                    .and(hardware.platform_span, format!("offers {offered}"))
                    .help(format!("use one of {offered}{same_box}"))
            } else {
                diagnostic
                    .at(hardware.platform_span, format!("offers {offered}"))
                    .and(draft.tier_span(hardware.tier), format!("the tier uses breakout {breakout}"))
                    .help("use a platform that offers this breakout")
            });
        }
    }
}

/// Returns another entry of the same box that offers a breakout.
fn other_entry<'a>(draft: &'a Draft<'_>, hardware: &Hardware, breakout: Breakout) -> Option<&'a str> {
    let name = |platform: &Platform| platform.sonic.as_ref().map(|sonic| sonic.platform.clone());
    let own = name(&hardware.platform)?;
    let is_other = |other: &&Arc<Platform>| {
        name(other).as_ref() == Some(&own)
            && other.id != hardware.platform.id
            && other.oses.contains(&hardware.os)
            && other.panel.offers(breakout)
            && other.splits(hardware.os, breakout)
    };
    draft.catalogue.iter().find(is_other).map(|other| other.id.as_str())
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

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

    /// The catalogue has an entry of SN5600 with every other cage, whose ports can be split in eight.
    #[test]
    fn another_entry_of_the_same_switch_is_proposed() {
        let text = "tiers: { t1: { platform: spectrum4-sn5600, os: sonic, down: { breakout: 8x100G } } }";
        let found = help(text, "E0204");
        assert!(found.ends_with(", or `spectrum4-sn5600-256x100g`, the same switch with 8x100G"), "{found}");
    }

    /// Cumulus Linux disables the next cage. Only a panel that uses every other cage can leave it empty.
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
