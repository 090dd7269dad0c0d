//! E0204: a platform does not offer the stated breakout.

use std::sync::Arc;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::{Breakout, Platform};

use crate::checks::words::side_word;
use crate::draft::{Draft, DraftBlock, Hardware};
use crate::suggest::format_list;

/// A platform does not offer the stated breakout.
pub(crate) static RULE: Rule = Rule {
    code: "E0204",
    title: "the platform does not offer the breakout",
    condition: "Cages are split only in ways that the platform offers. Some platforms offer a breakout only in some \
           cages. A breakout can disable the next cage, which then has no ports.",
    impact: "The switch would reject the breakout and with it the ports.",
    example: "tiers: { t0: { up: { count: 128, breakout: 3x200G } } }",
    fix: "Use one of the breakouts that the message lists, or list other cages in `cages`.",
};

/// Checks both sides of every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        if hardware.offers_breakouts() {
            for block in [&hardware.down, &hardware.up] {
                if let Some(found) = of_cage(draft, hardware, block) {
                    out.push(found);
                }
            }
        }
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

/// Reports a cage that does not support its breakout, or that the breakout of the previous cage disables.
fn of_cage(draft: &Draft<'_>, hardware: &Hardware, block: &DraftBlock) -> Option<Diagnostic> {
    let panel = &hardware.platform.panel;
    let in_use = |block: &DraftBlock| block.cages_in_use(panel.cages).map(|used| used.cages);
    let (breakout, used) = (block.breakout?, in_use(block)?);
    let id = &hardware.platform.id;
    let at = draft.ports_of(hardware, block.side);
    let own = format!("the {}links of {} are in cages {used}", side_word(block.side), hardware.subject);
    let path = hardware.path_of(block.side);
    if let Some(known) = panel.cages_with(breakout)
        && let Some(cage) = used.iter().find(|cage| !known.contains(*cage))
    {
        let message = format!("cage {cage} of `{id}` does not support breakout `{breakout}`");
        let found = Diagnostic::error(&RULE, message).at(at, own);
        let found = found.and(hardware.platform_span, format!("has {breakout} in cages {known}"));
        return Some(found.help(format!("list cages of {known} in `{path}.cages`, or use another breakout")));
    }
    let both = [&hardware.down, &hardware.up].map(in_use);
    let is_used = |cage: u16| both.iter().flatten().any(|set| set.contains(cage));
    let cage = used.iter().filter(|_| panel.disables_next_cage(breakout)).find(|cage| is_used(cage + 1))?;
    let message = format!("breakout `{breakout}` in cage {cage} of `{id}` disables cage {}", cage + 1);
    let found = Diagnostic::error(&RULE, message).at(at, own);
    let found = found.and(hardware.platform_span, format!("cage {} is in use", cage + 1));
    Some(found.help(format!("list every other cage in `{path}.cages`, and leave the next ones empty")))
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

    /// Two cages of FALCON_DB have 1x400G only, and eight ports in a cage of Spectrum-4 take the port numbers of the
    /// next one: platform.json and port_config.ini of sonic-buildimage 086b03bd.
    #[test]
    fn single_cages_do_not_have_the_breakout() {
        let of = |platform: &str, breakout: &str, cages: &str, up: &str| {
            format!(
                "planes: 1\nrouting: ecmp-static\nqos: none\n\
                 hosts: {{ groups: 2, per_group: 16, nic: {{ speed: {}, lanes: 1 }} }}\n\
                 tiers:\n  t0: {{ platform: {platform}, os: sonic, down: {{ breakout: {breakout}, cages: \"{cages}\" }}, \
                 up: {{ count: 2, breakout: {up} }} }}\n  t1: {{ platform: {platform}, os: sonic, \
                 down: {{ breakout: {up} }} }}\n",
                breakout.split_once('x').unwrap().1
            )
        };
        let falcon = |cages| of("marvell-db98cx8580-32cd", "8x50G", cages, "\"1x400G\", cages: \"30-31\"");
        assert!(!codes(&falcon("4-5")).contains(&"E0204"));
        assert_eq!(
            message(&falcon("3-4"), "E0204"),
            "cage 3 of `marvell-db98cx8580-32cd` does not support breakout `8x50G`"
        );
        let sn5610n = |cages, up| of("nvidia-sn5610n", "8x100G", cages, up);
        let far = "1x800G, first_cage: 32";
        assert!(!codes(&sn5610n("0, 2", far)).contains(&"E0204"));
        assert_eq!(
            message(&sn5610n("0, 2", "1x800G, cages: \"3, 5\""), "E0204"),
            "breakout `8x100G` in cage 2 of `nvidia-sn5610n` disables cage 3"
        );
        let text = help(&sn5610n("0-1", far), "E0204");
        assert!(text.starts_with("list cages of 0, 2, 4, 6"), "{text}");
    }
}
