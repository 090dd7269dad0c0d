//! E0303: a T0 group has more NICs than a T0 has downlinks.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::coordinate::{Side, TierId};
use crate::draft::Draft;
use crate::field;

/// A T0 group has more NICs than a T0 has downlinks.
pub(crate) static RULE: Rule = Rule {
    code: "E0303",
    title: "more NICs than downlinks",
    condition: "A T0 has a downlink for every NIC of its group.",
    impact: "NICs without a downlink would be in the address plan but not on a switch.",
    example: "tiers: { t0: { down: 120 } }",
    fix: "Lower `hosts.per_group` or raise `tiers.t0.down`. Omit `down` to have exactly as many \
           downlinks as NICs.",
};

/// Compares NICs and downlinks.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (nics, downlinks) = (draft.per_group, draft.t0.down.count);
    if nics <= downlinks || downlinks == 0 {
        return;
    }
    out.push(
        Diagnostic::error(
            &RULE,
            format!(
                "each T0 group has {}, but a T0 has only {}",
                count(nics, "NIC"),
                count(downlinks, "downlink")
            ),
        )
        .at(draft.at(field!("hosts.per_group")), count(nics, "NIC"))
        .and(draft.ports_span(TierId::T0, Side::Down), count(downlinks, "downlink"))
        .help(format!("lower `hosts.per_group` to {downlinks}, or raise `tiers.t0.down` to {nics}")),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn every_nic_has_a_downlink() {
        assert_eq!(codes("tiers: { t0: { down: 120 } }"), ["E0303"]);
        assert_eq!(
            message("tiers: { t0: { down: 120 } }", "E0303"),
            "each T0 group has 128 NICs, but a T0 has only 120 downlinks"
        );
    }
}
