//! E0808: every plane is absent or drained.

use std::collections::BTreeSet;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::Subject;
use crate::draft::{Draft, Entry};

/// Every plane is absent or drained.
pub(crate) static RULE: Rule = Rule {
    code: "E0808",
    title: "all planes are absent or drained",
    condition: "At least one plane is neither absent nor drained.",
    impact: "No plane would be in service. With `srv6-static`, hosts would have path tables without paths.",
    example: "exceptions: { drained: [plane 0, plane 1] }",
    fix: "Leave one plane in service.",
};

/// Counts the planes in service.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let is_plane = |entry: &&Entry| matches!(entry.subject, Ok(Subject::Plane(_)));
    let absent: Vec<&Entry> = draft.exceptions.absent.iter().filter(is_plane).collect();
    let drained: Vec<&Entry> = draft.exceptions.drained.iter().filter(is_plane).collect();
    let planes: BTreeSet<_> = absent.iter().chain(&drained).map(|entry| &entry.name).collect();
    let Some(last) = absent
        .iter()
        .chain(&drained)
        .next_back()
        .filter(|_| planes.len() as u64 >= draft.planes && draft.planes > 0)
    else {
        return;
    };
    let state = match (absent.is_empty(), drained.is_empty()) {
        (true, _) => "drained",
        (false, true) => "absent",
        (false, false) => "absent or drained",
    };
    out.push(
        Diagnostic::error(&RULE, format!("all {} planes are {state}", draft.planes))
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
        assert_eq!(codes("exceptions: { absent: [plane 0] }"), Vec::<&str>::new());
        assert_eq!(
            message("exceptions: { absent: [plane 0], drained: [plane 1] }", "E0808"),
            "all 2 planes are absent or drained"
        );
        assert_eq!(message("exceptions: { absent: [\"plane [0-1]\"] }", "E0808"), "all 2 planes are absent");
        assert_eq!(
            message("exceptions: { drained: [\"plane [0-1]\"] }", "E0808"),
            "all 2 planes are drained"
        );
    }
}
