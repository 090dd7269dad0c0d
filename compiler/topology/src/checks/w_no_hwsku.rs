//! W0201: SONiC has no hwsku for the breakouts of a switch.

use std::collections::BTreeSet;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::{Breakout, Sonic, SplitCages};

use crate::draft::{Draft, Hardware};

/// SONiC has no hwsku for the breakouts of a switch.
pub(crate) static RULE: Rule = Rule {
    code: "W0201",
    title: "SONiC has no hwsku for these breakouts",
    condition: "With SONiC, one of the platform's hwskus has the breakouts of the fabric file in all cages \
           in use, or the platform's own hwsku permits any breakout (`any_breakout`). `closc platforms NAME` \
           lists the hwskus.",
    impact: "SONiC reads lanes, SAI profile and buffers from the folder of the hwsku. With a hwsku for other \
           breakouts, ports do not come up, or come up with wrong buffers.",
    example: "tiers:\n\
           \x20 t1: { platform: th5-512x100g, down: { breakout: 4x200G } }",
    fix: "Use breakouts that one of the listed hwskus has. If it has two breakouts, write its cages in \
           `down.cages` and `up.cages`. Or add a platform file with the hwsku of your image.",
};

/// Checks every kind of switch that runs SONiC.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in draft.hardware.iter().filter(|hardware| hardware.os.has_hwskus()) {
        let platform = &hardware.platform;
        let (Some(sonic), Some(tier)) = (&platform.sonic, draft.tier(hardware.tier)) else { continue };
        // Another rule reports breakouts that a platform does not offer. The default breakout of an unknown
        // platform is not known.
        let offered =
            tier.platform.is_some() && hardware.breakouts().all(|breakout| platform.panel.offers(breakout));
        let used: Vec<SplitCages> = hardware.cages_in_use().collect();
        if used.is_empty() || !offered || platform.has_hwsku(used.iter().copied()) {
            continue;
        }
        out.push(diagnostic(hardware, sonic, &used));
    }
}

fn diagnostic(hardware: &Hardware, sonic: &Sonic, used: &[SplitCages]) -> Diagnostic {
    let platform = &hardware.platform;
    let splits = breakouts(used.iter().map(|of| of.breakout)).join(" and ");
    let similar: Vec<&str> = platform.hwskus_with(used.iter().map(|of| of.breakout)).collect();
    let message = if let [name, ..] = similar[..] {
        format!("hwsku `{name}` has {splits} in other cages")
    } else {
        format!("no hwsku of `{}` splits cages into {splits}", platform.id)
    };
    let mut diagnostic = Diagnostic::warning(&RULE, message)
        .at(hardware.platform_span, format!("for {}: closc writes `{}`", hardware.subject, sonic.hwsku));
    let known = sonic
        .hwskus
        .iter()
        .map(|(these, name)| format!("{name} for {}", breakouts(these.iter().copied()).join(" + ")));
    let known: Vec<String> = known.collect();
    if similar.is_empty() {
        let help = "use breakouts that one hwsku has, or add a platform file with the hwsku of your image";
        let note = format!("known: {}", known.join(", "));
        return if known.is_empty() { diagnostic } else { diagnostic.note(note) }.help(help);
    }
    diagnostic = diagnostic.note(format!("{} has {}", hardware.subject, cages(used)));
    for name in similar {
        let own = sonic.cages.get(name).into_iter().flatten();
        let own: Vec<SplitCages> =
            own.map(|(breakout, cages)| SplitCages { breakout: *breakout, cages: *cages }).collect();
        diagnostic = diagnostic.note(format!("{name} has {}", cages(&own)));
    }
    diagnostic.help(
        "write the cages of the hwsku in `down.cages` and `up.cages`, or add a platform file with the hwsku \
         of your image",
    )
}

/// Returns breakouts as text, each once.
fn breakouts(of: impl Iterator<Item = Breakout>) -> Vec<String> {
    let all: BTreeSet<String> = of.map(|breakout| breakout.to_string()).collect();
    all.into_iter().collect()
}

/// Returns cages as text: `8x100G in cages 0-11; 2x400G in cages 12-13`.
fn cages(of: &[SplitCages]) -> String {
    let all: Vec<String> = of.iter().map(|of| format!("{} in cages {}", of.breakout, of.cages)).collect();
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn mixed_breakouts_need_a_hwsku() {
        let mixed = "{ tiers: { t1: { platform: th5-512x100g, down: { breakout: 4x200G } } } }";
        assert!(codes(mixed).contains(&"W0201"));
        assert_eq!(message(mixed, "W0201"), "no hwsku of `th5-512x100g` splits cages into 4x200G");
        assert!(!codes("description: one breakout").contains(&"W0201"));
    }
}
