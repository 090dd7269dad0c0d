//! Readers of existing networks: tables, labs, and LLDP reports.
//!
//! In: the text of a file. Out: cables in an [`ExistingNetwork`]. Invariants: the format is recognised from
//! the text; an incomplete line is an error with file and line.

mod containerlab;
mod medium;
mod netbox;
mod table;

use closc_cabling::ReadError;

use crate::network::{ExistingNetwork, FilePlace, Row};

/// Reads a list of cables, a list of devices with their roles, or a containerlab topology.
pub fn file(network: &mut ExistingNetwork, name: &str, text: &str) {
    let text = text.trim_start_matches('\u{feff}');
    let is_lab = text.lines().any(|line| line.trim_end() == "topology:");
    if is_lab { containerlab::read(network, name, text) } else { table::read(network, name, text) }
}

/// Reads the neighbours that a device reports (LLDP). A neighbour without a name or a port is skipped and counted.
///
/// # Errors
///
/// Returns why the text cannot be read.
pub fn lldp(network: &mut ExistingNetwork, file: &str, device: &str, text: &[u8]) -> Result<(), ReadError> {
    let sightings = closc_cabling::read(text)?;
    let number = network.file(file);
    network.reporters.insert(device.into());
    for sighting in &sightings {
        let named = sighting.neighbours.iter().find_map(|neighbour| {
            let system = neighbour.system.as_deref().filter(|name| !name.is_empty())?;
            Some((system, neighbour.ports.first()?))
        });
        let Some((far, port)) = named else {
            if !sighting.neighbours.is_empty() {
                network.skip_link(
                    "neighbours that send no name or no port",
                    FilePlace { file: number, line: 1 },
                );
            }
            continue;
        };
        let row = Row {
            devices: [device, far.split('.').next().unwrap_or(far)],
            ports: [&sighting.port, port],
            speeds: [sighting.speed, None],
            ..Row::default()
        };
        network.add_seen(&row, FilePlace { file: number, line: 1 });
    }
    Ok(())
}
