//! Tables of SONiC's APPL_DB with neighbours and with speed and state of ports, as `sonic-db-dump -n APPL_DB -y` prints
//! them.
//!
//! Other tables, for example one with a million routes, are skipped and do not use memory.

use std::borrow::Cow;
use std::fmt;

use closc_qos::units::Speed;
use serde::Deserializer as _;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::json::{self, NEIGHBOURS, PORTS, PrunedValue, is_key};
use super::{Ports, ReadError};
use crate::sighting::{Neighbour, Sighting};

/// Reads the tables.
pub(super) fn read(text: &str) -> Result<Vec<Sighting>, ReadError> {
    let mut tables = Tables { ports: Ports::default(), fault: None };
    let read = serde_json::Deserializer::from_str(text).deserialize_map(&mut tables);
    if let Some(fault) = tables.fault {
        return Err(fault);
    }
    read.map_err(|error| json::fault(&error))?;
    Ok(tables.ports.finish())
}

/// Ports read so far, and the error that ended reading.
struct Tables {
    ports: Ports,
    fault: Option<ReadError>,
}

impl<'de> Visitor<'de> for &mut Tables {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if !is_key(&key) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let PrunedValue(row) = map.next_value()?;
            if let Err(fault) = self.ports.row(&key, &row) {
                self.fault = Some(fault);
                return Err(A::Error::custom("a row cannot be read"));
            }
        }
        Ok(())
    }
}

impl Ports {
    /// Reads a row of a table.
    fn row(&mut self, key: &str, row: &Value) -> Result<(), ReadError> {
        // The fields are either in `value`, next to type and expiry, or directly in the row.
        let row = row.get("value").filter(|value| value.is_object()).unwrap_or(row);
        let field = |name: &str| row.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if !row.is_object() {
            return Err(ReadError::Form { place: key.to_owned(), expected: "an object of fields" });
        }
        if let Some(name) = key.strip_prefix(NEIGHBOURS) {
            let own = |text: &str| text.to_owned();
            let names = [field("lldp_rem_port_id"), field("lldp_rem_port_desc")];
            let neighbour = Neighbour {
                system: field("lldp_rem_sys_name").map(own),
                chassis: field("lldp_rem_chassis_id").map(own),
                ports: names.into_iter().flatten().map(own).collect(),
            };
            self.add(name, neighbour)?;
        } else if let Some(name) = key.strip_prefix(PORTS).filter(|name| name.starts_with("Ethernet")) {
            let port = self.port(name)?;
            port.speed = match field("speed") {
                // Ports without a module have no speed.
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
        Ok(())
    }
}
