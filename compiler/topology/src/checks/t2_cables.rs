//! E0604: T1 to T2 cables are described without T2s, or for a zone that does not exist.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// T1 to T2 cables are described without T2s, or for a zone that does not exist.
pub(crate) static RULE: Rule = Rule {
    code: "E0604",
    title: "cables to a tier that does not exist",
    condition: "`cables.t1-t2` and `cables.by_zone` are set only with a T2 tier, and `by_zone` names existing \
           zones.",
    impact: "Cables that do not exist are described by mistake, or the tier was forgotten.",
    example: "cables: { t1-t2: { length: 2km, medium: fr4 } }",
    fix: "Add `tiers.t2`, correct the zone, or remove the cables.",
};

/// Checks the cables of the third tier.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(cables) = &draft.doc.cables else { return };
    if draft.t2.is_none() {
        let stated = [
            (field!("cables.t1-t2"), cables.t1_t2.is_some()),
            (field!("cables.by_zone"), cables.by_zone.is_some()),
        ];
        for (path, _) in stated.into_iter().filter(|(_, stated)| *stated) {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("`{path}` describes cables to T2s, but there is no T2 tier"),
                )
                .at(draft.at(path), "")
                .help("add `tiers.t2`, or remove the cables"),
            );
        }
        return;
    }
    for (zone, _) in &draft.cables.by_zone {
        if u64::from(zone.value) >= draft.zones {
            let last = draft.zones.saturating_sub(1);
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("no zone {} in this fabric; expected 0 to {last}", zone.value),
                )
                .at(zone.span, "")
                .and(draft.at(field!("zones")), format!("{} zones", draft.zones)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn t2_cables_need_t2s() {
        assert_eq!(codes("cables: { t1-t2: { length: 100m } }"), ["E0604"]);
        assert_eq!(codes("cables: { by_zone: { 0: { length: 100m } } }"), ["E0604"]);
        assert_eq!(
            message("cables: { t1-t2: { length: 100m } }", "E0604"),
            "`cables.t1-t2` describes cables to T2s, but there is no T2 tier"
        );
    }
}
