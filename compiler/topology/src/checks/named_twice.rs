//! E0803: a list of exceptions names an element twice.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::Subject;
use crate::draft::Draft;
use crate::suggest::shorten;

/// A list of exceptions names an element twice.
pub(crate) static RULE: Rule = Rule {
    code: "E0803",
    title: "a duplicate exception",
    condition: "No list of exceptions names a device or cable twice, whether directly, by a range or by its node.",
    impact: "The second one is probably a misspelling of another name. Of two overrides, one would be lost.",
    example: "exceptions: { absent: [p0-t0-001, \"p0-t0-[001-002]\"] }",
    fix: "Remove one of the two.",
};

/// Compares the entries of each list.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let mut first_of = BTreeMap::new();
    for (list, entry) in draft.exceptions.all() {
        let Ok(target) = entry.subject else { continue };
        for part in parts(draft, target) {
            let Some(first) = first_of.insert((list, part), entry) else { continue };
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("`{}` names `{}` twice", list.field(), shorten(&entry.name)),
                )
                .at(entry.span, "again here")
                .and(first.span, format!("by `{}` here", shorten(&first.name)))
                .help("remove one of the two"),
            );
            break; // One message for a node, not one for each NIC.
        }
    }
}

/// Returns the elements that a name stands for. For a node, these are its NICs.
fn parts(draft: &Draft<'_>, target: Subject) -> Vec<Subject> {
    match target {
        Subject::Node(node) => (0..draft.shape.nics_per_node)
            .filter_map(|k| draft.shape.nic_of(node, k as u8))
            .map(Subject::Nic)
            .collect(),
        Subject::Plane(_) | Subject::Switch(_) | Subject::Nic(_) | Subject::Link(_) => vec![target],
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn lists_name_things_once() {
        assert_eq!(codes("exceptions: { absent: [p0-t0-001, \"p0-t0-[001-002]\"] }"), ["E0803"]);
        assert_eq!(codes("exceptions: { absent: [su001-n001, su001-n001/nic2] }"), ["E0803"]);
        assert_eq!(
            codes("exceptions: { drained: [p0-t0-001--p0-t1-001, p0-t0-001--p0-t1-001#1] }"),
            ["E0803"]
        );
        assert_eq!(
            message("exceptions: { absent: [p0-t0-001, \"p0-t0-[001-002]\"] }", "E0803"),
            "`exceptions.absent` names `p0-t0-001` twice"
        );
    }
}
