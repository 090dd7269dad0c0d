//! E0808: every plane is drained.

use std::collections::BTreeSet;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::Subject;
use crate::draft::Draft;

/// Every plane is drained.
pub(crate) static RULE: Rule = Rule {
    code: "E0808",
    title: "all planes are drained",
    what: "At least one plane is not drained.",
    why: "Hosts would have path tables without paths.",
    example: "exceptions: { drained: [plane 0, plane 1] }",
    fix: "Leave one plane in service.",
};

/// Counts the planes in service.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let mut drained =
        draft.exceptions.drained.iter().filter(|entry| matches!(entry.subject, Ok(Subject::Plane(_))));
    let planes: BTreeSet<_> = drained.clone().map(|entry| entry.name.clone()).collect();
    let Some(last) = drained.next_back().filter(|_| planes.len() as u64 >= draft.planes && draft.planes > 0)
    else {
        return;
    };
    out.push(
        Diagnostic::error(&RULE, format!("all {} planes are drained", draft.planes))
            .at(last.span, "the last one")
            .and(draft.doc.planes.span, format!("{} planes", draft.planes))
            .help("leave at least one plane in service"),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn one_plane_stays() {
        assert_eq!(codes("exceptions: { drained: [plane 0, plane 1] }"), ["E0808"]);
        assert_eq!(codes("exceptions: { drained: [plane 0] }"), Vec::<&str>::new());
        assert_eq!(
            message("exceptions: { drained: [\"plane [0-1]\"] }", "E0808"),
            "all 2 planes are drained"
        );
    }
}
