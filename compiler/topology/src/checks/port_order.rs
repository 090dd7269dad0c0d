//! E0328: entries of `port_order` do not fit the switches, or leave cables without a port.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::checks::words::count;
use crate::coordinate::{Side, TierId};
use crate::document::PortStageDoc;
use crate::draft::Draft;
use crate::field;
use crate::field::Field;
use crate::port_order::{PortStage, places};

/// Entries of `port_order` do not fit the switches, or leave cables without a port.
pub(crate) static RULE: Rule = Rule {
    code: "E0328",
    title: "the port order does not fit the switches",
    condition: "Each entry of `tiers.t0.port_order` has counts of at least 1, `parallel` divides `up`, and its cables fit the \
           panels. The cables of this fabric then fit the ports in use and the spare ports.",
    impact: "Cables keep the ports that they have in these fabrics. A port that the switch lacks cannot be kept.",
    example: "tiers: { t0: { port_order: [{ groups: 85, up: 128, parallel: 3 }] } }",
    fix: "Write the counts of an earlier or later fabric, or reserve ports with `spare`.",
};

/// Checks each entry, then the ports of the cables.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(order) = &draft.doc.tiers.t0.port_order else { return };
    let Some(first) = order.first() else { return };
    if !draft.has_t1() {
        let lone = Diagnostic::error(&RULE, "`tiers.t0.port_order` needs T1s")
            .at(draft.at(field!("tiers.t0.port_order")), "T0s have no uplinks")
            .help("remove `tiers.t0.port_order`");
        out.push(lone);
        return;
    }
    let faults = order.iter().filter_map(|entry| entry_fault(draft, entry));
    let faults: Vec<Diagnostic> = faults.collect();
    if faults.is_empty() {
        sides(draft, order, first.groups.span, out);
    }
    for fault in faults {
        out.push(fault);
    }
}

/// Returns the first fault of an entry.
fn entry_fault(draft: &Draft<'_>, entry: &PortStageDoc) -> Option<Diagnostic> {
    let PortStage { groups, up, parallel } = entry.stage();
    let keys = [("groups", entry.groups), ("up", entry.up), ("parallel", entry.parallel)];
    if let Some((key, zero)) = keys.into_iter().find(|(_, value)| value.value == 0) {
        let text = format!("`{key}` is 0; expected at least 1");
        return Some(
            Diagnostic::error(&RULE, text)
                .at(zero.span, "a fabric without cables has no port order")
                .help("write the counts of an earlier or later fabric"),
        );
    }
    if up % parallel != 0 {
        let text =
            format!("{} of a T0 cannot be divided into bundles of {parallel}", count(up.into(), "uplink"));
        let near = up - up % parallel;
        return Some(
            Diagnostic::error(&RULE, text)
                .at(entry.parallel.span, format!("{up} / {parallel} is not a whole number"))
                .and(entry.up.span, count(up.into(), "uplink"))
                .help(format!("set `up` to {}", if near > 0 { near } else { parallel })),
        );
    }
    let below = u64::from(groups) * u64::from(parallel);
    let needs = [
        (TierId::T0, u64::from(up), entry.up.span, count(up.into(), "uplink")),
        (TierId::T1, below, entry.groups.span, format!("{groups} T0s x {parallel} parallel = {below}")),
    ];
    needs.into_iter().find_map(|(tier, needed, span, label)| {
        let has = panel_ports(draft, tier)?;
        (needed > has).then(|| {
            let text = format!(
                "the port order needs {} of a {}, which has {has}",
                count(needed, "port"),
                tier.label()
            );
            Diagnostic::error(&RULE, text)
                .at(span, label)
                .help("write the counts of a fabric of these switches")
        })
    })
}

/// Returns how many ports towards the other tier fit on the smallest panel of a tier.
fn panel_ports(draft: &Draft<'_>, tier: TierId) -> Option<u64> {
    let of_tier = draft.hardware.iter().filter(|hardware| hardware.tier == tier);
    let ports = of_tier.filter_map(|hardware| {
        let block = if tier == TierId::T0 { &hardware.up } else { &hardware.down };
        Some(u64::from(hardware.platform.panel.cages) * u64::from(block.breakout?.ports))
    });
    ports.min()
}

