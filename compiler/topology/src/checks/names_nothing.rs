//! E0801: a name in exceptions has none of the forms that names have.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::{Node, PlaneId, Switch, TierId, ZoneId};
use crate::lower::{Draft, NameFault};
use crate::naming::LINK_SEPARATOR;
use crate::read::{listed, shorten};

/// A name in exceptions has none of the forms that names have.
pub(crate) static RULE: Rule = Rule {
    code: "E0801",
    title: "an exception names nothing",
    what: "Every name in `exceptions` is the name of a switch, node, NIC, link or host cable, or a plane as \
           in `plane 3`.",
    why: "An exception that names nothing does nothing, and what it was meant for stays as it was.",
    example: "exceptions: { absent: [leaf-17] }",
    fix: "Write the name as the compiler writes it; the message shows one of each kind.",
};

/// Reports names that cannot be read.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for entry in draft.named() {
        if entry.target != Err(NameFault::Unreadable) {
            continue;
        }
        let diagnostic =
            Diagnostic::error(&RULE, format!("`{}` is no name in this fabric", shorten(&entry.name)))
                .at(entry.span, "");
        let meant = draft.names.naming.nearest(&entry.name).filter(|meant| *meant != entry.name);
        out.push(match meant {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`? numbers are padded")),
            None => diagnostic.note(format!("names look like {}", samples(draft))),
        });
    }
}

/// Returns a name of each kind.
fn samples(draft: &Draft<'_>) -> String {
    let naming = &draft.names.naming;
    let switch = |tier| Switch { plane: PlaneId(0), tier, zone: ZoneId(0), index: 0 };
    let node = Node { zone: ZoneId(0), unit: 0, index: 0 };
    let (t0, t1) = (naming.switch(switch(TierId::T0)), naming.switch(switch(TierId::T1)));
    let link = format!("{t0}{LINK_SEPARATOR}{t1}");
    let (nic, port) = (naming.nic(node, 0), naming.nic_port(node, 0, PlaneId(0)));
    listed([t0.as_str(), t1.as_str(), &naming.node(node), &nic, &port, &link, "plane 0"])
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::{codes, message};

    #[test]
    fn names_have_forms() {
        assert_eq!(codes("exceptions: { absent: [leaf-17] }"), ["E0801"]);
        assert_eq!(codes("exceptions: { absent: [p0-t0-17] }"), ["E0801"]);
        assert_eq!(codes("exceptions: { absent: [p0-t0-017] }"), Vec::<&str>::new());
        assert_eq!(
            message("exceptions: { drained: [plane x] }", "E0801"),
            "`plane x` is no name in this fabric"
        );
    }
}
