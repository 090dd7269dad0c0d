//! Text of `lldpctl`, which SONiC's `show lldp neighbors` also prints: a block for each neighbour, which begins with
//! `Interface:`.

use super::{Ports, ReadError};
use crate::sighting::{Neighbour, Sighting};

/// Returns whether a text has this format. Without neighbours, it has only the heading `LLDP neighbors:`.
pub(super) fn is_text(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("Interface:") || line.trim() == "LLDP neighbors:")
}

/// Reads the blocks of neighbours.
pub(super) fn read(text: &str) -> Result<Vec<Sighting>, ReadError> {
    let mut ports = Ports::default();
    let mut block: Option<(String, Neighbour)> = None;
    for (at, line) in text.lines().enumerate() {
        let Some((key, value)) = line.trim().split_once(':') else { continue };
        let value = value.trim();
        if key == "Interface" {
            if let Some((port, neighbour)) = block.take() {
                ports.add(&port, neighbour)?;
            }
            let name = value.split(',').next().map(str::trim).filter(|name| !name.is_empty());
            let name =
                name.ok_or(ReadError::Line { line: at + 1, reason: "`Interface:` has no port name" })?;
            block = Some((name.to_owned(), Neighbour::default()));
            continue;
        }
        let Some((_, neighbour)) = &mut block else { continue };
        // An id follows the keyword of its kind: `mac 52:54:00:00:00:01`, `local etp1`.
        let id = || value.split_once(' ').map_or(value, |(_, id)| id).trim().to_owned();
        match key {
            "SysName" => neighbour.system = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "ChassisID" => neighbour.chassis = Some(id()),
            "PortID" => neighbour.ports.insert(0, id()),
            "PortDescr" => neighbour.ports.push(value.to_owned()),
            _ => {}
        }
    }
    if let Some((port, neighbour)) = block {
        ports.add(&port, neighbour)?;
    }
    Ok(ports.finish())
}
