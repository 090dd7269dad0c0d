//! The ports of a hwsku and of its box, as SONiC reads them.
//!
//! In: `port_config.ini`, or `hwsku.json` and `platform.json`, which SONiC prefers if both exist. Out: [`Row`]s and
//! [`Cage`]s. Invariants: rows are sorted by name. A hwsku has all of its ports, including internal ones, or a reason
//! why they cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::Files;

/// A port of a hwsku.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The N of `EthernetN`.
    pub number: u16,
    /// Name on the front panel.
    pub alias: String,
    /// Number of the cage on the panel.
    pub index: u16,
    /// Lanes of the ASIC.
    pub lanes: Vec<u16>,
    /// Speed in Mb/s.
    pub mbps: u32,
    /// Whether the port leads to another ASIC or a DPU in the box, or back into the ASIC.
    pub(crate) is_internal: bool,
    /// Whether the file states if the port negotiates its speed.
    pub(crate) states_autoneg: bool,
}

/// SONiC's role for ports on the front panel. Ports with other roles lead to a DPU (`Dpc`) or another ASIC (`Int`), or
/// back into the ASIC (`Inb`, `Rec`).
const FRONT: &str = "Ext";

/// A hwsku whose ports cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadableSku {
    pub(crate) reason: String,
    /// Sum of the port speeds in Mb/s; `None` if a port has no speed.
    pub(crate) mbps: Option<u64>,
}

/// A cage of the panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cage {
    pub(crate) number: u16,
    pub(crate) index: u16,
    pub(crate) lanes: Vec<u16>,
    /// Number of ports and Mb/s of each mode that splits all lanes into equal ports, with the aliases of the ports.
    pub(crate) modes: BTreeMap<(u8, u32), Vec<String>>,
    /// All modes, with the aliases of the ports.
    pub(crate) all_modes: Vec<(Vec<Group>, Vec<String>)>,
}

/// Equal ports of a mode. SONiC compares these values, so `2x400G` equals `2x400G(8)` in a cage of eight lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    ports: usize,
    lanes: usize,
    /// Speeds in Mb/s.
    speeds: BTreeSet<u32>,
}

impl Group {
    /// Returns the number of ports and of lanes, if the ports leave lanes of a cage unused.
    pub(crate) fn partial_split(&self, lanes: usize) -> Option<(u8, u8)> {
        let used = Some(self.lanes).filter(|used| *used < lanes && used.is_multiple_of(self.ports))?;
        Some((u8::try_from(self.ports).ok()?, u8::try_from(used).ok()?))
    }

    /// Returns the speeds in Mb/s.
    pub(crate) fn speeds(&self) -> impl Iterator<Item = u32> + '_ {
        self.speeds.iter().copied()
    }
}

/// Reads the cages that `platform.json` describes; none without this file.
pub(crate) fn cages(files: &dyn Files, box_folder: &str) -> Vec<Cage> {
    let text = files.text(&format!("{box_folder}/platform.json"));
    let tree: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    let interfaces = tree.as_ref().and_then(|tree| tree["interfaces"].as_object()).into_iter().flatten();
    let mut found: Vec<Cage> = interfaces.filter_map(|(name, of)| cage(name, of)).collect();
    found.sort_by_key(|cage| cage.number);
    found
}

fn cage(name: &str, of: &Value) -> Option<Cage> {
    let lanes = numbers(of["lanes"].as_str()?)?;
    let (mut modes, mut all_modes) = (BTreeMap::new(), Vec::new());
    for (mode, list) in of["breakout_modes"].as_object()? {
        let aliases: Vec<String> =
            list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let Some(groups) = groups(mode, lanes.len()) else { continue };
        let groups: Vec<Group> = groups.into_iter().map(|(group, _)| group).collect();
        if let [Group { ports, lanes: used, speeds }] = &groups[..]
            && *used == lanes.len()
            && let Ok(ports) = u8::try_from(*ports)
        {
            modes.extend(speeds.iter().map(|mbps| ((ports, *mbps), aliases.clone())));
        }
        all_modes.push((groups, aliases));
    }
    Some(Cage {
        number: name.strip_prefix("Ethernet")?.parse().ok()?,
        index: of["index"].as_str()?.split(',').next()?.trim().parse().ok()?,
        lanes,
        modes,
        all_modes,
    })
}

