//! Words of netplan: those that are read, those that move no packet, and all others.
//!
//! In: the file, as values without types. Out: the first word that the proof does not know. Invariants: what is empty says
//! nothing, so it may be called anything.

use serde_json::{Map, Value};

use crate::read::error::ReadError;
use crate::read::site::SiteGroup;

/// Words that are read, by what they are in.
const NETWORK: [&str; 3] = ["version", "renderer", "ethernets"];
const ETHERNET: [&str; 10] = [
    "match",
    "macaddress",
    "mtu",
    "dhcp4",
    "dhcp6",
    "accept-ra",
    "link-local",
    "addresses",
    "routes",
    "routing-policy",
];
const MATCH: [&str; 1] = ["name"];
const ROUTE: [&str; 5] = ["to", "via", "type", "metric", "table"];
const POLICY: [&str; 3] = ["from", "table", "priority"];

/// Words of an interface that move no packet: what booting waits for, what wakes it, whom it tells its name, where names are
/// looked up.
pub(crate) const SITE: &[SiteGroup] = &[
    SiteGroup {
        settings: &["optional", "optional-addresses", "wakeonlan"],
        why: "conditions of booting, and wake-on-LAN",
    },
    SiteGroup { settings: &["emit-lldp"], why: "LLDP of the node" },
    SiteGroup { settings: &["nameservers"], why: "name servers: no route of the fabric uses a name" },
];

/// Looks at every word.
pub(super) fn check(text: &str, file: &Value) -> Result<(), ReadError> {
    let words = Words { text };
    words.known(Some(file), &["network"], "the file")?;
    let network = file.get("network");
    words.known(network, &NETWORK, "`network`")?;
    let ethernets = network.and_then(|network| network.get("ethernets")?.as_object());
    for (name, ethernet) in ethernets.into_iter().flatten() {
        let known: Vec<&str> = ETHERNET
            .into_iter()
            .chain(SITE.iter().flat_map(|group| group.settings.iter().copied()))
            .collect();
        words.known(Some(ethernet), &known, &format!("`{name}`"))?;
        words.known(ethernet.get("match"), &MATCH, &format!("what `{name}` matches"))?;
        for (list, known) in [("routes", &ROUTE[..]), ("routing-policy", &POLICY)] {
            for row in ethernet.get(list).and_then(Value::as_array).into_iter().flatten() {
                words.known(Some(row), known, &format!("`{list}` of `{name}`"))?;
            }
        }
    }
    Ok(())
}

struct Words<'a> {
    text: &'a str,
}

impl Words<'_> {
    /// Wants every word of a mapping to be known, or to say nothing.
    fn known(&self, mapping: Option<&Value>, known: &[&str], what: &str) -> Result<(), ReadError> {
        let Some(mapping) = mapping.and_then(Value::as_object) else { return Ok(()) };
        let strange = mapping.iter().find(|(word, value)| !known.contains(&word.as_str()) && !empty(value));
        strange.map_or(Ok(()), |(word, _)| Err(self.unknown(word, what)))
    }

    fn unknown(&self, word: &str, what: &str) -> ReadError {
        let said = format!("{word}:");
        let line = self.text.lines().position(|line| line.contains(&said)).map_or(1, |at| at + 1);
        ReadError::unknown(line, format!("`{word}` in {what} is not known to the proof"))
    }
}

fn empty(value: &Value) -> bool {
    value.is_null()
        || value.as_object().is_some_and(Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
}
