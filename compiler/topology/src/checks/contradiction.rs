//! E0804: something absent is drained, recabled or given other hardware.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::Link;
use crate::coordinate::Subject;
use crate::draft::{Draft, Entry, ExceptionList};
use crate::suggest::shorten;

/// Something absent is drained, recabled or given other hardware.
pub(crate) static RULE: Rule = Rule {
    code: "E0804",
    title: "exceptions contradict each other",
    condition: "A device or cable that is absent, or attached to something absent, is in no other list.",
    impact: "A cable cannot be 40 m long and absent. One of the two is obsolete.",
    example: "exceptions: { absent: [p0-t0-001], drained: [p0-t0-001] }",
    fix: "Remove one of the two.",
};

/// Looks for absent elements in the other lists.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let absent = AbsentElements::new(draft);
    for (list, entry) in draft.exceptions.all() {
        let (Ok(target), false) = (&entry.subject, list == ExceptionList::Absent) else { continue };
        let Some(reason) = absent.reason(draft, *target) else { continue };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("`{}` is listed in `{}` but is absent", shorten(&entry.name), list.field()),
            )
            .at(entry.span, format!("in `{}`", list.field().key()))
            .and(reason.span, format!("`{}` is absent", shorten(&reason.name)))
            .help("remove one of the two"),
        );
    }
}

/// The absent elements.
pub(super) struct AbsentElements<'a>(BTreeMap<Subject, &'a Entry>);

impl<'a> AbsentElements<'a> {
    pub(super) fn new(draft: &'a Draft<'_>) -> Self {
        let named = draft.exceptions.absent.iter();
        AbsentElements(named.filter_map(|entry| Some((entry.subject.clone().ok()?, entry))).collect())
    }

    /// Returns the entry that makes an element absent: that of the element itself, or of one that it is
    /// attached to.
    pub(super) fn reason(&self, draft: &Draft<'_>, target: Subject) -> Option<&'a Entry> {
        self.0.get(&target).copied().or_else(|| self.parent(draft, target))
    }

    /// Returns the absent element that another one is attached to.
    pub(super) fn parent(&self, draft: &Draft<'_>, target: Subject) -> Option<&'a Entry> {
        let mut parents = Vec::new();
        match target {
            Subject::Link(Link::Host(port)) => {
                let (node, _) = draft.shape.node_of(port.nic);
                parents.extend([
                    Subject::Nic(port.nic),
                    Subject::Node(node),
                    Subject::Switch(port.nic.t0(port.plane)),
                    Subject::Plane(port.plane),
                ]);
            }
            Subject::Link(Link::Fabric { lower, up }) => {
                parents.extend([Subject::Switch(lower), Subject::Plane(lower.plane)]);
                parents.extend(draft.shape.upper(lower, up).map(|(upper, _)| Subject::Switch(upper)));
            }
            Subject::Nic(nic) => parents.push(Subject::Node(draft.shape.node_of(nic).0)),
            Subject::Switch(switch) => parents.push(Subject::Plane(switch.plane)),
            Subject::Plane(_) | Subject::Node(_) => {}
        }
        parents.iter().find_map(|parent| self.0.get(parent).copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn absent_things_are_in_no_other_list() {
        assert_eq!(codes("exceptions: { absent: [p0-t0-001], drained: [p0-t0-001] }"), ["E0804"]);
        assert_eq!(
            codes("exceptions: { absent: [p0-t1-001], cables: { p0-t0-001--p0-t1-001: { length: 3m } } }"),
            ["E0804"]
        );
        assert_eq!(codes("exceptions: { absent: [su001-n001], drained: [su001-n001/nic0.p1] }"), ["E0804"]);
        let other = "exceptions: { absent: [p0-t0-001], devices: { p0-t0-001: { os: frr } } }";
        assert!(codes(other).contains(&"E0804"));
        for drained in ["plane 1", "p1-t0-001", "p1-t0-001--p1-t1-001", "su001-n001/nic0.p1"] {
            let fragment = format!("exceptions: {{ absent: [plane 1], drained: [{drained}] }}");
            assert!(codes(&fragment).contains(&"E0804"), "{drained}");
        }
        assert_eq!(
            message("exceptions: { absent: [p0-t0-001], drained: [p0-t0-001] }", "E0804"),
            "`p0-t0-001` is listed in `exceptions.drained` but is absent"
        );
    }
}
