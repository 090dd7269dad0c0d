//! W0201: SONiC has no hwsku for the breakouts of a switch.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;

/// SONiC has no hwsku for the breakouts of a switch.
pub(crate) static RULE: Rule = Rule {
    code: "W0201",
    title: "SONiC has no hwsku for these breakouts",
    what: "With SONiC, one of the platform's hwskus has exactly the breakouts in use, or the platform's own \
           hwsku permits any (`any_breakout`).",
    why: "SONiC reads lanes, SAI profile and buffers from the folder of the hwsku. With a hwsku for other \
           breakouts, ports do not come up, or come up with wrong buffers.",
    example: "tiers:\n\
           \x20 t1: { platform: th5-512x100g, down: { breakout: 4x200G } }",
    fix: "Split all cages as one of the listed hwskus does, or add a platform file with the hwsku of your \
           image.",
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
        let in_use = hardware.breakouts().next().is_some();
        if !in_use || !offered || platform.has_hwsku(hardware.breakouts()) {
            continue;
        }
        let mut used: Vec<String> = hardware.breakouts().map(|breakout| breakout.to_string()).collect();
        used.sort();
        used.dedup();
        let known = sonic.hwskus.iter().map(|(these, name)| {
            let these: Vec<String> = these.iter().map(ToString::to_string).collect();
            format!("{} for {}", name, these.join(" + "))
        });
        let known: Vec<String> = known.collect();
        let message = format!("no hwsku of `{}` supports cages split {}", platform.id, used.join(" and "));
        let diagnostic = Diagnostic::warning(&RULE, message)
            .at(hardware.platform_span, format!("for {}: `{}` is written", hardware.who, sonic.hwsku));
        let diagnostic = if known.is_empty() {
            diagnostic
        } else {
            diagnostic.note(format!("known: {}", known.join(", ")))
        };
        out.push(
            diagnostic
                .help("split the cages as a hwsku does, or add a platform file with your image's hwsku"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn mixed_breakouts_need_a_hwsku() {
        let mixed = "{ tiers: { t1: { platform: th5-512x100g, down: { breakout: 4x200G } } } }";
        assert!(codes(mixed).contains(&"W0201"));
        assert_eq!(message(mixed, "W0201"), "no hwsku of `th5-512x100g` supports cages split 4x200G");
        assert!(!codes("description: one breakout").contains(&"W0201"));
    }
}
