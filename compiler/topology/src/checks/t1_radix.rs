//! E0310: a T1 has too few ports to reach all T0s of its plane and zone.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{count, fewer_spare};
use crate::coordinate::TierId;
use crate::draft::Draft;
use crate::field;

/// A T1 has too few ports to reach all T0s of its plane and zone.
pub(crate) static RULE: Rule = Rule {
    code: "E0310",
    title: "a T1 cannot reach all T0s",
    condition: "A T1 has a port for every link to every T0 of its plane and zone, and for every spare downlink.",
    impact: "Packets between T0s of a zone can take any T1 of their plane. A T1 would drop packets to a T0 \
           that it has no port for.",
    example: "# 300 T0s in each plane, below T1s with 256 ports\n\
           hosts: { groups: 300 }",
    fix: "Lower `hosts.groups`, `tiers.t0.parallel` or `tiers.t1.down.spare`, use a larger platform for \
           the T1s, or split the fabric into zones below a T2 tier.",
};

/// Counts the downlinks of every kind of T1.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in draft.hardware.iter().filter(|hardware| hardware.tier == TierId::T1) {
        let down = &hardware.down;
        let Some(breakout) = down.breakout.filter(|_| draft.offers(hardware)) else { continue };
        let panel = &hardware.platform.panel;
        if down.cages() <= u64::from(panel.cages) {
            continue;
        }
        let has = u64::from(panel.cages) * u64::from(breakout.ports);
        let (groups, parallel) = (draft.groups, draft.t0.parallel);
        let spare = if down.spare > 0 { format!(" + {} spare", down.spare) } else { String::new() };
        let needed = down.count + down.spare;
        let groups_max = has.saturating_sub(down.spare) / parallel.max(1);
        let fewer = fewer_spare(field!("tiers.t1.down.spare"), down.spare, has, down.count)
            .or_else(|| (groups_max > 0).then(|| format!("lower `hosts.groups` to {groups_max}")));
        let fewer = fewer.map(|advice| format!("{advice}, ")).unwrap_or_default();
        out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "{} needs {needed} ports to reach all T0s, but `{}` has {has}",
                    hardware.subject, hardware.platform.id
                ),
            )
            .at(draft.at(field!("hosts.groups")), format!("{} in each plane and zone", count(groups, "T0")))
            .and(hardware.platform_span, format!("{has} ports of {}", breakout.speed))
            .note(format!("{} x {parallel} parallel{spare} = {needed}", count(groups, "T0")))
            .help(format!("{fewer}use a larger platform, or split the fabric into zones under a T2 tier")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn every_t1_reaches_every_t0() {
        assert_eq!(codes("hosts: { groups: 300 }"), ["E0310"]);
        assert_eq!(
            message("hosts: { groups: 300 }", "E0310"),
            "each T1 needs 300 ports to reach all T0s, but `box-256x200g` has 256"
        );
        assert_eq!(
            message("{ hosts: { groups: 200 }, tiers: { t0: { parallel: 2 } } }", "E0310"),
            "each T1 needs 400 ports to reach all T0s, but `box-256x200g` has 256"
        );
    }

    #[test]
    fn spare_ports_that_do_not_fit_are_what_to_lower() {
        let text = "{ hosts: { groups: 200 }, tiers: { t1: { down: { spare: 300 } } } }";
        assert_eq!(codes(text), ["E0310"]);
        assert!(help(text, "E0310").starts_with("lower `tiers.t1.down.spare` to 56, use a larger platform"));
    }
}
