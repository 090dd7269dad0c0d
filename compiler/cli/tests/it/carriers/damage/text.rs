//! Damage to line-based configurations: a line is removed with the lines below it, changed, or added.

use std::collections::BTreeSet;

use closc_artefacts::carriers::SwitchFile;

use super::{Act, Damage, Pick, Place, Victim};

/// Lines that are defaults of FRR, so removing one has no effect.
const FRR_DEFAULTS: &str = include_str!("../frr-defaults.txt");

/// Lines of FRR without effect, and lines of the site and of SONiC itself.
const SILENT: [&str; 20] = [
    "!",
    "#",
    "frr version",
    "hostname",
    "service ",
    "log ",
    "ip route",
    "exit",
    "end",
    "Building",
    "Current",
    "set src",
    "ipv6 protocol bgp route-map RM_SET_SRC6",
    "route-map RM_SET_SRC6",
    "fpm ",
    "interface mgmt",
    "description management",
    "debug ",
    "username ",
    "vrf ",
];

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the end of the lines below a line.
fn end(lines: &[&str], at: usize) -> usize {
    let below = |line: &&&str| indent(line) > indent(lines[at]) && !line.trim().is_empty();
    at + 1 + lines[at + 1..].iter().take_while(below).count()
}

/// Returns the line that an added description replaces: FRR stores one description per node.
fn replaced_line(lines: &[&str], at: usize, added: &str) -> Option<usize> {
    const DESCRIPTION: &str = "description ";
    let is_inside = |other: &usize| indent(lines[*other]) >= indent(lines[at]);
    let is_same = |other: &usize| {
        let line = lines[*other];
        indent(line) == indent(lines[at]) && line.trim_start().starts_with(DESCRIPTION)
    };
    let before = (0..at).rev().take_while(is_inside);
    let mut all = before.chain((at..lines.len()).take_while(is_inside));
    all.find(is_same).filter(|_| added.starts_with(DESCRIPTION))
}

