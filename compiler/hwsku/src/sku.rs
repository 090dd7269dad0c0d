//! The ports of a hwsku and of its box, as SONiC reads them.
//!
//! In: `port_config.ini`, or `hwsku.json` and `platform.json`, which SONiC prefers where it has both. Out: [`Row`]s and
//! [`Cage`]s. Invariants: rows are in the order of their names.

use std::collections::BTreeMap;

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
}

/// A cage of the panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cage {
    pub(crate) number: u16,
    pub(crate) index: u16,
    pub(crate) lanes: Vec<u16>,
    /// Ports and Mb/s of each way to split it, with the aliases of the ports.
    pub(crate) modes: BTreeMap<(u8, u32), Vec<String>>,
}

/// Reads the cages that `platform.json` describes; none where there is no such file.
pub(crate) fn cages(files: &dyn Files, box_folder: &str) -> Vec<Cage> {
    let text = files.text(&format!("{box_folder}/platform.json"));
    let tree: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    let interfaces = tree.as_ref().and_then(|tree| tree["interfaces"].as_object()).into_iter().flatten();
    let mut found: Vec<Cage> = interfaces.filter_map(|(name, of)| cage(name, of)).collect();
    found.sort_by_key(|cage| cage.number);
    found
}

fn cage(name: &str, of: &Value) -> Option<Cage> {
    let modes = of["breakout_modes"].as_object()?;
    let aliases = |list: &Value| {
        list.as_array().map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let modes = modes.iter().flat_map(|(mode, list)| {
        let list: Vec<String> = aliases(list).unwrap_or_default();
        speeds(mode).into_iter().map(move |split| (split, list.clone()))
    });
    Some(Cage {
        number: name.strip_prefix("Ethernet")?.parse().ok()?,
        index: of["index"].as_str()?.split(',').next()?.trim().parse().ok()?,
        lanes: numbers(of["lanes"].as_str()?)?,
        modes: modes.collect(),
    })
}

/// The equal splits of a mode: `2x400G[200G]` is two ports of 400G or of 200G. Unequal splits are skipped.
fn speeds(mode: &str) -> Vec<(u8, u32)> {
    let Some((ports, speeds)) = mode.split_once('x').filter(|_| !mode.contains(['+', '('])) else {
        return Vec::new();
    };
    let Ok(ports) = ports.parse::<u8>() else { return Vec::new() };
    let mbps = |speed: &str| speed.trim().strip_suffix('G')?.parse::<u32>().ok().map(|gbps| gbps * 1_000);
    speeds.split(['[', ']', ',']).filter_map(mbps).map(|mbps| (ports, mbps)).collect()
}

fn numbers(list: &str) -> Option<Vec<u16>> {
    list.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// Reads the ports of a hwsku.
pub(crate) fn rows(files: &dyn Files, folder: &str, cages: &[Cage]) -> Option<Vec<Row>> {
    let described = files.text(&format!("{folder}/hwsku.json")).filter(|_| !cages.is_empty());
    let described = described.and_then(|text| serde_json::from_str(&text).ok());
    let mut rows = described
        .and_then(|tree| of_modes(&tree, cages))
        .or_else(|| Some(of_table(&files.text(&format!("{folder}/port_config.ini"))?)))
        .filter(|rows| !rows.is_empty())?;
    rows.sort_by_key(|row| row.number);
    Some(rows)
}

/// Ports by the modes of `hwsku.json`; none where a mode is unequal or unknown.
fn of_modes(tree: &Value, cages: &[Cage]) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, of) in tree["interfaces"].as_object()? {
        let number: u16 = name.strip_prefix("Ethernet")?.parse().ok()?;
        let cage = cages.iter().find(|cage| cage.number == number)?;
        let split = *speeds(of["default_brkout_mode"].as_str()?).first()?;
        let aliases = cage.modes.get(&split)?;
        let width = cage.lanes.len() / usize::from(split.0.max(1));
        for (part, lanes) in cage.lanes.chunks(width.max(1)).enumerate() {
            rows.push(Row {
                number: number + (part * width) as u16,
                alias: aliases.get(part)?.clone(),
                index: cage.index,
                lanes: lanes.to_vec(),
                mbps: split.1,
            });
        }
    }
    Some(rows)
}

/// Ports by the columns of `port_config.ini`.
fn of_table(text: &str) -> Vec<Row> {
    let mut columns: Vec<&str> = vec!["name", "lanes", "alias", "index", "speed"];
    let mut rows = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.trim_start_matches('#').split_whitespace().collect();
        if line.starts_with('#') {
            if words.first() == Some(&"name") {
                columns = words;
            }
            continue;
        }
        let cell =
            |name: &str| columns.iter().position(|column| *column == name).and_then(|at| words.get(at));
        let row = || {
            let name = *cell("name")?;
            Some(Row {
                number: name.strip_prefix("Ethernet")?.parse().ok()?,
                alias: cell("alias").map_or(name, |alias| *alias).to_owned(),
                index: cell("index")?.parse().ok()?,
                lanes: numbers(cell("lanes")?)?,
                mbps: cell("speed")?.parse().ok()?,
            })
        };
        rows.extend(row());
    }
    rows
}
