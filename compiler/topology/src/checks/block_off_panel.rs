//! E0209: a block of ports runs over the end of the panel.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::CageSet;

use crate::checks::words::{count, side_word};
use crate::draft::{Draft, DraftBlock, Hardware};

/// A block of ports runs over the end of the panel.
pub(crate) static RULE: Rule = Rule {
    code: "E0209",
    title: "ports are beyond the end of the panel",
    condition: "Every block of ports ends on the panel: the first cage plus the number of cages is at most the \
           cages of the platform. A list of cages has enough of them, all on the panel. `first_port` is a \
           port of the first cage.",
    impact: "Cables would be planned to ports that do not exist.",
    example: "tiers: { t0: { up: { count: 128, first_cage: 40 } } }",
    fix: "Lower `first_cage` or `first_port`, or list other cages.",
};

/// Checks both sides of every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let cages = u64::from(hardware.platform.panel.cages);
        for block in [&hardware.down, &hardware.up] {
            let ports = block.breakout.map_or(1, |breakout| u64::from(breakout.ports));
            if block.first_port >= ports {
                out.push(of_first_port(draft, hardware, block, ports));
            }
            let end = block.end();
            if block.count == 0
                || end <= cages && !block.lacks_cages()
                || block.cages() > cages
                || hardware.down.cages_with(&hardware.up) > cages
            {
                continue; // No ports, or too many, which other rules report.
            }
            let side = side_word(block.side);
            if let Some(set) = &block.cages {
                out.push(of_set(draft, hardware, block, set));
                continue;
            }
            let path = hardware.path_of(block.side);
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!(
                        "the {side}links of {} extend past the last cage of `{}`",
                        hardware.subject, hardware.platform.id
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

/// Reports a first port that is not in the first cage.
fn of_first_port(draft: &Draft<'_>, hardware: &Hardware, block: &DraftBlock, ports: u64) -> Diagnostic {
    let (side, who) = (side_word(block.side), &hardware.subject);
    let message =
        format!("the {side}links of {who} start at port {} of a cage with {ports}", block.first_port);
    Diagnostic::error(&RULE, message)
        .at(draft.ports_of(hardware, block.side), "ports are numbered from 0")
        .help(format!("set `{}.first_port` to less than {ports}", hardware.path_of(block.side)))
}

/// Reports a list of cages that is too short, or lists one that the panel does not have.
fn of_set(draft: &Draft<'_>, hardware: &Hardware, block: &DraftBlock, set: &CageSet) -> Diagnostic {
    let (side, who) = (side_word(block.side), &hardware.subject);
    let (needed, listed) = (block.cages(), u64::from(set.len()));
    let message = if needed > listed {
        format!("the {side}links of {who} need {}, but {listed} are listed", count(needed, "cage"))
    } else {
        format!("the {side}links of {who} are in cage {} of `{}`", block.end() - 1, hardware.platform.id)
    };
    Diagnostic::error(&RULE, message)
        .at(draft.ports_of(hardware, block.side), format!("cages {set}"))
        .and(hardware.platform_span, format!("cages 0 to {}", hardware.platform.panel.cages - 1))
        .help(format!(
            "list more cages of the panel in `{}.cages`, or lower the count",
            hardware.path_of(block.side)
        ))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn blocks_end_on_the_panel() {
        assert_eq!(codes("tiers: { t0: { up: { count: 128, first_cage: 40 } } }"), ["E0209"]);
        assert_eq!(
            message("tiers: { t0: { up: { count: 128, first_cage: 40 } } }", "E0209"),
            "the uplinks of each T0 extend past the last cage of `box-256x200g`"
        );
    }
}
