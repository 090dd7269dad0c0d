//! E0309: the stated downlinks of T1s or T2s differ from the computed number.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::draft::Draft;

/// The stated downlinks of T1s or T2s differ from the computed number.
pub(crate) static RULE: Rule = Rule {
    code: "E0309",
    title: "a number of downlinks does not match the tier below",
    condition: "The number of downlinks of T1s or T2s, if set, is the one that follows from the tiers below.",
    impact: "Every uplink below needs a downlink above. A downlink without an uplink is a spare port, \
           which `spare` sets.",
    example: "tiers: { t1: { down: 250 } }",
    fix: "Remove the count. To reserve ports, write `{spare: N}`.",
};

/// Compares stated with computed numbers.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let doc = &draft.doc.tiers;
    let t1 = format!("{} x {} parallel", count(draft.groups, "T0 group"), draft.t0.parallel);
    let t2 = draft
        .zone_ports
        .map(|ports| format!("{} x {} kept for each", count(draft.zones, "zone"), count(ports, "port")));
    let stated = [
        (Some(&draft.t1), doc.t1.as_ref().and_then(|t1| t1.down.as_ref()), Some(t1)),
        (draft.t2.as_ref(), doc.t2.as_ref().and_then(|t2| t2.down.as_ref()), t2),
    ];
    for (tier, ports, follows) in stated {
        let (Some(tier), Some(stated), Some(arithmetic)) =
            (tier, ports.and_then(|ports| ports.0.count), follows)
        else {
            continue;
        };
        let (stated, span, follows) = (u64::from(stated.value), stated.span, tier.down.count);
        if stated == follows || stated == 0 || follows == 0 {
            continue;
        }
        let label = tier.id.label();
        let diagnostic = Diagnostic::error(
            &RULE,
            format!("the file states {} for a {label}; expected {follows}", count(stated, "downlink")),
        )
        .at(span, count(stated, "downlink"))
        .note(format!("{arithmetic} = {follows}"));
        let word = tier.id.keyword();
        out.push(if stated > follows {
            diagnostic.help(format!(
                "to keep ports free, write `tiers.{word}.down: {{spare: {}}}`",
                stated - follows
            ))
        } else {
            diagnostic.help(format!("remove the count from `tiers.{word}.down`"))
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn follows_from_the_groups() {
        assert_eq!(codes("tiers: { t1: { down: 250 } }"), ["E0309"]);
        assert_eq!(codes("tiers: { t1: { down: 256 } }"), Vec::<&str>::new());
        assert_eq!(
            message("tiers: { t1: { down: 250 } }", "E0309"),
            "the file states 250 downlinks for a T1; expected 256"
        );
    }
}
