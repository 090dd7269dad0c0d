//! W0907: switches reorder packets, and NICs need them in order.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::choice::PacketOrder;
use crate::coordinate::TierId;
use crate::draft::Draft;
use crate::field;

/// Switches reorder packets, and NICs need them in order.
pub(crate) static RULE: Rule = Rule {
    code: "W0907",
    title: "switches reorder packets and NICs need them in order",
    condition: "If `ecmp.balance` is `adaptive` or `spray` in a tier, `hosts.packet_order` is `any`.",
    impact: "Both send the packets of one flow over several paths, so they arrive out of order. A RoCE NIC \
           with go-back-N mistakes an overtaken packet for a lost one. The sender then retransmits from \
           that packet on.",
    example: "routing: ecmp-static\n\
              hosts: { groups: 64, per_group: 64, nic: { speed: 800G, lanes: 8 } }\n\
              ecmp: { balance: adaptive }\n\
              qos: none\n\
              tiers:\n\
              \x20 t0: { platform: spectrum4-sn5600, os: nvue, up: { count: 64, breakout: 2x400G }, down: { breakout: 2x400G } }\n\
              \x20 t1: { platform: spectrum4-sn5600, os: nvue, down: { breakout: 2x400G } }",
    fix: "If NICs accept packets out of order, set `hosts.packet_order: any`. ConnectX-6 and later and \
           BlueField-3 do after `adaptive_routing_forced_en` is set in their register `ROCE_ACCL`. Otherwise \
           use `balance: flowlet` or `hash`.",
};

/// Compares the packet order of switches with the one that hosts need.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let order = draft.doc.hosts.packet_order.map_or(PacketOrder::Required, |order| order.value);
    let reorders = TierId::ALL.into_iter().find(|tier| draft.balance(*tier).reorders());
    let Some(tier) = reorders.filter(|_| order == PacketOrder::Required) else { return };
    let balance = draft.balance(tier).keyword();
    let message = format!("`balance: {balance}` reorders packets, and `hosts.packet_order` is `required`");
    let finding =
        Diagnostic::warning(&RULE, message).at(draft.balance_span(tier), "reorders packets of a flow");
    let finding = match draft.stated_span(field!("hosts.packet_order")) {
        Some(span) => finding.and(span, "NICs need them in order"),
        None => finding.note("`required` is the default"),
    };
    out.push(finding.note("a RoCE NIC with go-back-N mistakes an overtaken packet for a lost one").help(
        "set `hosts.packet_order: any` if NICs accept packets out of order, or another `ecmp.balance`",
    ));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn nics_take_what_switches_reorder() {
        assert_eq!(
            message(RULE.example, "W0907"),
            "`balance: adaptive` reorders packets, and `hosts.packet_order` is `required`"
        );
        assert_eq!(codes(&RULE.example.replace("groups", "packet_order: any, groups")), Vec::<&str>::new());
        assert!(!codes(&RULE.example.replace("adaptive", "hash")).contains(&"W0907"));
    }
}
