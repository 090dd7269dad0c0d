//! Readers of neighbour reports that devices print.
//!
//! In: the bytes of a file, in any of the formats below. The format is detected from the text. Out: [`Sighting`]s, one
//! for each port in the file. Invariants: a file in another format is rejected, with the place of the error.
//!
//! | format | made by |
//! |---|---|
//! | JSON of `lldpd` | `lldpcli -f json show neighbors`, `lldpctl -f json` (SONiC: in container `lldp`) |
//! | stable JSON of `lldpd` | the same commands with `-f json0` |
//! | text of `lldpd` | `lldpctl`; on SONiC `show lldp neighbors` |
//! | table of SONiC | `show lldp table` |
//! | JSON of EOS | `show lldp neighbors \| json` |
//! | packet-ins of P4Runtime, one per line | a controller, in the JSON form of Protocol Buffers |
//! | tables of SONiC | `sonic-db-dump -n APPL_DB -y`: `LLDP_ENTRY_TABLE`, `PORT_TABLE` |

mod eos;
mod json;
mod lldpd;
pub(crate) mod packets;
mod sonic;
mod table;
mod text;

use std::collections::BTreeMap;

use closc_budget::{Account, size};

use crate::sighting::{Neighbour, Sighting};
use json::Outline;

/// Maximum memory for the data of a report, and for decoded JSON. 512 ports need 3 MiB in the longest format.
const MEMORY_MAX: usize = 64 << 20;

/// Maximum number of neighbours of a port. A hub has several; more indicate an attack.
const NEIGHBOURS_MAX: usize = 1_000;

/// Why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It begins like JSON, but cannot be parsed.
    #[error("line {line}, column {column}: it does not parse as JSON: {reason}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The reason.
        reason: String,
    },
    /// A part is not in the format of these reports.
    #[error("`{place}`: expected {expected}")]
    Form {
        /// Place, as keys separated by dots.
        place: String,
        /// Expected contents.
        expected: &'static str,
    },
    /// A line cannot be read.
    #[error("line {line}: {reason}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// The reason.
        reason: &'static str,
    },
    /// Decoded, it is larger than any report of a switch.
    #[error("it needs more than {} of memory when it is decoded", size(MEMORY_MAX as u64))]
    Memory,
    /// A port has more neighbours than a cable or a hub can have.
    #[error("port `{port}` has more than {NEIGHBOURS_MAX} neighbours")]
    Neighbours {
        /// The port.
        port: String,
    },
    /// Its format is unknown.
    #[error(
        "unknown format; expected one of: JSON of `lldpctl -f json` or `json0`, text of `lldpctl` or `show \
         lldp neighbors`, `show lldp table`, tables of `sonic-db-dump -n APPL_DB -y`, `show lldp neighbors | \
         json` of EOS, packet-ins of P4Runtime as lines of JSON"
    )]
    Unknown,
}

/// Reads a report of neighbours.
///
/// # Errors
///
/// Returns an error with a place if the text is not in one of the known formats.
pub fn read(bytes: &[u8]) -> Result<Vec<Sighting>, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ReadError::NotText)?;
    let text = text.trim_start_matches('\u{feff}');
    if packets::is_packets(text) {
        return packets::read(text);
    }
    if text.trim_start().starts_with(['{', '[']) {
        return match json::outline(text)? {
            Outline::Lldpd => lldpd::read(&json::value(text, "lldp")?),
            Outline::Sonic => sonic::read(text),
            Outline::Eos => eos::read(&json::value(text, "lldpNeighbors")?),
            Outline::Other => Err(ReadError::Unknown),
        };
    }
    if table::is_table(text) {
        return table::read(text);
    }
    if text::is_text(text) {
        return text::read(text);
    }
    Err(ReadError::Unknown)
}

/// Ports by name, each with all of its neighbours.
struct Ports {
    by_name: BTreeMap<String, Sighting>,
    memory: Account<()>,
}

impl Default for Ports {
    fn default() -> Self {
        Ports { by_name: BTreeMap::new(), memory: Account::new(MEMORY_MAX, MEMORY_MAX) }
    }
}

impl Ports {
    fn charge(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.memory.charge((), bytes).map_err(|_| ReadError::Memory)
    }

    /// Returns the entry of a port, and creates it if necessary.
    fn port(&mut self, name: &str) -> Result<&mut Sighting, ReadError> {
        if !self.by_name.contains_key(name) {
            self.charge(2 * (size_of::<Sighting>() + name.len()))?;
        }
        let new = || Sighting { port: name.to_owned(), ..Sighting::default() };
        Ok(self.by_name.entry(name.to_owned()).or_insert_with(new))
    }

    /// Adds a neighbour to a port.
    fn add(&mut self, name: &str, neighbour: Neighbour) -> Result<(), ReadError> {
        self.charge(neighbour.bytes())?;
        let port = self.port(name)?;
        if port.neighbours.len() == NEIGHBOURS_MAX {
            return Err(ReadError::Neighbours { port: name.to_owned() });
        }
        port.neighbours.push(neighbour);
        Ok(())
    }

    fn finish(self) -> Vec<Sighting> {
        self.by_name.into_values().collect()
    }
}
