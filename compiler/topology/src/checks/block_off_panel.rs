//! E0209: a block of ports runs over the end of the panel.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::side_word;
use crate::draft::Draft;

/// A block of ports runs over the end of the panel.
pub(crate) static RULE: Rule = Rule {
    code: "E0209",
    title: "ports are beyond the end of the panel",
    what: "Every block of ports ends on the panel: the first cage plus the number of cages is at most the \
           cages of the platform.",
    why: "Cables would be planned to ports that do not exist.",
    example: "tiers: { t0: { up: { count: 128, first_cage: 40 } } }",
    fix: "Lower `first_cage`.",
};

/// Checks both sides of every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let cages = u64::from(hardware.platform.panel.cages);
        for block in [&hardware.down, &hardware.up] {
            let end = block.first_cage + block.cages();
            if block.count == 0
                || end <= cages
                || block.cages() > cages
                || hardware.down.cages() + hardware.up.cages() > cages
            {
                continue; // Nothing there, or a matter of the count.
            }
            let side = side_word(block.side);
            let path = hardware.path_of(block.side);
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!(
                        "the {side}links of {} end behind the last cage of `{}`",
                        hardware.who, hardware.platform.id
                    ),
                )
                .at(
                    draft.first_cage_of(hardware, block.side),
                    format!("cages {} to {}", block.first_cage, end - 1),
                )
                .and(hardware.platform_span, format!("cages 0 to {}", cages - 1))
                .set(
                    [(&format!("{path}.first_cage"), (cages - block.cages()).to_string())],
                    format!("set `{path}.first_cage` to {} or less", cages - block.cages()),
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn blocks_end_on_the_panel() {
        assert_eq!(codes("tiers: { t0: { up: { count: 128, first_cage: 40 } } }"), ["E0209"]);
        assert_eq!(
            message("tiers: { t0: { up: { count: 128, first_cage: 40 } } }", "E0209"),
            "the uplinks of each T0 end behind the last cage of `box-256x200g`"
        );
    }
}
