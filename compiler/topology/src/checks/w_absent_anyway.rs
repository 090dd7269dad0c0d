//! W0802: an absent element is attached to another absent element.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::contradiction::AbsentElements;
use crate::coordinate::Subject;
use crate::draft::Draft;
use crate::suggest::shorten;

/// An absent element is attached to another absent element.
pub(crate) static RULE: Rule = Rule {
    code: "W0802",
    title: "an absent element is listed twice",
    condition: "No element of `exceptions.absent` is already absent because it is attached to another absent \
           element.",
    impact: "When the plane, switch or node returns, the forgotten second exception still applies.",
    example: "exceptions: { absent: [p0-t0-001, p0-t0-001--p0-t1-001] }",
    fix: "Remove the redundant exception, unless it must remain when the other is removed.",
};

/// Looks for absent elements that are attached to another absent element.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let absent = AbsentElements::new(draft);
    for entry in &draft.exceptions.absent {
        let Ok(target) = entry.subject else { continue };
        // Another rule (E0803) reports nodes and their NICs in one list.
        let Some(reason) =
            absent.parent(draft, target).filter(|_| matches!(target, Subject::Link(_) | Subject::Switch(_)))
        else {
            continue;
        };
        let (name, cause) = (shorten(&entry.name), shorten(&reason.name));
        out.push(
            Diagnostic::warning(&RULE, format!("`{name}` is already absent because of `{cause}`"))
                .at(entry.span, "adds nothing")
                .and(reason.span, format!("`{cause}` is absent"))
                .help("remove it, unless it must remain when the other is removed"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn cables_go_with_their_switches() {
        assert_eq!(codes("exceptions: { absent: [p0-t0-001, p0-t0-001--p0-t1-001] }"), ["W0802"]);
        assert_eq!(codes("exceptions: { absent: [p0-t0-001, p0-t0-002--p0-t1-001] }"), Vec::<&str>::new());
        assert_eq!(codes("exceptions: { absent: [plane 0, p0-t0-001] }"), ["W0802"]);
        assert_eq!(
            message("exceptions: { absent: [p0-t0-001, p0-t0-001--p0-t1-001] }", "W0802"),
            "`p0-t0-001--p0-t1-001` is already absent because of `p0-t0-001`"
        );
    }
}
