//! E0203: downlinks and uplinks together do not fit on the panel.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, DraftBlock, Hardware, Ports};

/// Downlinks and uplinks together do not fit on the panel.
pub(crate) static RULE: Rule = Rule {
    code: "E0203",
    title: "a switch needs more ports than the platform has",
    condition: "The downlinks, uplinks and spare ports of a T0, and of a T1 below a T2 tier, fit on the panel. The ASIC has \
           as many ports at the same time: some ASICs have fewer ports than lanes.",
    impact: "Cables would be planned to ports that do not exist.",
    example: "tiers: { t0: { up: 136 } }",
    fix: "Lower one of the counts, split cages into more ports, or use a larger platform.",
};

/// Checks every kind of switch. Other rules report a T1 or T2 whose downlinks alone are too many.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        if !draft.offers(hardware) {
            continue;
        }
        let (down, up) = (&hardware.down, &hardware.up);
        let cages = u64::from(hardware.platform.panel.cages);
        let needed = down.cages_with(up);
        let one_sided = hardware.tier != TierId::T0 && (up.count == 0 || down.cages() > cages);
        if needed <= cages {
            if let Some(found) = asic_limit(draft, hardware) {
                out.push(found);
            }
        } else if !one_sided {
            out.push(explain(draft, hardware, needed));
        }
    }
}

/// Reports a switch with more ports than its ASIC has at the same time.
fn asic_limit(draft: &Draft<'_>, hardware: &Hardware) -> Option<Diagnostic> {
    let (down, up) = (&hardware.down, &hardware.up);
    let logical = hardware.platform.panel.logical_ports.as_ref()?;
    let needed = down.count + down.spare + up.count + up.spare;
    if hardware.platform.has_ports(needed) {
        return None;
    }
    let side = if down.count + down.spare >= up.count + up.spare { Side::Down } else { Side::Up };
    let (word, source) = logical.source.parts();
    let message = format!(
        "{} needs {needed} ports, but the ASIC of `{}` has {}",
        hardware.subject, hardware.platform.id, logical.max
    );
    Some(
        Diagnostic::error(&RULE, message)
            .at(draft.ports_of(hardware, side), format!("{} + {}", describe(down), describe(up)))
            .and(hardware.platform_span, format!("{} ports at the same time", logical.max))
            .note(format!("{word}: {source}"))
            .help("use fewer and faster ports, or a larger platform"),
    )
}

fn explain(draft: &Draft<'_>, hardware: &Hardware, needed_cages: u64) -> Diagnostic {
    let (platform, cages) = (&hardware.platform, u64::from(hardware.platform.panel.cages));
    let parts = |block: &DraftBlock| block.breakout.map_or(1, |breakout| u64::from(breakout.ports));
    let ports = [&hardware.down, &hardware.up].map(|block| block.count + block.spare);
    let (needed, has) = (ports[0] + ports[1], cages * parts(&hardware.up));
    let offered = hardware.up.breakout.is_some_and(|breakout| platform.panel.offers(breakout));
    let in_ports = offered && hardware.down.breakout == hardware.up.breakout && needed > has;
    let message = if in_ports {
        format!("{} needs {needed} ports, but `{}` has {has}", hardware.subject, platform.id)
    } else {
        format!("{} needs {needed_cages} cages, but `{}` has {cages}", hardware.subject, platform.id)
    };
    let panel = match hardware.up.breakout {
        Some(breakout) if in_ports => format!("{has} ports of {}", breakout.speed),
        Some(_) | None => format!("{cages} cages"),
    };
    let up_max = cages.saturating_sub(hardware.down.cages()) * parts(&hardware.up);
    let up_max = up_max.saturating_sub(hardware.up.spare);
    let diagnostic = Diagnostic::error(&RULE, message)
        .at(
            draft.ports_of(hardware, Side::Up),
            format!("{} + {}", describe(&hardware.up), describe(&hardware.down)),
        )
        .and(hardware.platform_span, panel)
        .note(format!(
            "{} take {}, {} take {}",
            describe(&hardware.down),
            cages_of(&hardware.down),
            describe(&hardware.up),
            cages_of(&hardware.up)
        ));
    diagnostic.help(match Ports::of(hardware.tier, Side::Up) {
        Some(ports) if up_max > 0 => format!("lower `{}` to {up_max}, or use a larger platform", ports.block),
        Some(_) | None => "use a larger platform, or fewer ports towards the NICs".to_owned(),
    })
}

fn describe(block: &DraftBlock) -> String {
    let word = match block.side {
        Side::Down => "downlink",
        Side::Up => "uplink",
    };
    let spare = if block.spare > 0 { format!(" and {} spare", block.spare) } else { String::new() };
    let breakout = block.breakout.map_or_else(String::new, |breakout| format!(" ({breakout})"));
    format!("{}{spare}{breakout}", count(block.count, word))
}

fn cages_of(block: &DraftBlock) -> String {
    count(block.cages(), "cage")
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn counts_both_sides() {
        assert_eq!(codes("tiers: { t0: { up: 136 } }"), ["E0203"]);
        assert_eq!(
            message("tiers: { t0: { up: 136 } }", "E0203"),
            "each T0 needs 264 ports, but `box-256x200g` has 256"
        );
    }

    #[test]
    fn counts_cages_where_rounding_decides() {
        // 129 downlinks at 4x200G take 33 cages, 127 uplinks 32.
        assert_eq!(
            message("{ hosts: { per_group: 129, nics_per_node: 1 }, tiers: { t0: { up: 127 } } }", "E0203"),
            "each T0 needs 65 cages, but `box-256x200g` has 64"
        );
    }

    /// Tomahawk 2 has 256 lanes and 128 ports, Tomahawk 4 has 512 lanes and 256 ports.
    #[test]
    fn an_asic_has_fewer_ports_than_lanes() {
        let of = |platform: &str, split: &str, speed: &str, nics: u32| {
            format!(
                "planes: 1\nrouting: ecmp-static\nqos: none\n\
                 hosts: {{ groups: 2, per_group: {nics}, nic: {{ speed: {speed}, lanes: 1 }} }}\n\
                 tiers:\n  t0: {{ platform: {platform}, os: sonic, down: {{ breakout: {split} }}, \
                 up: {{ count: 8, breakout: {split}, first_cage: 60 }} }}\n  t1: {{ platform: {platform}, os: sonic }}\n"
            )
        };
        let (th2, th4) =
            (|nics| of("th2-64x100g", "4x25G", "25G", nics), |nics| of("th4-64x400g", "8x50G", "50G", nics));
        assert!(!codes(&th2(120)).contains(&"E0203"));
        assert!(codes(&th2(121)).contains(&"E0203"));
        assert!(!codes(&th4(248)).contains(&"E0203"));
        assert!(codes(&th4(256)).contains(&"E0203"));
    }

    #[test]
    fn looks_at_devices_of_their_own() {
        let fragment = "exceptions: { devices: { p1-t0-002: { platform: spectrum3-sn4700 } } }";
        assert!(codes(fragment).contains(&"E0203"));
        assert_eq!(message(fragment, "E0203"), "`p1-t0-002` needs 64 cages, but `spectrum3-sn4700` has 32");
    }
}
