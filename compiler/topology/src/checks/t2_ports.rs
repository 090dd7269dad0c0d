//! E0313: the ports of a T2 do not suffice for its zones.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{count, fewer_spare};
use crate::choice::Wiring;
use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, DraftTier};
use crate::field;

/// The ports of a T2 do not suffice for its zones.
pub(crate) static RULE: Rule = Rule {
    code: "E0313",
    title: "a T2 cannot reach all zones",
    condition: "A T2 has enough ports for all zones (`zones * ports_per_zone`), and `ports_per_zone` is enough \
           for the links of one zone.",
    impact: "T2 downlinks are reserved zone by zone, so that a new zone or T1 moves no cable. Links beyond them \
           have no port.",
    example: "zones: 8\n\
           hosts: { groups: 64 }\n\
           tiers:\n\
           \x20 t0: { up: 128 }\n\
           \x20 t1: { up: 128 }\n\
           \x20 t2: { platform: th5-64x800g, down: { breakout: 4x200G } }",
    fix: "Set `tiers.t2.ports_per_zone` for the largest zone that you plan, use a larger platform, or use \
           `wiring: rows`. By default, the ports of the panel are divided by the zones that a uSID can name \
           (`srv6.widths.zone`).",
};

/// Compares the ports that zones need with the reserved ports, and the reserved ports with the panel.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (Some(t2), Some(kept)) = (&draft.t2, draft.zone_ports) else { return };
    let (t1s, parallel) = (draft.t1.count, draft.t1.parallel);
    let (needed, arithmetic) = match draft.wiring {
        Wiring::Full => {
            (t1s * parallel, format!("{} x {parallel} parallel = {}", count(t1s, "T1"), t1s * parallel))
        }
        Wiring::Rows => {
            let links = draft.t1s_below_t2() * parallel;
            let t1s = count(draft.t1s_below_t2(), "T1");
            (links, format!("{t1s} of the row x {parallel} parallel = {links}"))
        }
    };
    let stated = draft.states(field!("tiers.t2.ports_per_zone"));
    let kept_at = draft.at(field!("tiers.t2.ports_per_zone"));
    if needed > kept && draft.doc.tiers.t1.as_ref().is_some_and(|t1| t1.up.is_some()) {
        let why = if stated {
            String::new()
        } else {
            " by default: the ports of the panel divided by the zones that a uSID can name".into()
        };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("each T2 needs {} per zone; {kept} are reserved", count(needed, "port")),
            )
            .at(kept_at, format!("{} per zone{why}", count(kept, "port")))
            .and(draft.ports_span(TierId::T0, Side::Up), format!("make {} in each zone", count(t1s, "T1")))
            .note(arithmetic)
            .set(
                [(field!("tiers.t2.ports_per_zone").path(), needed.to_string())],
                format!("set `tiers.t2.ports_per_zone` to {needed} or more, or use `wiring: rows`"),
            ),
        );
    }
    panels(draft, t2, kept, out);
}

/// Compares the reserved ports with those of the panels.
fn panels(draft: &Draft<'_>, t2: &DraftTier, kept: u64, out: &mut Diagnostics) {
    for hardware in draft.hardware.iter().filter(|hardware| hardware.tier == TierId::T2) {
        let Some(breakout) = t2.down.breakout else { continue };
        if t2.down.cages() <= u64::from(hardware.platform.panel.cages) {
            continue;
        }
        let has = u64::from(hardware.platform.panel.cages) * u64::from(breakout.ports);
        let all = t2.down.count + t2.down.spare;
        let kept_max = has.saturating_sub(t2.down.spare) / draft.zones.max(1);
        let fewer = fewer_spare(field!("tiers.t2.down.spare"), t2.down.spare, has, t2.down.count)
            .or_else(|| (kept_max > 0).then(|| format!("lower `tiers.t2.ports_per_zone` to {kept_max}")));
        let fewer = fewer.map(|advice| format!("{advice}, or ")).unwrap_or_default();
        out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "{} needs {} for {}, but `{}` has {has}",
                    hardware.subject,
                    count(all, "port"),
                    count(draft.zones, "zone"),
                    hardware.platform.id
                ),
            )
            .at(hardware.platform_span, format!("{has} ports of {}", breakout.speed))
            .and(draft.at(field!("zones")), count(draft.zones, "zone"))
            .note(format!(
                "{} x {kept} kept for each{} = {all}",
                count(draft.zones, "zone"),
                spare_text(t2.down.spare)
            ))
            .help(format!("{fewer}use a larger platform")),
        );
    }
}

fn spare_text(spare: u64) -> String {
    if spare > 0 { format!(" + {spare} spare") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const ZONED: &str = "zones: 4, hosts: { groups: 64 }, tiers: { t0: { up: 64, oversubscription: \"2:1\" }, t1: { up: 64 }, t2: { platform: box-256x200g";

    #[test]
    fn ports_are_kept_by_zone() {
        // Each of the 8 zones that 3 bits can number gets 32 of 256 ports, but 64 T1s need 64.
        let fragment = format!("{{ {ZONED} }} }} }}");
        assert_eq!(codes(&fragment), ["E0313"]);
        assert_eq!(message(&fragment, "E0313"), "each T2 needs 64 ports per zone; 32 are reserved");
        let kept = format!("{{ {ZONED}, ports_per_zone: 64 }} }} }}");
        assert_eq!(codes(&kept), Vec::<&str>::new());
        let many = format!("{{ {ZONED}, ports_per_zone: 80 }} }} }}");
        assert_eq!(
            message(&many, "E0313"),
            "each T2 needs 320 ports for 4 zones, but `box-256x200g` has 256"
        );
    }
}
