//! Locations of undefined names in `frr.conf` and `eos.conf`.
//!
//! In: a text, and a name that is referenced but not defined. Out: the paths of the references, and then of the
//! definitions of the same kind that nothing refers to. If there are none, the paths of all definitions of this kind
//! follow, because the missing definition belongs between them.

use crate::model::place::{Fact, SettingResolver, Step, Target};
use crate::read::blocks;

/// Commands that define a name of each kind, up to the name. A name of some kinds has several commands.
const DEFINITIONS: [(&str, &[&str]); 10] = [
    ("peer group", &["neighbor * peer-group", "neighbor * peer group"]),
    ("neighbour", &["neighbor * interface", "neighbor interface *"]),
    ("profile", &["profile *"]),
    ("route map", &["route-map *"]),
    ("prefix list", &["ip prefix-list *", "ipv6 prefix-list *"]),
    ("list of paths", &["bgp as-path access-list *", "ip as-path access-list *"]),
    ("list of communities", &["bgp community-list standard *", "ip community-list *"]),
    ("QoS profile", &["qos profile *"]),
    ("MMU profile", &["platform trident mmu queue profile *"]),
    ("VRF", &["vrf instance *"]),
];

/// Returns the target of an undefined name of a kind.
pub(crate) fn target(kind: &str, name: &str) -> Target {
    Fact::Setting { follow: SettingResolver(find), port: kind.to_owned(), name: name.to_owned() }.into()
}

/// Returns the paths of the references to a name, and of the definitions that could be meant.
fn find(text: &str, kind: &str, name: &str) -> Vec<Vec<Step>> {
    let forms = DEFINITIONS.iter().find(|(own, _)| *own == kind).map_or(&[][..], |(_, forms)| *forms);
    let paths = blocks::paths(text);
    let refers = |path: &[Step], name: &str| {
        defined_by(path, forms).is_none() && command(path).split(' ').any(|word| word == name)
    };
    let definitions: Vec<(&Vec<Step>, &str)> =
        paths.iter().filter_map(|path| Some((path, defined_by(path, forms)?))).collect();
    let is_used = |name: &str| paths.iter().any(|path| refers(path, name));
    let unused: Vec<_> = definitions.iter().filter(|(_, name)| !is_used(name)).collect();
    let near: Vec<_> = if unused.is_empty() { definitions.iter().collect() } else { unused };
    let references = paths.iter().filter(|path| refers(path, name)).cloned();
    references.chain(near.into_iter().map(|(path, _)| (*path).clone())).collect()
}

/// Returns the name that a command at a path defines.
fn defined_by<'p>(path: &'p [Step], forms: &[&str]) -> Option<&'p str> {
    forms.iter().find_map(|form| defined_name(command(path), form))
}

/// Returns the command at the end of a path.
fn command(path: &[Step]) -> &str {
    match path.last() {
        Some(Step::Key(command)) => command,
        _ => "",
    }
}

/// Returns the name that a command defines, if it begins with the words of a form, in which `*` is the name.
fn defined_name<'c>(command: &'c str, form: &str) -> Option<&'c str> {
    let mut words = command.split(' ');
    let mut name = None;
    for expected in form.split(' ') {
        let word = words.next()?;
        match expected {
            "*" => name = Some(word),
            expected if expected == word => {}
            _ => return None,
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undefined_name_has_references_and_definitions() {
        const TEXT: &str = "route-map A permit 10\n match community DRAIN\nroute-map B permit 10\n\
                            bgp community-list standard DRAINED seq 5 permit graceful-shutdown\n\
                            bgp community-list standard OTHER seq 5 permit 1:1\n\
                            route-map C permit 10\n match community OTHER\n";
        let lines = |kind, name| -> Vec<String> {
            find(TEXT, kind, name).iter().map(|path| command(path).to_owned()).collect()
        };
        assert_eq!(
            lines("list of communities", "DRAIN"),
            ["match community DRAIN", "bgp community-list standard DRAINED seq 5 permit graceful-shutdown"]
        );
        assert_eq!(lines("VRF", "MGMT"), [""; 0]);
    }
}
