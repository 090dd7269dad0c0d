//! IDs of the switch and its ports for the controller: `NODE_CFG`, and `id` in each row of `PORT`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::device::{Device, FaultKind};
use crate::model::place::Fact;
use crate::read::error::ReadError;
use crate::read::sonic::place::FILE;

#[derive(Deserialize)]
struct Tables {
    #[serde(rename = "PORT", default)]
    ports: BTreeMap<String, Row>,
    #[serde(rename = "NODE_CFG", default)]
    nodes: BTreeMap<String, Row>,
}

#[derive(Deserialize)]
struct Row {
    id: Option<String>,
    #[serde(rename = "node-id")]
    node: Option<String>,
}

/// Returns the ports by ID. A switch without a node ID, an enabled port without a valid ID, and duplicate IDs are
/// faults.
pub(super) fn numbers(bytes: &[u8], device: &mut Device<'_>) -> Result<BTreeMap<String, u16>, ReadError> {
    let tables: Tables =
        serde_json::from_slice(bytes).map_err(|error| ReadError::at(error.line(), error.to_string()))?;
    let node = tables.nodes.get("integrated_circuit0").and_then(|row| row.node.as_deref());
    if node.and_then(|number| number.parse::<u64>().ok()).is_none_or(|number| number == 0) {
        let message = "the switch has no `node-id`, so controllers cannot connect".to_owned();
        device.fault(FaultKind::Setting, FILE, vec!["\"NODE_CFG\":".to_owned()], message);
    }
    let mut found = BTreeMap::new();
    let mut faults = Vec::new();
    for (index, port) in device.ports.iter().enumerate() {
        let id = tables.ports.get(&*port.name).and_then(|row| row.id.clone());
        let is_number =
            |id: &String| id.parse::<u32>().is_ok_and(|number| number > 0 && number.to_string() == *id);
        let message = match id.filter(is_number) {
            None if port.up => format!("port `{}` has no `id`, which controllers need", port.name),
            None => continue,
            Some(id) => match found.insert(id.clone(), index as u16) {
                None => continue,
                Some(_) => format!("port `{}` and another port both have `id` {id}", port.name),
            },
        };
        faults.push((port.name.to_string(), message));
    }
    for (name, message) in faults {
        device.fault(FaultKind::Setting, FILE, Fact::row("PORT", &*name), message);
    }
    Ok(found)
}
