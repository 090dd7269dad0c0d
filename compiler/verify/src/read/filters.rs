//! Locations of the parts of route filters in `frr.conf` and `eos.conf`.
//!
//! In: a text, the commands that attach route maps to a session, and a part of a filter. Out: the paths of the commands
//! that state this part: first the entry of a list, then the command that refers to the list.

use crate::model::fact::{FilterFact, FilterPart};
use crate::model::place::Step;
use crate::read::blocks;

/// Returns the paths of a part of the filters that are attached by commands, such as `neighbor ABOVE route-map X in`.
pub(crate) fn paths(text: &str, attached: &[Vec<Step>], name: &str) -> Vec<Vec<Step>> {
    let Some(fact) = FilterFact::parse(name) else { return Vec::new() };
    let side = if fact.announced { "out" } else { "in" };
    let mut paths = Vec::new();
    for path in attached {
        let Some(Step::Key(command)) = path.last() else { continue };
        let words: Vec<&str> = command.split(' ').collect();
        if let [.., "route-map", map, own] = words.as_slice()
            && *own == side
        {
            paths.extend(self::part(text, map, fact));
            paths.push(path.clone());
        }
    }
    if paths.is_empty() { attached.to_vec() } else { paths }
}

/// Returns the paths of a part of a route map.
fn part(text: &str, map: &str, fact: FilterFact) -> Vec<Vec<Step>> {
    let clauses = numbered(text, &[Step::start(format!("route-map {map} "))]);
    let Some(clause) = clauses.get(fact.clause).filter(|_| fact.part != FilterPart::Order) else {
        return clauses.iter().map(|clause| vec![Step::from(*clause)]).collect();
    };
    let inside = |step: Step| vec![Step::from(*clause), step];
    // A clause without a `match` command on a list has no name.
    let listed = |step: Step| {
        let command = blocks::commands(text, &inside(step)).first().copied();
        command.and_then(|command| command.rsplit(' ').next()).unwrap_or_default()
    };
    match fact.part {
        FilterPart::Action | FilterPart::Order => vec![vec![Step::from(*clause)]],
        FilterPart::Prefixes(at) => {
            let own = Step::Around("match ip".to_owned(), " address prefix-list ".to_owned());
            let mut paths = prefixes(text, listed(own.clone()), at);
            paths.push(inside(own));
            paths
        }
        FilterPart::Paths => {
            let own = Step::start("match as-path ");
            list(text, " as-path access-list ", listed(own.clone())).chain([inside(own)]).collect()
        }
        FilterPart::Communities => {
            let own = Step::start("match community ");
            list(text, " community-list ", listed(own.clone())).chain([inside(own)]).collect()
        }
        FilterPart::Preference => vec![inside(Step::start("set local-preference "))],
        FilterPart::Mark => vec![inside(Step::start("set community "))],
        FilterPart::Bandwidth => vec![inside(Step::start("set extcommunity "))],
    }
}

/// Returns the path of an entry of a prefix list, or the paths of all entries if it has fewer. FRR has a command per
/// entry, and EOS a block of them.
fn prefixes(text: &str, name: &str, at: usize) -> Vec<Vec<Step>> {
    let head = Step::Around("ip".to_owned(), format!(" prefix-list {name} seq "));
    let block = Step::Part(format!(" prefix-list {name}"));
    let flat = numbered(text, std::slice::from_ref(&head));
    let nested = numbered(text, &[block.clone(), Step::start("seq ")]);
    let flat = flat.into_iter().map(|entry| vec![Step::from(entry)]);
    let nested = nested.into_iter().map(|entry| vec![block.clone(), Step::from(entry)]);
    let all: Vec<Vec<Step>> = flat.chain(nested).collect();
    match all.get(at) {
        Some(entry) => vec![entry.clone()],
        None => all,
    }
}

/// Returns the paths of the commands that define a list of AS paths or communities.
fn list(text: &str, command: &str, name: &str) -> impl Iterator<Item = Vec<Step>> {
    let is_own =
        |line: &&str| !name.is_empty() && line.contains(command) && line.split(' ').any(|word| word == name);
    let all = blocks::commands(text, &[Step::Part(command.to_owned())]);
    let own: Vec<Vec<Step>> = all.into_iter().filter(is_own).map(|line| vec![Step::from(line)]).collect();
    own.into_iter()
}

/// Returns the commands at a path in the order of their sequence numbers: the first number after `seq`, or the last of
/// the command.
fn numbered<'t>(text: &'t str, path: &[Step]) -> Vec<&'t str> {
    let mut commands = blocks::commands(text, path);
    let number = |line: &str| {
        let mut words = line.split(' ');
        let after = words.by_ref().any(|word| word == "seq");
        let word = if after { words.next() } else { line.rsplit(' ').next() };
        word.and_then(|word| word.parse::<u32>().ok()).unwrap_or(0)
    };
    commands.sort_by_key(|line| number(line));
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRR: &str = "ipv6 prefix-list F seq 10 permit 2001:db8:2::/48\nipv6 prefix-list F seq 5 permit 2001:db8::/48\n\
                       bgp as-path access-list A seq 5 permit ^$\n\
                       route-map M permit 20\n match as-path A\nroute-map M permit 10\n\
                       \u{20}match ipv6 address prefix-list F\n set local-preference 0\n";
    const EOS: &str = "ipv6 prefix-list F\n   seq 5 permit 2001:db8::/48\n   seq 10 permit 2001:db8:2::/48\n\
                       route-map M permit 10\n   match ipv6 address prefix-list F\n";

    fn lines(text: &str, name: &str) -> Vec<usize> {
        let attached = [vec![Step::from("neighbor G route-map M in")]];
        let offsets = paths(text, &attached, name).into_iter().filter_map(|path| blocks::find(text, &path));
        offsets.map(|at| text[..at].lines().count() + 1).collect()
    }

    #[test]
    fn a_part_of_a_filter_has_its_own_lines() {
        assert_eq!(lines(FRR, "in 0 prefixes 1"), [1, 7], "entries count by number");
        assert_eq!(lines(FRR, "in 0 preference"), [8]);
        assert_eq!(lines(FRR, "in 1 paths"), [3, 5]);
        assert_eq!(lines(FRR, "in 1 communities"), [4], "a missing command is in its clause");
        assert_eq!(lines(FRR, "in 0 order"), [6, 4]);
        assert_eq!(lines(FRR, "out 0 preference"), [0; 0]);
        assert_eq!(lines(EOS, "in 0 prefixes 1"), [3, 5]);
    }
}
