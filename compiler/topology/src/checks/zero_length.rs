//! E0603: a cable that is not virtual has length 0.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_qos::units::Length;

use crate::coordinate::Subject;
use crate::draft::{Draft, DraftCable};

/// A cable that is not virtual has length 0.
pub(crate) static RULE: Rule = Rule {
    code: "E0603",
    title: "a cable has no length",
    condition: "Only a `virtual` cable has a length of 0.",
    impact: "Headroom and round-trip times are computed from lengths. A cable of 0 m gets no headroom for \
           packets in flight.",
    example: "cables: { t0-t1: { length: 0m } }",
    fix: "Write the length, or `medium: virtual` if there is no cable.",
};

/// Checks every length that is stated.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let kinds = [Some(&draft.cables.nic_t0), Some(&draft.cables.t0_t1), draft.cables.t1_t2.as_ref()];
    let kinds = kinds.into_iter().flatten().cloned();
    let zones = draft.cables.by_zone.iter().map(|(_, cable)| cable.clone());
    let exceptions = draft.exceptions.cables().filter_map(|(entry, doc)| match entry.subject {
        Ok(Subject::Link(link)) => Some(DraftCable::over(draft.kind_of(link), Some(doc))),
        Ok(Subject::Plane(_) | Subject::Switch(_) | Subject::Node(_) | Subject::Nic(_)) | Err(_) => None,
    });
    for cable in kinds.chain(zones).chain(exceptions) {
        let Some(span) = cable.length_span.filter(|_| cable.cable.length == Length::ZERO) else { continue };
        if cable.cable.medium == "virtual" {
            continue;
        }
        out.push(
            Diagnostic::error(&RULE, format!("a `{}` cable has length 0", cable.cable.medium))
                .at(span, "")
                .help("write its length, or `medium: virtual` if there is no cable"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn only_virtual_cables_have_no_length() {
        assert_eq!(codes("cables: { t0-t1: { length: 0m } }"), ["E0603"]);
        assert_eq!(codes("cables: { t0-t1: { length: 0m, medium: virtual } }"), Vec::<&str>::new());
        assert_eq!(message("cables: { t0-t1: { length: 0m } }", "E0603"), "a `dr` cable has length 0");
    }
}
