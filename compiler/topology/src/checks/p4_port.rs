//! E0901: a port of a P4 target has a number above the maximum of its pipeline, 509 for v1model.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Slot;

use crate::checks::words::{count, side_word};
use crate::draft::{Draft, DraftBlock, Hardware};

/// A port of a P4 target has a number above the maximum of its pipeline.
pub(crate) static RULE: Rule = Rule {
    code: "E0901",
    title: "a P4 port number is too large",
    condition: "On P4 targets, every port number is at most 509. If the platform has `port_bits: N`, the limit is \
           2^N - 3.",
    impact: "Ports of v1model, and therefore of BMv2, have nine bits. 510 is the controller port, and 511 drops \
           the packet. A larger number would be truncated and name another port. The embedded switch also \
           runs pipelines with ports of up to 12 bits, with the last two numbers reserved in the same way.",
    example: "# p4-1024 is a platform of a site's own\n\
           tiers: { t0: { platform: p4-1024, os: p4 } }",
    fix: "Use fewer ports, start the uplinks at a lower cage (`first_cage`), or use a platform with \
           `port_bits`, such as `embedded-512`. BMv2 cannot run the latter.",
};

/// Compares the number of the last port of each side with the maximum.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let Some(largest) = hardware.platform.panel.port_number_max(hardware.os) else { continue };
        let bits = hardware.platform.panel.port_bits();
        for block in [&hardware.down, &hardware.up] {
            let Some(number) = last_port(hardware, block).filter(|number| *number > largest) else {
                continue;
            };
            let side = side_word(block.side);
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!(
                        "the last {side}link of {} is P4 port {number}; the maximum is {largest}",
                        hardware.subject
                    ),
                )
                .at(
                    draft.ports_of(hardware, block.side),
                    format!("{} from cage {}", count(block.count, "port"), block.cage(0)),
                )
                .and(
                    hardware.platform_span,
                    format!(
                        "P4 ports have {bits} bits; {} is the controller port, and {} drops",
                        largest + 1,
                        largest + 2
                    ),
                )
                .help(format!("use fewer ports, or a lower `{}.first_cage`", hardware.path_of(block.side))),
            );
        }
    }
}

/// Returns the number of the last port of a block; `None` if that port is not on the panel.
fn last_port(hardware: &Hardware, block: &DraftBlock) -> Option<u16> {
    let (breakout, panel) = (block.breakout?, &hardware.platform.panel);
    let last = (block.first_port + block.count + block.spare).checked_sub(1)?;
    let parts = u64::from(breakout.ports.max(1));
    let cage = u16::try_from(block.cage(last / parts)).ok()?;
    let fits = cage < panel.cages && panel.offers(breakout);
    fits.then(|| hardware.platform.port_number(Slot { cage, part: (last % parts) as u8, breakout }))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn nine_bits_number_ports() {
        assert!(codes("tiers: { t0: { platform: p4-1024, os: p4 } }").contains(&"E0901"));
        assert_eq!(
            message("tiers: { t0: { platform: p4-1024, os: p4 } }", "E0901"),
            "the last uplink of each T0 is P4 port 640; the maximum is 509"
        );
    }

    #[test]
    fn the_port_of_the_controller_is_no_front_port() {
        let fabric = |cage: u16| {
            codes(&format!(
                "tiers: {{ t0: {{ platform: p4-1024, os: p4, up: {{ count: 128, first_cage: {cage} }} }} }}"
            ))
        };
        assert!(fabric(382).contains(&"E0901"), "port 510");
        assert!(!fabric(381).contains(&"E0901"), "port 509");
    }
}
