//! E0907: bandwidths that BGP adds up do not fit 32 bits.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::Capability;

use crate::coordinate::{Side, TierId};
use crate::draft::Draft;

/// Maximum number of cables whose bandwidths FRR can announce as one sum. Each counts as 1 Mb/s, the minimum that FRR
/// announces. FRR adds bytes per second, and truncates the sum to 32 bits: (2^32 - 1) / 125,000.
pub const BANDWIDTH_CABLES_MAX: u64 = 34_359;

/// Bandwidths that BGP adds up do not fit 32 bits.
pub(crate) static RULE: Rule = Rule {
    code: "E0907",
    title: "the sum of BGP bandwidths does not fit 32 bits",
    condition: "This applies to `bgp-unnumbered` with three tiers, if switches announce bandwidths. There are at \
           most 34,359 paths from a T1 to a T0 of another zone. Their number is the uplinks of the T1, times \
           the T2's links to that zone, times the links of the T0 to a T1.",
    impact: "Switches announce 1 Mb/s per path behind them, and FRR stores the sum as 32 bits of bytes per \
           second. With one path more, a healthy switch announces less than a broken one, which then \
           receives the packets.",
    example: "routing: bgp-unnumbered\nplanes: 2\nzones: 2\n\
              hosts: { groups: 256, per_group: 256, nic: { speed: 200G, lanes: 2 } }\n\
              tiers:\n  t0: { platform: th5-512x100g, up: 256 }\n  t1: { platform: th5-512x100g, up: 256 }\n  \
              t2: { platform: th5-512x100g, os: sonic }",
    fix: "Use fewer T1 uplinks or fewer links between a T2 and a zone, or route with `ecmp-static` or \
           `srv6-static`.",
};

/// Counts the paths whose bandwidths are added up.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    // Switches that do not announce bandwidths do not add them up either (W0906).
    let announces = draft.hardware.iter().any(|hardware| hardware.os.renders(Capability::Bandwidths));
    if !draft.routing.speaks_bgp() || draft.t2.is_none() || !announces {
        return;
    }
    let (up, parallel) = (draft.t1.up.count, draft.t0.parallel);
    let zone = draft.t1s_below_t2().saturating_mul(draft.t1.parallel);
    let paths = up.saturating_mul(zone).saturating_mul(parallel);
    if paths <= BANDWIDTH_CABLES_MAX {
        return;
    }
    out.push(
        Diagnostic::error(
            &RULE,
            format!(
                "a T1 adds up the bandwidths of {paths} paths, but BGP can announce {BANDWIDTH_CABLES_MAX}"
            ),
        )
        .at(draft.ports_span(TierId::T1, Side::Up), format!("{up} uplinks of each T1"))
        .note(format!(
            "{up} uplinks x {zone} links of a T2 to a zone x {parallel} links of a T0 to a T1 = {paths}"
        ))
        .help(format!(
            "lower `tiers.t1.up` to {}, or use `routing: ecmp-static`",
            BANDWIDTH_CABLES_MAX / zone.saturating_mul(parallel).max(1)
        )),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn sums_fit_32_bits() {
        let text = message(RULE.example, "E0907");
        assert_eq!(text, "a T1 adds up the bandwidths of 65536 paths, but BGP can announce 34359");
        let eos = RULE.example.replace("os: sonic", "os: eos").replace("up: 256 }", "up: 256, os: eos }");
        let found = codes(&format!("{eos}\nqos: none"));
        assert!(found.contains(&"W0906") && !found.contains(&"E0907"), "{found:?}");
        for fine in ["ecmp-static", "srv6-static"] {
            assert!(!codes(&RULE.example.replace("bgp-unnumbered", fine)).contains(&"E0907"), "{fine}");
        }
        assert!(
            !codes(&RULE.example.replace("th5-512x100g, up: 256 }\n  t2", "th5-512x100g, up: 134 }\n  t2"))
                .contains(&"E0907")
        );
    }
}
