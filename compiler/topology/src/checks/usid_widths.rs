//! E0405: the widths of a uSID do not add up to 16.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::choice::SegmentPlan;
use crate::draft::Draft;
use crate::field;

/// The widths of a uSID do not add up to 16.
pub(crate) static RULE: Rule = Rule {
    code: "E0405",
    title: "the uSID widths do not add up to 16 bits",
    condition: "The widths of role, plane, zone and index add up to 16.",
    impact: "A uSID has 16 bits: the container format F3216 that hardware implements.",
    example: "srv6: { widths: { plane: 4 } }",
    fix: "Change the widths so that they add up to 16. A wider plane leaves fewer bits for the index.",
};

/// Adds the widths up.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let sum = draft.layout.sum();
    // E0409 corrects a plane that is in the block already.
    if sum == 16 || (draft.layout.plan == SegmentPlan::PlaneInBlock && draft.layout.plane > 0) {
        return;
    }
    let terms = draft.layout.widths().map(|(name, width)| format!("{name} {width}"));
    let diagnostic =
        Diagnostic::error(&RULE, format!("the uSID widths add up to {sum}, but a uSID has 16 bits"))
            .at(draft.at(field!("srv6.widths")), "")
            .note(format!("{} = {sum}", terms.join(" + ")));
    let index = (draft.layout.index + 16).checked_sub(sum);
    out.push(match index.filter(|index| *index > 0) {
        Some(index) => diagnostic.set(
            [(field!("srv6.widths.index").path(), index.to_string())],
            format!("set `index` to {index}"),
        ),
        None => diagnostic.help("lower the widths"),
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn widths_make_sixteen() {
        assert_eq!(codes("srv6: { widths: { plane: 4 } }"), ["E0405"]);
        assert_eq!(codes("srv6: { widths: { plane: 4, index: 10 } }"), Vec::<&str>::new());
        assert_eq!(
            message("srv6: { widths: { plane: 4 } }", "E0405"),
            "the uSID widths add up to 17, but a uSID has 16 bits"
        );
    }
}
