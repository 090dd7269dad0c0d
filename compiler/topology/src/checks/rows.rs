//! E0315: `tiers.t2.rows` is absent, has no use, or does not divide the T1s of a zone.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::choice::Wiring;
use crate::coordinate::{Side, TierId};
use crate::draft::Draft;
use crate::field;

/// `tiers.t2.rows` is absent, has no use, or does not divide the T1s of a zone.
pub(crate) static RULE: Rule = Rule {
    code: "E0315",
    title: "`rows` does not match the wiring",
    condition: "With `wiring: rows`, `tiers.t2.rows` is at least the number of T1s of a zone (one per row), or \
           divides it (equally many per row). With `wiring: full`, it is absent.",
    impact: "The first `rows` T2s belong to the first uplink of the T1s, the next ones to the second uplink. If \
           `rows` followed the current size, a new T1 would renumber the T2s of all uplinks but the first. \
           If rows were shared unequally, the T2s of some rows would carry more.",
    example: "zones: 4\n\
           hosts: { groups: 64 }\n\
           tiers:\n\
           \x20 t0: { up: 64, oversubscription: \"2:1\" }\n\
           \x20 t1: { up: 16, oversubscription: \"4:1\" }\n\
           \x20 t2: { platform: box-256x200g, wiring: rows, rows: 24 }",
    fix: "Set `rows` to the largest number of T1s that a zone will ever have, or to a number that divides \
           it.",
};

/// Checks the rows of a T2 tier.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(doc) = &draft.doc.tiers.t2 else { return };
    let t1s = draft.t1.count;
    match (draft.wiring, doc.rows) {
        (Wiring::Full, Some(rows)) => out.push(
            Diagnostic::error(&RULE, "`tiers.t2.rows` has no effect with `wiring: full`")
                .at(rows.span, "")
                .help("remove it, or set `wiring: rows`"),
        ),
        (Wiring::Rows, None) => out.push(
            Diagnostic::error(&RULE, "`wiring: rows` needs `tiers.t2.rows`")
                .at(draft.at(field!("tiers.t2.wiring")), "")
                .help(format!(
                    "set `tiers.t2.rows` to the most T1s that a zone will ever have; there are {t1s} now"
                )),
        ),
        (Wiring::Rows, Some(rows)) if shares_unequally(rows.value.into(), t1s) => out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "{} of a zone cannot be divided evenly over {}",
                    count(t1s, "T1"),
                    count(rows.value.into(), "row")
                ),
            )
            .at(rows.span, count(rows.value.into(), "row"))
            .and(draft.ports_span(TierId::T0, Side::Up), format!("make {}", count(t1s, "T1")))
            .note(format!("{t1s} / {} leaves {}", rows.value, t1s % u64::from(rows.value)))
            .set(
                [(field!("tiers.t2.rows").path(), t1s.to_string())],
                format!(
                    "set `tiers.t2.rows` to {t1s} or more, or to a number that divides {t1s}; every change renumbers T2s"
                ),
            ),
        ),
        (Wiring::Full, None) | (Wiring::Rows, Some(_)) => {}
    }
}

/// Returns whether there are fewer rows than T1s, and some rows have more T1s than others.
fn shares_unequally(rows: u64, t1s: u64) -> bool {
    rows != 0 && rows < t1s && !t1s.is_multiple_of(rows)
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    fn yaml_with_zones(t2: &str) -> String {
        format!(
            "{{ zones: 4, hosts: {{ groups: 64 }}, tiers: {{ t0: {{ up: 64, oversubscription: \"2:1\" }}, t1: {{ up: 16, oversubscription: \"4:1\", down: {{ spare: 64 }} }}, t2: {{ platform: box-256x200g, {t2} }} }} }}"
        )
    }

    #[test]
    fn rows_come_with_their_wiring() {
        assert_eq!(codes(&yaml_with_zones("wiring: rows, rows: 64")), Vec::<&str>::new());
        assert_eq!(codes(&yaml_with_zones("wiring: rows")), ["E0315"]);
        assert_eq!(codes(&yaml_with_zones("ports_per_zone: 64, rows: 64")), ["E0315"]);
        assert_eq!(codes(&yaml_with_zones("wiring: rows, rows: 32")), Vec::<&str>::new());
        assert_eq!(
            message(&yaml_with_zones("wiring: rows, rows: 24"), "E0315"),
            "64 T1s of a zone cannot be divided evenly over 24 rows"
        );
    }
}
