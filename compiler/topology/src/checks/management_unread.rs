//! E0513: the list of management ports cannot be read.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::words::or_omit;
use crate::draft::{Draft, ListFault};
use crate::field;

/// The list of management ports cannot be read.
pub(crate) static RULE: Rule = Rule {
    code: "E0513",
    title: "the list of management ports cannot be read",
    condition: "The file of `addresses.management_list` exists, is text, and is in the folder of the fabric file \
           or below it. Its path is relative to that folder.",
    impact: "Switches would be configured without management addresses, and could not be reached.",
    example: "addresses: { management_list: not-there.csv }",
    fix: "Name an existing file in that folder or below it, or remove `addresses.management_list`.",
};

/// Checks that the file was read.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let file = draft.doc.addresses.as_ref().and_then(|own| own.management_list.as_ref());
    let (Some(ListFault::Unread(why)), Some(file)) = (&draft.management.unusable, file) else { return };
    out.push(
        Diagnostic::error(&RULE, format!("the management ports in `{}` cannot be read", file.value))
            .at(file.span, why.clone())
            .help(or_omit(why, field!("addresses.management_list"))),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn the_file_is_read() {
        let fragment = "addresses: { management_list: not-there.csv }";
        assert_eq!(codes(fragment), ["E0513"]);
        assert_eq!(message(fragment, "E0513"), "the management ports in `not-there.csv` cannot be read");
        assert_eq!(codes("addresses: { management_list: listed.csv }"), Vec::<&str>::new());
    }
}
