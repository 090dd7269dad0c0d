//! JSON of `lldpd` (1.0.x), in both of its formats.
//!
//! The plain format contains one item as an object and several as a list, and uses system names as keys. The stable
//! format, `json0`, always has lists. Without neighbours, `interface` is absent.

use serde_json::Value;

use super::{Ports, ReadError};
use crate::sighting::{Neighbour, Sighting};

/// Reads the contents of `lldp`.
pub(super) fn read(lldp: &Value) -> Result<Vec<Sighting>, ReadError> {
    let mut ports = Ports::default();
    for one in items(lldp) {
        let object = one.as_object().ok_or_else(|| form("lldp", "an object"))?;
        for interface in object.get("interface").into_iter().flat_map(items) {
            let object = interface.as_object().ok_or_else(|| form("lldp.interface", "an object"))?;
            match object.get("name").and_then(Value::as_str) {
                Some(name) => ports.add(name, neighbour(name, interface)?)?,
                None => {
                    for (name, interface) in object {
                        for one in items(interface) {
                            ports.add(name, neighbour(name, one)?)?;
                        }
                    }
                }
            }
        }
    }
    Ok(ports.finish())
}

/// Returns the items of a list, or a single item.
fn items(value: &Value) -> std::slice::Iter<'_, Value> {
    match value {
        Value::Array(items) => items.iter(),
        other => std::slice::from_ref(other).iter(),
    }
}

fn form(place: &str, expected: &'static str) -> ReadError {
    ReadError::Form { place: place.to_owned(), expected }
}

/// Returns the neighbour of an interface entry.
fn neighbour(name: &str, interface: &Value) -> Result<Neighbour, ReadError> {
    if !interface.is_object() {
        return Err(form(&format!("lldp.interface.{name}"), "an object"));
    }
    let mut found = Neighbour::default();
    if let Some(chassis) = interface.get("chassis").and_then(|chassis| items(chassis).next()) {
        (found.system, found.chassis) = chassis_names(chassis);
    }
    for port in interface.get("port").into_iter().flat_map(items) {
        found.ports.extend(
            [port.get("id").and_then(value), port.get("descr").and_then(value)].into_iter().flatten(),
        );
    }
    Ok(found)
}

/// Returns system name and chassis id.
fn chassis_names(chassis: &Value) -> (Option<String>, Option<String>) {
    let id = |of: &Value| of.get("id").and_then(value);
    if chassis.get("id").is_some() {
        // The stable format, or the plain format for a neighbour without a name.
        return (chassis.get("name").and_then(value), id(chassis));
    }
    let named = chassis.as_object().and_then(|names| names.iter().next());
    named.map_or((None, None), |(name, of)| (Some(name.clone()), id(of)))
}

/// Returns the string in `"x"`, `{"value": "x"}` or `[{"value": "x"}]`.
fn value(of: &Value) -> Option<String> {
    let of = items(of).next()?;
    of.as_str().or_else(|| of.get("value").and_then(Value::as_str)).map(str::to_owned)
}
