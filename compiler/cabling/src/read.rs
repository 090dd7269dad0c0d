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
//! | packet-ins of P4Runtime, a line each | a controller, in the JSON form of Protocol Buffers |
//! | tables of SONiC | `sonic-db-dump -n APPL_DB -y`: `LLDP_ENTRY_TABLE`, `PORT_TABLE` |

mod lldpd;
pub(crate) mod packets;
mod sonic;
mod table;
mod text;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sighting::{Neighbour, Sighting};

/// Why a file says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It begins like JSON and is none.
    #[error("line {line}, column {column}: it does not parse as JSON: {reason}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Why.
        reason: String,
    },
    /// A part has another form than these reports have.
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
        let value: Value = serde_json::from_str(text).map_err(|error| ReadError::Json {
            line: error.line(),
            column: error.column(),
            reason: reason(&error),
        })?;
        return json(&value);
    }
    if table::is_table(text) {
        return table::read(text);
    }
    if text::is_text(text) {
        return text::read(text);
    }
    Err(ReadError::Unknown)
}

/// Message of a JSON reader, without the position behind it.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn json(value: &Value) -> Result<Vec<Sighting>, ReadError> {
    let object = value.as_object().ok_or(ReadError::Unknown)?;
    if let Some(lldp) = object.get("lldp") {
        return lldpd::read(lldp);
    }
    if object.keys().any(|key| sonic::is_key(key)) || object.is_empty() {
        return sonic::read(object);
    }
    Err(ReadError::Unknown)
}

/// Ports in the order of their names, each with all its neighbours.
#[derive(Default)]
struct Ports(BTreeMap<String, Sighting>);

impl Ports {
    /// The entry of a port.
    fn port(&mut self, name: &str) -> &mut Sighting {
        let new = || Sighting { port: name.to_owned(), ..Sighting::default() };
        self.0.entry(name.to_owned()).or_insert_with(new)
    }

    /// Adds a neighbour to a port.
    fn add(&mut self, name: &str, neighbour: Neighbour) {
        self.port(name).neighbours.push(neighbour);
    }

    fn finish(self) -> Vec<Sighting> {
        self.0.into_values().collect()
    }
}