/// Changes one of some lines, and returns the text with the line that a report must name.
fn edit(text: &str, own: &[usize], added: [&str; 2], pick: &mut Pick<'_>) -> Option<(Act, String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let at = *own.get(pick(own.len().max(1)))?;
    let (line, more) = (lines[at], added[usize::from(indent(lines[at]) > 0)]);
    let spaces = &line[..indent(line)];
    let (act, new, until, named) = match pick(3) {
        0 => (Act::Removed, Vec::new(), end(&lines, at), line.to_owned()),
        1 => (Act::Changed, vec![format!("{line}9")], at + 1, format!("{line}9")),
        _ => (Act::Added, vec![format!("{spaces}{more}"), line.to_owned()], at + 1, more.to_owned()),
    };
    let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    all.splice(at..until, new);
    if let Some(other) = replaced_line(&lines, at, more).filter(|_| act == Act::Added) {
        // The added line comes before the line at `at`.
        all.remove(if other < at { other } else { other + 1 });
    }
    Some((act, all.join("\n") + "\n", named.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Changes the running or startup configuration of EOS.
pub(super) fn eos(victim: &Victim<'_>, file: &str, pick: &mut Pick<'_>) -> Option<Damage> {
    let text = victim.read(file);
    if file == "startup" && pick(4) == 0 {
        victim.write(file, "");
        return Some(Damage::new(Act::Emptied, file, &[&["eos.conf", "startup-config"]]));
    }
    let wanted = victim.target_file(SwitchFile::EosConf);
    let wanted: BTreeSet<&str> = wanted.lines().map(str::trim_end).collect();
    let lines: Vec<&str> = text.lines().collect();
    let own: Vec<usize> = (0..lines.len())
        .filter(|at| wanted.contains(lines[*at].trim_end()) && !lines[*at].trim_start().starts_with('!'))
        .collect();
    // A line in a block of the site is part of the site's configuration.
    let is_of_tree = |at: usize| {
        let head = lines[..=at].iter().rev().find(|line| indent(line) == 0).copied().unwrap_or_default();
        ["interface Ethernet", "router bgp", "qos ", "hostname"].iter().any(|words| head.starts_with(words))
    };
    let own: Vec<usize> =
        own.into_iter().filter(|at| is_of_tree(*at) || pick(2) == 0 && indent(lines[*at]) == 0).collect();
    let (act, text, line) =
        edit(&text, &own, ["ipv6 route fd99::/64 Null0", "ipv6 access-group X in"], pick)?;
    victim.write(file, &text);
    let name = if file == "startup" { "startup-config" } else { line.as_str() };
    // A block with another name may be the site's, and the one with the old name is missing.
    let before = name.strip_suffix('9').filter(|_| act == Act::Changed).unwrap_or(name);
    Some(Damage::new(act, format!("{file}: {line}"), &[&["eos.conf", name], &["eos.conf", before]]))
}

/// Returns the lines of FRR that come from the tree.
fn tree_lines(text: &str) -> Vec<usize> {
    let is_own = |line: &str| {
        let line = line.trim();
        !line.is_empty()
            && !SILENT.iter().any(|words| line.starts_with(words))
            && !FRR_DEFAULTS.lines().any(|default| default == line)
    };
    let lines: Vec<&str> = text.lines().collect();
    // FRR does not print a port without settings.
    let is_bare = |at: usize| lines[at].starts_with("interface") && end(&lines, at) == at + 1;
    // A line for BFD cannot be damaged alone if the neighbour also has a BFD profile.
    let has_profile = |at: usize| {
        lines[at].ends_with(" bfd")
            && lines.iter().any(|line| line.starts_with(&format!("{} profile ", lines[at])))
    };
    (0..lines.len()).filter(|at| is_own(lines[*at]) && !is_bare(*at) && !has_profile(*at)).collect()
}

const FRR_ADDED: [&str; 2] = ["ipv6 route fd99::/64 blackhole", "description damaged"];

/// Changes the running configuration of FRR.
pub(super) fn frr(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let text = victim.read("frr");
    let (act, text, line) = edit(&text, &tree_lines(&text), FRR_ADDED, pick)?;
    victim.write("frr", &text);
    // A report lists a line about a neighbour as several facts, so only its last word is required.
    let last = line.rsplit(' ').next().unwrap_or(&line);
    let before = last.strip_suffix('9').filter(|_| act == Act::Changed).unwrap_or(last);
    Some(Damage::new(act, &line, &[&["frr.conf", last], &["frr.conf", before]]))
}

/// Changes the installed or the running configuration of FRR in the `bgp` container of SONiC.
pub(super) fn frr_of_sonic(victim: &Victim<'_>, place: Place, pick: &mut Pick<'_>) -> Option<Damage> {
    let (file, shown) = match place {
        Place::Running => ("frr/running", "(running)"),
        Place::Startup => ("frr/frr.conf", "(installed file)"),
    };
    let text = victim.read(file);
    if pick(6) == 0 {
        match place {
            Place::Running => victim.write("bgp-down", ""),
            Place::Startup => std::fs::remove_file(victim.fleet.at(victim.name, file)).expect("it is there"),
        }
        return Some(Damage::new(Act::Emptied, file, &[&["frr.conf", shown]]));
    }
    let (act, text, line) = edit(&text, &tree_lines(&text), FRR_ADDED, pick)?;
    victim.write(file, &text);
    let last = line.rsplit(' ').next().unwrap_or(&line);
    Some(Damage::new(act, format!("{file}: {line}"), &[&["frr.conf", shown, last]]))
}

/// Changes or removes a file that a Linux system reads at its start.
pub(super) fn change_saved(
    victim: &Victim<'_>,
    file: SwitchFile,
    path: &str,
    pick: &mut Pick<'_>,
) -> Option<Damage> {
    let text = victim.read(path);
    let lines: Vec<&str> = text.lines().collect();
    let own = match file {
        SwitchFile::FrrConf => tree_lines(&text),
        _ => (0..lines.len()).filter(|at| !lines[*at].is_empty() && !lines[*at].starts_with('#')).collect(),
    };
    let name = file.name();
    let starts: &[&[&str]] =
        &[&[name, "saved:"], &[name, "the same configuration in the file that FRR starts with"]];
    if own.is_empty() {
        return None;
    }
    if pick(4) == 0 {
        std::fs::remove_file(victim.fleet.at(victim.name, path)).expect("it is there");
        return Some(Damage::new(Act::Emptied, path, starts));
    }
    let added = if file == SwitchFile::FrrConf { FRR_ADDED } else { ["damaged = 1"; 2] };
    let (act, text, line) = edit(&text, &own, added, pick)?;
    victim.write(path, &text);
    let named: &[&[&str]] = &[&[name, "saved:", &line], starts[1]];
    Some(Damage::new(act, format!("{path}: {line}"), named))
}
