//! E0308: the stated number of T1s does not match the uplinks.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::coordinate::{Side, TierId};
use crate::draft::Draft;
use crate::field;

/// The stated number of T1s does not match the uplinks.
pub(crate) static RULE: Rule = Rule {
    code: "E0308",
    title: "the number of T1s does not match the uplinks",
    condition: "`tiers.t1.count`, if set, is `t0.up / t0.parallel`.",
    impact: "Every uplink of a T0 leads to a T1 of its plane, so the number of T1s follows from the \
           uplinks.",
    example: "tiers: { t1: { count: 64 } }",
    fix: "Remove `count`, or change `up` or `parallel` of the T0s.",
};

/// Compares the stated with the computed number.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(stated) = draft.doc.tiers.t1.as_ref().and_then(|t1| t1.count) else { return };
    let (up, parallel, follows) = (draft.t0.up.count, draft.t0.parallel, draft.t1.count);
    if u64::from(stated.value) == follows || stated.value == 0 || follows == 0 {
        return;
    }
    let diagnostic = Diagnostic::error(
        &RULE,
        format!(
            "the file states {}, but the uplinks of a T0 lead to {follows}",
            count(stated.value.into(), "T1")
        ),
    )
    .at(stated.span, count(stated.value.into(), "T1"))
    .and(draft.ports_span(TierId::T0, Side::Up), count(up, "uplink"))
    .note(format!("{up} uplinks / {parallel} parallel = {follows} T1s in each plane and zone"));
    let times = up / u64::from(stated.value);
    // Advice that does not fit on the panel of a T1 would lead to another error.
    let ports = draft.t1.platform.as_ref().zip(draft.t1.down.breakout);
    let room = ports.map_or(0, |(platform, breakout)| u64::from(platform.usable_ports(breakout)));
    let fits = draft.groups * times + draft.t1.down.spare + draft.t1.up.count <= room;
    out.push(if up.is_multiple_of(stated.value.into()) && times > 0 && fits {
        diagnostic.set(
            [(field!("tiers.t0.parallel").path(), times.to_string())],
            format!("set `tiers.t0.parallel` to {times}, or remove `tiers.t1.count`"),
        )
    } else {
        diagnostic.help("remove `tiers.t1.count`")
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn follows_from_the_uplinks() {
        assert_eq!(codes("tiers: { t1: { count: 64 } }"), ["E0308"]);
        assert_eq!(codes("tiers: { t1: { count: 128 } }"), Vec::<&str>::new());
        assert_eq!(
            message("tiers: { t1: { count: 64 } }", "E0308"),
            "the file states 64 T1s, but the uplinks of a T0 lead to 128"
        );
    }
}