/// Parses a mode such as `1x400G[200G](4)+4x100G(4)`, and returns the default speed of each group. SONiC ignores
/// characters after the number of lanes.
fn groups(mode: &str, lanes: usize) -> Option<Vec<(Group, u32)>> {
    let group = |text: &str| {
        let (ports, rest) = text.split_once('x')?;
        let (speed, rest) = rest.split_at(rest.find(['[', '(']).unwrap_or(rest.len()));
        let mbps = |speed: &str| match speed.trim().strip_suffix('G') {
            Some(gbps) => gbps.parse::<u32>().ok()?.checked_mul(1_000),
            None => speed.trim().parse().ok(),
        };
        let default = mbps(speed)?;
        let mut speeds = BTreeSet::from([default]);
        let others = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        speeds.extend(others.iter().flat_map(|(list, _)| list.split(',')).filter_map(mbps));
        let rest = others.map_or(rest, |(_, rest)| rest);
        let used = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let lanes = used.map_or(Some(lanes), |(number, _)| number.parse().ok())?;
        let ports = ports.parse().ok().filter(|ports| (1..=lanes).contains(ports))?;
        Some((Group { ports, lanes, speeds }, default))
    };
    mode.split('+').map(group).collect()
}

fn numbers(list: &str) -> Option<Vec<u16>> {
    list.trim_end_matches(',').split(',').map(|number| number.trim().parse().ok()).collect()
}

/// Reads the ports of a hwsku; `None` if the folder does not belong to a hwsku. As in SONiC, `hwsku.json` takes
/// precedence if both files exist, even if it cannot be used.
pub(crate) fn rows(
    files: &dyn Files,
    folder: &str,
    cages: &[Cage],
) -> Option<Result<Vec<Row>, UnreadableSku>> {
    let described = files.text(&format!("{folder}/hwsku.json")).filter(|_| !cages.is_empty());
    let rows = if let Some(text) = described {
        of_modes(&text, cages).map_err(|reason| UnreadableSku { reason, mbps: None })
    } else if let Some(text) = files.text(&format!("{folder}/port_config.ini")) {
        of_table(&text)
    } else {
        Err(of_asics(files, folder)?)
    };
    Some(rows.and_then(|mut rows| {
        rows.sort_by_key(|row| row.number);
        let mbps = || Some(rows.iter().map(|row| u64::from(row.mbps)).sum());
        if rows.is_empty() {
            return Err(UnreadableSku { reason: "it has no ports".to_owned(), mbps: Some(0) });
        }
        match shared_lane(&rows) {
            Some((lane, one, other)) => Err(UnreadableSku {
                reason: format!("lane {lane} belongs to Ethernet{one} and Ethernet{other}"),
                mbps: mbps(),
            }),
            None => Ok(rows),
        }
    }))
}

/// Returns a lane of two ports, unless the file lists the lane twice for one port, or one port is a service port.
fn shared_lane(rows: &[Row]) -> Option<(u16, u16, u16)> {
    let mut owners: BTreeMap<u16, u16> = BTreeMap::new();
    for row in rows.iter().filter(|row| !is_nested(row, rows)) {
        for lane in &row.lanes {
            let owner = *owners.entry(*lane).or_insert(row.number);
            if owner != row.number {
                return Some((*lane, owner, row.number));
            }
        }
    }
    None
}

/// Returns whether a slower port is on lanes that another port has too. SONiC lists a few service ports in this way.
pub(crate) fn is_nested(row: &Row, rows: &[Row]) -> bool {
    let contains = |other: &Row| {
        other.lanes.len() > row.lanes.len() && row.lanes.iter().all(|lane| other.lanes.contains(lane))
    };
    rows.iter().any(|other| other.mbps > row.mbps && contains(other))
}

/// Returns the error for a hwsku with several ASICs, which has a folder of ports for each ASIC.
fn of_asics(files: &dyn Files, folder: &str) -> Option<UnreadableSku> {
    let names = files.names(folder);
    let asics = names.iter().filter(|name| name.bytes().all(|sign| sign.is_ascii_digit()));
    let texts: Vec<String> =
        asics.filter_map(|name| files.text(&format!("{folder}/{name}/port_config.ini"))).collect();
    let sum = texts.iter().map(|text| mbps(text)).sum();
    let reason = format!("{} ASICs, but closc supports one per switch", texts.len());
    (!texts.is_empty()).then_some(UnreadableSku { reason, mbps: sum })
}

