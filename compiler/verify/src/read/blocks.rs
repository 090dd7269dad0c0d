//! Finds lines in configurations with one command per line, in which the commands of a block are indented. These are
//! `eos.conf`, `frr.conf`, and the batches of `ip` and `tc`, which have no blocks.
//!
//! In: a text and a path of commands, outermost first. Out: the lines of these commands. Invariants: commands are not
//! interpreted, so lines are also found in a text with errors.

use std::ops::Range;

use crate::model::place::Step;

/// A line with a command or a comment.
struct Entry<'t> {
    offset: usize,
    indent: usize,
    command: &'t str,
}

/// Returns the offset of the command at a path. If the command is missing, returns the offset of the innermost
/// enclosing command that exists.
pub(crate) fn find(text: &str, path: &[Step]) -> Option<usize> {
    let entries = entries(text);
    let (mut at, mut below) = (None, 0..entries.len());
    for step in path {
        let Some(found) = direct(&entries, &below).find(|at| step.fits(entries[*at].command)) else { break };
        at = Some(entries[found].offset);
        below = block(&entries, found, below.end);
    }
    at
}

/// Returns the commands at a path, in the order of the text.
pub(crate) fn commands<'t>(text: &'t str, path: &[Step]) -> Vec<&'t str> {
    let entries = entries(text);
    let mut blocks: Vec<Range<usize>> = std::iter::once(0..entries.len()).collect();
    let mut found = Vec::new();
    for step in path {
        found = blocks
            .iter()
            .flat_map(|below| direct(&entries, below).map(|at| (at, below.end)))
            .filter(|(at, _)| step.fits(entries[*at].command))
            .collect();
        blocks = found.iter().map(|(at, end)| block(&entries, *at, *end)).collect();
    }
    found.into_iter().map(|(at, _)| entries[at].command).collect()
}

/// Returns the paths of all commands in a block that begin with a text. If the block has none, returns its own path.
pub(crate) fn members(text: &str, block: Step, start: &str) -> Vec<Vec<Step>> {
    let found = commands(text, &[block.clone(), Step::start(start)]);
    let paths: Vec<_> = found.into_iter().map(|line| vec![block.clone(), Step::from(line)]).collect();
    if paths.is_empty() { vec![vec![block]] } else { paths }
}

/// Returns the path of every command.
pub(crate) fn paths(text: &str) -> Vec<Vec<Step>> {
    let mut open: Vec<(usize, &str)> = Vec::new();
    let paths = entries(text).into_iter().map(|entry| {
        open.retain(|(indent, _)| *indent < entry.indent);
        open.push((entry.indent, entry.command));
        open.iter().map(|(_, command)| Step::from(*command)).collect()
    });
    paths.collect()
}

/// Returns the entries directly in a block, without those of nested blocks.
fn direct<'e>(entries: &'e [Entry<'_>], below: &Range<usize>) -> impl Iterator<Item = usize> + use<'e> {
    let indent = entries.get(below.start).map(|first| first.indent);
    below.clone().filter(move |at| Some(entries[*at].indent) == indent)
}

/// Returns the entries inside the block of a command.
fn block(entries: &[Entry<'_>], at: usize, end: usize) -> Range<usize> {
    let outside = |next: &usize| entries[*next].indent <= entries[at].indent;
    at + 1..(at + 1..end).find(outside).unwrap_or(end)
}

/// Returns the lines of a text. Lines that begin with `!` are skipped.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut offset = 0;
    let mut all = Vec::new();
    for line in text.split_inclusive('\n') {
        let command = line.trim();
        if !command.is_empty() && !command.starts_with('!') {
            all.push(Entry { offset, indent: line.len() - line.trim_start().len(), command });
        }
        offset += line.len();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "! a\ninterface eth1\n mtu 9214\ninterface eth10\n mtu 1500\n!\nrouter bgp 1\n neighbor A bfd\n !\n \
                        address-family ipv6\n  neighbor A activate\n exit\n neighbor A x\n";

    fn line(path: &[Step]) -> Option<usize> {
        find(TEXT, path).map(|at| TEXT[..at].lines().count() + 1)
    }

    #[test]
    fn commands_are_found_in_their_block() {
        let start = |text: &str| Step::Start(text.to_owned());
        assert_eq!(line(&["interface eth10".into(), start("mtu")]), Some(5));
        assert_eq!(line(&["interface eth1".into(), start("speed")]), Some(2), "a missing command");
        assert_eq!(line(&["interface eth2".into(), start("mtu")]), None, "a missing block");
        let family = [start("router bgp"), start("address-family"), start("neighbor A")];
        assert_eq!(line(&family), Some(11));
        assert_eq!(line(&[start("router bgp"), "neighbor A x".into()]), Some(13), "behind a block inside");
        assert_eq!(line(&[Step::Around("inter".to_owned(), "h10".to_owned())]), Some(4));
        assert_eq!(commands(TEXT, &[start("interface"), start("mtu")]), ["mtu 9214", "mtu 1500"]);
        assert_eq!(
            commands(TEXT, &[start("router bgp"), start("neighbor A")]),
            ["neighbor A bfd", "neighbor A x"]
        );
    }
}