/// Checks that each cable of this fabric has a port in use or a spare port.
fn sides(draft: &Draft<'_>, order: &[PortStageDoc], at: Span, out: &mut Diagnostics) {
    let counts = [draft.groups, draft.t0.up.count, draft.t0.parallel].map(u16::try_from);
    let [Ok(groups), Ok(up), Ok(parallel)] = counts else { return };
    let own = PortStage { groups, up, parallel };
    let stages = || order.iter().map(PortStageDoc::stage).chain([own]);
    let blocks = [
        (TierId::T0, &draft.t0.up, places(stages().map(PortStage::t1_fan)), field!("tiers.t0.up.spare")),
        (TierId::T1, &draft.t1.down, places(stages().map(PortStage::t0_fan)), field!("tiers.t1.down.spare")),
    ];
    for (tier, block, places, spare) in blocks {
        let has = block.count + block.spare;
        let fits = panel_ports(draft, tier).is_none_or(|panel| has <= panel);
        let last = places.iter().max().map_or(0, |place| u64::from(*place) + 1);
        if last > has && fits {
            out.push(missing_ports(draft, (tier, at), [last, has, last - block.count], spare));
        }
    }
}

fn missing_ports(
    draft: &Draft<'_>,
    (tier, at): (TierId, Span),
    [last, has, needed]: [u64; 3],
    spare: Field,
) -> Diagnostic {
    let side = if tier == TierId::T0 { Side::Up } else { Side::Down };
    let text = format!(
        "the port order needs {} of a {}, which has {has} in use or spare",
        count(last, "port"),
        tier.label()
    );
    Diagnostic::error(&RULE, text)
        .at(at, "this order leaves gaps between the ports in use")
        .and(draft.ports_span(tier, side), count(has, "port"))
        .set([(spare.path(), needed.to_string())], format!("set `{spare}` to {needed}"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, help, message};

    #[test]
    fn entries_are_fabrics_of_these_switches() {
        assert!(codes(RULE.example).contains(&"E0328"));
        let order = |entry: &str| format!("tiers: {{ t0: {{ port_order: [{{ {entry} }}] }} }}");
        assert_eq!(codes(&order("groups: 85, up: 128, parallel: 1")), Vec::<&str>::new());
        assert_eq!(
            message(&order("groups: 85, up: 128, parallel: 3"), "E0328"),
            "128 uplinks of a T0 cannot be divided into bundles of 3"
        );
        assert_eq!(
            message(&order("groups: 129, up: 128, parallel: 2"), "E0328"),
            "the port order needs 258 ports of a T1, which has 256"
        );
        assert_eq!(
            message(&order("groups: 0, up: 1, parallel: 1"), "E0328"),
            "`groups` is 0; expected at least 1"
        );
    }

    #[test]
    fn cables_have_ports() {
        let order = |entries: &str| {
            let t0 = format!("{{ parallel: 2, port_order: [{entries}] }}");
            format!("{{ hosts: {{ groups: 85 }}, tiers: {{ t0: {t0} }} }}")
        };
        let is_refused = |entries: &str| codes(&order(entries)).contains(&RULE.code);
        let reserved = "{ groups: 128, up: 128, parallel: 1 }, { groups: 85, up: 128, parallel: 2 }";
        assert!(!is_refused(reserved), "cables take the ports of T0s that do not exist yet");
        // Second cables start after the first cables of 100 T0s, of which 85 exist.
        let gaps = "{ groups: 100, up: 128, parallel: 1 }, { groups: 100, up: 128, parallel: 2 }";
        assert!(is_refused(gaps));
        assert_eq!(
            message(&order(gaps), "E0328"),
            "the port order needs 185 ports of a T1, which has 170 in use or spare"
        );
        assert_eq!(help(&order(gaps), "E0328"), "set `tiers.t1.down.spare` to 15");
    }
}
