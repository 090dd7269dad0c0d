//! E0713: the file of pins cannot be read.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::words::or_omit;
use crate::draft::{Draft, ListFault};
use crate::field;

/// The file of pins cannot be read.
pub(crate) static RULE: Rule = Rule {
    code: "E0713",
    title: "the file of pins cannot be read",
    condition: "The file of `ecmp.pins` exists, is text, and is in the folder of the fabric file or below it. Its \
           path is relative to that folder.",
    impact: "Switches would be configured without the pins. The only symptom would be an overloaded cable.",
    example: "{ routing: ecmp-static, ecmp: { pins: not-there.csv } }",
    fix: "Name an existing file in that folder or below it, or remove `ecmp.pins`.",
};

/// Checks that the file was read.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (Some(ListFault::Unread(why)), Some(file)) =
        (&draft.pins.unusable, draft.doc.ecmp.as_ref().and_then(|e| e.pins.as_ref()))
    else {
        return;
    };
    out.push(
        Diagnostic::error(&RULE, format!("the pins in `{}` cannot be read", file.value))
            .at(file.span, why.clone())
            .help(or_omit(why, field!("ecmp.pins"))),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn the_file_is_read() {
        let fragment = "{ routing: ecmp-static, ecmp: { pins: not-there.csv } }";
        assert!(codes(fragment).contains(&"E0713"));
        assert_eq!(message(fragment, "E0713"), "the pins in `not-there.csv` cannot be read");
        assert!(!codes("{ routing: ecmp-static, ecmp: { pins: good.csv } }").contains(&"E0713"));
    }
}
