//! W0901: a target spreads RoCE by addresses and ports only.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Balance;
use closc_platform::capability::Capability;

use crate::checks::or_routing;
use crate::draft::{Draft, Hardware};
use crate::field;

/// A target spreads RoCE by addresses and ports only.
pub(crate) static RULE: Rule = Rule {
    code: "W0901",
    title: "the target cannot hash the RoCE queue pair",
    condition: "With `ecmp-static` and `bgp-unnumbered`, switches with several uplinks can hash the destination \
           queue pair of RoCE, or balance without a hash (`ecmp.balance`).",
    impact: "A training job has few flows between two NICs. Hashed by addresses and ports only, they collide on \
           uplinks, and up to a third of the bandwidth is lost. P4 targets hash the queue pair.",
    example: "routing: ecmp-static",
    fix: "Set `ecmp.balance` where the switch supports `flowlet` or `adaptive`. Otherwise use more queue \
           pairs with different UDP source ports at the hosts, or a P4 target. With `routing: srv6-static`, \
           the NIC chooses the path.",
};

/// Reports the first kind of switch that spreads traffic upwards without hashing the queue pair.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.routing.is_source_routed() {
        return;
    }
    let spreads = |hardware: &&Hardware| draft.tier(hardware.tier).is_some_and(|tier| tier.up.count > 1);
    let blind = |hardware: &&Hardware| {
        // Balancing by load, or packet by packet, does not depend on the fields of a hash.
        if draft.balance(hardware.tier) != Balance::Hash {
            return false;
        }
        let hashes = hardware.platform.features.qp_hash && hardware.os.renders(Capability::QueuePairHash);
        !hashes && hardware.platform.supports(hardware.os)
    };
    if let Some(hardware) = draft.hardware.iter().filter(spreads).find(blind) {
        out.push(
            Diagnostic::warning(
                &RULE,
                format!(
                    "`{}` on `{}` cannot hash the RoCE destination queue pair",
                    hardware.os.keyword(),
                    hardware.platform.id
                ),
            )
            .at(hardware.platform_span, format!("for {}", hardware.subject))
            .and(draft.at(field!("routing")), "spreads by hashing")
            .note("two NICs have few flows between them, which collide if hashed by addresses and ports")
            .help(or_routing(&advice(hardware), "", draft, &[Routing::Srv6Static])),
        );
    }
}

/// Returns the advice besides another routing mode. It names the first mode of [`Balance::ALL`] that the switch
/// supports, if any.
fn advice(hardware: &Hardware) -> String {
    let usable = Balance::ALL.into_iter().find(|balance| hardware.balance(*balance).is_some());
    let balance = usable.map(|balance| format!("set `ecmp.balance: {}`, ", balance.keyword()));
    let ports = "let hosts use several UDP source ports per connection, or use a P4 target";
    format!("{}{ports}", balance.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn hashing_is_reported() {
        assert_eq!(codes("routing: ecmp-static"), ["W0203", "W0901"]);
        let balanced = "{ routing: ecmp-static, ecmp: { balance: adaptive } }";
        assert!(!codes(balanced).contains(&"W0901"), "load decides, not a hash");
        assert_eq!(
            message("routing: ecmp-static", "W0901"),
            "`sonic` on `box-256x200g` cannot hash the RoCE destination queue pair"
        );
    }
}
