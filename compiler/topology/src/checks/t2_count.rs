//! E0314: the stated number of T2s does not match the uplinks.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::choice::Wiring;
use crate::coordinate::{Side, TierId};
use crate::draft::Draft;

/// The stated number of T2s does not match the uplinks.
pub(crate) static RULE: Rule = Rule {
    code: "E0314",
    title: "the number of T2s does not match the uplinks",
    condition: "If `tiers.t2.count` is set, it is the number of T2s in each plane that the uplinks of the T1s \
           lead to. This is `t1.up / t1.parallel` with `wiring: full`, and that many per row with `wiring: \
           rows`.",
    impact: "Every uplink of a T1 leads to a T2 of its plane. Any other number would leave uplinks or T2s \
           without cables.",
    example: "zones: 4\n\
           hosts: { groups: 64 }\n\
           tiers:\n\
           \x20 t0: { up: 64, oversubscription: \"2:1\" }\n\
           \x20 t1: { up: 64 }\n\
           \x20 t2: { platform: box-256x200g, ports_per_zone: 64, count: 32 }",
    fix: "Remove `count`, or change `up` or `parallel` of the T1s. With `wiring: rows`, the number also \
           depends on `rows`.",
};

/// Compares the stated with the computed number.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(stated) = draft.doc.tiers.t2.as_ref().and_then(|t2| t2.count) else { return };
    let (up, parallel) = (draft.t1.up.count, draft.t1.parallel.max(1));
    let steps = up / parallel;
    let (follows, arithmetic) = match draft.wiring {
        Wiring::Full => (steps, format!("{up} uplinks / {parallel} parallel = {steps} T2s in each plane")),
        Wiring::Rows => {
            let rows = draft.t1.count.min(draft.rows.max(1));
            let all = steps * rows;
            (
                all,
                format!(
                    "{up} uplinks / {parallel} parallel x {} = {all} T2s in each plane",
                    count(rows, "row")
                ),
            )
        }
    };
    if u64::from(stated.value) == follows || stated.value == 0 || follows == 0 {
        return;
    }
    out.push(
        Diagnostic::error(
            &RULE,
            format!(
                "the file states {}, but the uplinks of the T1s lead to {follows}",
                count(stated.value.into(), "T2")
            ),
        )
        .at(stated.span, count(stated.value.into(), "T2"))
        .and(draft.ports_span(TierId::T1, Side::Up), count(up, "uplink"))
        .note(arithmetic)
        .help("remove `tiers.t2.count`"),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const ZONED: &str = "zones: 4, hosts: { groups: 64 }, tiers: { t0: { up: 64, oversubscription: \"2:1\" }, t1: { up: 64 }, t2: { platform: box-256x200g, ports_per_zone: 64";

    #[test]
    fn follows_from_the_uplinks() {
        assert_eq!(codes(&format!("{{ {ZONED}, count: 32 }} }} }}")), ["E0314"]);
        assert_eq!(codes(&format!("{{ {ZONED}, count: 64 }} }} }}")), Vec::<&str>::new());
        assert_eq!(
            message(&format!("{{ {ZONED}, count: 32 }} }} }}"), "E0314"),
            "the file states 32 T2s, but the uplinks of the T1s lead to 64"
        );
    }
}
