//! E0801: a name in exceptions does not have the form of a name.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::{Draft, Entry};
use crate::field;
use crate::names::{NameFault, all_meant, find_link, form_below, rewritten, samples};
use crate::naming::Naming;
use crate::suggest::shorten;

/// A name in exceptions does not have the form of a name.
pub(crate) static RULE: Rule = Rule {
    code: "E0801",
    title: "an exception for an unknown name",
    condition: "Names in `exceptions`, and in `members` of `domains`, have the form of switch, node, NIC, NIC \
           port or cable names. Planes are written as in `plane 3`. Ranges such as `p0-t1-[001-004]` are \
           several names.",
    impact: "If closc skipped the name, an element that is to be drained or absent would stay in service. A \
           domain would lack a member.",
    example: "# a T0 has a name such as p0-t0-017\n\
           exceptions: { absent: [leaf-17] }",
    fix: "Write names by the patterns of `naming`, or by the default patterns if it is not set. The \
           message proposes a name or shows examples.",
};

/// Reports names that cannot be read.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let default = Naming::default_for(draft.has_zones());
    let mut of_default: Vec<(&Entry, LocalName)> = Vec::new();
    for entry in draft.name_entries() {
        if entry.subject != Err(NameFault::Unreadable) {
            continue;
        }
        if let Some(meant) = local_name(draft, &default, entry) {
            of_default.push((entry, meant));
            continue;
        }
        out.push(unreadable(draft, entry));
    }
    if let Some((first, meant)) = of_default.first() {
        out.push(report_default_patterns(draft, first, meant, of_default.len()));
    }
}

/// Reports a name that does not have the form of a name.
fn unreadable(draft: &Draft<'_>, entry: &Entry) -> Diagnostic {
    let (name, written) = (shorten(&entry.name), shorten(&entry.source_name));
    let message = if entry.is_one_of_many() {
        format!("`{name}`, one of `{written}`, is not a name in this fabric")
    } else {
        format!("`{name}` is not a name in this fabric")
    };
    let diagnostic = Diagnostic::error(&RULE, message).at(entry.span, "");
    let (shape, naming) = (&draft.shape, &draft.names.naming);
    let meant = all_meant(&entry.source_name, shape, naming);
    match meant.filter(|meant| *meant != entry.source_name) {
        Some(meant) => {
            let digits = |name: &str| name.replace('0', "");
            let is_padding = !meant.starts_with("plane ") && digits(&meant) == digits(&entry.source_name);
            let why = if is_padding { " numbers are padded" } else { "" };
            let help = format!("did you mean `{meant}`?{why}");
            diagnostic.replace(entry.span, quote(&meant), help)
        }
        None => match form_below(&entry.name, shape, naming) {
            Some(form) => diagnostic.help(form),
            None => diagnostic.note(format!("names look like {}", samples(naming))),
        },
    }
}

/// Writes a name as YAML, where brackets need quotes.
fn quote(name: &str) -> String {
    if name.contains('[') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The name that an element has in this fabric. The element was found by its name in the default patterns.
enum LocalName {
    /// This name, perhaps with ranges.
    Name(String),
    /// A name that contains several device names, such as that of a cable, so it is not rewritten.
    Several,
}

/// Returns the name that an element has in this fabric, given its name in the default patterns. Returns
/// `None` if the name does not match them, or if the file has no `naming`.
fn local_name(draft: &Draft<'_>, default: &Naming, entry: &Entry) -> Option<LocalName> {
    draft.doc.naming.as_ref()?;
    let naming = &draft.names.naming;
    let device = |name: &str| {
        let switch = default.parse_switch(name).map(|switch| naming.switch(switch));
        let node = || default.parse_node(name).map(|node| naming.node(node));
        switch.or_else(node).map(String::from)
    };
    if let Some(meant) = rewritten(&entry.source_name, device) {
        return Some(LocalName::Name(meant));
    }
    let name = &entry.name;
    let is_default = device(name).is_some()
        || find_link(&draft.shape, default, name) != Err(NameFault::Unreadable)
        || default.parse_nic(name).is_some();
    is_default.then_some(LocalName::Several)
}

/// Reports once that the names follow the default patterns instead of this fabric's.
fn report_default_patterns(draft: &Draft<'_>, first: &Entry, meant: &LocalName, count: usize) -> Diagnostic {
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
        .note(format!("names look like {}", samples(&draft.names.naming)));
    match meant {
        LocalName::Name(meant) => diagnostic.replace(first.span, quote(meant), format!("write `{meant}`")),
        LocalName::Several => diagnostic.help("write names as defined by `naming`"),
    }
}

#[cfg(test)]
mod tests {
    use closc_diagnostics::{Change, Fix};

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
        let ranges = fragment.replace("p0-t0-001, p0-t0-002", "\"p0-t0-[001-004]\"");
        let found = findings(&ranges);
        let found = found.iter().next().unwrap();
        assert_eq!(found.help, ["write names as defined by `naming`"]);
        assert!(found.fixes.is_empty(), "{:?}", found.fixes);
        let plane = findings("exceptions: { drained: [plane1] }");
        assert_eq!(plane.iter().next().unwrap().help, ["did you mean `plane 1`?"]);
    }

    #[test]
    fn an_edit_of_a_range_names_as_many() {
        let edits = [
            ("{ drained: [\"p0-t1-[1-4]\"] }", "\"p0-t1-[001-004]\""),
            ("{ absent: [\"su1-n[001-004]\"] }", "\"su001-n[001-004]\""),
            ("{ absent: [\"su001-n[1-4]\"] }", "\"su001-n[001-004]\""),
            ("{ drained: [\"plane[0-1]\"] }", "\"plane [0-1]\""),
            ("{ cables: { \"p0-t0-1--p0-t1-[1-4]\": { length: 3m } } }", "\"p0-t0-001--p0-t1-[001-004]\""),
            ("{ drained: [p0-t1-4] }", "p0-t1-004"),
        ];
        for (exceptions, meant) in edits {
            let found = findings(&format!("exceptions: {exceptions}"));
            let found = found.iter().find(|found| found.rule.code == "E0801").unwrap();
            let [Fix { changes, .. }] = &found.fixes[..] else { panic!("{exceptions}: {:?}", found.fixes) };
            assert!(
                matches!(&changes[..], [Change::Replace { text, .. }] if text == meant),
                "{exceptions}: {changes:?}"
            );
        }
        // Only a part of the number is in brackets, and index 0 does not exist.
        for exceptions in ["{ drained: [\"p0-t1-1[0-3]\"] }", "{ drained: [\"p0-t1-[0-3]\"] }"] {
            let found = findings(&format!("exceptions: {exceptions}"));
            assert!(found.iter().all(|found| found.fixes.is_empty()), "{exceptions}");
        }
    }
}
