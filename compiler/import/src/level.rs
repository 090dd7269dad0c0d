//! Which tier a device is of.
//!
//! In: a plant, and what its readers, roles and names say. Out: a [`Level`] for each device. Invariants: every cable is between
//! neighbouring tiers, or the plant is refused with the cable that is not.

use crate::plant::{Fault, Level, Plant, Refused};

/// Words of names and roles, without the numbers behind them.
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

/// What a name or role says.
fn by_words(text: &str) -> Option<Level> {
    let text = text.to_lowercase();
    // Two words with a dash between mean something else than the second of them.
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

/// What names of nodes look like, as somebody said: text with `*` for any characters.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
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

/// Finds the tiers.
pub(crate) fn levels(plant: &Plant, nodes: &[String]) -> Result<Vec<Level>, Refused> {
    let mut found: Vec<Option<Level>> = vec![None; plant.device_count()];
    for (number, level) in found.iter_mut().enumerate() {
        let number = number as u32;
        let name = plant.devices.name(number);
        *level = if nodes.iter().any(|pattern| fits(pattern, name)) {
            Some(Level::Node)
        } else {
            let said = plant.levels.get(&number).map(|(level, _)| *level);
            let role = || plant.roles.get(name).and_then(|role| by_words(role));
            said.or_else(role).or_else(|| by_words(name))
        };
    }
    if !found.contains(&Some(Level::Node)) && !found.contains(&Some(Level::T1)) {
        lonely(plant, &mut found);
    }
    spread(plant, &mut found);
    let unknown = found.iter().position(Option::is_none);
    if let Some(unknown) = unknown {
        let name = plant.devices.name(unknown as u32);
        let text = format!(
            "which tier `{name}` is of does not follow from the cables: name the nodes with `--nodes PATTERN`, or give a list \
             of devices with the columns `name,role`"
        );
        return Err(Fault { place: None, text }.into());
    }
    let found: Vec<Level> = found.into_iter().flatten().collect();
    check(plant, &found)?;
    Ok(found)
}

/// Where nothing is said, devices with one neighbour are nodes.
fn lonely(plant: &Plant, found: &mut [Option<Level>]) {
    let mut neighbour: Vec<Option<u32>> = vec![None; found.len()];
    let mut has_more = vec![false; found.len()];
    for cable in &plant.cables {
        let [a, b] = cable.ends.map(|plug| plug.device);
        for (own, other) in [(a, b), (b, a)] {
            match neighbour[own as usize] {
                None => neighbour[own as usize] = Some(other),
                Some(known) if known != other => has_more[own as usize] = true,
                Some(_) => {}
            }
        }
    }
    for (level, more) in found.iter_mut().zip(has_more) {
        if level.is_none() && !more {
            *level = Some(Level::Node);
        }
    }
}

/// Tells what follows from neighbours, the tiers next to what is known first.
fn spread(plant: &Plant, found: &mut [Option<Level>]) {
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
        for cable in &plant.cables {
            let [a, b] = cable.ends.map(|plug| plug.device as usize);
            for (own, other) in [(a, b), (b, a)] {
                if found[own].is_none() && before[other] == Some(known) {
                    found[own] = Some(next);
                }
            }
        }
    }
}

/// Every cable is between neighbouring tiers.
fn check(plant: &Plant, levels: &[Level]) -> Result<(), Refused> {
    let mut faults = Vec::new();
    for cable in &plant.cables {
        let [a, b] = cable.ends.map(|plug| plug.device);
        let (of_a, of_b) = (levels[a as usize], levels[b as usize]);
        if (of_a as i8 - of_b as i8).abs() == 1 {
            continue;
        }
        let (a, b) = (plant.devices.name(a), plant.devices.name(b));
        let text = format!(
            "no Clos: `{a}` is {} and `{b}` is {}; cables are between neighbouring tiers only",
            of_a.label(),
            of_b.label()
        );
        faults.push(Fault { place: Some(plant.place(cable.at)), text });
        if faults.len() == 20 {
            break;
        }
    }
    if faults.is_empty() {
        return complete(levels);
    }
    Err(Refused(faults))
}

/// Every tier that a Clos has at least is there.
pub(crate) fn complete(levels: &[Level]) -> Result<(), Refused> {
    if [Level::Node, Level::T0, Level::T1].iter().all(|level| levels.contains(level)) {
        return Ok(());
    }
    let text = "no Clos of two or three tiers: nodes, T0s and T1s are wanted, with the cables between them";
    Err(Fault { place: None, text: text.to_owned() }.into())
}
