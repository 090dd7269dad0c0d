//! Tables of SONiC's APPL_DB, as `sonic-db-dump -n APPL_DB -y` prints them: neighbours, and speed and state of ports.

use closc_qos::units::Speed;
use serde_json::{Map, Value};

use super::{Ports, ReadError};
use crate::sighting::{Neighbour, Sighting};

const NEIGHBOURS: &str = "LLDP_ENTRY_TABLE:";
const PORTS: &str = "PORT_TABLE:";

/// Whether a key is of a table that is read here.
pub(super) fn is_key(key: &str) -> bool {
    key.starts_with(NEIGHBOURS) || key.starts_with(PORTS)
}

/// Reads the tables.
pub(super) fn read(tables: &Map<String, Value>) -> Result<Vec<Sighting>, ReadError> {
    let mut ports = Ports::default();
    for (key, row) in tables {
        // With a type and expiry around, or bare.
        let row = row.get("value").filter(|value| value.is_object()).unwrap_or(row);
        let field = |name: &str| row.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if !is_key(key) {
            continue;
        }
        if !row.is_object() {
            return Err(ReadError::Form { place: key.clone(), expected: "an object of fields" });
        }
        if let Some(name) = key.strip_prefix(NEIGHBOURS) {
            let own = |text: &str| text.to_owned();
            let neighbour = Neighbour {
                system: field("lldp_rem_sys_name").map(own),
                chassis: field("lldp_rem_chassis_id").map(own),
                ports: [field("lldp_rem_port_id"), field("lldp_rem_port_desc")]
                    .into_iter()
                    .flatten()
                    .map(own)
                    .collect(),
            };
            ports.add(name, neighbour);
        } else if let Some(name) = key.strip_prefix(PORTS).filter(|name| name.starts_with("Ethernet")) {
            let port = ports.port(name);
            port.speed = match field("speed") {
                // Ports without a module.
                None | Some("N/A") => None,
                Some(speed) => {
                    let mbps = speed.parse().map_err(|_| ReadError::Form {
                        place: format!("{key}.speed"),
                        expected: "a speed in Mb/s",
                    })?;
                    Speed::from_mbps(mbps)
                }
            };
            port.is_down = field("oper_status") == Some("down");
        }
    }
    Ok(ports.finish())
}
