//! W0711: a plane has more entropy values than the agent of a NIC supports.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// Maximum number of values of a plane, active and backup together, in `closc-nic`. In `host/paths-engine`, each value
/// is one bit of a word. A test of `host/nic` compares this number with the one there.
pub const AGENT_VALUES: u64 = 128;

/// A plane has more entropy values than the agent of a NIC supports.
pub(crate) static RULE: Rule = Rule {
    code: "W0711",
    title: "more entropy values than the NIC agent supports",
    condition: "In each plane, active and backup entropy values together are at most 128.",
    impact: "`closc-nic` stores the values of a plane as bits of one 128-bit word, and rejects a path table \
           with more. NICs that spray in hardware may support them (`closc export mrc`). The agent and jobs \
           of labs do not start.",
    example: "entropy: { active: 258, backup: 0 }\nhosts: { nic: { speed: 200G, lanes: 2 } }\ntiers:\n  t0: { platform: th5-512x100g, up: 256 }\n  t1: { platform: th5-512x100g }",
    fix: "Lower `active` or `backup`. Ignore the warning if no agent runs.",
};

/// Compares the values of one plane with the maximum of the agent.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return; // Other routing modes have no path tables (W0403).
    }
    let planes = draft.planes.max(1);
    let (active, backup) = (u64::from(draft.entropy.active), u64::from(draft.entropy.backup));
    let each = active.div_ceil(planes) + backup.div_ceil(planes);
    let stated = draft.states(field!("entropy.active")) || draft.states(field!("entropy.backup"));
    // E0707 refuses more values than there are uplinks.
    let uplinks = draft.t0.up.count;
    if each <= AGENT_VALUES || !stated || (active + backup).div_ceil(planes) > uplinks {
        return;
    }
    let path = if draft.states(field!("entropy.active")) {
        field!("entropy.active")
    } else {
        field!("entropy.backup")
    };
    out.push(
        Diagnostic::warning(
            &RULE,
            format!("{each} entropy values per plane, but `closc-nic` supports {AGENT_VALUES}"),
        )
        .at(draft.at(path), format!("{active} active + {backup} backup over {planes} planes"))
        .help(format!(
            "lower `active` + `backup` to {} over all planes, or run no agent",
            AGENT_VALUES * planes
        )),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{codes, message};

    #[test]
    fn agents_take_so_many_values_and_no_more() {
        assert!(codes(RULE.example).contains(&"W0711"), "{:?}", codes(RULE.example));
        assert_eq!(
            message(RULE.example, "W0711"),
            "129 entropy values per plane, but `closc-nic` supports 128"
        );
        let fits = RULE.example.replace("active: 258", "active: 256");
        assert!(!codes(&fits).contains(&"W0711"));
        assert_eq!(codes("entropy: { active: 200, backup: 100 }"), ["E0707"], "it is refused anyway");
    }
}