/// Returns the ports of the cages in `hwsku.json`, by their modes.
fn of_modes(text: &str, cages: &[Cage]) -> Result<Vec<Row>, String> {
    let tree: Value = serde_json::from_str(text).map_err(|error| format!("hwsku.json: {error}"))?;
    let mut rows = Vec::new();
    for cage in cages {
        let name = format!("Ethernet{}", cage.number);
        let Some(of) = tree["interfaces"].get(&name) else { continue };
        let mode = of["default_brkout_mode"].as_str().unwrap_or_default();
        let own = groups(mode, cage.lanes.len()).ok_or_else(|| format!("{name} has no mode `{mode}`"))?;
        let is_own = |known: &[Group]| known.iter().eq(own.iter().map(|(group, _)| group));
        let aliases = cage.all_modes.iter().find(|(known, _)| is_own(known));
        let (_, aliases) = aliases.ok_or_else(|| {
            format!("platform.json lacks mode `{mode}` of {name}, so SONiC rejects its own hwsku")
        })?;
        let (mut at, mut aliases) = (0, aliases.iter());
        let is_internal = of["role"].as_str().is_some_and(|role| role != FRONT);
        for (group, mbps) in &own {
            let width = group.lanes / group.ports;
            for _ in 0..group.ports {
                let lanes = cage.lanes.get(at..at + width);
                rows.push(Row {
                    number: cage.number + at as u16,
                    alias: aliases.next().cloned().ok_or_else(|| format!("{name} has too few aliases"))?,
                    index: cage.index,
                    lanes: lanes.ok_or_else(|| format!("{name} has too few lanes"))?.to_vec(),
                    mbps: *mbps,
                    is_internal,
                    states_autoneg: of["autoneg"].is_string(),
                });
                at += width;
            }
        }
    }
    Ok(rows)
}

/// The cells of a port in `port_config.ini`, by column.
type Cells<'a> = BTreeMap<&'a str, &'a str>;

/// Returns the lines of `port_config.ini` that describe ports of the panel.
fn lines(text: &str) -> Vec<(u16, Cells<'_>)> {
    let mut columns: Vec<&str> = vec!["name", "lanes", "alias", "index"];
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.trim_start_matches('#').split_whitespace().collect();
        if line.starts_with('#') {
            if words.first() == Some(&"name") {
                columns = words;
            }
            continue;
        }
        let cells: Cells<'_> = columns.iter().copied().zip(words).collect();
        // Other names, such as `Ethernet-Rec0`, are ports inside the switch.
        let number = cells.get("name").and_then(|name| name.strip_prefix("Ethernet")?.parse().ok());
        found.extend(number.map(|number| (number, cells)));
    }
    found
}

/// Returns the sum of the speeds, if every port has one.
fn mbps(text: &str) -> Option<u64> {
    lines(text).iter().map(|(_, cells)| cells.get("speed")?.parse::<u64>().ok()).sum()
}

/// Reads the ports from the columns of `port_config.ini`.
fn of_table(text: &str) -> Result<Vec<Row>, UnreadableSku> {
    let row = |(number, cells): (u16, Cells<'_>)| {
        let cell = |column: &'static str| cells.get(column).copied().ok_or(column);
        Ok(Row {
            number,
            alias: cell("alias").or(cell("name"))?.to_owned(),
            index: cell("index")?.parse().map_err(|_| "index")?,
            lanes: cell("lanes").ok().and_then(numbers).ok_or("lanes")?,
            mbps: cell("speed")?.parse().map_err(|_| "speed")?,
            is_internal: cell("role").is_ok_and(|role| role != FRONT),
            states_autoneg: cell("autoneg").is_ok(),
        })
    };
    let all = lines(text).into_iter().map(|line| (line.0, row(line)));
    all.map(|(number, row)| {
        row.map_err(|column: &str| UnreadableSku {
            reason: format!("port_config.ini has no `{column}` of Ethernet{number}"),
            mbps: mbps(text),
        })
    })
    .collect()
}
