//! JSON of EOS: `show lldp neighbors | json`.
//!
//! In: the value of `lldpNeighbors`, a list of objects with `port`, `neighborDevice` and `neighborPort`. Out: sightings.
//! Invariants: the list has only ports with neighbours.

use serde_json::Value;

use super::{Ports, ReadError};
use crate::sighting::{Neighbour, Sighting};

/// Reads the list.
pub(super) fn read(list: &Value) -> Result<Vec<Sighting>, ReadError> {
    let form = |place: String, expected| ReadError::Form { place, expected };
    let entries = list.as_array().ok_or_else(|| form("lldpNeighbors".to_owned(), "a list"))?;
    let mut ports = Ports::default();
    for (at, entry) in entries.iter().enumerate() {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let port = text("port").ok_or_else(|| form(format!("lldpNeighbors.{at}.port"), "a port"))?;
        let neighbour = Neighbour {
            system: text("neighborDevice"),
            chassis: None,
            ports: text("neighborPort").into_iter().collect(),
        };
        ports.add(&port, neighbour)?;
    }
    Ok(ports.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_neighbours() {
        let text = r#"[{"port":"Ethernet33/1","neighborDevice":"p0-t1-001","neighborPort":"Ethernet1/1","ttl":120}]"#;
        let found = read(&serde_json::from_str(text).expect("JSON")).expect("a list");
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].port.as_str(), found[0].neighbours[0].label().as_str()),
            ("Ethernet33/1", "p0-t1-001 Ethernet1/1")
        );
        let fault = read(&serde_json::json!([{ "neighborPort": "x" }])).expect_err("no port");
        assert!(fault.to_string().contains("lldpNeighbors.0.port"), "{fault}");
    }
}
