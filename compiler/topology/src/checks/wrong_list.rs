//! E0805: a list of exceptions names an element that it does not accept.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::Subject;
use crate::draft::{Draft, ExceptionList};
use crate::suggest::shorten;

/// A list of exceptions names an element that it does not accept.
pub(crate) static RULE: Rule = Rule {
    code: "E0805",
    title: "an exception of the wrong kind",
    condition: "`absent` accepts planes, switches, nodes, NICs and cables. `drained` accepts planes, switches and \
           cables. `isolated` and `cables` accept cables, and `devices` accepts switches.",
    impact: "The scheduler keeps traffic off a node, a plane has no length, and a cable has no operating \
           system.",
    example: "exceptions: { drained: [su001-n001] }",
    fix: "Move the name to the right list, or name its cables.",
};

/// Checks that each list names only elements that it accepts.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (list, entry) in draft.exceptions.all() {
        let Ok(target) = entry.subject else { continue };
        let (kind, help) = match (list, target) {
            (ExceptionList::Drained, Subject::Node(_)) => {
                ("a node", "name its host cables, as in `.../nic0.p0`, or use `absent`")
            }
            (ExceptionList::Drained, Subject::Nic(_)) => {
                ("a NIC", "name its host cables, as in `.../nic0.p0`, or use `absent`")
            }
            (ExceptionList::Isolated, Subject::Plane(_)) => ("a plane", "name its cables, or use `drained`"),
            (ExceptionList::Isolated, Subject::Switch(_)) => {
                ("a switch", "name its cables, as in `LOWER--UPPER`, or use `drained`")
            }
            (ExceptionList::Isolated, Subject::Node(_) | Subject::Nic(_)) => {
                ("not a cable", "name its host cables, as in `.../nic0.p0`, or use `absent`")
            }
            (ExceptionList::Cables, Subject::Plane(_)) => {
                ("a plane", "name a cable; kinds of cables are under `cables`")
            }
            (ExceptionList::Cables, Subject::Switch(_)) => ("a switch", "name a cable, as in `LOWER--UPPER`"),
            (ExceptionList::Cables, Subject::Node(_) | Subject::Nic(_)) => {
                ("not a cable", "name the NIC port, as in `.../nic0.p0`")
            }
            (ExceptionList::Devices, Subject::Plane(_)) => ("a plane", "use `tiers.t0.by_plane`"),
            (ExceptionList::Devices, Subject::Node(_) | Subject::Nic(_)) => ("not a switch", "name a switch"),
            (ExceptionList::Devices, Subject::Link(_)) => ("a cable", "name a switch, or use `cables`"),
            (ExceptionList::Absent, _)
            | (ExceptionList::Drained, Subject::Plane(_) | Subject::Switch(_) | Subject::Link(_))
            | (ExceptionList::Isolated | ExceptionList::Cables, Subject::Link(_))
            | (ExceptionList::Devices, Subject::Switch(_)) => continue,
        };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("`{}` is {kind}; `{}` does not accept it", shorten(&entry.name), list.field()),
            )
            .at(entry.span, "")
            .help(help),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn lists_take_their_kinds() {
        assert_eq!(codes("exceptions: { drained: [su001-n001] }"), ["E0805"]);
        assert_eq!(codes("exceptions: { absent: [plane 1] }"), Vec::<&str>::new());
        assert_eq!(codes("exceptions: { cables: { p0-t0-001: { length: 3m } } }"), ["E0805"]);
        for isolated in ["plane 1", "p0-t0-001", "su001-n001", "su001-n001/nic0"] {
            assert_eq!(codes(&format!("exceptions: {{ isolated: [{isolated}] }}")), ["E0805"], "{isolated}");
        }
        assert_eq!(codes("exceptions: { devices: { p0-t0-001--p0-t1-001: { os: frr } } }"), ["E0805"]);
        assert_eq!(
            message("exceptions: { drained: [su001-n001] }", "E0805"),
            "`su001-n001` is a node; `exceptions.drained` does not accept it"
        );
    }
}
