//! W0908: no source publishes that a platform supports the balancing of `ecmp.balance`.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Provenance;

use crate::draft::Draft;

/// No source publishes that a platform supports the balancing of `ecmp.balance`.
pub(crate) static RULE: Rule = Rule {
    code: "W0908",
    title: "the load-balancing mode is not published for this platform",
    condition: "If `ecmp.balance` is not `hash`, a published source or a measurement confirms it for the platform \
           of every switch that balances. `closc platforms NAME` prints the known facts with their sources.",
    impact: "The operating system has the command, but may reject it on this hardware.",
    example: "routing: ecmp-static\n\
              hosts: { groups: 64, per_group: 64, nic: { speed: 800G, lanes: 8 } }\n\
              ecmp: { balance: flowlet }\n\
              qos: none\n\
              tiers:\n\
              \x20 t0: { platform: th5-128x400g, os: eos, up: 64 }\n\
              \x20 t1: { platform: th5-128x400g, os: eos }",
    fix: "Try the command on a switch. Then add a platform file with `balancing`, or accept the warning with \
          `warnings: { W0908: allow }`.",
};

/// Checks every kind of switch that has several next hops, and reports the first of each platform, operating
/// system and kind of balancing.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let mut reported = Vec::new();
    for hardware in &draft.hardware {
        let balance = draft.balance(hardware.tier);
        let source = hardware.balance(balance).map(|fact| &fact.source);
        let Some(Provenance::Assumed(reason)) = source else { continue };
        let kind = (hardware.platform.id.clone(), hardware.os, balance);
        if reported.contains(&kind) {
            continue;
        }
        let (os, platform, word) = (hardware.os.keyword(), &hardware.platform.id, balance.keyword());
        out.push(
            Diagnostic::warning(
                &RULE,
                format!("no source publishes that `{os}` supports `balance: {word}` on `{platform}`"),
            )
            .at(hardware.platform_span, format!("for {}", hardware.subject))
            .and(draft.balance_span(hardware.tier), "requires it")
            .note(reason.clone())
            .help("try the command on a switch, and accept this with `warnings: { W0908: allow }`"),
        );
        reported.push(kind);
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn assumptions_are_reported_once() {
        assert_eq!(
            message(RULE.example, "W0908"),
            "no source publishes that `eos` supports `balance: flowlet` on `th5-128x400g`"
        );
        assert_eq!(codes(RULE.example).iter().filter(|code| **code == "W0908").count(), 1);
        assert!(!codes(&RULE.example.replace("flowlet", "hash")).contains(&"W0908"));
    }
}
