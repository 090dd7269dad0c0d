//! E0801: a name in exceptions does not have the form of a name.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use smol_str::SmolStr;

use crate::coordinate::{Node, PlaneId, Switch, TierId, ZoneId};
use crate::draft::{Draft, Entry};
use crate::field;
use crate::names::{NameFault, find_link};
use crate::naming::{LINK_SEPARATOR, Naming};
use crate::suggest::{listed, shorten};

/// A name in exceptions does not have the form of a name.
pub(crate) static RULE: Rule = Rule {
    code: "E0801",
    title: "an exception for an unknown name",
    what: "Every name in `exceptions` is the name of a switch, node, NIC, link or host cable, or a plane as \
           in `plane 3`.",
    why: "An exception with an unknown name has no effect, and the intended device is unchanged.",
    example: "exceptions: { absent: [leaf-17] }",
    fix: "Write the name in closc's form. The message shows an example of each kind.",
};

/// Reports names that cannot be read.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let default = Naming::default_for(draft.has_zones());
    let mut of_default: Vec<(&Entry, Meant)> = Vec::new();
    for entry in draft.named() {
        if entry.subject != Err(NameFault::Unreadable) {
            continue;
        }
        if let Some(meant) = renamed(draft, &default, &entry.name) {
            of_default.push((entry, meant));
            continue;
        }
        let diagnostic =
            Diagnostic::error(&RULE, format!("`{}` is not a name in this fabric", shorten(&entry.name)))
                .at(entry.span, "");
        let plane = entry.name.strip_prefix("plane").filter(|number| number.parse::<u8>().is_ok());
        let padded = draft.names.naming.nearest(&entry.name).filter(|meant| *meant != entry.name);
        out.push(match (plane, padded) {
            (Some(plane), _) => {
                let meant = format!("plane {plane}");
                diagnostic.replace(entry.span, &meant, format!("did you mean `{meant}`?"))
            }
            (None, Some(meant)) => {
                let help = format!("did you mean `{meant}`? numbers are padded");
                diagnostic.replace(entry.span, meant, help)
            }
            (None, None) => diagnostic.note(format!("names look like {}", samples(draft))),
        });
    }
    if let Some((first, meant)) = of_default.first() {
        out.push(replaced(draft, first, meant, of_default.len()));
    }
}

/// Equivalent in this fabric of a name that follows the default patterns.
enum Meant {
    /// One name.
    Name(SmolStr),
    /// An equivalent that consists of several names, as that of a link.
    Several,
}

/// Returns the equivalent in this fabric of a name that follows the default patterns.
fn renamed(draft: &Draft<'_>, default: &Naming, name: &str) -> Option<Meant> {
    draft.doc.naming.as_ref()?;
    let naming = &draft.names.naming;
    if let Some(switch) = default.parse_switch(name) {
        return Some(Meant::Name(naming.switch(switch)));
    }
    if let Some(node) = default.parse_node(name) {
        return Some(Meant::Name(naming.node(node)));
    }
    let is_default = find_link(&draft.shape, default, name) != Err(NameFault::Unreadable)
        || default.parse_nic(name).is_some();
    is_default.then_some(Meant::Several)
}

/// Reports once that names follow the default patterns.
fn replaced(draft: &Draft<'_>, first: &Entry, meant: &Meant, count: usize) -> Diagnostic {
    let name = shorten(&first.name);
    let message = match count {
        1 => format!("`{name}` is a name of the default pattern, which `naming` replaces"),
        more => format!(
            "`{name}` and {} more are names of the default patterns, which `naming` replaces",
            more - 1
        ),
    };
    let diagnostic = Diagnostic::error(&RULE, message)
        .at(first.span, "")
        .and(draft.at(field!("naming")), "replaced here")
        .note(format!("names look like {}", samples(draft)));
    match meant {
        Meant::Name(meant) => diagnostic.replace(first.span, meant.as_str(), format!("write `{meant}`")),
        Meant::Several => diagnostic.help("write the names as `naming` makes them"),
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
    use crate::testing::{codes, findings, message};

    #[test]
    fn names_have_forms() {
        assert_eq!(codes("exceptions: { absent: [leaf-17] }"), ["E0801"]);
        assert_eq!(codes("exceptions: { absent: [p0-t0-17] }"), ["E0801"]);
        assert_eq!(codes("exceptions: { absent: [p0-t0-017] }"), Vec::<&str>::new());
        assert_eq!(
            message("exceptions: { drained: [plane x] }", "E0801"),
            "`plane x` is not a name in this fabric"
        );
    }

    #[test]
    fn a_new_pattern_is_one_fault() {
        let fragment = "{ naming: { t0: \"p{plane}-leaf-{index:03}\" }, \
                        exceptions: { absent: [p0-t0-001, p0-t0-002], drained: [p0-t0-003--p0-t1-001, p0-t0-004] } }";
        let found = findings(fragment);
        assert_eq!(found.iter().map(|found| found.rule.code).collect::<Vec<_>>(), ["E0801"]);
        assert_eq!(
            message(fragment, "E0801"),
            "`p0-t0-001` and 3 more are names of the default patterns, which `naming` replaces"
        );
        assert_eq!(found.iter().next().unwrap().help, ["write `p0-leaf-001`"]);
        let broken = fragment.replace("p{plane}-leaf", "leaf");
        assert_eq!(codes(&broken), ["E0508"]);
        let plane = findings("exceptions: { drained: [plane1] }");
        assert_eq!(plane.iter().next().unwrap().help, ["did you mean `plane 1`?"]);
    }
}
