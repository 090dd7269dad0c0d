//! The tier of each device.
//!
//! In: an existing network, with tiers from its lists, roles and names. Out: a [`Level`] for each device.
//! Invariants: every cable is between adjacent tiers. Otherwise, the network is rejected, and the error names
//! the first cable between other tiers.

use smol_str::SmolStr;

use crate::network::{Cable, ExistingNetwork, Fault, FilePlace, ImportError, Level};

/// Words in names and roles, without trailing digits, and the tiers that they indicate.
const WORDS: &[(&str, Level)] = &[
    ("node", Level::Node),
    ("host", Level::Node),
    ("server", Level::Node),
    ("gpu", Level::Node),
    ("compute", Level::Node),
    ("worker", Level::Node),
    ("dgx", Level::Node),
    ("hgx", Level::Node),
    ("client", Level::Node),
    ("leaf", Level::T0),
    ("tor", Level::T0),
    ("rtsw", Level::T0),
    ("rail", Level::T0),
    ("spine", Level::T1),
    ("ctsw", Level::T1),
    ("agg", Level::T1),
    ("aggregation", Level::T1),
    ("superspine", Level::T2),
    ("core", Level::T2),
    ("atsw", Level::T2),
];

/// Returns the tier that a name or role indicates.
fn by_words(text: &str) -> Option<Level> {
    let text = text.to_lowercase();
    // `super-spine` is not a `spine`.
    if text.contains("super-spine") || text.contains("super spine") {
        return Some(Level::T2);
    }
    text.split(|sign: char| !sign.is_ascii_alphanumeric()).find_map(|word| match word {
        "t0" => Some(Level::T0),
        "t1" => Some(Level::T1),
        "t2" => Some(Level::T2),
        _ => {
            let word = word.trim_end_matches(|sign: char| sign.is_ascii_digit());
            WORDS.iter().find(|(known, _)| *known == word).map(|(_, level)| *level)
        }
    })
}

/// Returns the first of these patterns for node names that does not match any device.
pub fn idle_pattern<'p>(network: &ExistingNetwork, patterns: &'p [String]) -> Option<&'p str> {
    let names = || (0..network.device_count()).map(|number| network.devices.name(number as u32));
    patterns.iter().map(String::as_str).find(|pattern| !names().any(|name| matches_pattern(pattern, name)))
}

/// Returns whether a name matches a pattern: text with `*` for any characters.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut rest = rest;
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    match last {
        None => rest.is_empty(),
        Some(part) => name.ends_with(part),
    }
}

pub(crate) fn levels(network: &ExistingNetwork, nodes: &[String]) -> Result<Vec<Level>, ImportError> {
    let mut found: Vec<Option<Level>> = vec![None; network.device_count()];
    for (number, level) in found.iter_mut().enumerate() {
        let number = number as u32;
        let name = network.devices.name(number);
        *level = if nodes.iter().any(|pattern| matches_pattern(pattern, name)) {
            Some(Level::Node)
        } else {
            let said = network.levels.get(&number).map(|(level, _)| *level);
            let role = || network.roles.get(name).and_then(|role| by_words(role));
            said.or_else(role).or_else(|| by_words(name))
        };
    }
    if !found.contains(&Some(Level::Node)) && !found.contains(&Some(Level::T1)) {
        mark_single_neighbour_nodes(network, &mut found);
    }
    spread(network, &mut found);
    let unknown = found.iter().position(Option::is_none);
    if let Some(unknown) = unknown {
        let name = network.devices.name(unknown as u32);
        let why = format!("the tier of `{name}` is unknown");
        let help = "set `--nodes PATTERN`, or add a list of devices with the columns `name,role`";
        return Err(refuse(network, &found, None, &why, Some(help)));
    }
    let found: Vec<Level> = found.into_iter().flatten().collect();
    check(network, &found)?;
    Ok(found)
}

/// Marks devices of unknown kind with a single neighbour as nodes, unless that neighbour is also an unknown
/// device with a single neighbour.
fn mark_single_neighbour_nodes(network: &ExistingNetwork, found: &mut [Option<Level>]) {
    let mut neighbour: Vec<Option<u32>> = vec![None; found.len()];
    let mut has_more = vec![false; found.len()];
    let known: Vec<bool> = found.iter().map(Option::is_some).collect();
    for cable in &network.cables {
        let [a, b] = cable.ends.map(|plug| plug.device);
        for (own, other) in [(a, b), (b, a)] {
            match neighbour[own as usize] {
                None => neighbour[own as usize] = Some(other),
                Some(known) if known != other => has_more[own as usize] = true,
                Some(_) => {}
            }
        }
    }
    let is_end = |device: usize| {
        let other = neighbour[device].filter(|_| !has_more[device])?;
        Some(has_more[other as usize] || known[other as usize])
    };
    for (device, level) in found.iter_mut().enumerate() {
        if level.is_none() && is_end(device) == Some(true) {
            *level = Some(Level::Node);
        }
    }
}

