//! E0315: `tiers.t2.rows` is absent, too small, or without use.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::choice::Wiring;
use crate::coordinate::{Side, TierId};
use crate::draft::Draft;
use crate::field;

/// `tiers.t2.rows` is absent, too small, or without use.
pub(crate) static RULE: Rule = Rule {
    code: "E0315",
    title: "rows and wiring do not go together",
    what: "With `wiring: rows`, `tiers.t2.rows` says how many T1s of a zone there is room for, and is at \
           least the T1s there are; with `wiring: full` it is absent.",
    why: "T2 numbers count row by row. Were the rows those of today, a new T1 would renumber every T2 \
           behind the first step.",
    example: "zones: 4\n\
           hosts: { groups: 64 }\n\
           tiers:\n\
           \x20 t0: { up: 64, oversubscription: \"2:1\" }\n\
           \x20 t1: { up: 16, oversubscription: \"4:1\" }\n\
           \x20 t2: { platform: th5-256x200g, wiring: rows, rows: 32 }",
    fix: "Set `rows` to the largest number of T1s that a zone shall ever have.",
};

/// Checks the rows of a T2 tier.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(doc) = &draft.doc.tiers.t2 else { return };
    let t1s = draft.t1.count;
    match (draft.wiring, doc.rows) {
        (Wiring::Full, Some(rows)) => out.push(
            Diagnostic::error(&RULE, "`tiers.t2.rows` has no use with `wiring: full`")
                .at(rows.span, "")
                .help("remove it, or set `wiring: rows`"),
        ),
        (Wiring::Rows, None) => out.push(
            Diagnostic::error(&RULE, "`wiring: rows` needs `tiers.t2.rows`")
                .at(draft.at(field!("tiers.t2.wiring")), "")
                .help(format!(
                    "set `tiers.t2.rows` to the most T1s that a zone shall ever have; there are {t1s} now"
                )),
        ),
        (Wiring::Rows, Some(rows)) if rows.value != 0 && u64::from(rows.value) < t1s => out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "there are {} in a zone and room for {}",
                    count(t1s, "T1"),
                    count(rows.value.into(), "row")
                ),
            )
            .at(rows.span, count(rows.value.into(), "row"))
            .and(draft.ports_span(TierId::T0, Side::Up), format!("make {}", count(t1s, "T1")))
            .help(format!("set `tiers.t2.rows` to {t1s} or more; every change renumbers T2s")),
        ),
        (Wiring::Full, None) | (Wiring::Rows, Some(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    fn zoned(t2: &str) -> String {
        format!(
            "{{ zones: 4, hosts: {{ groups: 64 }}, tiers: {{ t0: {{ up: 64, oversubscription: \"2:1\" }}, t1: {{ up: 16, oversubscription: \"4:1\", down: {{ spare: 64 }} }}, t2: {{ platform: th5-256x200g, {t2} }} }} }}"
        )
    }

    #[test]
    fn rows_come_with_their_wiring() {
        assert_eq!(codes(&zoned("wiring: rows, rows: 64")), Vec::<&str>::new());
        assert_eq!(codes(&zoned("wiring: rows")), ["E0315"]);
        assert_eq!(codes(&zoned("ports_per_zone: 64, rows: 64")), ["E0315"]);
        assert_eq!(
            message(&zoned("wiring: rows, rows: 32"), "E0315"),
            "there are 64 T1s in a zone and room for 32 rows"
        );
    }
}
