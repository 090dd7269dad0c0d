//! W0909: a balancing or packet order setting has no effect.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Balance;

use crate::choice::{PacketOrder, Pin};
use crate::coordinate::TierId;
use crate::draft::Draft;
use crate::field;

/// A balancing or packet order setting has no effect.
pub(crate) static RULE: Rule = Rule {
    code: "W0909",
    title: "a balance or packet order has no effect",
    condition: "`ecmp.balance_by_tier` names tiers whose switches have several next hops to a destination. Pins \
           are not combined with a balance of T0s other than `hash`. `hosts.packet_order: any` is set only \
           if switches reorder packets.",
    impact: "A switch with one next hop has nothing to balance. A pin is a route over one uplink, so the switch \
           does not balance packets to pinned NICs.",
    example: "routing: ecmp-static\n\
              ecmp: { balance_by_tier: { t1: adaptive } }",
    fix: "Remove the setting that has no effect.",
};

/// Checks tiers, pins and hosts.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    // W0902 reports all of `ecmp` where NICs choose the path.
    if !draft.routing.is_source_routed() {
        for tier in TierId::ALL {
            idle(draft, tier, out);
        }
        pins(draft, out);
    }
    let reorders = TierId::ALL.into_iter().any(|tier| draft.balance(tier).reorders());
    let any = draft.doc.hosts.packet_order.filter(|order| order.value == PacketOrder::Any && !reorders);
    if let Some(order) = any {
        out.push(
            Diagnostic::warning(&RULE, "`packet_order: any` has no effect: no switch reorders packets")
                .at(order.span, "")
                .help("remove it, or set `ecmp.balance: adaptive`"),
        );
    }
}

/// Reports balancing that is set for a tier whose switches have one next hop.
fn idle(draft: &Draft<'_>, tier: TierId, out: &mut Diagnostics) {
    let own = draft.doc.ecmp.as_ref().and_then(|ecmp| ecmp.balance_by_tier.as_ref());
    let stated = own.and_then(|own| match tier {
        TierId::T0 => own.t0,
        TierId::T1 => own.t1,
        TierId::T2 => own.t2,
    });
    let Some(stated) = stated.filter(|_| draft.choices().groups(tier).1 == 0) else { return };
    let why = match draft.tier(tier) {
        None => format!("there is no {}", tier.label()),
        Some(_) => format!("a {} has one link to each neighbour that leads to a destination", tier.label()),
    };
    out.push(
        Diagnostic::warning(
            &RULE,
            format!("`{}: {}` has no effect: {why}", tier.keyword(), stated.value.keyword()),
        )
        .at(stated.span, "")
        .help(format!("remove `{}`", tier.keyword())),
    );
}

/// Reports the balancing of T0s if the file also has pins.
fn pins(draft: &Draft<'_>, out: &mut Diagnostics) {
    let balance = draft.balance(TierId::T0);
    let file = draft.doc.ecmp.as_ref().is_some_and(|ecmp| ecmp.pins.is_some());
    let pin = match draft.ecmp.pin {
        Pin::Downlink => field!("ecmp.pin"),
        Pin::None if file => field!("ecmp.pins"),
        Pin::None => return,
    };
    if balance == Balance::Hash {
        return;
    }
    let message = format!("`balance: {}` has no effect on packets to pinned NICs", balance.keyword());
    out.push(
        Diagnostic::warning(&RULE, message)
            .at(draft.at(pin), "sends them over one uplink")
            .and(draft.balance_span(TierId::T0), "")
            .help(format!("remove `{pin}`, or set `ecmp.balance_by_tier: {{ t0: hash }}`")),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn settings_without_effect_are_reported() {
        assert_eq!(
            message(RULE.example, "W0909"),
            "`t1: adaptive` has no effect: a T1 has one link to each neighbour that leads to a destination"
        );
        assert_eq!(
            message("{ routing: ecmp-static, ecmp: { balance_by_tier: { t2: hash } } }", "W0909"),
            "`t2: hash` has no effect: there is no T2"
        );
        assert_eq!(
            message("hosts: { packet_order: any }", "W0909"),
            "`packet_order: any` has no effect: no switch reorders packets"
        );
        let pinned = "{ routing: ecmp-static, ecmp: { balance: adaptive, pin: downlink } }";
        assert_eq!(message(pinned, "W0909"), "`balance: adaptive` has no effect on packets to pinned NICs");
        assert!(!codes("{ routing: ecmp-static, ecmp: { pin: downlink } }").contains(&"W0909"));
    }
}
