//! W0306: there are more rows than T1s, and the number of rows has no effect.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::choice::Wiring;
use crate::draft::Draft;
use crate::field;

/// There are more rows than T1s, and the number of rows has no effect.
pub(crate) static RULE: Rule = Rule {
    code: "W0306",
    title: "more rows than T1s have no effect yet",
    condition: "`tiers.t2.rows` is at most the number of T1s of a zone, if each T1 has uplinks to one T2 only and \
           switches choose the path.",
    impact: "`rows` determines the numbers of T2s from the second uplink of the T1s on, and path tables use it. \
           With one uplink and without path tables, T2s have the numbers of their T1s, whatever `rows` is.",
    example: "zones: 2\n\
           routing: ecmp-static\n\
           hosts: { groups: 64 }\n\
           tiers:\n\
           \x20 t0: { up: 64, oversubscription: \"2:1\" }\n\
           \x20 t1: { up: 4, parallel: 4, oversubscription: \"16:1\" }\n\
           \x20 t2: { platform: box-256x200g, wiring: rows, rows: 128 }",
    fix: "Ignore the warning if you plan to add T1s. Otherwise set `rows` to the number of T1s.",
};

/// Checks for more rows than T1s.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(rows) = draft.doc.tiers.t2.as_ref().and_then(|t2| t2.rows) else { return };
    let (t1s, t1) = (draft.t1.count, &draft.t1);
    let is_single = t1.up.count <= t1.parallel;
    let has_tables = draft.routing.is_source_routed();
    if draft.wiring == Wiring::Full || has_tables || !is_single || u64::from(rows.value) <= t1s {
        return;
    }
    out.push(
        Diagnostic::warning(
            &RULE,
            format!("{} have no effect: a zone has {}", count(rows.value.into(), "row"), count(t1s, "T1")),
        )
        .at(rows.span, "")
        .and(draft.at(field!("tiers.t1.up")), "of each T1, to one T2")
        .note("with one T2 for each T1, T2s are numbered like T1s")
        .help(format!("set `tiers.t2.rows` to {t1s}, or keep it if T1s will be added")),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn rows_for_later_are_named() {
        assert_eq!(message(RULE.example, "W0306"), "128 rows have no effect: a zone has 64 T1s");
        for fragment in [
            RULE.example.replace("rows: 128", "rows: 64"),
            RULE.example.replace("parallel: 4", "parallel: 2"),
            RULE.example.replace("ecmp-static", "srv6-static"),
        ] {
            let found = codes(&fragment);
            assert!(!found.contains(&"W0306"), "{fragment}\n{found:?}");
        }
    }
}
