//! Readers of what devices print of their neighbours.
//!
//! In: the bytes of a file, of any of the forms below. Out: [`Sighting`]s, one for each port that the file speaks of. The form
//! is found out from the text. Invariants: a file that is none of them is refused with a place; nothing is guessed.
//!
//! | form | made by |
//! |---|---|
//! | JSON of `lldpd` | `lldpcli -f json show neighbors`, `lldpctl -f json` (SONiC: in container `lldp`) |
//! | stable JSON of `lldpd` | the same with `-f json0` |
//! | text of `lldpd` | `lldpctl`; on SONiC `show lldp neighbors` |
//! | table of SONiC | `show lldp table` |
//! | packet-ins of P4Runtime, one per line | a controller, in the JSON form of Protocol Buffers |
//! | tables of SONiC | `sonic-db-dump -n APPL_DB -y`: `LLDP_ENTRY_TABLE`, `PORT_TABLE` |

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

/// The most memory for the data kept from a report, and for decoded JSON: 512 ports take 3 MiB in the longest form.
const MEMORY_MAX: usize = 64 << 20;

/// Neighbours of a port. A hub has some; more are sent by an attacker.
const NEIGHBOURS_MAX: usize = 1_000;

/// Why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It begins like JSON but does not parse.
    #[error("line {line}, column {column}: it does not parse as JSON: {reason}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Why.
        reason: String,
    },
    /// A part is not in the form that these reports have.
    #[error("`{place}`: {expected} is expected there")]
    Form {
        /// Where, as keys with dots between.
        place: String,
        /// Expectations.
        expected: &'static str,
    },
    /// A line cannot be read.
    #[error("line {line}: {reason}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// Why.
        reason: &'static str,
    },
    /// Decoded, it is larger than any report of a switch.
    #[error("it takes more than {} of memory once it is decoded", size(MEMORY_MAX as u64))]
    Memory,
    /// A port has more neighbours than a cable or a hub can have.
    #[error("port `{port}` has more than {NEIGHBOURS_MAX} neighbours")]
    Neighbours {
        /// The port.
        port: String,
    },
    /// It has none of the forms.
    #[error(
        "it is none of: JSON of `lldpctl -f json` or `json0`, text of `lldpctl` or `show lldp neighbors`, \
         `show lldp table`, tables of `sonic-db-dump -n APPL_DB -y`, packet-ins of P4Runtime as lines of JSON"
    )]
    Unknown,
}

/// Reads a report of neighbours.
///
/// # Errors
///
/// Returns an error with a place if the text is none of the known forms.
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

/// Ports in the order of their names, each with all its neighbours.
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

    /// The entry of a port.
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