/// Derives tiers from those of neighbours, starting next to the nodes.
fn spread(network: &ExistingNetwork, found: &mut [Option<Level>]) {
    let above_t0 = if found.contains(&Some(Level::Node)) { Level::T1 } else { Level::Node };
    let steps = [
        (Level::Node, Level::T0),
        (Level::T2, Level::T1),
        (Level::T1, if above_t0 == Level::Node { Level::T0 } else { Level::T1 }),
        (Level::T0, above_t0),
        (Level::T1, Level::T2),
    ];
    for (known, next) in steps {
        if known == next {
            continue;
        }
        let before = found.to_vec();
        for cable in &network.cables {
            let [a, b] = cable.ends.map(|plug| plug.device as usize);
            for (own, other) in [(a, b), (b, a)] {
                if found[own].is_none() && before[other] == Some(known) {
                    found[own] = Some(next);
                }
            }
        }
    }
}

/// Rejects a cable that is not between adjacent tiers.
fn check(network: &ExistingNetwork, levels: &[Level]) -> Result<(), ImportError> {
    let is_wrong = |cable: &&Cable| {
        let [a, b] = cable.ends.map(|plug| levels[plug.device as usize] as i8);
        (a - b).abs() != 1
    };
    let mut wrong = network.cables.iter().filter(is_wrong);
    let Some(first) = wrong.next() else { return require_tiers(network, levels) };
    let [a, b] =
        first.ends.map(|plug| (network.devices.name(plug.device), levels[plug.device as usize].label()));
    let more = match wrong.count() {
        0 => String::new(),
        1 => " (and one more cable like it)".to_owned(),
        more => format!(" (and {more} more cables like it)"),
    };
    let why = format!(
        "`{}` is {}, and `{}` is {}{more}; expected cables between neighbouring tiers",
        a.0, a.1, b.0, b.1
    );
    Err(refuse(network, &known_levels(levels), Some(first.at), &why, None))
}

/// Returns whether T0s are the highest tier, as in a rail-only network.
pub(crate) fn is_one_tier(levels: &[Level]) -> bool {
    levels.contains(&Level::T0) && !levels.iter().any(|level| *level > Level::T0)
}

/// Rejects an existing network without nodes or T0s, or with T2s but without T1s. With LLDP reports, T1s are
/// always required, because cables between switches without reports are unknown.
pub(crate) fn require_tiers(network: &ExistingNetwork, levels: &[Level]) -> Result<(), ImportError> {
    let can_lack_t1s = is_one_tier(levels) && network.reporters.is_empty();
    let required = [Level::Node, Level::T0, Level::T1].into_iter();
    let mut required = required.filter(|level| *level != Level::T1 || !can_lack_t1s);
    let Some(missing) = required.find(|level| !levels.contains(level)) else { return Ok(()) };
    let help = (!network.reporters.is_empty()).then_some(
        "add a list of the cables of devices without LLDP, with the columns `a_device,a_port,b_device,b_port`",
    );
    let why = format!("no device is {}, expected nodes, T0s and T1s", missing.label());
    Err(refuse(network, &known_levels(levels), None, &why, help))
}

fn known_levels(levels: &[Level]) -> Vec<Option<Level>> {
    levels.iter().copied().map(Some).collect()
}

/// Returns the error for a rejected network in one message: the reason with file and line, the known devices
/// of each tier, and a suggestion.
fn refuse(
    network: &ExistingNetwork,
    levels: &[Option<Level>],
    at: Option<FilePlace>,
    why: &str,
    help: Option<&str>,
) -> ImportError {
    let help = help.map(|help| format!("; help: {help}")).unwrap_or_default();
    let text = format!("not a Clos: {why}; {}{help}", devices_by_tier(network, levels));
    Fault { place: at.map(|at| network.place(at)), text }.into()
}

/// Describes the number of devices in each tier, with the first name.
pub(crate) fn devices_by_tier(network: &ExistingNetwork, levels: &[Option<Level>]) -> String {
    const SHOWN: usize = 3;
    let of = |level: Option<Level>, one: &str| -> Option<String> {
        let names: Vec<&SmolStr> = (0..)
            .zip(levels)
            .filter(|(_, own)| **own == level)
            .map(|(device, _)| network.devices.name(device))
            .collect();
        let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
        shown.extend((names.len() > SHOWN).then(|| "...".to_owned()));
        let plural = if names.len() == 1 { "" } else { "s" };
        (!names.is_empty()).then(|| format!("{} {one}{plural} ({})", names.len(), shown.join(", ")))
    };
    let kinds = [
        (Some(Level::Node), "node"),
        (Some(Level::T0), "T0"),
        (Some(Level::T1), "T1"),
        (Some(Level::T2), "T2"),
        (None, "other device"),
    ];
    let found: Vec<String> = kinds.into_iter().filter_map(|(level, one)| of(level, one)).collect();
    format!("devices by tier: {}", found.join(", "))
}
