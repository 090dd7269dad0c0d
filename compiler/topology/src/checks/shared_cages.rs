//! E0219: a cage has ports of two kinds under an operating system that splits cages into equal ports.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};

use crate::coordinate::Side;
use crate::draft::Draft;

/// A cage has ports of two kinds under an operating system that splits cages into equal ports.
pub(crate) static RULE: Rule = Rule {
    code: "E0219",
    title: "the operating system cannot share a cage",
    condition: "A breakout that takes a share of its cages, as in `1x800G(4)`, needs an operating system that can \
           split a cage into unequal ports.",
    impact: "Other operating systems have no setting for it.",
    example: "tiers: { t0: { platform: spectrum4-sn5600, os: nvue, down: { breakout: 4x200G }, up: { count: 128, breakout: 1x400G(4) } } }",
    fix: "Split each cage into equal ports, and list the cages of both sides with `cages`.",
};

/// Checks both sides of every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let Support::Not(why) = hardware.os.support(Capability::SharedCages) else { continue };
        let sides = [(Side::Down, &hardware.down), (Side::Up, &hardware.up)];
        let Some((side, block)) = sides.into_iter().find(|(_, block)| block.count > 0 && block.is_share())
        else {
            continue;
        };
        let Some(breakout) = block.breakout else { continue };
        let word = hardware.os.keyword();
        out.push(
            Diagnostic::error(&RULE, format!("`{word}` cannot split a cage `{breakout}`: {why}"))
                .at(draft.ports_of(hardware, side), format!("for {}", hardware.subject))
                .and(hardware.os_span, format!("`{word}`"))
                .help("split each cage into equal ports, and list the cages of both sides with `cages`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::codes;

    #[test]
    fn equal_ports_only() {
        assert!(codes(RULE.example).contains(&"E0219"));
        assert!(!codes(&RULE.example.replace("nvue", "sonic")).contains(&"E0219"));
    }
}
